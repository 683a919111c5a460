//! What a commit says of the record it stands before: whether somebody has begun it, and did not live to say that it was done with.
//!
//! ```text
//!          taken over                died                     died                     died
//!  CLEAN ───────────▶ BEGUN ────────────────────▶ ALONE ───────────────▶ TWICE ───────────────▶ the record is refused
//!    ▲      records are taken as ever    records are taken one by one, a commit after each
//!    └──────────────┴──── a commit got further, or the partition was handed over ────┘
//! ```
//!
//! It travels as the metadata of the committed offset, so it outlives whatever ended the process: a panic, an abort, the kernel.

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrashMark {
    /// nobody has failed here
    #[default]
    Clean,
    /// a worker has begun here, with the records that follow under way as well
    Begun,
    /// a worker has begun the record here, and no other
    Alone,
    /// the same again
    Twice,
}

impl CrashMark {
    const NAMES: [(CrashMark, &str); 3] = [(CrashMark::Begun, "begun"), (CrashMark::Alone, "alone"), (CrashMark::Twice, "twice")];

    /// As an offset's metadata; empty for a clean one.
    pub fn to_metadata(self) -> &'static str {
        CrashMark::NAMES.iter().find(|(mark, _)| *mark == self).map_or("", |(_, name)| name)
    }

    /// Of an offset's metadata. What somebody else has written there is nobody's mark.
    pub fn from_metadata(metadata: &str) -> CrashMark {
        CrashMark::NAMES.iter().find(|(_, name)| *name == metadata).map_or(CrashMark::Clean, |(mark, _)| *mark)
    }
}
