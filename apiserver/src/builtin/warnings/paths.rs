//! Warnings about files that overlap in a volume (`warningsForOverlappingVirtualPaths`).

use serde_json::Value;

use super::items;
use crate::names::quoted;

/// The sources with a list of files: the member, the name in a warning, and the member with the name of the object in a
/// volume. A projection has that name in `name`.
const SOURCES: [(&str, &str, &str); 3] = [
    ("configMap", "ConfigMap", "name"),
    ("secret", "Secret", "secretName"),
    ("downwardAPI", "DownwardAPI", ""),
];

/// A path in a volume, and the source that puts it there; the source is empty in volumes of one source.
#[derive(Clone, PartialEq, Eq)]
struct File {
    path: String,
    source: String,
}

impl std::fmt::Display for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&quoted(&self.path))?;
        if self.source.is_empty() { Ok(()) } else { write!(f, " ({})", self.source) }
    }
}

/// kube-apiserver sends at most this many characters of warnings (`truncateAtTotalRunes` of apiserver's
/// pkg/endpoints/filters/warning.go), so more warnings than this are never seen.
const MOST: usize = 4096;

/// Returns the warnings about the volumes of a pod, at most [`MOST`].
pub(super) fn of(volumes: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    items(volumes).for_each(|volume| of_volume(volume, &mut warnings));
    warnings.truncate(MOST);
    warnings
}

fn of_volume(volume: &Value, warnings: &mut Vec<String>) {
    let name = quoted(text(&volume["name"]));
    for (member, kind, named) in SOURCES {
        let source = &volume[member];
        let place = format!("volume {name} ({})", described(source, kind, named));
        overlaps(&mut Vec::new(), files(source, ""), &place, warnings);
    }
    let place = format!("volume {name} (Projected)");
    let mut seen = Vec::new();
    for source in items(&volume["projected"]["sources"]) {
        if source.as_object().is_none_or(serde_json::Map::is_empty) {
            warnings.push(format!("{place} has no sources provided"));
        }
        overlaps(&mut seen, projected(source), &place, warnings);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn described(source: &Value, kind: &str, named: &str) -> String {
    if named.is_empty() { kind.to_owned() } else { format!("{kind} {}", quoted(text(&source[named]))) }
}

/// The files that a source lists.
fn files(source: &Value, shown: &str) -> Vec<File> {
    items(&source["items"])
        .map(|item| File { path: text(&item["path"]).to_owned(), source: shown.to_owned() })
        .collect()
}

/// The files of a projection.
fn projected(source: &Value) -> Vec<File> {
    for (member, kind, named) in SOURCES {
        if source[member]["items"].is_array() {
            let named = if named.is_empty() { "" } else { "name" };
            return files(&source[member], &described(&source[member], kind, named));
        }
    }
    let file = |path: &Value, source: String| File { path: text(path).to_owned(), source };
    let (token, bundle) = (&source["serviceAccountToken"], &source["clusterTrustBundle"]);
    if token.is_object() {
        return vec![file(&token["path"], "ServiceAccountToken".to_owned())];
    }
    if bundle.is_object() {
        let name = if bundle["name"].is_null() { &bundle["signerName"] } else { &bundle["name"] };
        return vec![file(&bundle["path"], format!("ClusterTrustBundle {}", quoted(text(name))))];
    }
    let parts = [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ];
    let certificate = &source["podCertificate"];
    let given = parts.into_iter().filter(|(member, _)| !text(&certificate[*member]).is_empty());
    given.map(|(member, shown)| file(&certificate[member], shown.to_owned())).collect()
}

/// `checkForOverlap` of each file with those before it, which it then joins.
fn overlaps(seen: &mut Vec<File>, files: Vec<File>, place: &str, warnings: &mut Vec<String>) {
    let is_below = |one: &File, other: &File| {
        one.path.strip_prefix(&other.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for mut file in files {
        if warnings.len() >= MOST {
            return;
        }
        file.path.truncate(file.path.trim_end_matches('/').len());
        if file.path.is_empty() {
            continue;
        }
        let meets = |other: &&File| is_below(&file, other) || is_below(other, &file);
        let found = seen.iter().filter(meets);
        warnings.extend(found.map(|other| format!("{place}: overlapping paths: {file} with {other}")));
        // The same file again gets the same warnings, of which one is sent.
        if !seen.contains(&file) {
            seen.push(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_that_overlap_in_a_volume_get_a_warning() {
        let items =
            json!([{"key": "a", "path": "p"}, {"key": "b", "path": "p/q/"}, {"key": "c", "path": "pq"}]);
        let volumes = json!([
            {"name": "v", "configMap": {"name": "c", "items": items}},
            {"name": "w", "projected": {"sources": [{}, {"secret": {"name": "s", "items": [items[2]]}},
                {"serviceAccountToken": {"path": "pq"}}]}},
        ]);
        assert_eq!(
            of(&volumes),
            [
                "volume \"v\" (ConfigMap \"c\"): overlapping paths: \"p/q\" with \"p\"",
                "volume \"w\" (Projected) has no sources provided",
                "volume \"w\" (Projected): overlapping paths: \"pq\" (ServiceAccountToken) with \"pq\" (Secret \"s\")",
            ]
        );
    }

    #[test]
    fn files_of_one_path_do_not_fill_the_memory() {
        let items = vec![json!({"key": "a", "path": "p/q"}); 20_000];
        assert_eq!(of(&json!([{"name": "v", "secret": {"items": items}}])).len(), MOST);
        let apart: Vec<Value> = (0..5_000).map(|i| json!({"key": "a", "path": format!("p{i}/q")})).collect();
        assert_eq!(of(&json!([{"name": "v", "secret": {"items": apart}}])), [""; 0]);
    }
}
