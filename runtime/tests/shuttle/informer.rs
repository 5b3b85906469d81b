//! The informer's mailbox, and its cases.

#[path = "../../src/informer/handler.rs"]
mod handler;
#[path = "../../src/informer/mailbox.rs"]
mod mailbox;

use std::collections::VecDeque;
use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::thread;

use crate::cache::ObjectKey;
use handler::{Deleted, EventKind};
use mailbox::{Delivery, Mailbox};

fn update(name: &str, state: u32) -> Delivery<u32> {
    let (key, state) = (ObjectKey::cluster(name), Arc::new(state));
    Delivery::Update { key, old: state.clone(), new: state }
}

pub(crate) fn mailbox_hands_over_the_last_state() {
    const LAST: u32 = 4;
    let mailbox = Arc::new(Mailbox::new(2));
    let handler = {
        let mailbox = mailbox.clone();
        thread::spawn(move || {
            let mut seen = [0, 0];
            block_on(async {
                while seen != [LAST, LAST] {
                    for delivery in mailbox.take(VecDeque::new()).await.unwrap().into_iter().flatten() {
                        let Delivery::Update { key, new, .. } = delivery else { continue };
                        let place = usize::from(key.name() == "b");
                        assert!(*new > seen[place], "backwards");
                        seen[place] = *new;
                    }
                }
            });
        })
    };
    for state in 1..=LAST {
        mailbox.push_all([update("a", state), update("b", state)].into_iter());
    }
    handler.join().unwrap();
}

pub(crate) fn mailbox_ends_a_waiting_handler() {
    let mailbox = Arc::new(Mailbox::new(1));
    let handler = {
        let mailbox = mailbox.clone();
        thread::spawn(move || block_on(async { while mailbox.take(VecDeque::new()).await.is_some() {} }))
    };
    let pusher = {
        let mailbox = mailbox.clone();
        thread::spawn(move || {
            mailbox.push_all(std::iter::once(update("a", 1)));
            mailbox.push_all(std::iter::once(update("a", 2)));
        })
    };
    mailbox.close();
    handler.join().unwrap();
    pusher.join().unwrap();
}
