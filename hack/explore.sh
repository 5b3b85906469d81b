#!/usr/bin/env bash
# Explores EcsBinding, Sample-controller and a controller of kube-runtime at length: hack/explore.sh [SCHEDULES] [SECONDS], each at most,
# for each operator. Pages with timelines, and files that replay failures, are written into target/explore.
set -o errexit -o nounset -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_tools
mkdir -p target/explore
export KUBESMITH_EXPLORE="schedules=${1:-10000},seconds=${2:-600},report=$PWD/target/explore"
status=0
for package in ecsbinding-controller sample-controller; do
  cargo test --locked --release --package "$package" --test e2e survives -- --nocapture || status=1
done
cargo test --locked --release --package kubesmith-e2e-kube-rs --test controller controller_survives -- --nocapture || status=1
exit "$status"
