#!/usr/bin/env bash
# Follows the documentation as a new user does. First, a dry run publishes the public crates. From their
# packages alone, and offline, this script then builds the command, the example of README.md and the tutorial,
# and migrates the operator of testdata/migration from kube-rs as the book describes. The commands of the
# pages about operations run on one cluster. Prints the time of each step, and of each section of a page that took a second.
#
#   hack/newcomer.sh           goes all the way, in the target folder
#   hack/newcomer.sh --names   prints the public packages as arguments of cargo
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

# Every crate of a top-level folder is public unless its manifest says otherwise.
mapfile -t names < <(grep -L '^publish = false' ./*/Cargo.toml | xargs sed -n 's/^name = "\(kubesmith[a-z-]*\)"$/\1/p' | LC_ALL=C sort -u)
if [ "${1:-}" = --names ]; then
  # For `cargo publish`: the other packages of the workspace are not published.
  printf -- '--package=%s\n' "${names[@]}"
  exit
fi

need_tools
need patch patch
need python3 python3
need kubectl kubernetes-client
need make make
need curl curl
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
build_as_ci
# For `kubesmith init` in the tutorial.
export KUBESMITH_SOURCE=published
newcomer=$CARGO_TARGET_DIR/newcomer
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# The limit of crates.io for one package, in bytes.
limit=$((10 * 1024 * 1024))

# step NAME COMMAND...: runs the command in a shell of its own, and prints how long it took and what cargo compiled.
step() {
  local name=$1 start=$SECONDS log=$newcomer/$1.log status
  # Inside a condition, bash would not stop at the first failure.
  set +o errexit
  (set -o errexit; "${@:2}") >"$log" 2>&1
  status=$?
  set -o errexit
  if [ "$status" != 0 ]; then
    cat "$log" >&2
    echo "== $name failed" >&2
    exit 1
  fi
  printf '== %-12s %4d s  %3d crates compiled\n' "$name" $((SECONDS - start)) "$(grep -c '^ *Compiling ' "$log")"
  grep '^note: the registry' "$log" || true
  sed -n 's/^section: /   /p' "$log"
}

# A dry run asks the registry for its index; without a network, `package` alone checks the packages.
publish() {
  local log=$newcomer/registry.log
  if ! cargo publish --dry-run --locked --allow-dirty --no-verify "${names[@]/#/--package=}" 2>"$log"; then
    cat "$log"
    grep --quiet --extended-regexp 'spurious network error|[Cc]ould not (connect|resolve)|--offline' "$log"
    echo "note: the registry cannot be reached, so nothing was published in a dry run"
  fi
}

package() {
  local name file size
  cargo package --locked --offline --allow-dirty --no-verify "${names[@]/#/--package=}"
  # These packages replace those of the registry. Their manifests have no paths to each other, so cargo finds
  # each of them here or not at all.
  printf '[net]\noffline = true\n\n[patch.crates-io]\n' >"$newcomer/.cargo/config.toml"
  for name in "${names[@]}"; do
    file=$CARGO_TARGET_DIR/package/$name-$version.crate
    size=$(stat --format=%s "$file")
    printf '%9d bytes  %s\n' "$size" "$name"
    [ "$size" -le "$limit" ] || { echo "$file is larger than the registry accepts: $limit bytes" >&2; exit 1; }
    # All files of packages have the same time, so cargo could not detect changes.
    tar --extract --touch --gzip --file "$file" --directory "$newcomer"
    [ "$name" = kubesmith ] || echo "$name = { path = \"$name-$version\" }" >>"$newcomer/.cargo/config.toml"
  done
}

# workspace FOLDER MEMBER...
workspace() {
  local members
  members=$(printf '"%s", ' "${@:2}")
  printf '[workspace]\nresolver = "3"\nmembers = [%s]\n' "${members%, }" >"$1/Cargo.toml"
  share_dependencies "$1"
}

build() {
  workspace "$newcomer" "kubesmith-$version"
  cd "$newcomer"
  cargo build --package kubesmith --package features
  # A later build of the repository has the same file name.
  cp "$CARGO_TARGET_DIR/debug/kubesmith" bin/
}

# block INFO N: prints the Nth block of README.md with this info string.
block() {
  awk -v info="$1" -v number="$2" '
    $0 == "```" && inside { exit }
    inside { print }
    $0 == "```" info { count++; inside = count == number }
  ' README.md
}

readme() {
  local folder=$newcomer/readme
  mkdir -p "$folder/api/src" "$folder/program/src"
  block toml 1 | sed 's/path = "[^"]*"/version = "'"$version"'"/' >"$folder/api/Cargo.toml"
  block rust 1 >"$folder/api/src/lib.rs"
  { block rust,no_run 1; printf '\nfn main() {\n    drop(bake());\n}\n'; } >"$folder/program/src/main.rs"
  cat >"$folder/program/Cargo.toml" <<TOML
[package]
name = "bakery"
version = "0.1.0"
edition = "2024"

[dependencies]
bakery-client = { path = "../client" }
k8s-openapi = { version = "0.29", features = ["v1_36"] }
kubesmith-runtime = "$version"
TOML
  kubesmith generate --input "$folder/api" --output "$folder/client" --crate-name bakery-client
  workspace "$folder" api client program
  cd "$folder"
  cargo build --workspace --all-targets
}

# listings PAGE: prints a script from the blocks of a page of the book that have a comment above them: `run`,
# `file: PATH`, `apply`, `start: TEXT` (the program runs until `stop`, and prints the text when it is ready), or
# `output` (the command prints the next lines, of any age, and may fail). In a `console` block, only lines after `$ ` run.
listings() {
  awk '
    /^## / && !in_block { gsub(/\47/, ""); print "section \47" substr($0, 4) "\47" }
    /^<!-- (run|apply|output) -->$/ { next_block = $2; next }
    /^<!-- start: .* -->$/ { next_block = "start"; text = $0; gsub(/^<!-- start: | -->$/, "", text); next }
    /^<!-- stop -->$/ { print "stop"; next }
    /^<!-- file: .* -->$/ { next_block = "file"; path = $3; next }
    /^```/ && in_block { if (in_block == "file" || in_block == "apply") print "END_OF_BLOCK"; in_block = ""; next }
    /^```/ && next_block != "" {
      in_block = next_block; next_block = ""; is_console = $0 == "```console"
      if (in_block == "file") print "cat > " path " <<\"END_OF_BLOCK\""
      if (in_block == "apply") print "patch --quiet -p1 <<\"END_OF_BLOCK\""
      next
    }
    in_block == "start" { sub(/^\$ /, ""); print "start \47" text "\47 " $0; next }
    in_block == "output" && sub(/^\$ /, "") { print "output=$({ " $0 "; } 2>&1) || true"; next }
    in_block == "output" { sub(/[0-9]+[smhd]$/, ""); print "grep --quiet --fixed-strings \47" $0 "\47 <<<\"$output\""; next }
    in_block == "run" && is_console { if (sub(/^\$ /, "")) print; next }
    in_block { print }
  ' "$1"
  echo "section ''"
}

# section TITLE: ends a section of a page, and begins the next one.
section() {
  local - time=$((SECONDS - ${began:-SECONDS}))
  set +o xtrace
  [ "$time" = 0 ] || [ -z "$title" ] || printf 'section: %4d s  %s\n' "$time" "$title"
  began=$SECONDS title=$1
}

# start TEXT COMMAND...: runs a program in the background, and returns when it has printed the text.
start() {
  local - text=$1 log=$newcomer/program-${#programs[@]}.log
  set +o xtrace
  # A program that was stopped has left its log.
  : >"$log"
  # In a process group, as in a terminal: `make` does not stop its children.
  set -o monitor
  "${@:2}" >"$log" 2>&1 &
  set +o monitor
  programs+=($!)
  trap stop_all EXIT
  until grep --quiet "$text" "$log"; do
    kill -0 "${programs[-1]}" 2>/dev/null || { cat "$log"; return 1; }
    sleep 0.2
  done
}

# stop: ends the program that was started last, as Ctrl-C does.
stop() {
  kill -INT -- "-${programs[-1]}" 2>/dev/null || true
  wait "${programs[-1]}" || true
  unset 'programs[-1]'
}

stop_all() {
  while [ "${#programs[@]}" != 0 ]; do stop; done
}

tutorial() {
  local repository=$PWD port flags
  port=$(free_port)
  flags="--metrics-bind-address=0 --health-probe-bind-address=0 --webhook-port=$port"
  listings docs/start/tutorial.md >"$newcomer/tutorial.sh"
  # The servers of the page have fixed ports, and its files are in a folder of all users.
  sed -i -e "s#kubesmith serve#& --addr 127.0.0.1:0#" -e "s#--webhook-cert-dir /#--webhook-addr 127.0.0.1:$port &#" \
    -e "s#\(make .*run\b\)#\1 RUN_FLAGS='$flags'#" -e "s#/tmp/#$newcomer/#g" "$newcomer/tutorial.sh"
  # share_dependencies runs after the commands that create the project, which end with `cd` into its folder.
  sed -i "s#^cd bakery\$#cd '$repository' \&\& share_dependencies '$newcomer/bakery' \&\& cd '$newcomer/bakery'#" "$newcomer/tutorial.sh"
  cd "$newcomer"
  set -o xtrace
  source ./tutorial.sh
}

migration() {
  cp -R testdata/migration "$newcomer/documents"
  listings docs/from-kube-rs/migration.md >"$newcomer/migration.sh"
  share_dependencies "$newcomer/documents"
  cd "$newcomer/documents"
  set -o xtrace
  source ../migration.sh
}

# codegen-cli/tests/it/book.rs lists the commands that do not run here, and why.
operations() {
  # The commands of these pages run unchanged; those of the page about observability are changed first. Helm
  # comes first: it does not adopt CRDs that others have installed.
  local page port pages=(helm deploy)
  find_helm || pages=(deploy)
  KUBESMITH=$newcomer/bin/kubesmith serve "$newcomer/cluster" --feature-gates ShardedListAndWatch=true
  for page in "${pages[@]}" observability; do
    mkdir -p "$newcomer/operations/$page"
    cp -R examples/balancer/api "$newcomer/operations/$page"
    listings "docs/operations/$page.md" >"$newcomer/operations/$page.sh"
  done
  set -o xtrace
  for page in "${pages[@]}"; do
    (cd "$newcomer/operations/$page" && source "../$page.sh")
  done
  kubectl --namespace balancer-system rollout status deployment/balancer-controller-manager

  # The program of the page is that of the tutorial, at a free address. Other projects also have a `manager`
  # in the target folder.
  (cd "$newcomer/bakery" && cargo test --quiet --no-run)
  kubectl apply -f "$newcomer/bakery/config/crd/bases"
  port=$(free_port)
  sed -i "s/:8082/:$port/" "$newcomer/operations/observability.sh"
  "$CARGO_TARGET_DIR/debug/manager" --webhooks=false --metrics-bind-address=0 --health-probe-bind-address=0 \
    "--debug-bind-address=127.0.0.1:$port" &
  program=$!
  trap 'kill "$program" 2>/dev/null || true; stop_serving' EXIT
  until curl --silent "http://127.0.0.1:$port/debug/flags/v"; do
    kill -0 "$program"
    sleep 0.05
  done
  source "$newcomer/operations/observability.sh"
  curl --silent --fail "http://127.0.0.1:$port/debug/flags/v" | grep 'my_operator=debug'
}

programs=()
rm -rf "$newcomer"
mkdir -p "$newcomer/.cargo" "$newcomer/bin"
# A new user has no settings of this repository.
: >"$newcomer/rustfmt.toml"
export PATH="$newcomer/bin:$PATH"
step publish publish
step packages package
step command build
step readme readme
step tutorial tutorial
step migration migration
step operations operations
