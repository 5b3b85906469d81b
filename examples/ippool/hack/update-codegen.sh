#!/usr/bin/env bash
# Regenerates all files that kubesmith.toml configures: the package ippool-client in client/ (clients, informers,
# listers), CRDs in config/crd/bases, roles and the other manifests in config/, dist/install.yaml, and the reference in docs/.
set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

"${KUBESMITH:-kubesmith}" generate
