//! Reads a page of a list, object by object, as its bytes arrive.

use std::marker::PhantomData;

use kube::core::ListMeta;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::decode::{Broken, broken, first};
use super::form::Form;
use super::object::Decoded;
use crate::json::JsonReader;

/// More unread bytes than this cannot be an object: etcd refuses objects of a twentieth of this size.
const LONGEST_VALUE: usize = 32 << 20;

/// An element of `items`.
#[derive(Debug)]
pub(crate) enum Item {
    Object(Decoded),
    Undecodable(Broken),
}

/// The response is not a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list: {0}")]
pub(crate) struct MalformedPage(String);

/// Reads a page. Bytes go in, and each object comes out as soon as it is complete. The list's own metadata may come
/// before or after the objects.
#[derive(Default)]
pub(crate) struct PageReader {
    buffer: String,
    /// The beginning of a character whose other bytes have not arrived.
    tail: Vec<u8>,
    /// The number of bytes of `buffer` that have been read.
    position: usize,
    /// The number of unread bytes before the next try. It keeps an object that arrives in many small pieces from
    /// being parsed for each of them.
    enough: usize,
    state: State,
    meta: ListMeta,
    saw_items: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    /// The reader is before a field's name, `,` or `}`.
    Field,
    Metadata,
    Skipped,
    Items,
    /// The reader is before an item, `,` or `]`.
    Item,
    End,
}

/// The result of a step.
enum Step {
    On,
    Item(Item),
    /// More bytes are needed.
    Starved,
}

impl PageReader {
    /// Adds bytes. [`Self::next`] returns the objects that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), MalformedPage> {
        self.buffer.drain(..self.position);
        self.position = 0;
        if self.buffer.len() > LONGEST_VALUE {
            return Err(MalformedPage(format!("a value is longer than {LONGEST_VALUE} bytes")));
        }
        if self.tail.is_empty() {
            return self.append(bytes);
        }
        let mut joined = std::mem::take(&mut self.tail);
        joined.extend_from_slice(bytes);
        self.append(&joined)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), MalformedPage> {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => {
                self.buffer.push_str(text);
                return Ok(());
            }
            Err(error) => error,
        };
        if error.error_len().is_some() {
            return Err(MalformedPage(error.to_string()));
        }
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        self.buffer.push_str(valid);
        self.tail.extend_from_slice(&bytes[valid.len()..]);
        Ok(())
    }

    /// Returns the next object, if it is complete.
    pub(crate) fn next(&mut self, form: &mut dyn Form) -> Result<Option<Item>, MalformedPage> {
        let arrived = self.buffer.len() - self.position;
        if arrived < self.enough {
            return Ok(None);
        }
        while self.state != State::End {
            match self.step(form)? {
                Step::On => {}
                Step::Item(item) => {
                    self.enough = 0;
                    return Ok(Some(item));
                }
                Step::Starved => {
                    let left = self.buffer.len() - self.position;
                    self.enough = left + left / 2;
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Declares that no more bytes will arrive. Call this before the last calls of [`Self::next`].
    pub(crate) fn end(&mut self) {
        self.enough = 0;
    }

    /// Returns the list's metadata after everything was read.
    pub(crate) fn finish(self) -> Result<ListMeta, MalformedPage> {
        if self.state == State::End && self.saw_items {
            return Ok(self.meta);
        }
        let what = if self.state == State::End { "it has no items" } else { "it ends too soon" };
        Err(MalformedPage(what.to_owned()))
    }

    fn step(&mut self, form: &mut dyn Form) -> Result<Step, MalformedPage> {
        let Some(byte) = self.peek() else { return Ok(Step::Starved) };
        match (self.state, byte) {
            (State::Start, b'{') => self.go(1, State::Field),
            (State::Field, b'}') => self.go(1, State::End),
            (State::Field, b',') => self.go(1, State::Field),
            (State::Field, b'"') => return self.field(),
            (State::Metadata, _) => match self.value::<Option<ListMeta>>()? {
                Some(meta) => {
                    self.meta = meta.unwrap_or_default();
                    self.state = State::Field;
                }
                None => return Ok(Step::Starved),
            },
            (State::Skipped, _) => match self.value::<IgnoredAny>()? {
                Some(_) => self.state = State::Field,
                None => return Ok(Step::Starved),
            },
            (State::Items, b'[') => self.go(1, State::Item),
            // `null`, as Go writes an empty list.
            (State::Items, b'n') => self.state = State::Skipped,
            (State::Item, b']') => self.go(1, State::Field),
            (State::Item, b',') => self.go(1, State::Item),
            (State::Item, b'{') => return self.item(form),
            (state, byte) => {
                return Err(MalformedPage(format!("found {:?} in {state:?}", char::from(byte))));
            }
        }
        Ok(Step::On)
    }

    fn go(&mut self, bytes: usize, state: State) {
        self.position += bytes;
        self.state = state;
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.buffer.as_bytes()[self.position..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.position += blank;
        rest.get(blank).copied()
    }

    /// Reads a field's name and its colon.
    fn field(&mut self) -> Result<Step, MalformedPage> {
        let start = self.position;
        let Some(name) = self.value::<String>()? else { return Ok(Step::Starved) };
        match self.peek() {
            Some(b':') => self.position += 1,
            Some(byte) => return Err(MalformedPage(format!("found {:?} for ':'", char::from(byte)))),
            None => {
                self.position = start;
                return Ok(Step::Starved);
            }
        }
        self.state = match name.as_str() {
            "items" => State::Items,
            "metadata" => State::Metadata,
            _ => State::Skipped,
        };
        self.saw_items |= self.state == State::Items;
        Ok(Step::On)
    }

    fn item(&mut self, form: &mut dyn Form) -> Result<Step, MalformedPage> {
        let rest = &self.buffer[self.position..];
        let mut json = JsonReader::new(rest);
        let error = match form.decode(&mut json) {
            Ok(object) => {
                self.position += json.position();
                return Ok(Step::Item(Item::Object(object)));
            }
            Err(error) => error,
        };
        // The object does not decode or is incomplete. Check whether it is JSON, and where it ends.
        match first(rest, PhantomData::<&RawValue>) {
            Ok((raw, length)) => {
                let item = Item::Undecodable(broken(raw.get(), &json.explain(&error)));
                self.position += length;
                Ok(Step::Item(item))
            }
            Err(error) if error.is_eof() => Ok(Step::Starved),
            Err(error) => Err(MalformedPage(error.to_string())),
        }
    }

    /// Reads the next value; `None` if it is incomplete.
    fn value<'a, T: Deserialize<'a>>(&'a mut self) -> Result<Option<T>, MalformedPage> {
        let rest = &self.buffer[self.position..];
        match first(rest, PhantomData::<T>) {
            // A number or a word at the very end may be incomplete.
            Ok((_, length)) if length == rest.len() && !rest.starts_with(['{', '[', '"']) => Ok(None),
            Ok((value, length)) => {
                self.position += length;
                Ok(Some(value))
            }
            Err(error) if error.is_eof() => Ok(None),
            Err(error) => Err(MalformedPage(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
