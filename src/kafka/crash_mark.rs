//! The crash mark of a committed offset: whether a worker has begun the next record and died before it was done.
//!
//! ```text
//!          taken over                died                     died                     died
//!  CLEAN ───────────▶ BEGUN ────────────────────▶ ALONE ───────────────▶ TWICE ───────────────▶ the record is refused
//!    ▲      records are taken as ever    records are taken one by one, a commit after each
//!    └──────────────┴──── a commit got further, or the partition was handed over ────┘
//! ```
//!
//! The mark is the metadata of the committed offset. So it outlives whatever ended the process: a panic, an abort, the
//! kernel.

/// An offset and its crash mark, as a commit holds them.
pub type Position = (i64, CrashMark);

/// A crash mark; the module's documentation draws its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrashMark {
    /// no worker has died here
    #[default]
    Clean,
    /// a worker has begun this record, with the following records under way as well
    Begun,
    /// a worker has begun this record and no other
    Alone,
    /// a worker has begun this record and no other, for the second time
    Twice,
}

impl CrashMark {
    const NAMES: [(CrashMark, &str); 3] = [(CrashMark::Begun, "begun"), (CrashMark::Alone, "alone"), (CrashMark::Twice, "twice")];

    /// The mark as an offset's metadata; empty for a clean mark.
    pub fn to_metadata(self) -> &'static str {
        CrashMark::NAMES.iter().find(|(mark, _)| *mark == self).map_or("", |(_, name)| name)
    }

    /// The mark in an offset's metadata. Metadata that another program wrote counts as clean.
    pub fn from_metadata(metadata: &str) -> CrashMark {
        CrashMark::NAMES.iter().find(|(_, name)| *name == metadata).map_or(CrashMark::Clean, |(mark, _)| *mark)
    }
}
