//! Many short texts in one: the names of rows. // C9

/// Texts by number, in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    text: String,
    ends: Vec<usize>,
}

impl Labels {
    /// Adds a text at the end.
    pub fn push(&mut self, label: &str) {
        self.text.push_str(label);
        self.ends.push(self.text.len());
    }

    /// The text of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<&str> {
        let end = *self.ends.get(row)?;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        Some(&self.text[start..end])
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
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
}
