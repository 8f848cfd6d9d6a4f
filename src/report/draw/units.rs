//! Bytes and coordinates as short text, in whole numbers: the same on every machine, and without
//! the code that prints floating-point numbers.

use std::fmt;

/// Bytes in the largest unit of which there is one, with three digits: `8.12 MiB`.
pub(super) fn human(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fits = UNITS.iter().find(|(_, power)| bytes >> power > 0);
    let Some(&(unit, power)) = fits else {
        return format!("{bytes} B");
    };
    // In hundredths; tenths or none where there are more digits before the point.
    let hundredths = (u128::from(bytes) * 100 + (1 << power >> 1)) >> power;
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match whole {
        _ if part == 0 => format!("{whole} {unit}"),
        0..10 => format!("{whole}.{part:02} {unit}"),
        10..100 => format!("{whole}.{} {unit}", part / 10),
        _ => format!("{whole} {unit}"),
    }
}

/// How much `a` is above `b`, in hundredths of a percent: `2.78 %`.
pub(super) fn percent_above(a: u64, b: u64) -> String {
    let (a, b) = (u128::from(a), u128::from(b.max(1)));
    let hundredths = (a.saturating_sub(b) * 10_000 + b / 2) / b;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// A coordinate in tenths of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Px(pub i64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, tenth) = (self.0.abs() / 10, self.0.abs() % 10);
        match tenth {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{tenth}"),
        }
    }
}

/// `part` of `whole` as a share of `length`.
pub(super) fn share(part: u64, whole: u64, length: i64) -> i64 {
    (i128::from(part) * i128::from(length) / i128::from(whole.max(1))) as i64
}

/// The smallest power of two of which at most `most` fit in `span`.
pub(super) fn tick(span: u64, most: u64) -> u64 {
    let least = span.div_ceil(most.max(1)).max(1);
    least.checked_next_power_of_two().unwrap_or(1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.50 KiB"),
            (12 << 20, "12 MiB"),
            ((12 << 20) + (1 << 19), "12.5 MiB"),
            ((100 << 30) + (1 << 29), "100 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(human(bytes), text);
        }
    }

    #[test]
    fn shares_and_steps_do_not_wrap() {
        assert_eq!(share(u64::MAX, u64::MAX, 12_000), 12_000);
        assert_eq!(share(1, 3, 100), 33);
        assert_eq!(tick(u64::MAX, 1), 1 << 63);
        assert_eq!(tick(100, 9), 16);
        assert_eq!(Px(-15).to_string(), "-1.5");
        assert_eq!(percent_above(103, 100), "3.00 %");
    }
}
