#!/usr/bin/env bash
# Prints a diff and fails if a generated file is out of date. Writes nothing.
set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! "${KUBESMITH:-kubesmith}" generate --check; then
  echo "generated code is out of date: run hack/update-codegen.sh" >&2
  exit 1
fi
