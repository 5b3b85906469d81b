//! Any bytes as a request to the embedded server: `cargo +nightly fuzz run request fuzz/corpus/request fuzz/seeds/request`.
//!
//! The tests of testenv hold the same function to mutated requests.
#![no_main]

#[path = "../../testenv/tests/it/hostile/requests.rs"]
mod requests;

use kubesmith_testenv::TestEnv;
use libfuzzer_sys::fuzz_target;
use tokio::runtime::Builder;

fuzz_target!(|input: &[u8]| {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    runtime.block_on(async {
        let env = TestEnv::builder().start().await.expect("the server starts");
        requests::send(&env, input).await;
        requests::check(&env).await;
        env.stop().await;
    });
});
