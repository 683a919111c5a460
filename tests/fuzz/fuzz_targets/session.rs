//! The session machine: records and clock steps from bytes, conservation as the oracle.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| faircopy::session::script::run_bytes(bytes));
