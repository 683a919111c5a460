//! Records from bytes: decoded or refused, never a panic, and what is let through keeps its contract.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| faircopy::pipeline::oracle::check_bytes(bytes));
