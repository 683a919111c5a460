//! Reading the raw topic: one thread polls, one bounded channel a partition carries records to its task.
//!
//! [`group`] makes the client and looks the broker over before anything is consumed; [`assignment`] is what becomes of a
//! partition from assignment to revocation; [`changelog`] what its last owner left; [`poll`] is the loop; [`decode`] is the door for untrusted bytes; [`embedded`] is the
//! in-process broker of the demo.

pub mod assignment;
pub mod changelog;
pub mod embedded;
pub mod group;
pub mod letters;
pub mod lines;
pub mod poll;
mod probe;
pub mod reader;
mod statistics;
pub mod tail;

use crate::record::RawRecord;

/// What a partition task gets.
#[derive(Debug)]
pub enum ToPartition {
    /// the next record
    Record(RawRecord),
    /// the end that the partition had at assignment is reached: delays count from now on
    CaughtUp,
}
