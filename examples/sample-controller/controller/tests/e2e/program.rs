//! The program, as its users start it.

use operator_testing::Needs;
use operator_testing::program::a_manager_runs;

use crate::support::cluster;

#[tokio::test]
async fn program_serves_and_ends() {
    let cluster = cluster(Needs::Api).await;
    a_manager_runs(env!("CARGO_BIN_EXE_sample-controller"), &[], cluster).await;
}
