//! What is wrong, as data: collected, capped per kind, sorted.

use super::kinds::KINDS;
use crate::sorting::CompactSort as _;
use std::collections::BTreeMap;

/// How many violations of one kind are listed; the rest become a total.
pub const REPORTED_PER_KIND: u64 = 100;

/// Something wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The kind, a stable word: `overlap`, `moved_pin`, `misaligned`, ...
    pub kind: &'static str,
    /// The core, if it concerns one.
    pub core: Option<u32>,
    /// The function, if it concerns one.
    pub function: Option<String>,
    /// The locations involved.
    pub locations: Vec<String>,
    /// The sentence.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.kind)?;
        if let Some(core) = self.core {
            write!(f, "core {core}, ")?;
        }
        if let Some(function) = &self.function {
            write!(f, "function {function}, ")?;
        }
        for location in &self.locations {
            write!(f, "{location}, ")?;
        }
        f.write_str(&self.message)
    }
}

/// Where in the program a violation is: the core and the function, as far as it has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At<'a> {
    pub core: Option<u32>,
    pub function: Option<&'a str>,
}

/// Everything found so far.
///
/// Checks add in an order that depends on the input alone, so what the cap leaves out does not
/// vary from run to run. // S4
#[derive(Default)]
pub(super) struct Findings {
    listed: Vec<Violation>,
    counts: BTreeMap<&'static str, u64>,
}

impl Findings {
    /// Adds a violation; `detail` makes its locations and sentence, if it is listed at all.
    pub fn add(
        &mut self,
        kind: &'static str,
        at: At<'_>,
        detail: impl FnOnce() -> (Vec<String>, String),
    ) {
        debug_assert!(KINDS.contains(&kind), "{kind} is not in the list of kinds");
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count > REPORTED_PER_KIND {
            return;
        }
        let (locations, message) = detail();
        self.listed.push(Violation {
            kind,
            core: at.core,
            function: at.function.map(str::to_owned),
            locations,
            message,
        });
    }

    /// Adds a violation that concerns no location in particular.
    pub fn say(&mut self, kind: &'static str, at: At<'_>, message: impl FnOnce() -> String) {
        self.add(kind, at, || (Vec::new(), message()));
    }

    /// Whether there are so many of a kind that looking for more is no use to anyone.
    pub fn enough(&self, kind: &'static str) -> bool {
        const ENOUGH: u64 = 100 * REPORTED_PER_KIND;
        self.counts.get(kind).is_some_and(|&count| count >= ENOUGH)
    }

    /// The list, sorted; a kind with more than the cap ends in a total.
    pub fn finish(mut self) -> Vec<Violation> {
        self.listed.sort_compact_by(Ord::cmp);
        self.listed.dedup();
        for (&kind, &count) in &self.counts {
            if count > REPORTED_PER_KIND {
                self.listed.push(Violation {
                    kind,
                    core: None,
                    function: None,
                    locations: Vec::new(),
                    message: format!(
                        "{count} or more of these in all, {REPORTED_PER_KIND} of them listed"
                    ),
                });
            }
        }
        self.listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_with_too_many_is_cut_and_totalled() {
        let mut findings = Findings::default();
        for i in 0..150 {
            findings.say("overlap", At::default(), || format!("{i:04}"));
        }
        findings.say("misaligned", At::default(), || "once".to_owned());
        let list = findings.finish();
        assert_eq!(list.len(), 102);
        assert_eq!(list[0].kind, "misaligned");
        assert_eq!(list[1].message, "0000");
        assert!(
            list[101].message.starts_with("150 or more"),
            "{}",
            list[101]
        );
    }
}
