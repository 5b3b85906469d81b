//! The settings of an exploration.

use std::path::PathBuf;
use std::time::Duration;

use super::plan::Plan;

/// The variable that changes seed and budgets, or replays a schedule.
pub(super) const VARIABLE: &str = "KUBESMITH_EXPLORE";

/// The budgets of an exploration.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) seed: u64,
    /// The limit of schedules with faults.
    pub(super) schedules: usize,
    pub(super) time: Duration,
    /// The machine's time without progress after which an operator is in an endless loop.
    pub(super) stuck: Duration,
    /// The only schedule to run.
    pub(super) plan: Option<Plan>,
    /// The folder for a page about the exploration, and a file that replays a failure.
    pub(super) report: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            schedules: 1000,
            time: Duration::from_secs(50),
            stuck: Duration::from_secs(30),
            plan: None,
            report: None,
        }
    }
}

impl Settings {
    /// Applies a text such as `seed=7,schedules=1000,seconds=30`, `seed=7,plan=...` or `replay=FILE`.
    pub(super) fn read(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (key, value) = rest.split_once('=').ok_or_else(|| format!("{rest:?} has no value"))?;
            if key == "plan" {
                self.plan = Some(value.parse()?);
                return Ok(());
            }
            let (value, more) = value.split_once(',').unwrap_or((value, ""));
            match key {
                "report" => self.report = Some(value.into()),
                "replay" => {
                    let text = std::fs::read_to_string(value).map_err(|error| format!("{value}: {error}"))?;
                    self.read(&text)?;
                }
                _ => self.read_number(key, value)?,
            }
            rest = more.trim();
        }
        Ok(())
    }

    fn read_number(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number: u64 = value.parse().map_err(|_| format!("{key}={value:?} is not a number"))?;
        match key {
            "seed" => self.seed = number,
            "schedules" => self.schedules = usize::try_from(number).unwrap_or(usize::MAX),
            "seconds" => self.time = Duration::from_secs(number),
            _ => {
                return Err(format!(
                    "there is no setting {key:?}: seed, schedules, seconds, report, replay and plan exist"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_text() {
        let mut settings = Settings::default();
        settings.read("seed=7,schedules=3,seconds=5,plan=lost@create a#0; order@2").unwrap();
        assert_eq!((settings.seed, settings.schedules, settings.time.as_secs()), (7, 3, 5));
        assert_eq!(settings.plan.unwrap().faults.len(), 1);
        assert!(Settings::default().read("sed=7").is_err() && Settings::default().read("seed").is_err());
    }
}
