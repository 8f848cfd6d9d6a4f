//! What is written: maps to the letter, pages and pictures by what has to be in them.

use serde_json::Value;

use super::super::scene::Scene;
use super::*;
use crate::testing;

/// Names that try to be something else.
const HOSTILE: [&str; 6] = [
    "</script><img src=x onerror=alert(1)>",
    "quotes \" and ' and \\",
    "]]> <!-- & &amp;",
    "line\nfeed \u{1} \u{2028}",
    "h\u{f6}he \u{4e2d}\u{6587}",
    "{{data}} {{script}}",
];

fn hostile() -> Program {
    let locs: Vec<(&str, u64)> = HOSTILE.iter().map(|&name| (name, 4096)).collect();
    program(
        HOSTILE[0],
        &locs,
        &[
            (&[], &[0, 1, 2]),
            (&[0, 1, 2], &[3, 4, 5]),
            (&[3, 4, 5], &[]),
        ],
    )
}

#[test]
fn a_map_has_a_letter_for_each_location() {
    let program = chain();
    let plan = planned(&program);
    let options = Options {
        width: 40,
        height: 6,
        ..Options::default()
    };
    let want = "\
chain: core 0 - local: peak 12 KiB, lower bound 12 KiB
    10 KiB |.......bbbbbbbbbbbbbb.......
     8 KiB |.......bbbbbbbbbbbbbb.......
     6 KiB |aaaaaaaaaaaaaacccccccccccccc
     4 KiB |aaaaaaaaaaaaaacccccccccccccc
     2 KiB |aaaaaaaaaaaaaacccccccccccccc
       0 B |aaaaaaaaaaaaaacccccccccccccc
      load |6666666999999999999996666666
           +main------------------------

a first: internal, 8 KiB at 0, live [0, 1] in main
b second: internal, 4 KiB at 8192, live [1, 2] in main
c third: internal, 8 KiB at 0, live [2, 3] in main
";
    assert_eq!(
        text(Format::Ascii, &[picture(&program, &plan)], &options),
        want
    );
}

#[test]
fn a_map_marks_where_locations_collide() {
    let program = chain();
    let mut plan = planned(&program);
    plan.modules[0].functions[0].memlocs[1].address = Some(4096);
    let options = Options {
        width: 40,
        height: 6,
        ..Options::default()
    };
    let map = text(Format::Ascii, &[picture(&program, &plan)], &options);
    let rows: Vec<&str> = map.lines().filter(|l| l.contains('!')).collect();
    assert_eq!(
        rows,
        [
            "     6 KiB |aaaaaaa!!!!!!!!!!!!!!ccccccc",
            "     4 KiB |aaaaaaa!!!!!!!!!!!!!!ccccccc",
            "! bytes that two locations have at once",
        ]
    );
}

