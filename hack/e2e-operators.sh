#!/usr/bin/env bash
# Tests the example operators with the programs that their users have: Balancer with a real nginx,
# PostgresWriter with a real PostgreSQL. The tests start and stop these, in networks and folders of their own.
# The other operators run over sockets on an existing cluster: that of KUBECONFIG if USE_EXISTING_CLUSTER is
# true, otherwise `kubesmith serve`. CronTab is installed by its chart and upgraded from an older API. Its
# objects are migrated while processes are killed. If Helm is available, it installs and upgrades CronTab, and
# renders the charts of all operators with many values.
#
#   hack/e2e-operators.sh                            all of them
#   hack/e2e-operators.sh balancer|postgreswriter|ecsbinding|ippool|sample-controller|podwatch|crontab ...
#   hack/e2e-operators.sh --ignored balancer ...     only the tests that hack/test.sh ignores
#
# Installs missing programs with Debian's package manager. Elsewhere, the tests that need nginx or PostgreSQL
# are ignored. Tests that an existing cluster cannot run, such as those of a missing CRD, are listed as
# ignored; hack/test.sh runs them.
set -o errexit -o nounset -o pipefail
source "$(dirname "$0")/lib.sh"

# With these variables, the tests would start a control plane, which they do not need.
unset KUBEBUILDER_ASSETS TEST_ASSET_ETCD TEST_ASSET_KUBE_APISERVER
ignored=--include-ignored
# `--ignored` would also run the tests that change CRDs.
everybodys=()
[ "${USE_EXISTING_CLUSTER:-}" != true ] || everybodys=(--skip lax_crd --skip crd_without_the_status)

install_balancer() {
  # Debian's nginx is off the PATH of most users, and its stream module is a package of its own.
  PATH=$PATH:/usr/sbin need nginx nginx
  [ -e /usr/lib/nginx/modules/ngx_stream_module.so ] || PATH=$PATH:/usr/sbin nginx -V 2>&1 |
    grep -q -- '--with-stream ' || install_packages libnginx-mod-stream
  need ip iproute2
}

install_postgreswriter() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || need initdb postgresql
}

run_balancer() {
  install_balancer
  # Another test makes the network namespaces and starts these tests in them.
  run_test examples/balancer/controller e2e "$ignored" --skip nginx::inside:: "${everybodys[@]}"
}

run_postgreswriter() {
  install_postgreswriter
  run_test examples/postgreswriter/controller e2e "$ignored" "${everybodys[@]}"
}

run_ecsbinding() {
  on_a_cluster examples/ecsbinding/controller e2e
}

run_ippool() {
  on_a_cluster examples/ippool/controller ip_pool
  on_a_cluster examples/ippool/controller manager
}

run_sample-controller() {
  on_a_cluster examples/sample-controller/controller e2e
}

run_podwatch() {
  on_a_cluster examples/podwatch steps
}

run_crontab() {
  # Without Helm, hack/test.sh has run these tests already.
  if find_helm; then run_test codegen-cli it helm::; fi
  # The tests of its package build the program. Only the embedded server can reach it through its Service.
  cargo test --quiet --locked --workspace --test survives --no-run
  CRONTAB_WEBHOOK=$(realpath "$target/debug/crontab-webhook") USE_EXISTING_CLUSTER= \
    run_test codegen-cli it --ignored helm::upgrade
  need openssl openssl
  build_kubesmith --quiet
  hack/migration.py --objects 2000 --kills 4 --rate 150 --kubesmith "$kubesmith" --webhook "$target/debug/crontab-webhook"
}

on_a_cluster() {
  [ "${USE_EXISTING_CLUSTER:-}" = true ] || [ -n "$server" ] || serve "$target/e2e-operators/$operator"
  USE_EXISTING_CLUSTER=true run_test "$@"
}

if [ "${1:-}" = --ignored ]; then
  ignored=--ignored
  shift
fi
need_tools
[ $# -gt 0 ] || set -- balancer postgreswriter ecsbinding ippool sample-controller podwatch crontab
# If this script starts the clusters, each operator has its own. The tests wait for leases and time limits by
# the real clock, so the operators run in parallel.
at_once=()
for operator; do
  case $operator/${USE_EXISTING_CLUSTER:-} in
    balancer/* | postgreswriter/* | */true)
      echo "-- $operator"
      "run_$operator"
      ;;
    *)
      mkdir -p "$target/e2e-operators/$operator"
      "run_$operator" >"$target/e2e-operators/$operator/test.log" 2>&1 &
      at_once+=("$operator" $!)
      ;;
  esac
done
status=0
set -- "${at_once[@]}"
while [ $# -gt 0 ]; do
  wait "$2" || status=1
  echo "-- $1"
  cat "$target/e2e-operators/$1/test.log"
  shift 2
done
exit $status
