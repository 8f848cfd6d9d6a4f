//! Text for people: numbers of bytes that can be read, and columns that line up.

/// A number with its thousands apart.
pub(super) fn exact(number: impl Into<i128>) -> String {
    let number: i128 = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    if number < 0 {
        text.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A difference, with its sign; nothing for none.
pub(super) fn signed(number: i128) -> String {
    match number {
        0 => "0".to_owned(),
        1.. => format!("+{}", exact(number)),
        _ => exact(number),
    }
}

/// A number of bytes in the largest unit that it has one of, rounded to a tenth.
pub(super) fn rough(bytes: impl Into<i128>) -> String {
    let bytes: i128 = bytes.into();
    let size = bytes.unsigned_abs();
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let Some(unit) = (0..units.len()).rfind(|&u| size >> (10 * (u + 1)) > 0) else {
        return format!("{bytes} B");
    };
    let one = 1u128 << (10 * (unit + 1));
    let tenths = (size * 10 + one / 2) / one;
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}.{} {}", tenths / 10, tenths % 10, units[unit])
}

/// Both: exact, and roughly.
pub(super) fn bytes(number: impl Into<i128>) -> String {
    let number = number.into();
    match number.unsigned_abs() {
        0..1024 => format!("{number} bytes"),
        _ => format!("{} bytes ({})", exact(number), rough(number)),
    }
}

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// No column is wider. A longer cell is told whole and moves what stands behind it in its own row: a
/// generated name of thousands of characters must not widen every line.
const WIDEST: usize = 80;

/// Rows of cells, as wide as they need.
pub(super) struct Columns {
    sides: &'static [Side],
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub fn new(sides: &'static [Side]) -> Columns {
        Columns {
            sides,
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows
            .push(cells.into_iter().map(|cell| printable(&cell)).collect());
    }

    /// The rows as lines, each behind `indent` blanks.
    pub fn write(&self, indent: usize, out: &mut String) {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max();
            widest.unwrap_or(0).min(WIDEST)
        };
        let widths: Vec<usize> = (0..self.sides.len()).map(width).collect();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for (i, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                if i > 0 {
                    line.push_str("  ");
                }
                let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
                match self.sides[i] {
                    Side::Left => line.extend([cell.as_str(), &blanks]),
                    Side::Right => line.extend([&blanks, cell.as_str()]),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

/// Names come from files; a terminal must not act on what is in them.
pub(super) fn printable(text: &str) -> String {
    let seen = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_at_a_glance_and_to_the_byte() {
        for (number, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1,024 bytes (1.0 KiB)"),
            (1_310_720, "1,310,720 bytes (1.3 MiB)"),
            (-1_310_720, "-1,310,720 bytes (-1.3 MiB)"),
            (
                i128::from(u64::MAX),
                "18,446,744,073,709,551,615 bytes (16.0 EiB)",
            ),
        ] {
            assert_eq!(bytes(number), text);
        }
        assert_eq!(
            [signed(-1000), signed(0), signed(1000)],
            ["-1,000", "0", "+1,000"]
        );
    }

    #[test]
    fn columns_line_up_and_control_characters_do_nothing() {
        let mut columns = Columns::new(&[Side::Left, Side::Right]);
        columns.row(["a\u{1b}b".to_owned(), "1".to_owned()]);
        columns.row(["long".to_owned(), "1,000".to_owned()]);
        let mut text = String::new();
        columns.write(2, &mut text);
        assert_eq!(text, "  a\u{fffd}b       1\n  long  1,000\n");
    }

    #[test]
    fn a_cell_of_any_length_is_told_whole_and_widens_no_other_row() {
        for length in [WIDEST, WIDEST + 1, 65_535, 65_536, 200_000] {
            let long = "\u{1f600}".repeat(length);
            let mut columns = Columns::new(&[Side::Left, Side::Right, Side::Left]);
            columns.row([long.clone(), "12".to_owned(), "x".to_owned()]);
            columns.row(["a".to_owned(), long.clone(), long.clone()]);
            columns.row(["a".to_owned(), "1".to_owned(), "y".to_owned()]);
            let mut text = String::new();
            columns.write(1, &mut text);
            let (a, blanks) = (format!("a{}", " ".repeat(WIDEST - 1)), " ".repeat(WIDEST));
            let number = |n: &str| format!("{}{n}", &blanks[n.len()..]);
            let want = [
                format!(" {long}  {}  x\n", number("12")),
                format!(" {a}  {long}  {long}\n"),
                format!(" {a}  {}  y\n", number("1")),
            ];
            assert!(text == want.concat(), "{length}");
        }
    }
}
