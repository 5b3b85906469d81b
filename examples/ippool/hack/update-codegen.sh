#!/usr/bin/env bash
# Writes every generated file anew: clients, informers, listers, CRDs, roles, manifests.
set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

"${KUBESMITH:-kubesmith}" generate
