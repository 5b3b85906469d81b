//! The data file: frames with checksums, appended and synced one after the other.
//!
//! The store uses a log, not an embedded database: it keeps everything in memory and reads the disk once, at the start.
//! It writes a sequence of changes, which is also the history that watches replay. So a log of them is enough, and a
//! commit of any size is one append and one sync. A database would keep the same data a second time in pages that
//! nobody reads, and add recovery code of its own (the releases of redb, the smallest, for this project's Rust version
//! have known faults in that code).
//!
//! A frame is one commit; it counts as a whole or not at all. After a crash an incomplete last frame is dropped: no
//! client has seen its changes. A broken frame before complete ones means that the disk lost data, and is an error.
//! When a file has grown, a snapshot replaces it under the same name.
//!
//! The module does not interpret the content of frames.

use std::collections::hash_map::RandomState;
use std::fs::{File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::DataError;

/// The file with the data.
const NAME: &str = "store.log";
/// A snapshot that has not replaced the file yet.
const NEXT: &str = "store.log.new";
/// The lock file of the process that uses the folder.
const LOCK: &str = "lock";

/// The beginning of a file. The rest of the first line is the format's number in four digits, a space, and the file's
/// own random number in sixteen hexadecimal ones.
const TITLE: &str = "kubesmith store ";
const TITLE_LEN: usize = TITLE.len() + 4 + 1 + 16 + 1;
/// The only format so far.
const FORMAT: u32 = 1;
/// Marks the beginning of a frame.
const MAGIC: [u8; 4] = *b"\xf5ksm";
/// Magic, number of the frame, length and checksum of its content.
const HEAD: usize = 4 + 8 + 4 + 4;
/// The approximate size of a snapshot's frames, in bytes.
const PIECE: usize = 1 << 20;

/// Handles the content of a frame; returns whether the snapshot at the beginning is complete, or an error.
pub(super) type Visit<'a> = dyn FnMut(&[u8]) -> Result<bool, &'static str> + 'a;

/// A folder that this process uses exclusively.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Holds the lock, which the system releases when the process ends.
    _lock: File,
}

