//! What is printed: a table for people, lines of JSON for scripts.

use std::time::Duration;

use serde_json::{Value, json};

use crate::workloads::Load;

/// Something to place, as a table calls it.
pub struct Instance {
    /// For instance `mix_1e5`.
    pub name: String,
    /// How many buffers.
    pub buffers: usize,
    /// What they are like.
    pub load: Load,
}

/// One measurement of one thing.
pub struct Row {
    /// What was measured.
    pub method: &'static str,
    /// How long it took.
    pub time: Duration,
    /// The highest byte, if it places anything.
    pub peak: Option<u64>,
    /// Steps of a strategy, nodes of a search, if it counts any.
    pub steps: Option<u64>,
}

/// Baselines whose time others are divided into: (method, head of the column).
pub const YARDSTICKS: [(&str, &str); 3] = [
    ("first fit by time, all pairs", "x pairs"),
    ("best fit by size, neighbours", "x best fit"),
    ("free list over time", "x free list"),
];

const MIB: f64 = 1_048_576.0;

/// Prints everything about an instance. `notes` go below the rows.
pub fn print(instance: &Instance, rows: &[Row], notes: &[String]) {
    println!(
        "\n{}: {} buffers, lower bound {:.3} MiB, at most {} live, {:.1} million pairs live together",
        instance.name,
        instance.buffers,
        instance.load.bytes as f64 / MIB,
        instance.load.live,
        instance.load.pairs as f64 / 1e6,
    );
    let heads = YARDSTICKS.map(|y| format!("{:>12}", y.1)).concat();
    println!(
        "  {:<36} {:>12} {:>8} {:>11} {:>10} {:>10}{heads}",
        "", "peak MiB", "waste %", "ms", "ns/buffer", "steps"
    );
    for row in rows {
        let ratios = YARDSTICKS.map(|y| format!("{:>12}", ratio(rows, y.0, row)));
        let seconds = row.time.as_secs_f64();
        println!(
            "  {:<36} {:>12} {:>8} {:>11.3} {:>10.1} {:>10}{}",
            row.method,
            row.peak
                .map_or_else(String::new, |p| format!("{:.3}", p as f64 / MIB)),
            row.peak
                .map_or_else(String::new, |p| format!("{:.3}", waste(p, instance))),
            seconds * 1e3,
            seconds * 1e9 / instance.buffers.max(1) as f64,
            row.steps.map_or_else(String::new, |s| s.to_string()),
            ratios.concat(),
        );
    }
    for note in notes {
        println!("  {note}");
    }
}

/// How far a peak is above the bound, in percent of the bound.
pub fn waste(peak: u64, instance: &Instance) -> f64 {
    (peak as f64 / instance.load.bytes.max(1) as f64 - 1.0) * 100.0
}

/// How many times faster a row is than a yardstick; nothing if either is no placement.
fn ratio(rows: &[Row], yardstick: &str, row: &Row) -> String {
    let yard = rows.iter().find(|r| r.method == yardstick);
    match yard {
        Some(yard) if row.peak.is_some() => {
            let ratio = yard.time.as_secs_f64() / row.time.as_secs_f64();
            if ratio < 10.0 {
                format!("{ratio:.2}")
            } else {
                format!("{ratio:.0}")
            }
        }
        _ => String::new(),
    }
}

/// One line of JSON.
pub fn json(instance: &Instance, row: &Row) -> Value {
    json!({
        "instance": instance.name,
        "buffers": instance.buffers,
        "bound": instance.load.bytes,
        "live": instance.load.live,
        "pairs": instance.load.pairs,
        "method": row.method,
        "seconds": row.time.as_secs_f64(),
        "peak": row.peak,
        "steps": row.steps,
    })
}
