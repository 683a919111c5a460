//! Values in Avro by any schema: refused, or JSON of at most the limit.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| faircopy::pipeline::oracle::check_avro_bytes(bytes));
