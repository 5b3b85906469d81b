#!/usr/bin/env bash
# Fails with a diff if a generated file of the examples is out of date. Writes nothing.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

build_kubesmith --quiet
if ! "$kubesmith" generate --check; then
  echo "generated code is out of date: run hack/update-codegen.sh" >&2
  exit 1
fi
