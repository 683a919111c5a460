//! Faults for the tests: a debug build ends where its environment says, as at a bug that no check foresees. Release builds hold none of this.

use std::sync::atomic::{AtomicU64, Ordering};

/// Ends the process where `FAIRCOPY_CRASH_ON` names this record key.
pub fn crash_on(key: Option<&[u8]>) {
    if cfg!(debug_assertions)
        && let Some(session) = std::env::var_os("FAIRCOPY_CRASH_ON")
        && key == Some(session.as_encoded_bytes())
    {
        std::process::abort();
    }
}

/// Ends the process where `FAIRCOPY_CRASH_BEFORE` is `step:n`, the n-th time that it comes to this step.
pub fn crash_before(step: &str) {
    static TIMES: AtomicU64 = AtomicU64::new(0);
    if cfg!(debug_assertions)
        && let Ok(told) = std::env::var("FAIRCOPY_CRASH_BEFORE")
        && let Some((which, times)) = told.split_once(':')
        && which == step
        && TIMES.fetch_add(1, Ordering::Relaxed) + 1 == times.parse::<u64>().expect("a number")
    {
        std::process::abort();
    }
}