#[test]
fn a_terminal_gets_no_control_characters() {
    let program = hostile();
    let plan = planned(&program);
    let map = text(
        Format::Ascii,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    assert!(map.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn every_map_is_as_wide_as_asked_for() {
    testing::for_each_seed(0..20, |u| {
        let program = testing::program(u, &testing::Shape::many_cores())?;
        let plan = planned(&program);
        let options = Options {
            width: u.int_in_range(0..=200)?,
            height: u.int_in_range(0..=30)?,
            ..Options::default()
        };
        let map = text(Format::Ascii, &[picture(&program, &plan)], &options);
        let width = if options.width == 0 {
            80
        } else {
            options.width.max(40)
        };
        for row in map.lines().filter(|l| l.as_bytes().get(11) == Some(&b'|')) {
            assert_eq!(row.chars().count(), width as usize, "{row}");
        }
        Ok(())
    });
}

#[test]
fn names_do_not_break_out_of_a_page_or_a_picture() {
    let program = hostile();
    let plan = planned(&program);
    let page = text(
        Format::Html,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    assert_eq!(
        page.matches("</script>").count(),
        2,
        "the data's and the page's"
    );
    assert!(!page.contains("<img") && !page.contains("{{style}}"));
    let names: Vec<Value> = HOSTILE.iter().map(|&name| name.into()).collect();
    let mut found = lanes(&page)[0]["name"].as_array().unwrap().clone();
    found.sort_by_key(|name| HOSTILE.iter().position(|h| h == name));
    assert_eq!(found, names);
    let svg = text(
        Format::Svg,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    assert!(!svg.contains("<img") && !svg.contains("]]>") && !svg.contains('\u{1}'));
}

/// The data of a page.
fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn lanes(page: &str) -> Vec<Value> {
    data(page)["lanes"].as_array().unwrap().clone()
}

fn exact(value: &Value) -> i128 {
    match value.as_str() {
        Some(text) => text.parse().unwrap(),
        None => value.as_i64().unwrap().into(),
    }
}

#[test]
fn the_columns_of_a_page_are_the_boxes() {
    testing::for_each_seed(0..40, |u| {
        let program = testing::program(u, &testing::Shape::many_cores())?;
        let plan = planned(&program);
        let page = text(
            Format::Html,
            &[picture(&program, &plan)],
            &Options::default(),
        );
        let scene = Scene::new(&[picture(&program, &plan)], &Options::default());
        let lanes = lanes(&page);
        assert_eq!(lanes.len(), scene.lanes.len());
        for (lane, want) in lanes.iter().zip(&scene.lanes) {
            check_columns(lane, &scene, want);
        }
        Ok(())
    });
}

/// Decodes a lane as the page does.
fn check_columns(lane: &Value, scene: &Scene<'_>, want: &super::super::scene::Lane<'_>) {
    let list = |key: &str| lane[key].as_array().unwrap().clone();
    let (unit, base) = (exact(&lane["unit"]), exact(&lane["base"]));
    let (mut units, mut first) = (0, 0);
    let mut lives: Vec<Vec<(i128, i128)>> = Vec::new();
    for (i, block) in scene.boxes(want).iter().enumerate() {
        units += exact(&list("address")[i]);
        assert_eq!(base + units * unit, block.address.into());
        assert_eq!(exact(&list("taken")[i]) * unit, block.taken.into());
        assert_eq!(list("name")[i], block.planned.name.as_str());
        let digit = |key: &str| lane[key].as_str().unwrap().as_bytes()[i] - b'0';
        assert_eq!(digit("usage"), block.usage as u8);
        assert_eq!(digit("marks") & 1 != 0, block.planned.pinned);
        first += exact(&list("first")[i]);
        lives.push(vec![(first, first + exact(&list("long")[i]))]);
    }
    for later in list("later").chunks(3) {
        let of = &mut lives[exact(&later[0]) as usize];
        let begin = of.last().unwrap().1 + exact(&later[1]);
        of.push((begin, begin + exact(&later[2])));
    }
    for (block, lives) in scene.boxes(want).iter().zip(lives) {
        let segments = scene.lives_of(block).iter();
        let wide: Vec<_> = segments.map(|&(f, l)| (f.into(), l.into())).collect();
        assert_eq!(lives, wide, "{}", block.planned.name);
    }
}

#[test]
fn addresses_that_no_double_holds_are_text() {
    let program = chain();
    let mut plan = planned(&program);
    let far = (1 << 60) + 1;
    plan.modules[0].functions[0].memlocs[1].address = Some(far);
    let page = text(
        Format::Html,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    let lane = &lanes(&page)[0];
    assert_eq!(lane["wide"], true);
    let scene = Scene::new(&[picture(&program, &plan)], &Options::default());
    check_columns(lane, &scene, &scene.lanes[0]);
    assert!(scene.boxes.iter().any(|b| b.address == far));
}

#[test]
fn a_picture_is_one_shape_per_rectangle_while_they_can_be_seen() {
    let program = chain();
    let plan = planned(&program);
    let svg = text(
        Format::Svg,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    for name in ["first", "second", "third"] {
        assert_eq!(
            svg.matches(&format!("<title>{name}: ")).count(),
            1,
            "{name}"
        );
        assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name}");
    }
    assert!(svg.contains("<title id=\"title\">Memory plan of chain</title>"));
    assert!(svg.contains(
        "<desc id=\"description\">3 locations placed in 12 KiB, equal to the lower bound"
    ));
}

#[test]
fn a_picture_of_very_many_locations_stays_small() {
    const COUNT: u32 = 30_000;
    let names: Vec<String> = (0..COUNT).map(|i| format!("t{i}")).collect();
    let size = |i: usize| 4096 * (1 + (i as u64 * 7919) % 13);
    let locs: Vec<(&str, u64)> = names
        .iter()
        .enumerate()
        .map(|(i, n)| (n.as_str(), size(i)))
        .collect();
    let ids: Vec<u32> = (0..COUNT).collect();
    // Each lives for some instructions and dies at one.
    let code: Vec<(&[u32], &[u32])> = (0..COUNT as usize)
        .map(|i| {
            (
                &ids[i.saturating_sub(97)..i.saturating_sub(96)],
                &ids[i..=i],
            )
        })
        .collect();
    let program = program("many", &locs, &code);
    let plan = planned(&program);
    let svg = text(
        Format::Svg,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    assert!(svg.len() < 2_000_000, "{} bytes", svg.len());
    let page = text(
        Format::Html,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    assert!(page.len() < 40 * COUNT as usize, "{} bytes", page.len());
}

#[test]
fn sizes_that_are_no_pictures_are_refused() {
    let wide = Options {
        width: 20_001,
        ..Options::default()
    };
    assert!(wide.validate().is_err());
    assert!(Options::default().validate().is_ok());
}

#[test]
fn nothing_with_an_address_is_said_in_every_format() {
    let program = program("empty", &[("idle", 4096)], &[]);
    let plan = planned(&program);
    for &format in Format::ALL {
        let text = text(format, &[picture(&program, &plan)], &Options::default());
        assert!(
            text.to_lowercase().contains("nothing here has an address"),
            "{format}"
        );
    }
}

/// The number after `key` in a tag.
fn attribute(tag: &str, key: &str) -> f64 {
    let (_, rest) = tag.split_once(&format!(" {key}=\"")).unwrap();
    rest.split_once('"').unwrap().0.parse().unwrap()
}

#[test]
fn rectangles_are_as_wide_as_lives_and_as_high_as_bytes() {
    let program = chain();
    let plan = planned(&program);
    let svg = text(
        Format::Svg,
        &[picture(&program, &plan)],
        &Options::default(),
    );
    let of = |name: &str| {
        let at = svg.find(&format!("><title>{name}: ")).unwrap();
        let tag = &svg[svg[..at].rfind('<').unwrap()..at];
        ["x", "y", "width", "height"].map(|key| attribute(tag, key))
    };
    let ([x, y, width, height], second, third) = (of("first"), of("second"), of("third"));
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 0.2, "{a} is not {b}");
    near(second[3] * 2.0, height);
    near(second[1] + second[3], y); // The second lies on the first,
    near(second[0], x + width / 2.0); // begins where it is read,
    near(third[0], x + width); // and the third follows the first in its bytes.
    near(third[1], y);
}
