//! Grammar files from bytes: compiled or refused with a place, never a panic; what compiles decodes any words in
//! bounded time.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| faircopy::format::itn::oracle::check_grammar(bytes));
