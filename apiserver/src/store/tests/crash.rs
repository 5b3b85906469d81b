//! Files as a crash or a bad disk leaves them.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::{ByHand, Model, Op, op, reopened};
use crate::DataError;
use crate::store::disk::open_with;

const FILE: &str = "store.log";

/// A file's bytes, and after each commit its length and what the store had.
struct Recorded {
    bytes: Vec<u8>,
    commits: Vec<(usize, Model)>,
}

/// Commits `ops` one by one into one file.
fn record(ops: &[Op], limit: usize) -> Recorded {
    let dir = tempfile::tempdir().unwrap();
    let mut store = ByHand::open(dir.path(), limit, u64::MAX);
    let len = || fs::metadata(dir.path().join(FILE)).unwrap().len() as usize;
    let mut commits = vec![(len(), Model::of(&store.state))];
    for op in ops {
        store.apply(op);
        store.commit();
        commits.push((len(), Model::of(&store.state)));
    }
    Recorded { bytes: fs::read(dir.path().join(FILE)).unwrap(), commits }
}

impl Recorded {
    /// The last complete state in a file of `len` bytes.
    fn at(&self, len: usize) -> Option<&Model> {
        self.commits.iter().rev().find(|(end, _)| *end <= len).map(|(_, model)| model)
    }
}

/// A folder whose file has these bytes.
fn folder(bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE), bytes).unwrap();
    dir
}

fn put(key: u8, size: usize) -> Op {
    Op::Put { collection: 0, key, value: json!({"metadata": {}, "value": "x".repeat(size)}) }
}

fn sample() -> Vec<Op> {
    vec![
        put(1, 10),
        put(2, 0),
        put(1, 40),
        Op::Set { name: 1, value: b"\xf5ksm".to_vec() },
        Op::Delete { collection: 0, key: 2 },
        Op::Compact,
        put(3, 5),
        Op::Close { collection: 0 },
        put(1, 1),
    ]
}

#[test]
fn truncated_file_keeps_every_complete_commit() {
    let recorded = record(&sample(), 3);
    for len in 0..=recorded.bytes.len() {
        let dir = folder(&recorded.bytes[..len]);
        match (recorded.at(len), reopened(dir.path(), 3)) {
            (Some(expected), found) => assert_eq!(&found.unwrap(), expected, "cut at {len}"),
            // Files are created atomically, so a crash cannot leave this one.
            (None, found) => {
                let error = found.unwrap_err();
                assert!(
                    matches!(error, DataError::Damaged { .. } | DataError::Foreign),
                    "cut at {len}: {error}"
                );
            }
        }
    }
}

#[test]
fn store_accepts_writes_after_a_truncation() {
    let recorded = record(&sample(), 3);
    let dir = folder(&recorded.bytes[..recorded.bytes.len() - 1]);
    let mut store = ByHand::open(dir.path(), 3, u64::MAX);
    store.apply(&put(9, 3));
    store.commit();
    let model = Model::of(&store.state);
    drop(store);
    assert_eq!(reopened(dir.path(), 3).unwrap(), model);
}

#[test]
fn unfinished_snapshot_is_dropped_on_start() {
    let recorded = record(&sample(), 3);
    let expected = recorded.at(usize::MAX).unwrap();
    for len in [0, 10, recorded.bytes.len() / 2, recorded.bytes.len()] {
        let dir = folder(&recorded.bytes);
        fs::write(dir.path().join("store.log.new"), &recorded.bytes[..len]).unwrap();
        assert_eq!(&reopened(dir.path(), 3).unwrap(), expected);
        assert!(!dir.path().join("store.log.new").exists());
    }
}

#[test]
fn unfinished_first_start_is_repeated() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("store.log.new"), "kubesm").unwrap();
    assert_eq!(reopened(dir.path(), 3).unwrap(), Model::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Garbage in place of the bytes that a crash cut off is not a commit.
    #[test]
    fn torn_end_of_file_is_dropped(
        ops in prop::collection::vec(op(), 1..12),
        cut in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let recorded = record(&ops, 3);
        let first = recorded.commits[0].0;
        let len = first + cut.index(recorded.bytes.len() - first + 1);
        // Sectors are written in any order: the bytes after the cut may be present, zeros, or anything else.
        let mut torn = recorded.bytes[..len].to_vec();
        torn.extend(garbage);
        let found = reopened(folder(&torn).path(), 3).unwrap();
        prop_assert!(recorded.commits.iter().any(|(end, model)| *end <= torn.len() && *model == found));
        let kept = recorded.at(len).unwrap();
        prop_assert!(found.rv >= kept.rv);
    }

    /// A wrong byte is an error, or in the last commit the loss of this commit. It is never read as data.
    #[test]
    fn corrupt_byte_is_an_error_or_drops_the_last_commit(
        ops in prop::collection::vec(op(), 1..12),
        place in any::<prop::sample::Index>(),
        flip in 1..=u8::MAX,
    ) {
        let recorded = record(&ops, 3);
        let mut bytes = recorded.bytes.clone();
        let at = place.index(bytes.len());
        bytes[at] ^= flip;
        let last = recorded.commits.iter().rev().map(|(end, _)| *end).find(|end| *end < bytes.len());
        match reopened(folder(&bytes).path(), 3) {
            Err(error) => prop_assert!(
                matches!(error, DataError::Damaged { .. } | DataError::Foreign | DataError::Format { .. }),
                "{}", error
            ),
            Ok(model) => {
                prop_assert!(last.is_some_and(|last| at >= last), "byte {} was believed", at);
                prop_assert_eq!(Some(&model), recorded.at(bytes.len() - 1));
            }
        }
    }
}

/// Numbers have several encodings; only the one that the store writes is accepted.
#[test]
fn corrupt_byte_in_the_first_line_is_an_error() {
    let recorded = record(&[put(1, 10)], 3);
    let line = recorded.bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for (at, flip) in (0..line).flat_map(|at| (1..=u8::MAX).map(move |flip| (at, flip))) {
        let mut bytes = recorded.bytes.clone();
        bytes[at] ^= flip;
        assert!(reopened(folder(&bytes).path(), 3).is_err(), "byte {at} with {flip:#x} was believed");
    }
}

fn error_of(path: &Path) -> (String, DataError) {
    let (path, error) = open_with(path, 3, 0).err().unwrap();
    (path.file_name().unwrap().to_str().unwrap().to_owned(), error)
}

#[test]
fn foreign_file_is_named_and_unchanged() {
    for foreign in ["", "SQLite format 3\0", "kubesmith stove 0001 0123456789abcdef\n"] {
        let dir = folder(foreign.as_bytes());
        let (name, error) = error_of(dir.path());
        assert!(matches!(error, DataError::Foreign), "{error}");
        assert_eq!(name, FILE);
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), foreign);
    }
    let later = folder(b"kubesmith store 0002 0123456789abcdef\nwhatever");
    assert!(matches!(error_of(later.path()).1, DataError::Format { found: 2, known: 1 }));
}

#[test]
fn data_folder_is_named_when_it_is_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (name, error) = error_of(&file);
    assert!(matches!(error, DataError::Io(_)), "{error}");
    assert_eq!(name, "file");
}

#[test]
fn data_folder_is_locked_while_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let first = ByHand::open(dir.path(), 3, 0);
    assert!(matches!(error_of(dir.path()).1, DataError::InUse));
    drop(first);
    assert!(reopened(dir.path(), 3).is_ok());
}

#[test]
#[cfg(unix)]
fn data_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b");
    drop(ByHand::open(&path, 3, 0));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o077;
    assert_eq!((mode(&path), mode(&path.join(FILE))), (0, 0));
}
