#!/usr/bin/env bash
# Tests a project of `kubesmith init` and `kubesmith create`, in the target folder: it compiles without
# warnings, passes its tests, is formatted, its generated files are up to date, and its Makefile installs
# their objects.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

need_tools
need make make
need kubectl kubernetes-client
need python3 python3
source=$PWD
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$source/target}"
# The project has no profile of its own.
build_as_ci
project=$CARGO_TARGET_DIR/scaffold/pools

build_kubesmith --quiet
rm -rf "$project"
mkdir -p "$project"
cd "$project"
"$kubesmith" init --domain example.com --kubesmith-source "$source"
(cd "$source" && share_dependencies "$project")
cargo check --quiet --workspace
"$kubesmith" create api --group tsi --version v1alpha1 --kind IPPool --scope Cluster
"$kubesmith" create api --group shop --version v1beta1 --kind OrderOfManyThings
"$kubesmith" create webhook --group tsi --version v1alpha1 --kind IPPool --defaulting --programmatic-validation
"$kubesmith" create api --group tsi --version v1 --kind IPPool
"$kubesmith" create webhook --group tsi --version v1alpha1 --kind IPPool --conversion
# A kind of another group, with the name of a module.
"$kubesmith" create api --group shop --version v1beta1 --kind IPPool --controller=false
"$kubesmith" create webhook --group shop --version v1beta1 --kind IPPool --defaulting
"$kubesmith" create api --group pool --version v1 --kind Pool
cargo fmt --check
cargo clippy --quiet --workspace --all-targets -- -D warnings
cargo test --quiet --workspace
# An image of another name is installed through an overlay, and the project's files do not change.
make --silent deploy IMG=registry.example.com/pools:v2 KUBESMITH="$kubesmith" KUBECTL=true
built=$(kubectl kustomize target/deploy)
grep --quiet 'image: registry.example.com/pools:v2' <<<"$built"
KUBESMITH=$kubesmith hack/verify-codegen.sh
