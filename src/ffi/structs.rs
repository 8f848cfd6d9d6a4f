//! Structs that grow: the caller's size comes first and says what the caller knows. // C5

use crate::error::{Error, Result};

/// No struct of this ABI is larger; a greater size is garbage, and its tail is not read.
const LARGEST: usize = 4096;

/// A struct that begins with `size_t struct_size` and whose every field is 0 by default.
///
/// # Safety
///
/// `#[repr(C)]`, without padding; the first field is the `usize` size; any bytes are a valid
/// value; fields are only ever appended.
pub(super) unsafe trait Versioned: Copy {
    /// Its size when it was first published.
    const FIRST_SIZE: usize;
}

/// Reads a struct of any version: unknown fields must be 0, missing ones are.
///
/// # Safety
///
/// `source` is null or points at a `size_t` and as many bytes as that says, readable.
pub(super) unsafe fn read<T: Versioned>(source: *const T, parameter: &'static str) -> Result<T> {
    if source.is_null() {
        return Err(Error::invalid(parameter, "is null"));
    }
    if !source.is_aligned() {
        return Err(Error::invalid(parameter, "is not aligned"));
    }
    // SAFETY: every version starts with this field.
    let size = unsafe { source.cast::<usize>().read() };
    if size == size_of::<T>() {
        // SAFETY: readable for `size` bytes, aligned, and any bytes are a valid value.
        return Ok(unsafe { source.read() });
    }
    check_size::<T>(size, parameter)?;
    let known = size.min(size_of::<T>());
    // SAFETY: zeros are a valid value, by the trait's contract.
    let mut value: T = unsafe { std::mem::zeroed() };
    // SAFETY: readable for `size >= known` bytes, and `value` has room for `known`.
    unsafe {
        source
            .cast::<u8>()
            .copy_to_nonoverlapping((&raw mut value).cast(), known);
    }
    // SAFETY: the caller has `size` bytes, of which these are the last.
    let tail = unsafe { std::slice::from_raw_parts(source.cast::<u8>().add(known), size - known) };
    if tail.iter().any(|&byte| byte != 0) {
        return Err(Error::invalid(
            parameter,
            "has non-zero fields that this version does not know",
        ));
    }
    Ok(value)
}

/// An array of structs of one version, whose size is also their distance.
pub(super) struct Array<T> {
    source: *const T,
    count: usize,
    stride: usize,
    parameter: &'static str,
}

/// Looks at an array of structs.
///
/// # Safety
///
/// `source` is null or points at `count` structs as for [`read`], readable while the array is used,
/// and nobody writes there.
pub(super) unsafe fn array<T: Versioned>(
    source: *const T,
    count: usize,
    parameter: &'static str,
) -> Result<Array<T>> {
    let mut stride = 0;
    if count > 0 {
        // SAFETY: there is at least one element.
        unsafe { read(source, parameter)? };
        // SAFETY: `read` has checked that the pointer may be read.
        stride = unsafe { source.cast::<usize>().read() };
        if stride
            .checked_mul(count)
            .is_none_or(|bytes| bytes > isize::MAX as usize)
        {
            return Err(Error::invalid(parameter, "is longer than memory"));
        }
    }
    Ok(Array {
        source,
        count,
        stride,
        parameter,
    })
}

impl<T: Versioned> Array<T> {
    /// Hands over each struct in turn: where it lies, if it is of this version.
    pub(super) fn each(&self, mut visit: impl FnMut(&T) -> Result<()>) -> Result<()> {
        for i in 0..self.count {
            // SAFETY: element `i` lies within the array, by the contract of `array`.
            let element = unsafe { self.source.byte_add(i * self.stride) };
            // SAFETY: as above.
            if unsafe { element.cast::<usize>().read() } != self.stride {
                let reason = "its elements differ in struct_size";
                return Err(Error::invalid(self.parameter, reason));
            }
            if self.stride == size_of::<T>() {
                // SAFETY: readable for its size and left alone, by the contract of `array`;
                // aligned, as the first is and as its size is a multiple of that; any bytes are a
                // valid value.
                visit(unsafe { &*element })?;
            } else {
                // SAFETY: by the contract of `array`.
                visit(&unsafe { read(element, self.parameter)? })?;
            }
        }
        Ok(())
    }
}

fn check_size<T: Versioned>(size: usize, parameter: &'static str) -> Result<()> {
    if size < T::FIRST_SIZE || size > LARGEST || !size.is_multiple_of(align_of::<usize>()) {
        return Err(Error::invalid(
            parameter,
            format!("struct_size is {size}, which no version of it has"),
        ));
    }
    Ok(())
}

