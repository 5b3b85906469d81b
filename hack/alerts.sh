#!/usr/bin/env bash
# The generated alerts in Prometheus' own evaluation: each fires on its fault, and none on a healthy operator. If promtool is
# missing, it comes from Debian's package.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

need_tools
need_program promtool prometheus
run_test codegen-cli it --ignored alerts