impl Folder {
    /// Locks the folder, and creates it if it is missing.
    pub(super) fn take(path: &Path) -> Result<Self, (PathBuf, DataError)> {
        let failed = |at: &Path| {
            let at = at.to_owned();
            move |error| (at, DataError::Io(error))
        };
        private_folder(path).map_err(failed(path))?;
        let file = path.join(LOCK);
        let lock = private_file().truncate(false).open(&file).map_err(failed(&file))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => (path.to_owned(), DataError::InUse),
            TryLockError::Error(error) => (file.clone(), DataError::Io(error)),
        })?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The file with the data.
    pub(super) fn file(&self) -> PathBuf {
        self.path.join(NAME)
    }

    /// Makes renames durable.
    fn sync(&self) -> io::Result<()> {
        // Other systems cannot open folders, and their renames are durable without it.
        if cfg!(unix) { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Options for a file that only its owner can read, since it has keys and secrets.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// An open log.
#[derive(Debug)]
pub(super) struct Log {
    folder: Folder,
    file: Open,
}

/// A file and the position of the next frame.
#[derive(Debug)]
pub(super) struct Open {
    file: File,
    salt: u64,
    /// The number of the next frame.
    frame: u64,
    /// The length of the file, in bytes.
    len: u64,
    /// Its length after the snapshot.
    base: u64,
}

impl Log {
    /// Reads the folder's file and passes the content of each frame to `visit`; `None` when there is no file. An
    /// incomplete snapshot is an error.
    pub(super) fn open(folder: &Folder, visit: &mut Visit<'_>) -> Result<Option<Open>, DataError> {
        match std::fs::remove_file(folder.path.join(NEXT)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file = match OpenOptions::new().read(true).write(true).open(folder.file()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let end = read(&file, visit)?;
        if end.at < end.len {
            let bytes = end.len - end.at;
            tracing::warn!(file = %folder.file().display(), bytes, "dropped a write that was not finished");
            file.set_len(end.at)?;
            file.sync_all()?;
        }
        file.seek(SeekFrom::Start(end.at))?;
        Ok(Some(Open { file, salt: end.salt, frame: end.frame, len: end.at, base: end.base }))
    }

    /// Continues a file that was opened.
    pub(super) fn resume(folder: Folder, file: Open) -> Self {
        Self { folder, file }
    }

    /// Creates a file.
    pub(super) fn create(
        folder: Folder,
        fill: impl FnOnce(&mut Pieces<'_>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let file = write_snapshot(&folder, fill)?;
        Ok(Self { folder, file })
    }

    /// Appends one frame and returns when it is on the disk. After an error the log must not be used again, since the
    /// content of the disk is unknown.
    pub(super) fn append(&mut self, content: &[u8]) -> io::Result<()> {
        let file = &mut self.file;
        let mut bytes = Vec::with_capacity(HEAD + content.len());
        put_frame(&mut bytes, file.salt, file.frame, content)?;
        file.file.write_all(&bytes)?;
        file.file.sync_data()?;
        file.frame += 1;
        file.len += bytes.len() as u64;
        Ok(())
    }

    /// Returns the size of the snapshot at the beginning, and the number of bytes after it.
    pub(super) fn sizes(&self) -> (u64, u64) {
        (self.file.base, self.file.len - self.file.base)
    }

    /// Replaces the whole file; after a crash there is the old one or the new one.
    pub(super) fn replace(&mut self, fill: impl FnOnce(&mut Pieces<'_>) -> io::Result<()>) -> io::Result<()> {
        self.file = write_snapshot(&self.folder, fill)?;
        Ok(())
    }
}

/// Writes a snapshot to a new file, which then replaces the old one.
fn write_snapshot(folder: &Folder, fill: impl FnOnce(&mut Pieces<'_>) -> io::Result<()>) -> io::Result<Open> {
    let salt = RandomState::new().build_hasher().finish();
    let next = folder.path.join(NEXT);
    let mut file = private_file().truncate(true).open(&next)?;
    let mut out = BufWriter::new(&file);
    out.write_all(title(salt).as_bytes())?;
    let mut pieces = Pieces { out: &mut out, salt, content: Vec::new(), frame: 0 };
    fill(&mut pieces)?;
    let frame = pieces.finish()?;
    out.flush()?;
    drop(out);
    file.sync_all()?;
    std::fs::rename(&next, folder.file())?;
    folder.sync()?;
    let len = file.stream_position()?;
    Ok(Open { file, salt, frame, len, base: len })
}

/// Writes a snapshot in pieces.
pub(super) struct Pieces<'a> {
    out: &'a mut dyn Write,
    salt: u64,
    content: Vec<u8>,
    frame: u64,
}

impl Pieces<'_> {
    /// Adds the output of `write`, which stays in one frame.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        write(&mut self.content)?;
        if self.content.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(HEAD + self.content.len());
        put_frame(&mut bytes, self.salt, self.frame, &self.content)?;
        self.out.write_all(&bytes)?;
        self.frame += 1;
        self.content.clear();
        Ok(())
    }

    /// Writes the rest; returns the number of the next frame.
    fn finish(mut self) -> io::Result<u64> {
        if !self.content.is_empty() {
            self.flush()?;
        }
        Ok(self.frame)
    }
}

fn put_frame(out: &mut Vec<u8>, salt: u64, number: u64, content: &[u8]) -> io::Result<()> {
    let len = u32::try_from(content.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a commit is longer than 4 GiB"))?;
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&checksum(salt, number, content).to_le_bytes());
    out.extend_from_slice(content);
    Ok(())
}

/// Includes the file's own number, so that remains of a deleted file do not count as frames.
fn checksum(salt: u64, number: u64, content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(content);
    hasher.finalize()
}

/// The end of the complete frames of a file.
struct End {
    salt: u64,
    at: u64,
    frame: u64,
    /// The end of the snapshot.
    base: u64,
    len: u64,
}

/// Reads a file up to its end or to an incomplete frame.
fn read(file: &File, visit: &mut Visit<'_>) -> Result<End, DataError> {
    let len = file.metadata()?.len();
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut end = End { salt: read_title(&mut input)?, at: TITLE_LEN as u64, frame: 0, base: 0, len };
    let mut complete = false;
    while let Some(content) = read_frame(&mut input, &end)? {
        let seen = visit(&content).map_err(|what| DataError::Damaged { at: end.at, what })?;
        let was_complete = std::mem::replace(&mut complete, seen);
        end.at += (HEAD + content.len()) as u64;
        end.frame += 1;
        if !was_complete {
            end.base = end.at;
        }
    }
    let damaged = |what| Err(DataError::Damaged { at: end.at, what });
    if !complete {
        return damaged("what it began with is cut off");
    }
    if end.at < len && has_later_frame(file, &end)? {
        return damaged("a write is broken although later ones are whole");
    }
    Ok(end)
}

/// The first line of a file.
fn title(salt: u64) -> String {
    format!("{TITLE}{FORMAT:04} {salt:016x}\n")
}

/// Reads the first line; returns the file's own number.
fn read_title(input: &mut impl Read) -> Result<u64, DataError> {
    let mut line = Vec::with_capacity(TITLE_LEN);
    input.take(TITLE_LEN as u64).read_to_end(&mut line)?;
    let text = std::str::from_utf8(&line).map_err(|_| DataError::Foreign)?;
    let rest = text.strip_prefix(TITLE).ok_or(DataError::Foreign)?;
    let (format, salt) = rest.split_once(' ').ok_or(DataError::Foreign)?;
    let format: u32 = format.parse().map_err(|_| DataError::Foreign)?;
    if format != FORMAT {
        return Err(DataError::Format { found: format, known: FORMAT });
    }
    let salt =
        salt.strip_suffix('\n').ok_or(DataError::Damaged { at: 0, what: "the first line is cut off" })?;
    // Parsing also accepts signs and capital letters, which are never written.
    let salt = u64::from_str_radix(salt, 16).ok().filter(|salt| title(*salt) == text);
    salt.ok_or(DataError::Damaged { at: 0, what: "the first line is not what was written" })
}

/// The fixed part of a frame.
struct Head {
    number: u64,
    len: u32,
    checksum: u32,
}

impl Head {
    fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (number, rest) = rest.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (checksum, rest) = rest.split_first_chunk()?;
        let head = Self {
            number: u64::from_le_bytes(*number),
            len: u32::from_le_bytes(*len),
            checksum: u32::from_le_bytes(*checksum),
        };
        Some((head, rest))
    }

    fn fits(&self, salt: u64, content: &[u8]) -> bool {
        checksum(salt, self.number, content) == self.checksum
    }
}

/// Reads the frame after those that were read; `None` when it is incomplete.
fn read_frame(input: &mut impl Read, end: &End) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(HEAD);
    input.take(HEAD as u64).read_to_end(&mut bytes)?;
    let Some((head, _)) = Head::parse(&bytes) else { return Ok(None) };
    // A broken length must not allocate more memory than the file can fill.
    let left = end.len.saturating_sub(end.at + HEAD as u64);
    if head.number != end.frame || u64::from(head.len) > left {
        return Ok(None);
    }
    let mut content = Vec::with_capacity(head.len as usize);
    input.take(u64::from(head.len)).read_to_end(&mut content)?;
    let whole = content.len() == head.len as usize && head.fits(end.salt, &content);
    Ok(whole.then_some(content))
}

/// Reports whether a complete frame follows the end of those that were read.
fn has_later_frame(file: &File, end: &End) -> io::Result<bool> {
    let mut file = file;
    file.seek(SeekFrom::Start(end.at))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    Ok((0..rest.len()).any(|at| {
        Head::parse(&rest[at..]).is_some_and(|(head, after)| {
            let content = usize::try_from(head.len).ok().and_then(|len| after.get(..len));
            head.number > end.frame && content.is_some_and(|content| head.fits(end.salt, content))
        })
    }))
}
