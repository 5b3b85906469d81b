#!/usr/bin/env bash
# Packages the public crates as `cargo publish` does, and builds from the packages alone, offline: the command, a project of
# `kubesmith init` with its test, and the example of README.md.
#
#   hack/package.sh           packages and builds
#   hack/package.sh --names   prints the public packages as arguments of cargo
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

# Every crate of a top-level folder is public unless its manifest says otherwise.
mapfile -t names < <(grep -L '^publish = false' ./*/Cargo.toml | xargs sed -n 's/^name = "\(kubesmith[a-z-]*\)"$/\1/p' | LC_ALL=C sort -u)
if [ "${1:-}" = --names ]; then
  # For `cargo publish`: other packages of the workspace are not for a registry.
  printf -- '--package=%s\n' "${names[@]}"
  exit
fi

need_tools
source=$PWD
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$source/target}"
# Dependencies with debug info would be built anew, at several times the disk.
export CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"
packages=$CARGO_TARGET_DIR/packages
# The limit of crates.io for one package, in bytes.
limit=$((10 * 1024 * 1024))

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
cargo package --quiet --locked --offline --allow-dirty --no-verify "${names[@]/#/--package=}"

rm -rf "$packages"
mkdir -p "$packages/.cargo"
# The packages stand for those of the registry. Their manifests have no paths to each other, so each is found here or nowhere.
printf '[net]\noffline = true\n\n[patch.crates-io]\n' >"$packages/.cargo/config.toml"
for name in "${names[@]}"; do
  file=$CARGO_TARGET_DIR/package/$name-$version.crate
  size=$(stat --format=%s "$file")
  printf '%9d bytes  %s\n' "$size" "$name"
  if [ "$size" -gt "$limit" ]; then
    echo "$file is larger than the registry accepts: $limit bytes" >&2
    exit 1
  fi
  tar --extract --gzip --file "$file" --directory "$packages"
  [ "$name" = kubesmith ] || echo "$name = { path = \"$name-$version\" }" >>"$packages/.cargo/config.toml"
done

# workspace FOLDER MEMBER...: a workspace with the locked versions of the repository, so that nothing new is resolved.
workspace() {
  local members
  members=$(printf '"%s", ' "${@:2}")
  printf '[workspace]\nresolver = "3"\nmembers = [%s]\n' "${members%, }" >"$1/Cargo.toml"
  cp "$source/Cargo.lock" "$1/Cargo.lock"
}

echo "== the command"
workspace "$packages" "kubesmith-$version"
cd "$packages"
cargo build --quiet --package kubesmith
# Later builds of the repository have the same name.
cp "$CARGO_TARGET_DIR/debug/kubesmith" "$packages/kubesmith"
kubesmith=$packages/kubesmith

echo "== a project of kubesmith init"
mkdir project
cd project
"$kubesmith" init --domain example.com --kubesmith-source published >/dev/null
cp "$source/Cargo.lock" Cargo.lock
"$kubesmith" create api --group shop --version v1 --kind Order >/dev/null
cargo test --quiet --workspace

echo "== the example of README.md"
mkdir -p "$packages/readme/api/src" "$packages/readme/program/src"
cd "$packages/readme"
# block INFO N: the Nth block of README.md with this info string.
block() {
  awk -v info="$1" -v number="$2" '
    $0 == "```" && inside { exit }
    inside { print }
    $0 == "```" info { count++; inside = count == number }
  ' "$source/README.md"
}
block toml 1 | sed 's/path = "[^"]*"/version = "'"$version"'"/' >api/Cargo.toml
block rust 1 >api/src/lib.rs
{ block rust,no_run 1; printf '\nfn main() {\n    drop(bake());\n}\n'; } >program/src/main.rs
cat >program/Cargo.toml <<TOML
[package]
name = "bakery"
version = "0.1.0"
edition = "2024"

[dependencies]
bakery-client = { path = "../client" }
k8s-openapi = { version = "0.29", features = ["v1_36"] }
kubesmith-runtime = "$version"
TOML
"$kubesmith" generate --input api --output client --crate-name bakery-client
workspace . api client program
cargo check --quiet --workspace
