#!/usr/bin/env bash
# Runs unmodified clients against `kubesmith serve`: kubectl, the Python client, the JavaScript client, a
# kube-rs controller.
#
#   hack/e2e.sh                        all of them
#   hack/e2e.sh kubectl|python|node|kube-rs ...
#
# Installs missing programs with Debian's package manager. The Python and JavaScript clients come from PyPI
# and npm, into the target folder.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

work=$target/e2e

run_kubectl() {
  need kubectl kubernetes-client
  e2e/kubectl.sh
}

run_python() {
  need python3 python3
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
  [ -x "$work/python/bin/pip" ] || python3 -m venv "$work/python"
  "$work/python/bin/pip" install --quiet --disable-pip-version-check --requirement e2e/python/requirements.txt
  "$work/python/bin/python" e2e/python/test_client.py
}

run_node() {
  need node nodejs
  need npm npm
  mkdir -p "$work/node"
  cp e2e/node/* "$work/node/"
  (cd "$work/node" && npm install --silent --no-audit --no-fund --no-package-lock && npm test --silent)
}

run_kube-rs() {
  KUBESMITH_E2E_KUBECONFIG=$KUBECONFIG run_test e2e/kube-rs controller
}

need_tools
serve "$work" --crds e2e/crds
[ $# -gt 0 ] || set -- kubectl python node kube-rs
for client; do
  echo "-- $client"
  "run_$client"
done
