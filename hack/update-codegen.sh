#!/usr/bin/env bash
# Writes every generated file of the examples anew.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

cargo run --quiet --locked --package kubesmith -- generate
