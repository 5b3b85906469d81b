//! The state page: controllers, caches and handlers as HTML.

use std::fmt::{self, Display, Write};

use crate::controller::{At, ControllerState, Phase};
use crate::informer::InformerState;
use crate::leaderelection::LeaseState;
use crate::sharding::ShardState;

/// The limit of keys that the page shows for each controller.
const MOST_KEYS: usize = 100;

/// On narrow screens each row becomes a list of its cells with their columns' names.
const STYLE: &str = ":root{color-scheme:light dark}\
    body{font:1rem/1.4 system-ui,sans-serif;margin:1.5rem;font-variant-numeric:tabular-nums}\
    h1,h2,h3{line-height:1.2;margin:1.2em 0 .5em}\
    table{border-collapse:collapse;margin:0 0 1.2rem}\
    td,th{border:1px solid #8888;padding:.25rem .6rem;text-align:left;vertical-align:top}\
    th{background:#8882}td{overflow-wrap:break-word;white-space:pre-wrap;max-width:60rem}\
    @media(max-width:48rem){body{margin:1rem}thead{display:none}table,tbody,tr,td{display:block}\
    tr{border:1px solid #8888;margin:0 0 .6rem}td{border:0;padding:.15rem .6rem}\
    td:empty{display:none}td::before{content:attr(data-label) \": \";font-weight:bold}}";

const NONE: &str = "<p>none</p>\n";

/// Returns the page.
pub(super) fn page(
    controllers: &[ControllerState],
    informers: &[InformerState],
    shard: Option<&ShardState>,
    lease: Option<&LeaseState>,
) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Controllers</title><style>{STYLE}</style></head><body>\n\
         <h1>State of this replica</h1>\n"
    );
    show_leadership(&mut out, lease);
    out.push_str("<h2>Controllers</h2>\n");
    if controllers.is_empty() {
        out.push_str(NONE);
    }
    for controller in controllers {
        show_controller(&mut out, controller, &not_started(informers, lease));
    }
    if let Some(shard) = shard {
        show_shard(&mut out, shard);
    }
    out.push_str("<h2>Caches</h2>\n");
    let rows = informers.iter().map(|informer| {
        let state = if informer.has_synced { "synced" } else { "not synced" };
        let cells: [&dyn Display; 6] = [
            &informer.resource,
            &state,
            &informer.objects,
            &informer.resource_version,
            &informer.undecodable,
            &informer.last_error.as_deref().unwrap_or_default(),
        ];
        texts(&cells)
    });
    table(&mut out, &["resource", "state", "objects", "version", "undecodable", "last error"], rows);
    show_cache_shards(&mut out, informers);
    show_handlers(&mut out, informers);
    out.push_str("</body></html>\n");
    out
}

