#!/usr/bin/env bash
# Runs the tutorial of the book in the target folder: its commands, its listings as files, its patches.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

need_tools
need patch patch
need kubectl kubernetes-client
export KUBESMITH_SOURCE=$PWD
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# Dependencies with debug info would be built anew.
export CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"
export PATH="$CARGO_TARGET_DIR/debug:$PATH"
folder=$CARGO_TARGET_DIR/tutorial

cargo build --quiet --locked --package kubesmith
rm -rf "$folder"
mkdir -p "$folder"
# Blocks with a comment above them become a script: `run`, `file: PATH` and `apply`.
awk '
  /^<!-- run -->$/ { next_block = "run"; next }
  /^<!-- apply -->$/ { next_block = "apply"; next }
  /^<!-- file: .* -->$/ { next_block = "file"; path = $3; next }
  /^```/ && in_block { if (in_block != "run") print "END_OF_BLOCK"; in_block = ""; next }
  /^```/ && next_block != "" {
    in_block = next_block; next_block = ""
    if (in_block == "file") print "cat > " path " <<\"END_OF_BLOCK\""
    if (in_block == "apply") print "patch --quiet -p1 <<\"END_OF_BLOCK\""
    next
  }
  in_block { print }
' docs/start/tutorial.md > "$folder/tutorial.sh"
cd "$folder"
# The locked versions of the repository, so that nothing new is resolved or compiled twice.
cp "$KUBESMITH_SOURCE/Cargo.lock" .
sed -i 's#^cd bakery$#cd bakery \&\& cp ../Cargo.lock .#' tutorial.sh
PS4='+ ' bash -o errexit -o nounset -o xtrace tutorial.sh
