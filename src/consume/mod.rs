//! Reading from Kafka.
//!
//! [`group`] makes the client and looks the broker over before anything is consumed; [`poll`] takes records off it; [`changelog`] reads what a partition's
//! last owner left, [`reader`] whole topics; [`embedded`] is the in-process broker of the demo.

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
