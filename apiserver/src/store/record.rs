//! The records of the log as bytes.
//!
//! A record is a tag and its fields; numbers are little-endian, texts and bytes follow their length in 32 bits. Objects
//! are JSON. A file begins with a snapshot (settings, then each collection with the objects before its history and the
//! history's events), which [`Record::Complete`] ends; changes follow in their order.

use std::io;

use super::state::Change;

/// One record. `json` is an object, and empty for a delete, whose object is the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    Setting {
        name: &'a str,
        value: &'a [u8],
    },
    /// The collection of the objects and events that follow; only in a snapshot.
    Collection {
        name: &'a str,
        floor: u64,
    },
    /// Only in a snapshot.
    Object {
        key: &'a str,
        rv: u64,
        json: &'a [u8],
    },
    Event {
        collection: &'a str,
        key: &'a str,
        rv: u64,
        change: Change,
        json: &'a [u8],
    },
    Closed {
        collection: &'a str,
    },
    Compacted,
    /// The end of the snapshot; `rv` is the last version.
    Complete {
        rv: u64,
    },
}

/// The bytes are no record of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Record<'_> {
    /// Appends the record.
    ///
    /// # Errors
    /// Returns an error if a text or an object is longer than 4 GiB.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match *self {
            Record::Setting { name, value } => {
                out.push(b'S');
                put(out, name.as_bytes())?;
                put(out, value)
            }
            Record::Collection { name, floor } => {
                out.push(b'N');
                put(out, name.as_bytes())?;
                out.extend_from_slice(&floor.to_le_bytes());
                Ok(())
            }
            Record::Object { key, rv, json } => {
                out.push(b'O');
                out.extend_from_slice(&rv.to_le_bytes());
                put(out, key.as_bytes())?;
                put(out, json)
            }
            Record::Event { collection, key, rv, change, json } => {
                out.push(tag_of(change));
                out.extend_from_slice(&rv.to_le_bytes());
                put(out, collection.as_bytes())?;
                put(out, key.as_bytes())?;
                put(out, json)
            }
            Record::Closed { collection } => {
                out.push(b'E');
                put(out, collection.as_bytes())
            }
            Record::Compacted => {
                out.push(b'F');
                Ok(())
            }
            Record::Complete { rv } => {
                out.push(b'C');
                out.extend_from_slice(&rv.to_le_bytes());
                Ok(())
            }
        }
    }
}

fn tag_of(change: Change) -> u8 {
    match change {
        Change::Added => b'+',
        Change::Modified => b'~',
        Change::Deleted => b'-',
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    let len = u32::try_from(bytes.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a value is longer than 4 GiB"))?;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

/// Reads records in sequence.
#[derive(Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// Returns the next record; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record<'a>>, Malformed> {
        let Some((&tag, rest)) = self.0.split_first() else { return Ok(None) };
        self.0 = rest;
        let event = |reader: &mut Self, change| {
            let rv = reader.number()?;
            let (collection, key) = (reader.text()?, reader.text()?);
            Ok(Record::Event { collection, key, rv, change, json: reader.bytes()? })
        };
        let record = match tag {
            b'S' => Record::Setting { name: self.text()?, value: self.bytes()? },
            b'N' => Record::Collection { name: self.text()?, floor: self.number()? },
            b'O' => {
                let rv = self.number()?;
                Record::Object { key: self.text()?, rv, json: self.bytes()? }
            }
            b'+' => event(self, Change::Added)?,
            b'~' => event(self, Change::Modified)?,
            b'-' => event(self, Change::Deleted)?,
            b'E' => Record::Closed { collection: self.text()? },
            b'F' => Record::Compacted,
            b'C' => Record::Complete { rv: self.number()? },
            _ => return Err(Malformed),
        };
        Ok(Some(record))
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let (len, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| Malformed)?;
        let (bytes, rest) = rest.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }
}
