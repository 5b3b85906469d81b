//! Decompression of responses.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;

/// The number of compressed bytes that are decompressed at once. They expand at most a thousandfold, which fits
/// into memory.
const PIECE: usize = 4 << 10;

/// Decompresses data as it arrives. Servers may compress a watch event by event, as one gzip member after the
/// other.
pub(super) struct Gunzip {
    decoder: MultiGzDecoder<Vec<u8>>,
    waiting: Bytes,
    has_begun: bool,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self { decoder: MultiGzDecoder::new(Vec::new()), waiting: Bytes::new(), has_begun: false }
    }

    /// Adds data. Call this when [`Self::next`] returns nothing more.
    pub(super) fn push(&mut self, data: Bytes) {
        self.has_begun |= !data.is_empty();
        self.waiting = data;
    }

    /// Returns the next decompressed piece.
    ///
    /// # Errors
    /// The data is not gzip, or its checksum is wrong.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        while !self.waiting.is_empty() {
            let piece = self.waiting.split_to(self.waiting.len().min(PIECE));
            self.decoder.write_all(&piece)?;
            self.decoder.flush()?;
            let out = std::mem::take(self.decoder.get_mut());
            if !out.is_empty() {
                return Ok(Some(out.into()));
            }
        }
        Ok(None)
    }

    /// Returns the rest when no more data arrives.
    ///
    /// # Errors
    /// Returns an error if the response was truncated.
    pub(super) fn finish(&mut self) -> io::Result<Option<Bytes>> {
        if !std::mem::take(&mut self.has_begun) {
            return Ok(None);
        }
        let cut_off = |_| io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed answer was cut off");
        self.decoder.try_finish().map_err(cut_off)?;
        let out = std::mem::take(self.decoder.get_mut());
        Ok((!out.is_empty()).then(|| out.into()))
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn gunzip(chunks: &[&[u8]]) -> io::Result<Vec<u8>> {
        let mut gunzip = Gunzip::new();
        let mut out = Vec::new();
        for chunk in chunks {
            gunzip.push(Bytes::copy_from_slice(chunk));
            while let Some(data) = gunzip.next()? {
                out.extend_from_slice(&data);
            }
        }
        if let Some(data) = gunzip.finish()? {
            out.extend_from_slice(&data);
        }
        Ok(out)
    }

    proptest! {
        #[test]
        fn decompression_does_not_depend_on_members_and_chunks(
            members in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..4),
            cuts in proptest::collection::vec(0_usize..2000, 0..6),
        ) {
            let compressed: Vec<u8> = members.iter().flat_map(|member| gzip(member)).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(compressed.len())).collect();
            cuts.extend([0, compressed.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &compressed[cut[0]..cut[1]]).collect();
            prop_assert_eq!(gunzip(&chunks).unwrap(), members.concat());
        }

        #[test]
        fn truncated_data_is_an_error(text in proptest::collection::vec(any::<u8>(), 0..300), cut in 1_usize..400) {
            let compressed = gzip(&text);
            let cut = cut.min(compressed.len() - 1);
            prop_assert!(gunzip(&[&compressed[..cut]]).is_err());
        }
    }

    #[test]
    fn flushed_data_is_returned_at_once() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"one\n").unwrap();
        encoder.flush().unwrap();
        let mut gunzip = Gunzip::new();
        gunzip.push(std::mem::take(encoder.get_mut()).into());
        assert_eq!(gunzip.next().unwrap().unwrap(), "one\n");
        assert_eq!(gunzip.next().unwrap(), None);
    }

    #[test]
    fn empty_data_is_accepted_and_other_data_is_an_error() {
        assert_eq!(gunzip(&[]).unwrap(), b"");
        assert!(gunzip(&[b"{\"kind\":\"Status\"}"]).is_err());
    }
}
