//! Finds the weights inside an ONNX file without parsing the whole file, so that all sessions of a model can use the
//! same weights.
//!
//! ONNX is protobuf. The fields that are read here: `ModelProto.graph` (7), `GraphProto.initializer` (5), and of
//! `TensorProto` dims (1), data_type (2), name (8) and raw_data (9). Weights that are written in another way are not
//! shared.

use std::ops::Range;

/// Weights of fewer bytes are not worth sharing.
const WORTH_SHARING: usize = 4096;

/// Element types of shared weights, by ONNX's numbers for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `FLOAT`
    F32,
    /// `INT8`
    I8,
}

/// One weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// its name in the graph
    pub name: String,
    /// its shape
    pub dims: Vec<usize>,
    /// its element type
    pub element: Element,
    /// where its values stand in the file, little-endian
    pub data: Range<usize>,
}

/// The weights that are worth sharing. No weights if the bytes are no ONNX file; the runtime reports that better.
pub fn weights(onnx: &[u8]) -> Vec<Weight> {
    let graph = Fields { bytes: onnx, at: 0..onnx.len() }.find(|field| field.0 == 7);
    let Some((_, Value::Bytes(graph))) = graph else { return Vec::new() };
    let initializers = Fields { bytes: onnx, at: graph }.filter_map(|field| match field {
        (5, Value::Bytes(tensor)) => weight(onnx, tensor),
        _ => None,
    });
    initializers.collect()
}

fn weight(onnx: &[u8], tensor: Range<usize>) -> Option<Weight> {
    let (mut name, mut dims, mut element, mut data) = (None, Vec::new(), None, 0..0);
    for (field, value) in (Fields { bytes: onnx, at: tensor }) {
        match (field, value) {
            (1, Value::Number(n)) => dims.push(usize::try_from(n).ok()?),
            (1, Value::Bytes(packed)) => {
                let mut at = packed.start;
                while at < packed.end {
                    dims.push(usize::try_from(varint(&onnx[..packed.end], &mut at)?).ok()?);
                }
            }
            (2, Value::Number(1)) => element = Some(Element::F32),
            (2, Value::Number(3)) => element = Some(Element::I8),
            (8, Value::Bytes(text)) => name = Some(std::str::from_utf8(&onnx[text]).ok()?.to_string()),
            (9, Value::Bytes(raw)) => data = raw,
            _ => {}
        }
    }
    let (name, element) = (name?, element?);
    let size = if element == Element::F32 { 4 } else { 1 };
    let bytes = dims.iter().try_fold(size, |product: usize, &n| product.checked_mul(n))?;
    (bytes == data.len() && bytes >= WORTH_SHARING).then_some(Weight { name, dims, element, data })
}

enum Value {
    Number(u64),
    Bytes(Range<usize>),
    Fixed,
}

/// Fields of a protobuf message, up to the first invalid one.
struct Fields<'a> {
    bytes: &'a [u8],
    at: Range<usize>,
}

impl Iterator for Fields<'_> {
    type Item = (u64, Value);

    fn next(&mut self) -> Option<(u64, Value)> {
        if self.at.is_empty() {
            return None;
        }
        let message = &self.bytes[..self.at.end];
        let key = varint(message, &mut self.at.start)?;
        let value = match key & 7 {
            0 => Value::Number(varint(message, &mut self.at.start)?),
            1 => self.skip(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(varint(message, &mut self.at.start)?).ok()?;
                Value::Bytes(self.skip(length)?)
            }
            5 => self.skip(4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl Fields<'_> {
    fn skip(&mut self, length: usize) -> Option<Range<usize>> {
        let from = self.at.start;
        let to = from.checked_add(length).filter(|&to| to <= self.at.end)?;
        self.at.start = to;
        Some(from..to)
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A field with bytes in it.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = bytes.len() as u64;
        let varint: Vec<u8> = (0..3).map(|i| (length >> (7 * i)) as u8 & 0x7f | if i < 2 { 0x80 } else { 0 }).collect();
        [&[number << 3 | 2], &varint[..], bytes].concat()
    }

    #[test]
    fn weights_are_found_with_their_shape_and_place() {
        let values = vec![7u8; 64 * 96];
        let table = [&field(1, &[64, 96])[..], &[2 << 3, 3], &field(8, b"table"), &field(9, &values)].concat();
        let small = [&[1 << 3, 2, 2 << 3, 1][..], &field(8, b"small"), &field(9, &[0; 8])].concat();
        let short = [&field(1, &[64, 97])[..], &[2 << 3, 3], &field(8, b"short"), &field(9, &values)].concat();
        let graph = [field(1, b"a node"), field(5, &small), field(5, &short), field(5, &table)].concat();
        let onnx = [&[1 << 3, 8][..], &field(7, &graph)].concat();
        let found = weights(&onnx);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&*found[0].name, &found[0].dims[..], found[0].element), ("table", &[64, 96][..], Element::I8));
        assert_eq!(onnx[found[0].data.clone()], values);
    }

    proptest! {
        #[test]
        fn bytes_of_any_kind_harm_nothing(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            weights(&bytes);
            weights(&field(7, &field(5, &bytes)));
        }
    }
}
