//! Many short texts in one: the names of rows. // C9

use std::sync::Arc;

/// Texts by number, in one allocation.
#[derive(Clone, Debug)]
pub struct Labels(Texts);

#[derive(Clone, Debug)]
enum Texts {
    /// One after another, each up to its end.
    Packed { text: String, ends: Vec<usize> },
    /// Fields of a table without quotes that somebody else holds too, from their starts on.
    Fields {
        table: Arc<String>,
        starts: Vec<u32>,
    },
}

impl Default for Labels {
    fn default() -> Labels {
        Labels(Texts::Packed {
            text: String::new(),
            ends: Vec::new(),
        })
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Labels) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Labels {}

impl Labels {
    /// The fields of a table that start there: each ends before a comma or with its line.
    pub(crate) fn fields(table: Arc<String>, starts: Vec<u32>) -> Labels {
        Labels(Texts::Fields { table, starts })
    }

    /// Adds a text at the end.
    pub fn push(&mut self, label: &str) {
        match &mut self.0 {
            Texts::Packed { text, ends } => {
                text.push_str(label);
                ends.push(text.len());
            }
            Texts::Fields { .. } => {
                *self = self.iter().collect();
                self.push(label);
            }
        }
    }

    /// The text of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<&str> {
        match &self.0 {
            Texts::Packed { text, ends } => {
                let end = *ends.get(row)?;
                let start = if row == 0 { 0 } else { ends[row - 1] };
                Some(&text[start..end])
            }
            Texts::Fields { table, starts } => {
                let rest = &table[*starts.get(row)? as usize..];
                let end = rest.bytes().position(|b| matches!(b, b',' | b'\n' | b'\r'));
                Some(&rest[..end.unwrap_or(rest.len())])
            }
        }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Texts::Packed { ends, .. } => ends.len(),
            Texts::Fields { starts, .. } => starts.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The texts, row by row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|row| self.get(row))
    }
}

impl std::ops::Index<usize> for Labels {
    type Output = str;

    fn index(&self, row: usize) -> &str {
        self.get(row).expect("the row has a label")
    }
}

impl<S: AsRef<str>> FromIterator<S> for Labels {
    fn from_iter<I: IntoIterator<Item = S>>(labels: I) -> Labels {
        let mut all = Labels::default();
        for label in labels {
            all.push(label.as_ref());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were() {
        arbtest::arbtest(|u| {
            let want: Vec<String> = u.arbitrary()?;
            let labels: Labels = want.iter().collect();
            assert!(labels.iter().eq(want.iter().map(String::as_str)));
            assert_eq!((labels.len(), labels.get(want.len())), (want.len(), None));
            assert!(
                want.iter()
                    .enumerate()
                    .all(|(row, text)| labels[row] == **text)
            );
            Ok(())
        });
    }

    #[test]
    fn fields_of_a_table_are_texts_as_any_others() {
        let table = Arc::new("a,1\nbé,2\r\n,3\nlast".to_owned());
        let mut labels = Labels::fields(table, vec![0, 4, 11, 14]);
        assert!(labels.iter().eq(["a", "bé", "", "last"]));
        labels.push("more");
        let want = ["a", "bé", "", "last", "more"];
        assert_eq!(labels, want.iter().collect());
    }
}
