//! Encodes fields as protobuf does.

/// Wire types: <https://protobuf.dev/programming-guides/encoding/#structure>.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;

pub(crate) fn varint(out: &mut Vec<u8>, number: u64, value: u64) {
    raw_varint(out, number << 3 | VARINT);
    raw_varint(out, value);
}

pub(crate) fn double(out: &mut Vec<u8>, number: u64, value: f64) {
    raw_varint(out, number << 3 | FIXED_64);
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn bytes(out: &mut Vec<u8>, number: u64, content: &[u8]) {
    raw_varint(out, number << 3 | LENGTH_DELIMITED);
    raw_varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// Encodes a message in a field; a function writes its content.
pub(crate) fn nested(out: &mut Vec<u8>, number: u64, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    bytes(out, number, &inner);
}

fn raw_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
