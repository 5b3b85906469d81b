//! The metrics of the process, under the names of client_golang's process collector.
//!
//! Source: `process_collector_procfsenabled.go` of prometheus/client_golang, and proc(5).

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// The clock ticks of a second in the files of Linux (`USER_HZ`, time(7)).
const TICKS: f64 = 100.0;

/// Reads the files of the process when metrics are encoded. Systems other than Linux have none, and no such metrics.
#[derive(Debug)]
pub(super) struct ProcessCollector {
    proc: PathBuf,
}

/// The name, help and value of a metric; the names of counters lack `_total`.
type Sample = (&'static str, &'static str, MetricType, f64);

impl ProcessCollector {
    pub(super) fn new() -> Self {
        Self { proc: PathBuf::from("/proc") }
    }

    /// Reads the samples. Values that the files lack are omitted.
    fn samples(&self) -> Vec<Sample> {
        let own = self.proc.join("self");
        let stat = text(&own.join("stat"));
        // The name of the program, in parentheses, may contain anything.
        let fields: Vec<f64> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().map(number).collect();
        let field = |at: usize| fields.get(at).copied().filter(|value| value.is_finite());
        let (status, limits, system) =
            (text(&own.join("status")), text(&own.join("limits")), text(&self.proc.join("stat")));
        let limit = |name: &str| {
            after(&limits, name).map(|word| if word == "unlimited" { u64::MAX as f64 } else { number(word) })
        };
        let seconds = field(11).zip(field(12)).map(|(user, system)| (user + system) / TICKS);
        let booted = after(&system, "btime").map(number);
        let files = fs::read_dir(own.join("fd")).ok().map(|files| files.count() as f64);
        let started = booted.zip(field(19)).map(|(booted, ticks)| booted + ticks / TICKS);
        let resident = after(&status, "VmRSS:").map(|kilobytes| number(kilobytes) * 1024.0);
        use MetricType::{Counter, Gauge};
        [
            ("process_cpu_seconds", "Total user and system CPU time spent in seconds", Counter, seconds),
            ("process_max_fds", "Maximum number of open file descriptors", Gauge, limit("Max open files")),
            ("process_open_fds", "Number of open file descriptors", Gauge, files),
            ("process_resident_memory_bytes", "Resident memory size in bytes", Gauge, resident),
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds",
                Gauge,
                started,
            ),
            ("process_virtual_memory_bytes", "Virtual memory size in bytes", Gauge, field(20)),
            (
                "process_virtual_memory_max_bytes",
                "Maximum amount of virtual memory available in bytes",
                Gauge,
                limit("Max address space"),
            ),
        ]
        .into_iter()
        .filter_map(|(name, help, kind, value)| {
            Some((name, help, kind, value.filter(|value| value.is_finite())?))
        })
        .collect()
    }
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, help, kind, value) in self.samples() {
            let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
            match kind {
                MetricType::Counter => metric.encode_counter::<NoLabelSet, _, u64>(&value, None)?,
                _ => metric.encode_gauge(&value)?,
            }
        }
        Ok(())
    }
}

/// Reads a file; an unreadable one is empty.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the first word after this beginning of a line.
fn after<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(beginning)?.split_whitespace().next())
}

fn number(word: &str) -> f64 {
    word.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_process_become_metrics() {
        let proc = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(proc.path().join(path), text).unwrap();
        fs::create_dir_all(proc.path().join("self/fd/3")).unwrap();
        write("stat", "cpu  1 2\nbtime 1000\n");
        // A program whose name looks like fields.
        let fields = "S 1 1 1 0 -1 4194304 1 0 0 0 250 50 0 0 20 0 4 0 12345 8192 100";
        write("self/stat", &format!("7 (a) 9 (b) {fields} 18446744073709551615\n"));
        write("self/status", "Name:\ta\nVmSize:\t 9 kB\nVmRSS:\t    4 kB\n");
        write(
            "self/limits",
            "Limit Soft\nMax open files            1024                 4096  files\nMax address space         unlimited  unlimited bytes\n",
        );
        let collector = ProcessCollector { proc: proc.path().to_owned() };
        let samples: Vec<(&str, f64)> =
            collector.samples().iter().map(|(name, _, _, value)| (*name, *value)).collect();
        let expected = [
            ("process_cpu_seconds", 3.0),
            ("process_max_fds", 1024.0),
            ("process_open_fds", 1.0),
            ("process_resident_memory_bytes", 4096.0),
            ("process_start_time_seconds", 1123.45),
            ("process_virtual_memory_bytes", 8192.0),
            ("process_virtual_memory_max_bytes", 18_446_744_073_709_552_000.0),
        ];
        assert_eq!(samples, expected);
        assert!(ProcessCollector { proc: "/nowhere".into() }.samples().is_empty());
    }

    #[test]
    fn process_is_encoded_once() {
        let registry = super::super::Registry::new();
        registry.add_process();
        registry.add_process();
        let text = registry.encode();
        assert_eq!(
            text.matches("# TYPE process_cpu_seconds counter\n").count(),
            usize::from(cfg!(target_os = "linux")),
            "{text}"
        );
    }
}