/// An out-parameter; it holds its failure value until [`Out::set`].
pub(super) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Stores the failure value. All of a call's outputs come before anything that can fail.
    ///
    /// # Safety
    ///
    /// `place` is null or writable until the output is dropped.
    pub(super) unsafe fn new(place: *mut T, failure: T, parameter: &'static str) -> Result<Out<T>> {
        if place.is_null() {
            return Err(Error::invalid(parameter, "is null"));
        }
        if !place.is_aligned() {
            return Err(Error::invalid(parameter, "is not aligned"));
        }
        // SAFETY: not null, aligned, and writable by this function's contract.
        unsafe { place.write(failure) };
        Ok(Out(place))
    }

    /// Like [`Out::new`], for an output that the caller may not want.
    ///
    /// # Safety
    ///
    /// As for [`Out::new`].
    pub(super) unsafe fn optional(
        place: *mut T,
        failure: T,
        parameter: &'static str,
    ) -> Result<Option<Out<T>>> {
        if place.is_null() {
            return Ok(None);
        }
        // SAFETY: this function's contract.
        unsafe { Out::new(place, failure, parameter).map(Some) }
    }

    /// Stores the result.
    pub(super) fn set(self, value: T) {
        // SAFETY: checked by `new`, writable by its contract.
        unsafe { self.0.write(value) }
    }
}

/// A versioned struct as an out-parameter: the caller sets `struct_size`, the call fills as many
/// fields as the caller knows; on failure all the others are 0.
pub(super) struct OutStruct<T> {
    place: *mut T,
    size: usize,
}

impl<T: Versioned> OutStruct<T> {
    /// Zeroes everything but the size.
    ///
    /// # Safety
    ///
    /// `place` is null or points at a `size_t` and as many bytes as that says, writable until the
    /// output is dropped.
    pub(super) unsafe fn new(place: *mut T, parameter: &'static str) -> Result<OutStruct<T>> {
        if place.is_null() {
            return Err(Error::invalid(parameter, "is null"));
        }
        if !place.is_aligned() {
            return Err(Error::invalid(parameter, "is not aligned"));
        }
        // SAFETY: every version starts with this field.
        let size = unsafe { place.cast::<usize>().read() };
        check_size::<T>(size, parameter)?;
        let out = OutStruct { place, size };
        out.zero();
        Ok(out)
    }

    /// Like [`OutStruct::new`], for an output that the caller may not want.
    ///
    /// # Safety
    ///
    /// As for [`OutStruct::new`].
    pub(super) unsafe fn optional(
        place: *mut T,
        parameter: &'static str,
    ) -> Result<Option<OutStruct<T>>> {
        if place.is_null() {
            return Ok(None);
        }
        // SAFETY: this function's contract.
        unsafe { OutStruct::new(place, parameter).map(Some) }
    }

    fn zero(&self) {
        // SAFETY: `size` bytes are writable by the contract of `new`, and `size` counts itself.
        unsafe {
            let bytes = self.place.cast::<u8>();
            let head = size_of::<usize>();
            bytes.add(head).write_bytes(0, self.size - head);
        }
    }

    /// Stores the result; its `struct_size` stays the caller's.
    pub(super) fn set(self, value: T) {
        let head = size_of::<usize>();
        let known = self.size.min(size_of::<T>());
        // SAFETY: `size >= known` bytes are writable by the contract of `new`; `value` has `known`.
        unsafe {
            (&raw const value)
                .cast::<u8>()
                .add(head)
                .copy_to_nonoverlapping(self.place.cast::<u8>().add(head), known - head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second version of a struct that was born with two fields.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Grown {
        struct_size: usize,
        old: u64,
        new: u64,
    }

    // SAFETY: integers of one size, so there is no padding.
    unsafe impl Versioned for Grown {
        const FIRST_SIZE: usize = 16;
    }

    fn read_words(words: &[usize]) -> Result<Grown> {
        // SAFETY: each case says the size that it has, or one that is refused before reading on.
        unsafe { read(words.as_ptr().cast(), "grown") }
    }

    #[test]
    fn an_older_caller_has_zeros_where_it_knows_nothing() {
        let (old, new) = (7, 0);
        let want = Grown {
            struct_size: 16,
            old,
            new,
        };
        assert_eq!(read_words(&[16, 7]), Ok(want));
    }

    #[test]
    fn a_newer_caller_may_say_nothing_that_is_not_understood() {
        assert!(read_words(&[32, 7, 8, 0]).is_ok());
        assert!(read_words(&[32, 7, 8, 1]).is_err());
    }

    #[test]
    fn sizes_that_no_version_has_are_refused() {
        for size in [0, 8, 17, LARGEST + 8, usize::MAX] {
            assert!(read_words(&[size, 7, 8]).is_err(), "{size}");
        }
    }

    #[test]
    fn an_output_fills_what_the_caller_knows_and_no_more() {
        let value = Grown {
            struct_size: 0,
            old: 7,
            new: 8,
        };
        for (words, want) in [
            ([16usize, 1, 1, 1, 1], [16usize, 7, 1, 1, 1]),
            ([24, 1, 1, 1, 1], [24, 7, 8, 1, 1]),
            ([32, 1, 1, 1, 1], [32, 7, 8, 0, 1]),
        ] {
            let mut words = words;
            // SAFETY: as many bytes as the first word says are there.
            let out = unsafe { OutStruct::<Grown>::new(words.as_mut_ptr().cast(), "grown") };
            out.unwrap().set(value);
            assert_eq!(words, want);
        }
    }
}
