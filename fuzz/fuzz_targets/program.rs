//! Feeds libFuzzer's inputs to the target of the same name.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| longhaul_fuzz::program(bytes));
