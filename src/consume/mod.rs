//! Reading from Kafka.
//!
//! [`group`] makes the client and looks the broker over before anything is consumed; [`poll`] takes records off it; [`changelog`] reads what a partition's
//! last owner left, [`reader`] whole topics; [`embedded`] is the in-process broker of the demo.

pub mod changelog;
pub mod dead_letters;
pub mod embedded;
pub mod follower;
pub mod group;
pub mod json_lines;
pub mod poll;
mod probe;
pub mod reader;
mod statistics;
