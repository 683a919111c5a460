//! Sentences from bytes through the shipped grammars: every word in one unit, as a tagger might tag them and without
//! one.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| faircopy::pipeline::oracle::check_sentence(bytes));
