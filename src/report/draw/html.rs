//! One file that a browser shows: `page/page.html` with the style, the scripts and the data in it.
//!
//! The data is JSON, a column of numbers for each property of the boxes; starts are written as
//! differences, addresses in units that all of a lane's have in common. Numbers that JavaScript
//! cannot hold are text. Names can be anything: JSON quotes them, `<`, `>` and `&` are written as
//! escapes so that nothing in them can end the script element, and the page shows them as text only.

use std::io::{self, Write};

use super::palette::{self, Fill};
use super::scene::{Block, Change, Lane, NONE, Scene};
use crate::format::json::JsonOut;
use crate::ir::{Space, Usage};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// One script in three files: what there is, how it looks, what a person does.
const SCRIPTS: [&str; 3] = [
    include_str!("page/model.js"),
    include_str!("page/paint.js"),
    include_str!("page/control.js"),
];

/// The greatest whole number up to which JavaScript has every one.
const EXACT: u64 = 1 << 53;

/// Writes the page.
pub(super) fn write(scene: &Scene<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = PAGE;
    for marker in ["{{title}}", "{{style}}", "{{data}}", "{{script}}"] {
        let (before, after) = rest.split_once(marker).expect("the page has its markers");
        out.write_all(before.as_bytes())?;
        match marker {
            "{{title}}" => {
                out.write_all(super::svg::escape(&scene.titles.join(" beside ")).as_bytes())?
            }
            "{{style}}" => out.write_all(STYLE.as_bytes())?,
            "{{data}}" => data(scene, &mut Inert(out))?,
            _ => SCRIPTS
                .iter()
                .try_for_each(|s| out.write_all(s.as_bytes()))?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// JSON in which nothing looks like HTML: the three characters occur in strings only.
struct Inert<'w>(&'w mut dyn Write);

impl Write for Inert<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|b| matches!(b, b'<' | b'>' | b'&')) {
            let (last, before) = part.split_last().expect("no part is empty");
            let escape: &[u8] = match last {
                b'<' => b"\\u003c",
                b'>' => b"\\u003e",
                b'&' => b"\\u0026",
                _ => {
                    self.0.write_all(part)?;
                    continue;
                }
            };
            self.0.write_all(before)?;
            self.0.write_all(escape)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

type Json<'w> = JsonOut<&'w mut dyn Write>;

fn data(scene: &Scene<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut json = JsonOut::new(out);
    json.object(|json| {
        json.number_pair("length", scene.length)?;
        json.key("usages")?;
        json.list(|json| {
            Usage::ALL
                .iter()
                .try_for_each(|&u| fill(json, u.name(), palette::usage(u)))
        })?;
        json.key("changes")?;
        json.list(|json| {
            Change::ALL
                .iter()
                .try_for_each(|c| fill(json, c.name(), c.fill()))
        })?;
        pictures(scene, json)?;
        slots(scene, json)?;
        json.key("scales")?;
        json.object(|json| {
            Space::ALL.iter().try_for_each(|&space| {
                json.key(space.name())?;
                let (low, high) = scene.reach(space);
                let (floor, peak) = scene.placed_range(space);
                json.list(|json| {
                    [low, high, floor, peak]
                        .iter()
                        .try_for_each(|&n| big(json, n))
                })
            })
        })?;
        json.key("lanes")?;
        json.list(|json| {
            scene
                .lanes
                .iter()
                .try_for_each(|lane| write_lane(scene, lane, json))
        })
    })?;
    json.finish()
}

fn fill(json: &mut Json<'_>, name: &str, fill: &Fill) -> io::Result<()> {
    json.list(|json| {
        json.string(name)?;
        fill.tints.iter().try_for_each(|tint| json.string(tint))?;
        json.string(fill.ink)
    })
}

/// A number that may be past what JavaScript can hold: always text.
fn big(json: &mut Json<'_>, number: u64) -> io::Result<()> {
    json.string(&number.to_string())
}

fn pictures(scene: &Scene<'_>, json: &mut Json<'_>) -> io::Result<()> {
    json.key("pictures")?;
    json.list(|json| {
        let pictures = scene.titles.iter().zip(&scene.missing).enumerate();
        pictures
            .into_iter()
            .try_for_each(|(number, (title, missing))| {
                json.object(|json| {
                    json.string_pair("title", title)?;
                    let plan = scene.lanes.iter().find(|lane| lane.picture == number);
                    let status = plan.map_or("", |lane| lane.plan().status.name());
                    json.string_pair("status", status)?;
                    json.number_pair("views", missing.views)?;
                    json.number_pair("other memory", missing.other_memory)?;
                    json.number_pair("callers", missing.callers)?;
                    json.number_pair("unused", missing.unused)
                })
            })
    })
}

fn slots(scene: &Scene<'_>, json: &mut Json<'_>) -> io::Result<()> {
    json.key("slots")?;
    json.list(|json| {
        scene.slots.iter().try_for_each(|slot| {
            json.object(|json| {
                json.string_pair("name", slot.name)?;
                json.number_pair("start", slot.start)?;
                json.number_pair("length", slot.length)?;
                json.key("blocks")?;
                json.list(|json| {
                    slot.blocks
                        .iter()
                        .try_for_each(|&(name, first, end, loops)| {
                            json.list(|json| {
                                json.string(name)?;
                                json.number(first)?;
                                json.number(end)?;
                                json.number(u32::from(loops))
                            })
                        })
                })
            })
        })
    })
}

fn write_lane(scene: &Scene<'_>, lane: &Lane<'_>, json: &mut Json<'_>) -> io::Result<()> {
    json.object(|json| {
        json.number_pair("picture", lane.picture as u32)?;
        json.number_pair("core", lane.core)?;
        json.string_pair("space", lane.space.name())?;
        json.string_pair("label", &lane.label())?;
        let levels = [
            ("floor", lane.floor),
            ("peak", lane.peak),
            ("bound", lane.bound),
        ];
        for (name, level) in levels {
            json.key(name)?;
            big(json, level)?;
        }
        json.key("capacity")?;
        match lane.capacity {
            Some(capacity) => big(json, capacity)?,
            None => json.null()?,
        }
        json.key("regions")?;
        json.list(|json| {
            lane.regions.iter().try_for_each(|(base, size, usages)| {
                json.list(|json| {
                    big(json, *base)?;
                    big(json, *size)?;
                    json.string(usages)
                })
            })
        })?;
        json.key("collective")?;
        json.list(|json| {
            lane.collective
                .iter()
                .try_for_each(|&(slot, floor, limit, used)| {
                    json.list(|json| {
                        json.number(slot)?;
                        [floor, limit, used].iter().try_for_each(|&n| big(json, n))
                    })
                })
        })?;
        columns(scene, lane, json)
    })
}

/// The boxes of a lane; `model.js` reads them in `readLane`.
fn columns(scene: &Scene<'_>, lane: &Lane<'_>, json: &mut Json<'_>) -> io::Result<()> {
    let boxes = scene.boxes(lane);
    let base = boxes.iter().map(|b| b.address).min().unwrap_or(0);
    let steps = boxes.iter().flat_map(|b| [b.address - base, b.taken]);
    let unit = steps.fold(0, greatest_common_divisor).max(1);
    let wide = boxes.iter().any(|b| (b.end() - base) / unit >= EXACT);
    json.key("base")?;
    big(json, base)?;
    json.key("unit")?;
    big(json, unit)?;
    json.bool_pair("wide", wide)?;
    let number = |json: &mut Json<'_>, n: i128| match wide {
        true => json.string(&n.to_string()),
        false => json.number(n),
    };

    json.key("name")?;
    json.list(|json| boxes.iter().try_for_each(|b| json.string(&b.planned.name)))?;
    json.key("address")?;
    let mut before = 0;
    let addresses = boxes.iter().map(|b| {
        let at = i128::from((b.address - base) / unit);
        at - std::mem::replace(&mut before, at)
    });
    json.list(|json| {
        addresses
            .into_iter()
            .try_for_each(|step| number(json, step))
    })?;
    json.key("taken")?;
    json.list(|json| {
        boxes
            .iter()
            .try_for_each(|b| number(json, (b.taken / unit).into()))
    })?;
    // Padding is rare enough to be told by the box.
    json.key("declared")?;
    json.list(|json| {
        let differ = boxes
            .iter()
            .enumerate()
            .filter(|(_, b)| b.taken != b.planned.bytes);
        differ.into_iter().try_for_each(|(i, b)| {
            json.number(i as u32)?;
            match b.planned.bytes < EXACT {
                true => json.number(b.planned.bytes),
                false => big(json, b.planned.bytes),
            }
        })
    })?;
    for (key, digit) in DIGITS {
        let digits: String = boxes.iter().map(|b| char::from(b'0' + digit(b))).collect();
        json.string_pair(key, &digits)?;
    }
    lives(scene, boxes, json)?;

    json.key("handed")?;
    json.list(|json| {
        lane.handed.iter().try_for_each(|&(at, bytes)| {
            json.number(at)?;
            big(json, bytes)
        })
    })?;
    json.key("owners")?;
    json.list(|json| {
        boxes
            .iter()
            .enumerate()
            .try_for_each(|(i, b)| match &b.planned.owner {
                Some(owner) => {
                    json.number(i as u32)?;
                    json.number(owner.core)?;
                    json.string(&owner.name)
                }
                None => Ok(()),
            })
    })?;
    // The first picture's boxes are found from the second's.
    json.key("partner")?;
    json.list(|json| {
        let mine = boxes.iter().filter(|_| lane.picture == 1);
        mine.into_iter().try_for_each(|b| match b.partner {
            NONE => json.number(-1),
            partner => json.number(partner),
        })
    })
}

/// What a box says in one digit.
type Digit = fn(&Block<'_>) -> u8;

/// The digits of each box, by key.
const DIGITS: [(&str, Digit); 3] = [
    ("usage", |b| b.usage as u8),
    ("marks", |b| {
        u8::from(b.planned.pinned) | u8::from(b.planned.shared) << 1 | u8::from(b.collides) << 2
    }),
    ("change", |b| b.change as u8),
];

/// Starts as differences, lengths; and what comes after the first life of a box: the box, the time
/// until it, its length.
fn lives(scene: &Scene<'_>, boxes: &[Block<'_>], json: &mut Json<'_>) -> io::Result<()> {
    json.key("first")?;
    let mut before = 0;
    let firsts = boxes.iter().map(|b| {
        let first = scene.lives_of(b)[0].0;
        first - std::mem::replace(&mut before, first)
    });
    json.list(|json| firsts.into_iter().try_for_each(|step| json.number(step)))?;
    json.key("long")?;
    let lengths = boxes
        .iter()
        .map(|b| scene.lives_of(b)[0])
        .map(|(first, last)| last - first);
    json.list(|json| lengths.into_iter().try_for_each(|long| json.number(long)))?;
    json.key("later")?;
    json.list(|json| {
        boxes.iter().enumerate().try_for_each(|(i, b)| {
            scene.lives_of(b).windows(2).try_for_each(|pair| {
                json.number(i as u32)?;
                json.number(pair[1].0 - pair[0].1)?;
                json.number(pair[1].1 - pair[1].0)
            })
        })
    })
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
