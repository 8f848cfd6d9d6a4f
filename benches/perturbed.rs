//! How often the bound is reached when nobody has tuned for it: workloads changed at random.
//!
//! Each workload is turned round in time, loses a tenth of its buffers, gets other sizes by class
//! of size or by buffer, and other ends of lives. What `best` reaches there says more than what it
//! reaches on the workloads themselves.

use dramalloc::{Control, Status, Strategy};

use crate::programs;
use crate::workloads::{Buffer, Random};

/// Larger workloads are not changed.
const MOST: usize = 100_000;

/// Changed workloads of one kind.
const SEEDS: u64 = 4;

/// The ways to change a workload.
pub const CHANGES: [&str; 5] = [
    "reversed",
    "tenth dropped",
    "classes resized",
    "all resized",
    "ends moved",
];

/// A changed workload; sizes stay multiples of what all of them are multiples of.
pub fn changed(buffers: &[Buffer], change: usize, seed: u64) -> Vec<Buffer> {
    let mut random = Random::new(seed);
    let end = buffers.iter().map(|b| b.upper).max().unwrap_or(0);
    let unit = 1
        << buffers
            .iter()
            .fold(0, |all, b| all | b.size)
            .trailing_zeros()
            .min(20);
    let resized = |size: u64, percent: u64, random: &mut Random| {
        let factor = 100 - percent + random.below(2 * percent as usize + 1) as u64;
        (size * factor / 100 / unit).max(1) * unit
    };
    let mut classes = std::collections::BTreeMap::new();
    let mut all = Vec::with_capacity(buffers.len());
    for &b in buffers {
        let mut b = b;
        match change {
            0 => (b.lower, b.upper) = (end - b.upper, end - b.lower),
            1 if random.below(10) == 0 => continue,
            2 => {
                b.size = *classes
                    .entry(b.size)
                    .or_insert_with(|| resized(b.size, 30, &mut random))
            }
            3 => b.size = resized(b.size, 10, &mut random),
            4 => {
                b.upper =
                    (b.upper + random.below(3) as u32).clamp(b.lower + 1, end.max(b.lower + 1))
            }
            _ => (),
        }
        all.push(b);
    }
    all
}

/// What is above the lines of `count`.
pub fn head() {
    let heads = CHANGES.map(|change| format!(" {change:>15}")).concat();
    println!("  {:<28} {:>9}{heads}", "at the bound", "buffers");
}

/// Prints how many of the changed workloads end at the bound.
pub fn count(name: &str, buffers: &[Buffer]) {
    if buffers.len() > MOST {
        println!(
            "  {name:<28} {:>9} left out: it would take hours",
            buffers.len()
        );
        return;
    }
    let mut line = format!("  {name:<28} {:>9}", buffers.len());
    for change in 0..CHANGES.len() {
        let mut reached = 0;
        for seed in 0..SEEDS {
            let problem = programs::problem(&changed(buffers, change, seed));
            let solved = dramalloc::solve(&problem, Strategy::Best, None, &mut Control::default());
            let solved = solved.expect("there is no ceiling");
            reached += u64::from(solved.status == Status::Optimal);
        }
        line += &format!(" {:>15}", format!("{reached} of {SEEDS}"));
    }
    println!("{line}");
}
