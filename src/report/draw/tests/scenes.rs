//! Lanes, boxes, loads, collisions and changes, counted again by hand.

use super::super::scene::{Block, Change, NONE, Scene};
use super::*;
use crate::ir::MemoryType;
use crate::testing;

/// Distinct bytes at the floor or above that are live at an instant.
fn live_bytes(scene: &Scene<'_>, lane: usize, instant: u32) -> u64 {
    let lane = &scene.lanes[lane];
    let is_live = |b: &&Block<'_>| {
        let lives = scene.lives_of(b);
        b.address >= lane.floor
            && lives
                .iter()
                .any(|&(first, last)| (first..=last).contains(&instant))
    };
    let boxes = scene.boxes(lane).iter().filter(is_live);
    let mut ranges: Vec<(u64, u64)> = boxes.map(|b| (b.address, b.end())).collect();
    ranges.sort_unstable();
    let (mut sum, mut reached) = (0, 0);
    for (start, end) in ranges {
        sum += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    sum
}

#[test]
fn a_scene_has_every_location_with_an_address_once() {
    testing::for_each_seed(0..60, |u| {
        let program = testing::program(u, &testing::Shape::many_cores())?;
        let options = testing::properties::options(u)?;
        let Ok(plan) = plan(&program, &options, &mut Control::default()) else {
            return Ok(());
        };
        let scene = Scene::new(&[picture(&program, &plan)], &Options::default());
        let mut want = 0;
        for (module, planned) in program.modules().iter().zip(&plan.modules) {
            for (function, planned) in module.functions().iter().zip(&planned.functions) {
                for (declared, loc) in function.memlocs().iter().zip(&planned.memlocs) {
                    let dram = declared.memory == MemoryType::Dram && !declared.is_view();
                    want += usize::from(dram && loc.address.is_some() && !loc.segments.is_empty());
                }
            }
        }
        assert_eq!(scene.boxes.len(), want);
        let mut end = 0;
        for lane in &scene.lanes {
            assert_eq!(lane.boxes.start, end, "lanes follow each other");
            end = lane.boxes.end;
            let key = |b: &Block<'_>| (scene.lives_of(b)[0].0, b.address);
            assert!(scene.boxes(lane).is_sorted_by_key(key), "order");
        }
        assert_eq!(end, want);
        Ok(())
    });
}

#[test]
fn in_plans_that_are_right_nothing_collides_and_loads_are_the_bytes_that_are_live() {
    testing::for_each_seed(0..60, |u| {
        let program = testing::program(u, &testing::Shape::many_cores())?;
        let options = testing::properties::options(u)?;
        let Ok(plan) = plan(&program, &options, &mut Control::default()) else {
            return Ok(());
        };
        let scene = Scene::new(&[picture(&program, &plan)], &Options::default());
        assert!(scene.boxes.iter().all(|b| !b.collides));
        for (number, lane) in scene.lanes.iter().enumerate() {
            for (instant, &live) in scene.load(lane).iter().enumerate() {
                assert_eq!(
                    live,
                    live_bytes(&scene, number, instant as u32),
                    "{}",
                    lane.label()
                );
            }
        }
        Ok(())
    });
}

#[test]
fn locations_that_share_bytes_at_an_instant_collide() {
    testing::for_each_seed(0..40, |u| {
        let program = testing::program(u, &testing::Shape::plain())?;
        let mut plan = planned(&program);
        for loc in &mut plan.modules[0].functions[0].memlocs {
            // Moved anywhere near: most of them onto others.
            if let Some(address) = loc.address.as_mut().filter(|_| !loc.pinned) {
                *address = 4096 * u.int_in_range(0..=6)?;
            }
        }
        let scene = Scene::new(&[picture(&program, &plan)], &Options::default());
        for (i, a) in scene.boxes.iter().enumerate() {
            let meets = scene.boxes.iter().enumerate().any(|(j, b)| {
                let bytes = i != j && a.address < b.end() && b.address < a.end();
                let times = |&(first, last): &(u32, u32)| {
                    let lives = scene.lives_of(b).iter();
                    lives.into_iter().any(|&(f, l)| first <= l && f <= last)
                };
                bytes && scene.lives_of(a).iter().any(times)
            });
            assert_eq!(a.collides, meets, "{}", a.planned.name);
        }
        Ok(())
    });
}

#[test]
fn two_pictures_say_what_became_of_each_location() {
    let code: [(&[u32], &[u32]); 3] = [(&[], &[0, 1, 2]), (&[0, 1, 2], &[3]), (&[3], &[])];
    let old = [
        ("stays", 4096),
        ("grows", 4096),
        ("moves", 4096),
        ("goes", 4096),
    ];
    let new = [
        ("stays", 4096),
        ("grows", 8192),
        ("moves", 4096),
        ("comes", 4096),
    ];
    let (old, new) = (program("p", &old, &code), program("p", &new, &code));
    let (old_plan, mut new_plan) = (planned(&old), planned(&new));
    for (i, loc) in new_plan.modules[0].functions[0]
        .memlocs
        .iter_mut()
        .enumerate()
    {
        let before = old_plan.modules[0].functions[0].memlocs[i].address.unwrap();
        loc.address = Some(before + if loc.name == "moves" { 1 << 20 } else { 0 });
    }
    let pictures = [picture(&old, &old_plan), picture(&new, &new_plan)];
    let scene = Scene::new(&pictures, &Options::default());
    let of = |name: &str| -> Vec<(usize, Change)> {
        let lanes = scene.lanes.iter();
        let boxes = lanes.flat_map(|l| scene.boxes(l).iter().map(|b| (l.picture, b)));
        let named = boxes.filter(|(_, b)| b.planned.name == name);
        named.map(|(picture, b)| (picture, b.change)).collect()
    };
    assert_eq!(of("stays"), [(0, Change::Same), (1, Change::Same)]);
    assert_eq!(of("grows"), [(0, Change::Grown), (1, Change::Grown)]);
    assert_eq!(of("moves"), [(0, Change::Moved), (1, Change::Moved)]);
    assert_eq!(of("goes"), [(0, Change::Gone)]);
    assert_eq!(of("comes"), [(1, Change::New)]);
    for (i, block) in scene.boxes.iter().enumerate() {
        if block.partner != NONE {
            let partner = &scene.boxes[block.partner as usize];
            assert_eq!(
                (partner.partner as usize, &partner.planned.name),
                (i, &block.planned.name)
            );
        }
    }
}

#[test]
fn one_core_and_one_space_can_be_asked_for() {
    testing::for_each_seed(0..20, |u| {
        let program = testing::program(u, &testing::Shape::many_cores())?;
        let plan = planned(&program);
        let options = Options {
            core: Some(1),
            space: Some(Space::Shared),
            ..Options::default()
        };
        let scene = Scene::new(&[picture(&program, &plan)], &options);
        assert!(
            scene
                .lanes
                .iter()
                .all(|l| l.core == 1 && l.space == Space::Shared)
        );
        Ok(())
    });
}

#[test]
#[should_panic(expected = "a plan of the program")]
fn a_plan_of_another_program_is_no_picture() {
    let (chain, other) = (chain(), program("other", &[("a", 1)], &[(&[], &[0])]));
    let plan = planned(&other);
    text(Format::Svg, &[picture(&chain, &plan)], &Options::default());
}
