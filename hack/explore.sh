#!/usr/bin/env bash
# Explores the examples and a controller of kube-runtime.
#
#   hack/explore.sh [SCHEDULES] [SECONDS]   at length: each at most, for each operator
#   hack/explore.sh --built                 200 schedules for each operator that explores fewer in hack/test.sh, which has built it
#
# Pages with timelines, and files that replay failures, are written into target/explore.
set -o errexit -o nounset -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_tools
mkdir -p "$target/explore"
report=$(realpath "$target/explore")
status=0
if [ "${1:-}" = --built ]; then
  export KUBESMITH_EXPLORE="schedules=200,seconds=900,report=$report"
  # Each program runs in one thread.
  explorers=()
  for test in balancer/controller/e2e crontab/webhook/survives ippool/controller/survives sample-controller/controller/e2e; do
    run_test "examples/${test%/*}" "${test##*/}" survives &
    explorers+=($!)
  done
  for explorer in "${explorers[@]}"; do
    wait "$explorer" || status=1
  done
  exit "$status"
fi
export KUBESMITH_EXPLORE="schedules=${1:-10000},seconds=${2:-600},report=$report"
explore() {
  # Without optimisation across crates, which takes minutes and hardly makes the runs faster.
  CARGO_PROFILE_RELEASE_LTO=off cargo test --locked --release "$@" -- --nocapture || status=1
}
for package in balancer-controller ecsbinding-controller postgreswriter-controller sample-controller; do
  explore --package "$package" --test e2e survives
done
explore --package ippool-controller --test survives
explore --package podwatch --test survives
explore --package crontab-webhook --test survives
explore --package kubesmith-e2e-kube-rs --test controller controller_survives
exit "$status"
