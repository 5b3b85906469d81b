//! The part of the conversions that cannot be derived. The rest is in the generated `conversions::stable::cron_tab`,
//! and the compiler reports missing parts.

use crontab_api::{v1, v1beta1};
use crontab_client::conversions::stable::cron_tab::{
    ConversionFuncs, auto_convert_v1_cron_tab_to_v1beta1_cron_tab,
    auto_convert_v1beta1_cron_tab_to_v1_cron_tab,
};
use kubesmith_runtime::conversion::{ConversionError, ConversionResult};

/// v1beta1's annotation for the time zone, for which it has no field.
const TIME_ZONE: &str = "stable.example.com/time-zone";

/// The conversions of CronTabs.
#[derive(Clone, Copy, Debug)]
pub struct CronTabs;

impl ConversionFuncs for CronTabs {
    /// Joins the five parts to a line.
    fn convert_v1beta1_cron_tab_spec_to_v1_cron_tab_spec_schedule(
        &self,
        input: &v1beta1::CronTabSpec,
    ) -> ConversionResult<v1::Schedule> {
        let parts: Vec<&str> = input.schedule.split_whitespace().collect();
        let [minute, hour, day_of_month, month, day_of_week] = parts[..] else {
            let line = &input.schedule;
            return Err(ConversionError::new(format!("spec.schedule has to have five parts: {line:?}")));
        };
        let part = |text: &str| Some(text.to_owned());
        Ok(v1::Schedule {
            minute: part(minute),
            hour: part(hour),
            day_of_month: part(day_of_month),
            month: part(month),
            day_of_week: part(day_of_week),
        })
    }

    /// A part that is not set matches any value.
    fn convert_v1_cron_tab_spec_to_v1beta1_cron_tab_spec_schedule(
        &self,
        input: &v1::CronTabSpec,
    ) -> ConversionResult<String> {
        let v1::Schedule { minute, hour, day_of_month, month, day_of_week } = &input.schedule;
        let parts = [minute, hour, day_of_month, month, day_of_week];
        Ok(parts.map(|part| part.as_deref().unwrap_or("*")).join(" "))
    }

    fn convert_v1_cron_tab_to_v1beta1_cron_tab(
        &self,
        input: &v1::CronTab,
    ) -> ConversionResult<v1beta1::CronTab> {
        let mut output = auto_convert_v1_cron_tab_to_v1beta1_cron_tab(self, input)?;
        if let Some(zone) = &input.spec.time_zone {
            let annotations = output.metadata.annotations.get_or_insert_default();
            annotations.insert(TIME_ZONE.to_owned(), zone.clone());
        }
        Ok(output)
    }

    fn convert_v1beta1_cron_tab_to_v1_cron_tab(
        &self,
        input: &v1beta1::CronTab,
    ) -> ConversionResult<v1::CronTab> {
        let mut output = auto_convert_v1beta1_cron_tab_to_v1_cron_tab(self, input)?;
        if let Some(annotations) = &mut output.metadata.annotations {
            output.spec.time_zone = annotations.remove(TIME_ZONE);
        }
        output.metadata.annotations.take_if(|annotations| annotations.is_empty());
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use crontab_client::defaults::SetDefaults as _;
    use kubesmith_runtime::conversion::RoundTrip;

    use super::*;

    fn stored(minute: &str, zone: Option<&str>) -> v1::CronTab {
        let mut tab = v1::CronTab::default();
        tab.spec.schedule.minute = Some(minute.to_owned());
        tab.spec.time_zone = zone.map(str::to_owned);
        tab.spec.image = "backup".to_owned();
        // As an API server does.
        tab.set_defaults();
        tab
    }

    #[test]
    fn v1_round_trips_through_v1beta1() {
        let trip = RoundTrip::new(
            |tab: &v1::CronTab| CronTabs.convert_v1_cron_tab_to_v1beta1_cron_tab(tab),
            |old: &v1beta1::CronTab| CronTabs.convert_v1beta1_cron_tab_to_v1_cron_tab(old),
        );
        for minute in ["*", "5", "*/10", "0,30"] {
            for zone in [None, Some("Europe/Rome")] {
                assert_eq!(trip.check(&stored(minute, zone)), Ok(()));
            }
        }
    }

    #[test]
    fn schedule_line_is_split_into_its_parts() {
        let old = CronTabs.convert_v1_cron_tab_to_v1beta1_cron_tab(&stored("*/5", None)).unwrap();
        assert_eq!((old.spec.schedule.as_str(), old.spec.replicas), ("*/5 * * * *", Some(1)));
        let short = v1beta1::CronTabSpec { schedule: "* *".to_owned(), ..old.spec };
        let error = CronTabs.convert_v1beta1_cron_tab_spec_to_v1_cron_tab_spec(&short).unwrap_err();
        assert_eq!(error.to_string(), r#"spec.schedule has to have five parts: "* *""#);
    }
}
