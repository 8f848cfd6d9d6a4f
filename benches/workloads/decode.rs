//! Decoding many sequences at once: what lives long comes in groups that end together.
//!
//! Time is cut into steps; each step generates a token for every running sequence. A sequence
//! takes a block of its cache every few tokens and gives all of them up when it ends, at a length
//! nobody knew. Between them the temporaries of the layers come and go.

use super::{Buffer, PAGE, Random, buffer, sorted};

/// What one step keeps for a moment: (first time, one past the last, pages) within the step.
const STEP: &[(usize, usize, u64)] = &[(0, 2, 16), (1, 4, 48), (2, 5, 12), (4, 7, 64), (6, 8, 16)];
const STEP_TIME: usize = 8;

/// Sequences that run at once.
const RUNNING: usize = 24;

/// Tokens of a block of a cache.
const BLOCK: usize = 16;

pub(super) fn decode(n: usize) -> Vec<Buffer> {
    let mut random = Random::new(4 + n as u64);
    let mut buffers = Vec::with_capacity(n + RUNNING * 64);
    // By sequence: when it ends, and how large its blocks are.
    let mut running = [(0, 0); RUNNING];
    let mut step = 0;
    while buffers.len() < n {
        let start = step * STEP_TIME;
        for (slot, (end, block)) in running.iter_mut().enumerate() {
            if step >= *end {
                // A prompt, whose cache comes at once, then tokens one by one.
                *end = step + 1 + random.life(12 * BLOCK);
                *block = [32, 64, 64, 128][random.below(4)];
                let prompt = 1 + random.below(16) as u64;
                buffers.push(buffer(start, *end * STEP_TIME, PAGE * *block * prompt));
            } else if (step + slot) % BLOCK == 0 {
                buffers.push(buffer(start, *end * STEP_TIME, PAGE * *block));
            }
        }
        // Tokens of one step take different ways through the experts.
        let share = 8 + random.below(9) as u64;
        for &(lower, upper, full) in STEP {
            let pages = (full * share).div_ceil(16);
            buffers.push(buffer(start + lower, start + upper, PAGE * pages));
        }
        step += 1;
    }
    buffers.truncate(n);
    sorted(buffers)
}
