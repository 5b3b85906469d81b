#!/usr/bin/env bash
# Runs the tests. Arguments go to `cargo test`. Those that need nginx, PostgreSQL, promtool or a
# built program are ignored; hack/e2e-operators.sh and hack/alerts.sh run them.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

need_tools
need git git
# The shell has a builtin of the same name, which other programs cannot start.
type -P kill >/dev/null || install_packages procps
cargo test --locked --workspace "$@"
