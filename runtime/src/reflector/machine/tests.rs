use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::{Action, Failure, Input, Machine, Request, goes_back};
use crate::random::seeded;

fn machine(now: Instant, streaming: bool) -> Machine {
    Machine::new(now, streaming, seeded(7))
}

fn sent(action: Action) -> Request {
    match action {
        Action::Send(request) | Action::Commit { then: Some(request), .. } => request,
        other => panic!("nothing is sent: {other:?}"),
    }
}

fn version_of(request: &Request) -> &str {
    match request {
        Request::List { version, .. } | Request::Watch { version, .. } => version,
    }
}

#[test]
fn versions_of_lists_follow_client_go() {
    let now = Instant::now();
    let mut machine = machine(now, false);
    let first = sent(machine.on(now, Input::Deadline));
    assert!(matches!(&first, Request::List { version, limit: Some(500), .. } if version == "0"));
    machine.on(now, Input::Opened);
    let watch = sent(machine.on(now, Input::PageEnd { version: "7", continue_token: None }));
    assert_eq!(version_of(&watch), "7");
    // Refused for another reason than the version: list at the last seen version, which is not paged.
    machine.on(now, Input::Failed(Failure::Refused { code: 403, retry_after: None }));
    let later = machine.deadline();
    let again = sent(machine.on(later, Input::Deadline));
    assert!(matches!(&again, Request::List { version, limit: None, .. } if version == "7"));
    // That version is gone: list the newest state at once.
    let newest = sent(machine.on(later, Input::Failed(Failure::Expired)));
    assert!(matches!(&newest, Request::List { version, limit: Some(500), .. } if version.is_empty()));
    // Gone again: wait, so that there is no hot loop.
    assert_eq!(machine.on(later, Input::Failed(Failure::Expired)), Action::Wait);
}

#[test]
fn backoff_starts_over_after_two_quiet_minutes() {
    let mut now = Instant::now();
    let mut machine = machine(now, true);
    machine.on(now, Input::Deadline);
    for _ in 0..8 {
        assert_eq!(machine.on(now, Input::Failed(Failure::Transport)), Action::Wait);
        now = machine.deadline();
        sent(machine.on(now, Input::Deadline));
    }
    machine.on(now, Input::Failed(Failure::Transport));
    assert!(machine.deadline() - now >= Duration::from_secs(30));
    now = machine.deadline() + Duration::from_secs(120);
    sent(machine.on(now, Input::Deadline));
    machine.on(now, Input::Failed(Failure::Transport));
    assert!(machine.deadline() - now <= Duration::from_millis(1600));
}

#[test]
fn versions_are_compared_as_numbers() {
    assert!(goes_back("10", "9"));
    assert!(!goes_back("9", "10"));
    assert!(!goes_back("9", "9"));
    assert!(!goes_back("", "9"));
    assert!(!goes_back("9", "abc"));
}

#[test]
fn late_inputs_change_nothing() {
    let now = Instant::now();
    let mut machine = machine(now, true);
    machine.on(now, Input::Deadline);
    assert_eq!(machine.on(now, Input::Failed(Failure::Transport)), Action::Wait);
    assert_eq!(machine.on(now, Input::Opened), Action::Continue);
    assert_eq!(machine.on(now, Input::Object { version: Some("1") }), Action::Continue);
    assert_eq!(machine.on(now, Input::Ended), Action::Continue);
    assert_eq!(machine.on(now, Input::Deadline), Action::Continue, "the wait is not over");
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Object(u32),
    Bookmark(u32, bool),
    Page(u32, bool),
    Ended,
    Failed(Failure),
    Opened,
    Time(u16),
}

fn happening() -> impl Strategy<Value = Happening> {
    let failure = prop_oneof![
        Just(Failure::Expired),
        Just(Failure::TooLarge),
        Just(Failure::TooManyRequests { retry_after: Some(Duration::from_secs(5)) }),
        (400_u16..600).prop_map(|code| Failure::Refused { code, retry_after: None }),
        Just(Failure::Transport),
        Just(Failure::Malformed),
    ];
    prop_oneof![
        (0_u32..100).prop_map(Happening::Object),
        (0_u32..100, any::<bool>()).prop_map(|(version, end)| Happening::Bookmark(version, end)),
        (0_u32..100, any::<bool>()).prop_map(|(version, more)| Happening::Page(version, more)),
        Just(Happening::Ended),
        failure.prop_map(Happening::Failed),
        Just(Happening::Opened),
        any::<u16>().prop_map(Happening::Time),
    ]
}

proptest! {
    /// The machine never gets stuck: after its deadline it sends or waits, and it does not send requests without
    /// end at one moment.
    #[test]
    fn machine_never_gets_stuck(happenings in proptest::collection::vec(happening(), 0..60), streaming in any::<bool>()) {
        let mut now = Instant::now();
        let mut machine = machine(now, streaming);
        for happening in happenings {
            match happening {
                Happening::Object(version) => {
                    machine.on(now, Input::Object { version: Some(&version.to_string()) });
                }
                Happening::Bookmark(version, initial_events_end) => {
                    machine.on(now, Input::Bookmark { version: &version.to_string(), initial_events_end });
                }
                Happening::Page(version, more) => {
                    let token = more.then_some("token");
                    machine.on(now, Input::PageEnd { version: &version.to_string(), continue_token: token });
                }
                Happening::Ended => {
                    machine.on(now, Input::Ended);
                }
                Happening::Failed(failure) => {
                    machine.on(now, Input::Failed(failure));
                }
                Happening::Opened => {
                    machine.on(now, Input::Opened);
                }
                Happening::Time(seconds) => now += Duration::from_secs(u64::from(seconds) % 700),
            }
        }
        for _ in 0..3 {
            now = now.max(machine.deadline());
            let action = machine.on(now, Input::Deadline);
            prop_assert!(matches!(action, Action::Send(_) | Action::Wait), "{action:?}");
            prop_assert!(machine.deadline() > now);
        }
        // If all requests fail at one moment, only a bounded number is sent before a wait.
        let mut requests = 0;
        while !matches!(machine.on(now, Input::Failed(Failure::Expired)), Action::Wait | Action::Continue) {
            requests += 1;
            prop_assert!(requests < 5);
        }
    }
}
