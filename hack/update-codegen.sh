#!/usr/bin/env bash
# Writes every generated file of the examples and of the book again.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

build_kubesmith --quiet
"$kubesmith" generate