/// Writes the table of sharded caches, if there are some.
fn show_cache_shards(out: &mut String, informers: &[InformerState]) {
    let sharded = informers.iter().filter_map(|informer| Some((informer, informer.shard.as_ref()?)));
    let rows: Vec<_> = sharded
        .map(|(informer, shard)| {
            let filter = if shard.filters_here { "this replica" } else { "the server" };
            texts(&[&informer.resource, &shard.selector, &filter, &shard.dropped, &informer.received_bytes])
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("<h2>Shards of caches</h2>\n");
    let head = ["resource", "shard selector", "filtered by", "dropped objects", "received bytes"];
    table(out, &head, rows.into_iter());
}

/// Writes the table of event handlers.
fn show_handlers(out: &mut String, informers: &[InformerState]) {
    let handlers = informers
        .iter()
        .flat_map(|informer| informer.handlers.iter().map(|handler| (&informer.resource, handler)));
    let rows: Vec<_> = handlers
        .map(|(resource, handler)| {
            let state = if handler.has_synced { "synced" } else { "not synced" };
            let in_call = handler.in_call.as_ref().map_or_else(String::new, |call| {
                format!("{} {} for {:.1} s", call.event, call.key, call.running.as_secs_f64())
            });
            let cells: [&dyn Display; 8] = [
                resource,
                &handler.name,
                &state,
                &handler.waiting,
                &handler.merged,
                &handler.panics,
                &handler.slow_calls,
                &in_call,
            ];
            texts(&cells)
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("<h2>Event handlers</h2>\n");
    let head = ["resource", "handler", "state", "waiting", "merged", "panics", "slow calls", "in call"];
    table(out, &head, rows.into_iter());
}

/// Writes who leads, and since when that is known.
fn show_leadership(out: &mut String, lease: Option<&LeaseState>) {
    out.push_str("<h2>Leadership</h2>\n");
    let Some(lease) = lease else {
        out.push_str("<p>no leader election: this replica works at once</p>\n");
        return;
    };
    let renewed = match (&lease.renewed, lease.seen) {
        (Some(renewed), Some(seen)) => format!("{renewed:.0}, seen {}", At(seen)),
        (None, Some(seen)) => format!("seen {}", At(seen)),
        _ => "the lease has not been read".to_owned(),
    };
    let holder = if lease.holder.is_empty() { "nobody" } else { &lease.holder };
    let cells: [&dyn Display; 7] = [
        &lease.lease,
        &if lease.leads() { "yes" } else { "no" },
        &lease.identity,
        &holder,
        &renewed,
        &lease.transitions,
        &lease.last_error.as_deref().unwrap_or_default(),
    ];
    let head = [
        "lease",
        "this replica leads",
        "this replica",
        "holder",
        "last renewal",
        "transitions",
        "last error",
    ];
    table(out, &head, std::iter::once(texts(&cells)));
}

/// Returns why the manager has not started a controller yet.
fn not_started(informers: &[InformerState], lease: Option<&LeaseState>) -> String {
    let unfilled: Vec<&str> = informers
        .iter()
        .filter(|informer| !informer.has_synced)
        .map(|informer| informer.resource.as_str())
        .collect();
    match lease {
        _ if !unfilled.is_empty() => format!("waiting for caches to sync: {}", unfilled.join(", ")),
        Some(lease) if !lease.leads() => "waiting for this replica to lead".to_owned(),
        _ => "not started".to_owned(),
    }
}

/// Writes the keys of a queue, and why each one waits.
fn show_keys(out: &mut String, controller: &ControllerState, waiting: Option<&str>) {
    let (keys, total) = controller.keys(MOST_KEYS);
    if keys.is_empty() {
        return;
    }
    let rows = keys.iter().map(|state| {
        let why = match (waiting, state.why.is_queued()) {
            (Some(waiting), true) => format!("{}; {waiting}", state.why),
            _ => state.why.to_string(),
        };
        texts(&[&state.key, &why])
    });
    table(out, &["key", "why it waits"], rows);
    let more = total.saturating_sub(keys.len());
    if more > 0 {
        out.push_str(&format!("<p>and {more} more keys</p>\n"));
    }
}

fn show_controller(out: &mut String, controller: &ControllerState, not_started: &str) {
    let (queue, (succeeded, failed)) = (controller.queue(), controller.reconciles());
    out.push_str(&format!("<h3>{}</h3>\n", Escaped(&controller.name())));
    let waiting = match controller.phase() {
        Phase::NotStarted => Some(not_started.to_owned()),
        Phase::Caches(caches) => Some(format!("waiting for caches to sync: {}", caches.join(", "))),
        Phase::Running => None,
        Phase::Ended => Some("stopped".to_owned()),
    };
    if let Some(waiting) = &waiting {
        out.push_str(&format!("<p>{}</p>\n", Escaped(waiting)));
    }
    let numbers: [&dyn Display; 6] =
        [&controller.workers(), &queue.processing, &queue.waiting, &queue.delayed, &succeeded, &failed];
    let head = ["workers", "in work", "waiting", "delayed", "succeeded", "failed"];
    table(out, &head, std::iter::once(texts(&numbers)));
    show_keys(out, controller, waiting.as_deref());
    let errors = controller.errors();
    if !errors.is_empty() {
        let rows = errors.iter().map(|error| {
            let ago = format!("{} s ago", error.at.elapsed().as_secs());
            texts(&[&error.key, &error.times, &ago, &error.message])
        });
        table(out, &["key that fails", "times", "last", "error"], rows);
    }
    let slowest = controller.slowest();
    if !slowest.is_empty() {
        let rows = slowest.iter().map(|slow| {
            let longest = format!("{:.3} s", slow.longest.as_secs_f64());
            texts(&[&slow.key, &longest])
        });
        table(out, &["slowest keys", "longest reconcile"], rows);
    }
}

fn show_shard(out: &mut String, shard: &ShardState) {
    out.push_str(&format!("<h2>Share of {}</h2>\n", Escaped(&shard.lease)));
    let share = format!("{:.1} %", shard.share * 100.0);
    let waiting_for = shard.waiting_for.join(", ");
    let cells: [&dyn Display; 9] = [
        &shard.phase,
        &share,
        &shard.in_work,
        &shard.finishing,
        &shard.blocked,
        &shard.hand_overs,
        &shard.lost,
        &waiting_for,
        &shard.last_error.as_deref().unwrap_or_default(),
    ];
    let head = [
        "phase",
        "share",
        "in work",
        "others wait for",
        "not finished by others",
        "hand-overs",
        "leases lost",
        "waiting for",
        "last error",
    ];
    table(out, &head, std::iter::once(texts(&cells)));
    let rows = shard.members.iter().map(|member| texts(&[member]));
    table(out, &["members"], rows);
}

/// Writes a table of escaped texts, or a word if it has no rows.
fn table(out: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let rows: String = rows.map(|cells| row(head, &cells)).collect();
    if rows.is_empty() {
        return out.push_str(NONE);
    }
    let head: String = head.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    out.push_str(&format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"));
}

fn row(head: &[&str], cells: &[String]) -> String {
    let cell = |(name, cell): (&&str, &String)| format!("<td data-label=\"{name}\">{cell}</td>");
    format!("<tr>{}</tr>\n", head.iter().zip(cells).map(cell).collect::<String>())
}

fn texts(cells: &[&dyn Display]) -> Vec<String> {
    cells.iter().map(|cell| Escaped(cell).to_string()).collect()
}

/// Text escaped for HTML.
struct Escaped<'a>(&'a dyn Display);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.to_string().chars() {
            match character {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cache::ObjectKey;
    use crate::controller::{Action, CancellationToken, Controller, ReconcileError, reconcile_fn};
    use crate::informer::{CacheShard, EventKind, HandlerState, RunningCall};
    use crate::sharding::{ShardKey, ShardSelector, SharePhase};
    use crate::workqueue::Queue;

    fn informer() -> InformerState {
        InformerState {
            resource: "configmaps".to_owned(),
            has_synced: true,
            objects: 3,
            resource_version: "17".to_owned(),
            undecodable: 1,
            last_error: Some("cannot watch <configmaps>".to_owned()),
            received_bytes: 1234,
            shard: ShardSelector::nth(ShardKey::Uid, 0, 2).map(|selector| CacheShard {
                selector,
                filters_here: true,
                dropped: 9,
            }),
            handlers: vec![HandlerState {
                name: "<maps>".to_owned(),
                has_synced: true,
                waiting: 5,
                merged: 4,
                panics: 3,
                slow_calls: 2,
                has_thread: false,
                in_call: Some(RunningCall {
                    event: EventKind::Update,
                    key: ObjectKey::namespaced("default", "a"),
                    running: Duration::from_millis(61_500),
                }),
            }],
        }
    }

    fn shard() -> ShardState {
        ShardState {
            lease: "maps-a".to_owned(),
            phase: SharePhase::Working,
            members: ["maps-a", "maps-b"].map(str::to_owned).to_vec(),
            share: 0.25,
            in_work: 3,
            finishing: 2,
            blocked: 1,
            waiting_for: vec!["maps-b".to_owned()],
            hand_overs: 7,
            lost: 4,
            last_error: Some("<refused>".to_owned()),
        }
    }

    fn lease() -> LeaseState {
        LeaseState {
            lease: "shop-system/shop".to_owned(),
            identity: "pod-a".to_owned(),
            holder: "<pod-b>".to_owned(),
            renewed: Some("2026-01-02T03:04:05.678Z".parse().unwrap()),
            seen: Some(tokio::time::Instant::now()),
            transitions: 7,
            leads_until: None,
            last_error: Some("refused".to_owned()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn page_shows_who_leads_and_since_when() {
        let other = without_labels(&page(&[], &[], None, Some(&lease())));
        let row = "<tr><td>shop-system/shop</td><td>no</td><td>pod-a</td><td>&lt;pod-b&gt;</td><td>2026-01-02T03:04:0";
        assert!(
            other.contains(row) && other.contains("(0.0 s ago)</td><td>7</td><td>refused</td></tr>"),
            "{other}"
        );
        let until = tokio::time::Instant::now() + Duration::from_secs(10);
        let own = LeaseState { holder: "pod-a".to_owned(), leads_until: Some(until), ..lease() };
        let leads = without_labels(&page(&[], &[], None, Some(&own)));
        assert!(
            leads.contains("<td>shop-system/shop</td><td>yes</td><td>pod-a</td><td>pod-a</td>"),
            "{leads}"
        );
        tokio::time::advance(Duration::from_secs(10)).await;
        let late = without_labels(&page(&[], &[], None, Some(&own)));
        assert!(late.contains("<td>shop-system/shop</td><td>no</td>"), "the clock decides: {late}");
        let unread = page(&[], &[], None, Some(&LeaseState::default()));
        assert!(unread.contains("nobody") && unread.contains("the lease has not been read"), "{unread}");
    }

    #[tokio::test(start_paused = true)]
    async fn page_shows_why_each_key_waits() {
        let queue = Queue::new("maps");
        let reconciler = reconcile_fn(|key: String| async move {
            match key.as_str() {
                "slow" => std::future::pending().await,
                "bad" => Err(ReconcileError::new("no")),
                "later" => Ok(Action::requeue_after(Duration::from_secs(3600))),
                _ => Ok(Action::done()),
            }
        });
        let (filled, filling) = tokio::sync::oneshot::channel::<()>();
        let controller = Controller::new("maps", queue.clone(), reconciler)
            .wait_for("secrets", async { drop(filling.await) })
            .wait_for("pods", async {});
        let mut controller = controller.workers(2);
        let state = controller.state();
        queue.add("slow".to_owned());
        let unfilled = InformerState { has_synced: false, ..informer() };
        let waits = |informers: &[InformerState], lease: Option<&LeaseState>| {
            without_labels(&page(std::slice::from_ref(&state), informers, None, lease))
        };
        let shown = waits(&[unfilled], None);
        assert!(shown.contains("<td>queued; waiting for caches to sync: configmaps</td>"), "{shown}");
        let shown = waits(&[informer()], Some(&lease()));
        assert!(shown.contains("<td>queued; waiting for this replica to lead</td>"), "{shown}");
        let stop = CancellationToken::new();
        let run = tokio::spawn(controller.run(stop.clone()));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let shown = waits(&[], None);
        assert!(shown.contains("<td>queued; waiting for caches to sync: secrets</td>"), "{shown}");
        filled.send(()).unwrap();
        for key in ["bad", "later"] {
            queue.add(key.to_owned());
        }
        tokio::time::sleep(Duration::from_secs(4)).await;
        queue.add("slow".to_owned());
        queue.add_rate_limited("limited".to_owned());
        let shown = waits(&[], None);
        for (key, begin, end) in [
            ("slow", "being reconciled since ", "(4.0 s ago); queued again"),
            ("bad", "backing off after error 10 until ", " s)"),
            ("later", "requeue-after until ", "(in 3596.0 s)"),
            ("limited", "rate limited for the 1. time until ", "(in 0.0 s)"),
        ] {
            let row = shown.split(&format!("<tr><td>&quot;{key}&quot;</td><td>")).nth(1);
            let why = row.and_then(|row| row.split("</td>").next()).unwrap_or_default();
            assert!(why.starts_with(begin) && why.ends_with(end), "{key}: {why}");
        }
        for number in 0..200 {
            queue.add_after(number.to_string(), Duration::from_secs(9));
        }
        assert!(waits(&[], None).contains("<p>and 104 more keys</p>"));
        stop.cancel();
        run.await.unwrap().unwrap_err();
        assert!(waits(&[], None).contains("<p>stopped</p>"));
    }

    /// Removes the names of columns that narrow screens show in each cell.
    fn without_labels(page: &str) -> String {
        let mut parts = page.split(" data-label=\"");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('"').unwrap().1)
    }

    #[test]
    fn page_closes_every_tag_and_shows_none_when_empty() {
        let empty = page(&[], &[], None, None);
        assert_eq!(empty.matches("<p>none</p>").count(), 2, "{empty}");
        assert!(empty.contains("no leader election"), "{empty}");
        let full = page(&[], &[informer()], Some(&shard()), Some(&lease()));
        for page in [empty, full] {
            let mut open: Vec<&str> = Vec::new();
            for tag in page.split('<').skip(2).map(|text| text.split_once('>').unwrap().0) {
                match tag.strip_prefix('/') {
                    Some(name) => assert_eq!(open.pop(), Some(name), "{page}"),
                    None if tag.starts_with("meta ") => {}
                    None => open.push(tag.split(' ').next().unwrap()),
                }
            }
            assert!(open.is_empty(), "{open:?} in {page}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn page_shows_failing_and_slow_keys() {
        let queue = Queue::new("maps & more");
        let reconciler = reconcile_fn(|key: String| async move {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let error = || ReconcileError::terminal("<script>alert(1)</script>");
            if key == "bad" { Err(error()) } else { Ok(Action::done()) }
        });
        let mut controller = Controller::new("maps & more", queue.clone(), reconciler).workers(2);
        let state = controller.state();
        let stop = CancellationToken::new();
        let run = tokio::spawn(controller.run(stop.clone()));
        for key in ["good", "bad", "waits"] {
            queue.add(key.to_owned());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (in_work, waiting) = (state.queue().processing, state.queue().waiting);
        assert_eq!((in_work, waiting), (2, 1));
        tokio::time::sleep(Duration::from_secs(10)).await;
        let page = page(&[state], &[informer()], Some(&shard()), None);
        assert!(page.contains("<td data-label=\"key that fails\">&quot;bad&quot;</td>"), "{page}");
        let page = without_labels(&page);
        for text in [
            "<h3>maps &amp; more</h3>",
            "<tr><td>2</td><td>0</td><td>0</td><td>0</td><td>2</td><td>1</td></tr>",
            "<tr><td>&quot;bad&quot;</td><td>1</td><td>9 s ago</td>\
             <td>&lt;script&gt;alert(1)&lt;/script&gt;</td></tr>",
            "<tr><td>&quot;waits&quot;</td><td>1.500 s</td></tr>",
            "<tr><td>configmaps</td><td>synced</td><td>3</td><td>17</td><td>1</td>\
             <td>cannot watch &lt;configmaps&gt;</td></tr>",
            "<h2>Shards of caches</h2>",
            "<tr><td>configmaps</td><td>shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')</td>\
             <td>this replica</td><td>9</td><td>1234</td></tr>",
            "<h2>Share of maps-a</h2>",
            "<tr><td>working</td><td>25.0 %</td><td>3</td><td>2</td><td>1</td><td>7</td><td>4</td><td>maps-b</td>\
             <td>&lt;refused&gt;</td></tr>",
            "<tr><td>maps-a</td></tr>\n<tr><td>maps-b</td></tr>",
            "<tr><td>configmaps</td><td>&lt;maps&gt;</td><td>synced</td><td>5</td><td>4</td><td>3</td><td>2</td>\
             <td>update default/a for 61.5 s</td></tr>",
        ] {
            assert!(page.contains(text), "no {text} in\n{page}");
        }
        stop.cancel();
        run.await.unwrap().unwrap();
    }
}
