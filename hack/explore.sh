#!/usr/bin/env bash
# Explores the examples and a controller of kube-runtime at length: hack/explore.sh [SCHEDULES] [SECONDS], each at most, for each operator.
# Pages with timelines, and files that replay failures, are written into target/explore.
set -o errexit -o nounset -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_tools
mkdir -p target/explore
export KUBESMITH_EXPLORE="schedules=${1:-10000},seconds=${2:-600},report=$PWD/target/explore"
status=0
explore() {
  # Without optimisation across crates, which takes minutes and makes the runs little faster.
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
