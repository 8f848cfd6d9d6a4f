//! Text and arrays across the border: pointer and length in, borrowed text or a callback out. // C6

use std::ffi::{c_char, c_void};
use std::io;

use crate::error::{Error, Fault, Result};

/// Text: UTF-8, not terminated. Null with length 0 is the empty text.
///
/// Passed in, it is read during the call only. Handed out, it is valid for as long as the function
/// that handed it out says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_str {
    /// The first byte.
    pub data: *const c_char,
    /// How many bytes.
    pub len: usize,
}

/// Receives a piece of output, in order. Anything but 0 stops the call, which then fails with
/// `DRAM_STATUS_CANCELLED`. Must not throw; runs on the calling thread; may call the library.
pub type dram_write_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_char, len: usize) -> i32>;

impl dram_str {
    /// No text.
    pub(super) const EMPTY: dram_str = dram_str {
        data: std::ptr::null(),
        len: 0,
    };

    /// Borrows `text`; the caller of the ABI learns for how long.
    pub(super) fn of(text: &str) -> dram_str {
        dram_str {
            data: text.as_ptr().cast(),
            len: text.len(),
        }
    }

    /// Reads text that a host handed in.
    ///
    /// # Safety
    ///
    /// `data` is null or readable for `len` bytes during `'a`, and nobody writes there.
    #[inline(always)] // Most locations have few of the texts that they may have.
    pub(super) unsafe fn read<'a>(self, parameter: &'static str) -> Result<&'a str> {
        if self.len == 0 {
            return Ok("");
        }
        // SAFETY: as this function's.
        unsafe { self.read_some(parameter) }
    }

    /// # Safety
    ///
    /// As for `read`.
    unsafe fn read_some<'a>(self, parameter: &'static str) -> Result<&'a str> {
        // SAFETY: as this function's.
        let bytes = unsafe { slice(self.data.cast::<u8>(), self.len, parameter)? };
        std::str::from_utf8(bytes).map_err(|e| Error::invalid(parameter, format!("not UTF-8: {e}")))
    }
}

/// An array that a host handed in; null with length 0 is the empty one.
///
/// # Safety
///
/// `data` is null or readable for `len` elements during `'a`, nobody writes there, and any bytes
/// are a valid `T`.
#[inline]
pub(super) unsafe fn slice<'a, T>(
    data: *const T,
    len: usize,
    parameter: &'static str,
) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    check_array(data, len, parameter)?;
    // SAFETY: not null, aligned, at most `isize::MAX` bytes; the rest is this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// An array that a host wants filled; null with length 0 is the empty one.
///
/// # Safety
///
/// `data` is null or writable for `len` initialised elements during `'a`, nobody else touches
/// them, and any bytes are a valid `T`.
pub(super) unsafe fn slice_mut<'a, T>(
    data: *mut T,
    len: usize,
    parameter: &'static str,
) -> Result<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    check_array(data, len, parameter)?;
    // SAFETY: not null, aligned, at most `isize::MAX` bytes; the rest is this function's contract.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
}

fn check_array<T>(data: *const T, len: usize, parameter: &'static str) -> Result<()> {
    if data.is_null() {
        return Err(Error::invalid(parameter, "is null but its length is not 0"));
    }
    if !data.is_aligned() {
        return Err(Error::invalid(parameter, "is not aligned"));
    }
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(()),
        _ => Err(Error::invalid(parameter, "is longer than memory")),
    }
}

/// A host's write callback as a sink; what it refuses ends the call.
pub(super) struct Writer {
    write: unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> i32,
    user: *mut c_void,
    stopped: bool,
}

impl Writer {
    /// # Safety
    ///
    /// `write` is null or may be called with `user` and any bytes until the writer is dropped.
    pub(super) unsafe fn new(write: dram_write_fn, user: *mut c_void) -> Result<Writer> {
        Ok(Writer {
            write: write.ok_or_else(|| Error::invalid("write", "is null"))?,
            user,
            stopped: false,
        })
    }

    /// Hands over short text in one piece.
    pub(super) fn text(mut self, text: &str) -> Result<()> {
        let written = io::Write::write_all(&mut self, text.as_bytes());
        self.outcome(written)
    }

    /// Lets `body` write, in large pieces.
    pub(super) fn document(
        mut self,
        body: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut buffer = io::BufWriter::with_capacity(1 << 16, &mut self);
        let written = body(&mut buffer).and_then(|()| io::Write::flush(&mut buffer));
        drop(buffer);
        self.outcome(written)
    }

    fn outcome(&self, written: io::Result<()>) -> Result<()> {
        if self.stopped {
            return Err(Fault::Cancelled.into());
        }
        written.map_err(|e| Error::invalid("write", e.to_string()))
    }
}

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stopped {
            return Err(io::Error::other("stopped by the host"));
        }
        // SAFETY: by the contract of `new`; the bytes are readable.
        if unsafe { (self.write)(self.user, bytes.as_ptr().cast(), bytes.len()) } != 0 {
            self.stopped = true;
            return Err(io::Error::other("stopped by the host"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_empty_only_without_a_length() {
        let read = |data, len| {
            // SAFETY: null, or never read because the check refuses it.
            unsafe { dram_str { data, len }.read("name") }
        };
        assert_eq!(read(std::ptr::null(), 0), Ok(""));
        assert!(read(std::ptr::null(), 1).is_err());
        assert!(read(c"x".as_ptr(), usize::MAX).is_err());
    }

    #[test]
    fn text_that_is_no_utf8_is_refused() {
        let bytes = [b'a', 0xff];
        let text = dram_str {
            data: bytes.as_ptr().cast(),
            len: 2,
        };
        // SAFETY: two readable bytes.
        assert!(unsafe { text.read("name") }.is_err());
    }

    #[test]
    fn an_array_that_is_not_aligned_is_refused() {
        let words = [0u64; 2];
        // SAFETY: never read because the check refuses it.
        let odd = unsafe { slice(words.as_ptr().cast::<u8>().add(1).cast::<u32>(), 1, "ids") };
        assert!(odd.is_err());
    }
}
