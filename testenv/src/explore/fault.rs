//! Faults and their names.

use std::fmt;
use std::str::FromStr;

use super::hooks::WebhookFault;
use super::pods::PodFault;

/// The lists that are old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lists {
    All,
    /// Lists of the kinds that users apply: each resource has a cache of its own.
    Applied,
    /// Lists of all other kinds.
    Rest,
}

/// The age of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// The state before this number of operators' writes.
    Writes(u8),
    /// The state at the beginning of the step.
    Step,
    /// The state after the user's action this number of steps before.
    Back(u8),
    /// The state before this number of changes of custom resources.
    Changes(u8),
}

/// The state that old lists show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) age: Age,
    pub(super) lists: Lists,
}

/// The circumstances of an operator's restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    /// It starts at once.
    AtOnce,
    /// It starts after the user's next step.
    AfterStep,
    /// It starts at once, and lists that may be old are old.
    Stale(Past),
}

/// The time when a held watch continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// When the operator has nothing else to do.
    Quiet,
    /// A simulated minute later.
    Minute,
    /// After the user's next step.
    AfterStep,
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The operator crashes before it sends the request.
    CrashBefore(Restart),
    /// The operator crashes after the server has handled the request, before the response.
    CrashAfter(Restart),
    /// The operator crashes, and its request arrives when the next process has nothing else to do.
    CrashLate,
    /// The connection breaks before the request arrives.
    Unsent,
    /// The connection breaks after the server has handled the request.
    Lost,
    /// The server refuses the request.
    Status(u16),
    /// A user changes the object right before.
    Touch,
    /// Another controller creates the object right before, for an owner of its own.
    Taken,
    /// The request arrives late.
    Slow(Release),
    /// The operator pauses before the request for a minute, or until a minute after the user's next step.
    Pause(Release),
    /// The watch stalls before the event.
    Hold(Release),
    /// The watch stalls before the event and expires when it continues, so that the events meanwhile are never seen.
    Miss(Release),
    /// The watch ends before the event.
    Break,
    /// The watch ends with 410 before the event.
    Expire,
    /// As `Expire`, and lists that may be old are old.
    ExpireStale(Past),
    /// The garbage collector pauses right before. After the user's next step, it continues a minute later.
    Garbage(Release),
    /// Webhooks that the request leads to are in fault.
    Webhook(WebhookFault),
    /// Pods or their node fail before a user acts.
    Pods(PodFault),
    /// The operator is down while a user acts.
    Down,
    /// A user acts before all work has settled.
    Early,
    /// The server's clock jumps forward by an hour, or back.
    Clock { back: bool },
}

/// All states that old lists may show, the most effective first.
pub(super) fn pasts() -> impl Iterator<Item = Past> {
    use Age::{Back, Changes, Step, Writes};
    use Lists::{All, Applied, Rest};
    const PASTS: &[(Age, Lists)] = &[
        (Step, Applied),
        (Back(1), Applied),
        (Step, All),
        (Changes(1), Applied),
        (Back(1), All),
        (Writes(1), All),
        (Back(2), Applied),
        (Step, Rest),
        (Changes(2), Applied),
        (Back(2), All),
        (Changes(3), Applied),
        (Writes(2), All),
        (Back(1), Rest),
        (Changes(1), All),
        (Writes(1), Rest),
        (Changes(4), Applied),
        (Back(3), Applied),
        (Changes(2), All),
        (Writes(2), Rest),
    ];
    PASTS.iter().map(|(age, lists)| Past { age: *age, lists: *lists })
}

/// All faults.
pub(super) fn all() -> impl Iterator<Item = Fault> {
    let restarts = [Restart::AtOnce, Restart::AfterStep].into_iter().chain(pasts().map(Restart::Stale));
    let crashes = restarts.flat_map(|restart| [Fault::CrashBefore(restart), Fault::CrashAfter(restart)]);
    let releases = [Release::Quiet, Release::Minute, Release::AfterStep];
    let held = releases.into_iter().flat_map(|release| {
        [Fault::Slow, Fault::Hold, Fault::Miss, Fault::Garbage].map(|fault| fault(release))
    });
    let others = [
        Fault::CrashLate,
        Fault::Unsent,
        Fault::Lost,
        Fault::Touch,
        Fault::Taken,
        Fault::Pause(Release::Minute),
        Fault::Pause(Release::AfterStep),
        Fault::Break,
        Fault::Expire,
        Fault::Down,
        Fault::Early,
        Fault::Clock { back: false },
        Fault::Clock { back: true },
    ];
    let webhooks = [WebhookFault::Down, WebhookFault::Fails, WebhookFault::Slow].map(Fault::Webhook);
    let pods = PodFault::ALL.into_iter().map(Fault::Pods);
    let codes = [409, 410, 429, 500, 504].map(Fault::Status);
    crashes
        .chain(held)
        .chain(others)
        .chain(webhooks)
        .chain(pods)
        .chain(codes)
        .chain(pasts().map(Fault::ExpireStale))
}

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.age {
            Age::Writes(n) => write!(f, "-stale-writes-{n}")?,
            Age::Step => f.write_str("-stale-step")?,
            Age::Back(n) => write!(f, "-stale-back-{n}")?,
            Age::Changes(n) => write!(f, "-stale-{n}")?,
        }
        f.write_str(match self.lists {
            Lists::All => "",
            Lists::Applied => "-applied",
            Lists::Rest => "-rest",
        })
    }
}

impl fmt::Display for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtOnce => Ok(()),
            Self::AfterStep => f.write_str("-down"),
            Self::Stale(past) => past.fmt(f),
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quiet => "",
            Self::Minute => "-minute",
            Self::AfterStep => "-step",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CrashBefore(restart) => write!(f, "crash-before{restart}"),
            Self::CrashAfter(restart) => write!(f, "crash-after{restart}"),
            Self::CrashLate => f.write_str("crash-late"),
            Self::Unsent => f.write_str("unsent"),
            Self::Lost => f.write_str("lost"),
            Self::Status(code) => write!(f, "status-{code}"),
            Self::Touch => f.write_str("touch"),
            Self::Taken => f.write_str("taken"),
            Self::Slow(release) => write!(f, "slow{release}"),
            Self::Pause(release) => write!(f, "pause{release}"),
            Self::Hold(release) => write!(f, "hold{release}"),
            Self::Miss(release) => write!(f, "miss{release}"),
            Self::Break => f.write_str("break"),
            Self::Expire => f.write_str("expire"),
            Self::ExpireStale(past) => write!(f, "expire{past}"),
            Self::Garbage(release) => write!(f, "garbage{release}"),
            Self::Pods(fault) => fault.fmt(f),
            Self::Webhook(fault) => write!(f, "webhook-{fault}"),
            Self::Down => f.write_str("down"),
            Self::Early => f.write_str("early"),
            Self::Clock { back } => f.write_str(if *back { "clock-back" } else { "clock-forward" }),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        all().find(|fault| fault.to_string() == text).ok_or_else(|| format!("there is no fault {text:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_is_read_back_from_its_name() {
        let faults: Vec<Fault> = all().collect();
        for fault in &faults {
            assert_eq!(fault.to_string().parse(), Ok(*fault));
        }
        assert!("crash-during".parse::<Fault>().is_err());
    }
}
