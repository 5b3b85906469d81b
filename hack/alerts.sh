#!/usr/bin/env bash
# Tests the generated alerts with Prometheus' promtool: each fires on its fault, and none on a healthy
# operator. Installs Debian's package of promtool if it is missing.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

need_tools
need_program promtool prometheus
run_test codegen-cli it --ignored alerts
