//! Integration tests: the built program and the shipped model, on a real Apache Kafka where one is needed.

mod admin;
mod broker;
mod chaos;
mod cli;
mod delivery;
mod documents;
mod evaluation;
mod faults;
mod formatting;
mod hostile;
mod hostile_kafka;
mod inputs;
mod kafka;
mod kept;
mod layout;
mod leaks;
mod ledger;
mod metrics;
mod model;
mod operations;
mod recorded;
mod redaction;
mod reload;
mod service;
mod soak;
mod worker;
