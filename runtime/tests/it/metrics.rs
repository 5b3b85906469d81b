//! The registry's text.

use kubesmith_runtime::metrics::{Registry, exponential_buckets};

#[test]
fn text_is_ordered_and_escaped() {
    let registry = Registry::new();
    registry.gauge("b", "Second.", &[]).set(1.5);
    let first = registry.counter("a_total", "First\nline.", &[("key", "quote \" slash \\ line \n")]);
    first.inc();
    registry.counter("a_total", "ignored", &[("key", "other")]).add(2.0);
    let expected = concat!(
        "# HELP a_total First\\nline.\n# TYPE a_total counter\n",
        "a_total{key=\"other\"} 2\n",
        "a_total{key=\"quote \\\" slash \\\\ line \\n\"} 1\n",
        "# HELP b Second.\n# TYPE b gauge\nb 1.5\n",
    );
    assert_eq!(registry.encode(), expected);
}

#[test]
fn histograms_are_cumulative() {
    let registry = Registry::new();
    let seconds = registry.histogram("t", "Time.", &[("x", "y")], &exponential_buckets(0.1, 10.0, 2));
    for value in [0.05, 0.1, 0.5, 7.0] {
        seconds.observe(value);
    }
    assert_eq!(seconds.count(), 4);
    let expected = concat!(
        "# HELP t Time.\n# TYPE t histogram\n",
        "t_bucket{x=\"y\",le=\"0.1\"} 2\nt_bucket{x=\"y\",le=\"1.0\"} 3\nt_bucket{x=\"y\",le=\"+Inf\"} 4\n",
        "t_sum{x=\"y\"} 7.65\nt_count{x=\"y\"} 4\n",
    );
    assert_eq!(registry.encode(), expected);
}

#[test]
fn asking_twice_gives_the_same_metric_and_a_clash_appears_nowhere() {
    let registry = Registry::new();
    registry.counter("a", "A.", &[]).inc();
    registry.counter("a", "A.", &[]).inc();
    registry.gauge("a", "A.", &[]).set(9.0);
    assert_eq!(registry.encode(), "# HELP a A.\n# TYPE a counter\na 2\n");
}

#[test]
fn read_values_can_be_replaced_and_left_out() {
    let registry = Registry::new();
    registry.gauge_fn("a", "A.", &[], || Some(1.0));
    registry.gauge_fn("a", "A.", &[], || Some(2.0));
    registry.gauge_fn("b", "B.", &[], || None);
    assert_eq!(registry.encode(), "# HELP a A.\n# TYPE a gauge\na 2\n# HELP b B.\n# TYPE b gauge\n");
}
