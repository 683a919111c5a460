//! What every version of the program can read of a stream's state, whatever version wrote it.

use serde::{Deserialize, Serialize};

use super::{NO_STATE, Snapshot, SnapshotError, wrong};

/// First byte of every changelog value. It names the layout of the header, which never changes: a header with other fields would have another first byte,
/// and programs that know both.
pub(super) const HEADER: u8 = 1;

/// What every version can read of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// offset of the first raw record that is not in the state
    pub applied: i64,
    /// of a stream that goes on; none of one that has ended
    pub open: Option<StreamOutline>,
}

/// An open stream in outline: what its readers have got, and where its input begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOutline {
    /// name of its profile
    pub profile: Box<str>,
    /// offset of the record that opened it
    pub epoch: i64,
    /// final words that came
    pub taken: u64,
    /// of those, so many have left in segments
    pub released: u64,
    /// segments sent
    pub segments: u64,
    /// words of them that were removed
    pub removed: u64,
    /// words of them that were degraded
    pub degraded: u64,
    /// whether the next word begins a sentence
    pub sentence_start: bool,
    /// offset of the first record that waits for its end, to open the next epoch
    pub next_epoch: Option<i64>,
    /// final words of such records
    pub held: u64,
}

/// A changelog value as it can be read.
#[derive(Debug)]
pub struct StoredSnapshot {
    /// readable for every version
    pub header: Header,
    /// the state, or why this version cannot use it
    pub snapshot: Result<Snapshot, SnapshotError>,
}

impl Header {
    /// What a changelog value begins with.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        postcard::to_extend(self, vec![HEADER]).expect("headers are plain data")
    }
}

impl StoredSnapshot {
    /// Of a changelog value.
    ///
    /// # Errors
    /// Not even its header can be read.
    pub fn from_bytes(bytes: &[u8]) -> Result<StoredSnapshot, SnapshotError> {
        let (header, rest) = header(bytes)?;
        Ok(StoredSnapshot { header, snapshot: Snapshot::from_bytes(rest) })
    }
}

pub(super) fn header(bytes: &[u8]) -> Result<(Header, &[u8]), SnapshotError> {
    match bytes.split_first() {
        Some((&HEADER, rest)) => {
            let (header, rest): (Header, &[u8]) = postcard::take_from_bytes(rest).map_err(wrong)?;
            let sound = header.applied >= 0 && header.open.as_ref().is_none_or(|o| o.epoch >= 0 && o.released <= o.taken);
            if sound { Ok((header, rest)) } else { Err(wrong("a header that contradicts itself")) }
        }
        Some((layout, _)) => Err(wrong(format!("expected a header of layout {HEADER}, got {layout}"))),
        None => Err(wrong("no bytes")),
    }
}

/// Up to which offset a changelog value has its stream's input; `None` where that cannot be read.
pub fn applied(value: &[u8]) -> Option<i64> {
    header(value).ok().map(|(header, _)| header.applied)
}

/// A changelog value without the state itself, for a topic that does not take as much; `None` where it has none already.
pub fn without_body(value: &[u8]) -> Option<Vec<u8>> {
    let (_, body) = header(value).ok()?;
    (*body != [NO_STATE]).then(|| [&value[..value.len() - body.len()], &[NO_STATE]].concat())
}

/// A changelog value of an open stream as another version might have written it. For tests of what is done then.
pub fn of_another_version(value: &[u8]) -> Option<Vec<u8>> {
    let (header, body) = header(value).ok()?;
    header.open.as_ref()?;
    Some([&value[..value.len() - body.len()], &[u8::MAX], &body[1..]].concat())
}
