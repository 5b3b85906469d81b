use super::*;

#[test]
fn text_is_ordered_and_escaped() {
    let registry = Registry::new();
    registry.gauge("b", "Second.", &[]).set(1.5);
    registry.counter("a_total", "First\nline.", &[("key", "quote \" slash \\ line \n")]).inc();
    registry.counter("a_total", "ignored", &[("key", "other")]).inc_by(2);
    let expected = concat!(
        "# HELP a First\\nline.\n# TYPE a counter\n",
        "a_total{key=\"other\"} 2\n",
        "a_total{key=\"quote \\\" slash \\\\ line \\n\"} 1\n",
        "# HELP b Second.\n# TYPE b gauge\nb 1.5\n",
        "# EOF\n",
    );
    assert_eq!(registry.encode(), expected);
}

#[test]
fn histogram_buckets_are_cumulative() {
    let registry = Registry::new();
    let seconds = registry.histogram("t", "Time.", &[("x", "y")], exponential_buckets(0.1, 10.0, 2));
    for value in [0.05, 0.1, 0.5, 7.0] {
        seconds.observe(value);
    }
    let expected = concat!(
        "# HELP t Time.\n# TYPE t histogram\n",
        "t_sum{x=\"y\"} 7.65\nt_count{x=\"y\"} 4\n",
        "t_bucket{le=\"0.1\",x=\"y\"} 2\nt_bucket{le=\"1.0\",x=\"y\"} 3\nt_bucket{le=\"+Inf\",x=\"y\"} 4\n",
        "# EOF\n",
    );
    assert_eq!(registry.encode(), expected);
}

#[test]
fn second_call_returns_the_same_metric_and_another_type_is_not_exposed() {
    let registry = Registry::new();
    registry.counter("a_total", "A.", &[]).inc();
    registry.counter("a_total", "A.", &[]).inc();
    registry.gauge("a_total", "A.", &[]).set(9.0);
    assert_eq!(registry.encode(), "# HELP a A.\n# TYPE a counter\na_total 2\n# EOF\n");
}

#[test]
fn functions_can_be_replaced_and_leave_values_out() {
    let registry = Registry::new();
    registry.gauge_fn("a", "A.", &[], || Some(1.0));
    registry.gauge_fn("a", "A.", &[], || Some(2.0));
    registry.gauge_fn("b", "B.", &[], || None);
    registry.gauges_fn("c", "C.", &[("x", "y")], "by", || vec![("z".to_owned(), 3.0)]);
    registry.counter_fn("d_total", "D.", &[], || Some(4));
    let expected = concat!(
        "# HELP a A.\n# TYPE a gauge\na 2.0\n# HELP b B.\n# TYPE b gauge\n",
        "# HELP c C.\n# TYPE c gauge\nc{x=\"y\",by=\"z\"} 3.0\n",
        "# HELP d D.\n# TYPE d counter\nd_total 4\n# EOF\n",
    );
    assert_eq!(registry.encode(), expected);
}

#[test]
fn functions_may_use_the_registry() {
    let registry = Registry::new();
    let (inner, merged) = (registry.clone(), registry.clone());
    registry.gauge_fn("a", "A.", &[], move || {
        inner.counter("b_total", "B.", &[]).inc();
        merged.register("c", "C", Counter::<u64>::default());
        Some(1.0)
    });
    assert!(registry.encode().contains("a 1.0\n"));
    let text = registry.encode();
    assert!(text.contains("b_total 2\n") && text.contains("# HELP c C.\n"), "{text}");
}
