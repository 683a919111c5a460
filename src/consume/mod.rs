//! Reading from Kafka.
//!
//! [`group`] makes the client and checks the broker before anything is consumed. [`poll`] takes records off the client.
//! [`changelog`] reads the states that a partition's last owner left, [`reader`] reads whole topics. [`embedded`] is
//! the demo's in-process broker.

pub mod changelog;
pub mod dead_letters;
pub mod embedded;
pub mod follower;
pub mod group;
pub mod json_lines;
pub mod poll;
mod probe;
pub mod reader;
mod restoring;
mod statistics;
