//! The program, as its users start it.

use operator_testing::Needs;
use operator_testing::program::a_manager_runs;

use crate::support::cluster;

#[tokio::test]
async fn the_program_serves_and_ends() {
    let Some(cluster) = cluster(Needs::Api).await else { return };
    a_manager_runs(env!("CARGO_BIN_EXE_sample-controller"), cluster).await;
}
