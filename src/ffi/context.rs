//! `dram_context`: what a host's programs have in common, and where the library's notes go. // C7

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLock};

use super::boundary::{Call, boundary};
use super::error::dram_error;
use super::handle::{Handle, Object, Registry};
use super::program;
use super::status::dram_status;
use super::structs::Out;
use super::text::dram_str;
use crate::error::{Error, Result};

/// The owner of programs, and where notes are logged.
///
/// Threads: calls on one context may run at the same time, except freeing it.
pub struct dram_context {
    _opaque: (),
}

static CONTEXTS: Registry<dram_context> = Registry::new();

impl Handle for dram_context {
    type Object = Context;
    const NAME: &'static str = "dram_context";
    const TAG: u8 = 0x82;
    fn registry() -> &'static Registry<dram_context> {
        &CONTEXTS
    }
}

/// How much a context logs: everything at or above the level.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum dram_log_level {
    /// Nothing.
    Off = 0,
    /// What a person should look at: ineligible pairs, uses of unwritten bytes, ...
    Warning = 1,
    /// One line per run, with its figures.
    Info = 2,
}

/// Receives one log message. `message` is valid during the call only. Must not throw; runs on the
/// thread whose call has something to say; may call the library.
pub type dram_log_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, level: u32, message: dram_str)>;

#[derive(Clone, Copy)]
struct Log {
    log: unsafe extern "C" fn(*mut c_void, u32, dram_str),
    user: *mut c_void,
    level: u32,
}

// SAFETY: `dram_context_set_log` makes the host promise that any thread may call back with `user`.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

/// What a `dram_context` handle stands for.
pub(super) struct Context {
    log: RwLock<Option<Log>>,
    /// The addresses of its programs' tokens; `None` once it has been freed.
    programs: Mutex<Option<BTreeSet<usize>>>,
    poison: AtomicBool,
}

impl Object for Context {
    fn poison(&self) -> Option<&AtomicBool> {
        Some(&self.poison)
    }
}

impl Context {
    /// Says something to the host, if it listens at this level.
    pub(super) fn log(&self, level: dram_log_level, message: impl FnOnce() -> String) {
        let log = *self.log.read(); // The lock ends here, before the host is called.
        if let Some(Log {
            log,
            user,
            level: wanted,
        }) = log
            && level as u32 <= wanted
        {
            let message = message();
            // SAFETY: the host promised that `log` may be called with `user` while it is set.
            unsafe { log(user, level as u32, dram_str::of(&message)) }
        }
    }

    /// Makes a program's token a child, unless the context has been freed meanwhile.
    pub(super) fn adopt(&self, program: usize) -> Result<()> {
        match &mut *self.programs.lock() {
            Some(programs) => {
                programs.insert(program);
                Ok(())
            }
            None => Err(Error::invalid("context", "was freed during the call")),
        }
    }

    /// Forgets a program that has been freed.
    pub(super) fn disown(&self, program: usize) {
        if let Some(programs) = &mut *self.programs.lock() {
            programs.remove(&program);
        }
    }
}

/// Makes a context. Free it with `dram_context_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_context_new(
    context_out: *mut *mut dram_context,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |_: &mut Call| {
        // SAFETY: as this function's parameter says.
        let context_out = unsafe { Out::new(context_out, std::ptr::null_mut(), "context_out")? };
        context_out.set(CONTEXTS.insert(Arc::new(Context {
            log: RwLock::new(None),
            programs: Mutex::new(Some(BTreeSet::new())),
            poison: AtomicBool::new(false),
        })));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Frees a context; its programs, their modules and functions go with it. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_context_free(context: *mut dram_context) -> dram_status {
    let body = |_: &mut Call| {
        if context.is_null() {
            return Ok(());
        }
        let context = CONTEXTS.remove(context, "context")?;
        let programs = context.programs.lock().take().unwrap_or_default();
        for address in programs {
            program::free(std::ptr::without_provenance(address));
        }
        Ok(())
    };
    // SAFETY: null is allowed.
    unsafe { boundary(std::ptr::null_mut(), body) }
}

/// Says where notes about this context's programs go, and which; replaces what was said before.
///
/// `log`: called with `user` on whichever thread makes a call, perhaps on several at once, until it
/// is replaced and every call on the context's programs that was running has returned; null for
/// silence. `level`: a `dram_log_level`. Without this call nothing is logged; the library never
/// prints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_context_set_log(
    context: *mut dram_context,
    log: dram_log_fn,
    user: *mut c_void,
    level: u32,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        let context = call.get(context, "context")?;
        if level > dram_log_level::Info as u32 {
            return Err(Error::invalid(
                "level",
                format!("{level} is no dram_log_level"),
            ));
        }
        *context.log.write() = log.map(|log| Log { log, user, level });
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}
