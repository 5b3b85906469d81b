//! Splits a watch's bytes into lines.

use std::ops::ControlFlow;

/// A longer line cannot be an event: etcd refuses objects of a twentieth of this size.
const LONGEST_LINE: usize = 32 << 20;

/// The line is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a watch event is longer than {LONGEST_LINE} bytes")]
pub(super) struct LineTooLong;

/// Keeps the rest of a chunk until its line is complete.
#[derive(Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    /// Calls `take` with every line that `chunk` completes, until it breaks. A line that lies within the chunk is
    /// not copied.
    pub(super) fn feed(
        &mut self,
        chunk: &[u8],
        mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, LineTooLong> {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            let flow = if self.partial.is_empty() {
                take_line(line, &mut take)
            } else {
                self.partial.extend_from_slice(line);
                let flow = take_line(&self.partial, &mut take);
                self.partial.clear();
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if self.partial.len() + rest.len() > LONGEST_LINE {
            return Err(LineTooLong);
        }
        self.partial.extend_from_slice(rest);
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the last line if the stream ended without a line break.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.partial)
    }
}

fn take_line(line: &[u8], take: &mut impl FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    if line.trim_ascii().is_empty() { ControlFlow::Continue(()) } else { take(line) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_do_not_depend_on_chunks(text in "[ab\n]{0,40}", cuts in proptest::collection::vec(0_usize..40, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for pair in cuts.windows(2) {
                let chunk = &text.as_bytes()[pair[0]..pair[1]];
                let flow = lines.feed(chunk, |line| {
                    seen.push(String::from_utf8(line.to_vec()).unwrap());
                    ControlFlow::Continue(())
                });
                prop_assert!(flow.unwrap().is_continue());
            }
            let rest = String::from_utf8(lines.rest()).unwrap();
            if !rest.is_empty() {
                seen.push(rest);
            }
            let expected: Vec<String> =
                text.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
