//! `dram_cancel`: a flag that stops a run from any thread. // S2

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::handle::{Handle, Object, Registry};
use super::status::dram_status;
use super::structs::Out;

/// A sticky cancel flag; once set it stays set, and a run that is given it stops at once.
///
/// Threads: any thread may set or read it at any time, also while a run uses it or it is freed.
pub struct dram_cancel {
    _opaque: (),
}

static CANCELS: Registry<dram_cancel> = Registry::new();

impl Handle for dram_cancel {
    type Object = Cancel;
    const NAME: &'static str = "dram_cancel";
    const TAG: u8 = 0x83;
    fn registry() -> &'static Registry<dram_cancel> {
        &CANCELS
    }
}

/// What a `dram_cancel` handle stands for.
pub(super) struct Cancel(pub(super) AtomicBool);

impl Object for Cancel {
    fn poison(&self) -> Option<&AtomicBool> {
        None
    }
}

/// Makes a cancel flag, not set. Free it with `dram_cancel_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_cancel_new(
    cancel_out: *mut *mut dram_cancel,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |_: &mut Call| {
        // SAFETY: as this function's parameter says.
        let cancel_out = unsafe { Out::new(cancel_out, std::ptr::null_mut(), "cancel_out")? };
        cancel_out.set(CANCELS.insert(Arc::new(Cancel(AtomicBool::new(false)))));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Frees a cancel flag; null is fine. A run that uses it goes on, and can no longer be stopped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_cancel_free(cancel: *mut dram_cancel) -> dram_status {
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), |_| super::free(cancel, "cancel")) }
}

/// Sets the flag, for good. Runs that use it return within 10 ms: with the best placement so far
/// if there is one, else with `DRAM_STATUS_CANCELLED`. A pipeline or a verification that has not
/// ended is cancelled, whatever it has placed or proved so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_cancel_set(
    cancel: *mut dram_cancel,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        call.get(cancel, "cancel")?.0.store(true, Ordering::Relaxed);
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Whether the flag is set: stores 1 or 0 in `set_out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_cancel_is_set(
    cancel: *const dram_cancel,
    set_out: *mut u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let set_out = unsafe { Out::new(set_out, 0, "set_out")? };
        set_out.set(call.get(cancel, "cancel")?.0.load(Ordering::Relaxed).into());
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}
