//! Time that other work on the machine does not lengthen.

use std::time::Duration;

/// Processor time that this process has taken.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Unix, and `time` is there to be written.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "the process has a clock");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time since the first call, where the system does not tell the processor's.
#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
