#!/usr/bin/env bash
# Goes from annotated Rust types to a running controller, in the new folder `quickstart/`.
#
#   hack/quickstart.sh          runs through and stops
#   hack/quickstart.sh --keep   leaves the API server and the controller running until Ctrl-C
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

need_tools
export CARGO_TARGET_DIR="$PWD/target"
project=quickstart/ecsbinding

say "1. build the kubesmith command"
build_kubesmith

say "2. a fresh project: API types and a controller, nothing generated"
rm -rf quickstart
mkdir -p "$project"
cp -R examples/ecsbinding/api examples/ecsbinding/controller examples/ecsbinding/kubesmith.toml "$project"
# The parts that the controller's tests share with those of other operators.
cp -R examples/testing quickstart
# The locked versions of the repository, so that nothing new is resolved.
cp Cargo.lock "$project/Cargo.lock"
cat > "$project/Cargo.toml" <<'TOML'
[workspace]
resolver = "3"
members = ["api", "client", "controller"]

[profile.dev]
debug = "line-tables-only"

[profile.dev.package."*"]
debug = false
TOML
sed -n '/^\/\/\/ hopegi/,/^}/p' "$project/api/src/v1.rs"

say "3. kubesmith generate: CRD and typed client package, from source"
"$kubesmith" generate --config "$project/kubesmith.toml"
find "$project/client" "$project/config" -type f | LC_ALL=C sort
echo
sed -n '/^kind:/,/^    schema:/p' "$project"/config/crd/bases/*.yaml

say "4. compile the generated package and the controller"
packages=(--package ecsbinding-controller)
# If the command was built before, as in CI, the dependencies were built, too.
[ -z "${KUBESMITH:-}" ] || { share_dependencies "$project"; packages+=(--package features); }
cargo build --manifest-path "$project/Cargo.toml" "${packages[@]}" --example quickstart

say "5. API server, CRD, controller, one object"
cd "$project"
exec "$CARGO_TARGET_DIR/debug/examples/quickstart" "$@"
