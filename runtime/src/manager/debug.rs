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
    th{background:#8882}td{overflow-wrap:anywhere;white-space:pre-wrap;max-width:60rem}\
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
            let next = if error.retried { "retried" } else { "not retried until it changes" };
            texts(&[&error.key, &error.times, &ago, &next, &error.message])
        });
        table(out, &["key that fails", "times", "last", "next", "error"], rows);
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
mod tests;
