#!/usr/bin/env bash
# Passes the tests. Arguments go to `cargo test`.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

need_tools
cargo test --locked --workspace "$@"
