//! Numbers as text where so many are written that the formatter is too slow.

/// Writes numbers, one at a time.
#[derive(Default)]
pub(crate) struct Digits([u8; 20]);

impl Digits {
    /// The decimal digits of a number, in ASCII.
    pub(crate) fn of(&mut self, mut number: u64) -> &[u8] {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        &self.0[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_formatter() {
        for number in [0, 9, 10, 4096, u64::MAX] {
            assert_eq!(Digits::default().of(number), number.to_string().as_bytes());
        }
    }
}
