//! From the text of a plan file to the plan. // F
//!
//! A plan may come from elsewhere, made by hand or by another allocator, to be verified. So what
//! is not said has a default: figures are 0, lists are empty, the options are those of
//! `Options::default()`. Only names have none. What is said is read strictly.
//!
//! The host's own keys (`x_...`) are allowed and dropped; a plan is made anew, not edited.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::document::{
    DependenceDoc, FunctionDoc, MemLocDoc, ModuleDoc, OptionsDoc, PlanDoc, SiteDoc, StraddlerDoc,
};
use crate::format::json::{Part, Raw, error_at, missing, text};
use crate::ir::UsageMask;
use crate::options::{Options, SpaceRegion};
use crate::place::Region;
use crate::plan::{
    CollectivePlan, Dependence, FunctionPlan, FunctionSpace, MemLocPlan, ModulePlan, Owner, Plan,
    Site, SpacePlan, Straddler,
};

/// Reads a plan file. Every error is one line with the path of what it is about.
///
/// A metric that is no whole number is left out, and a note says so.
pub fn read_plan(bytes: &[u8]) -> crate::Result<Plan> {
    let document = text(bytes)?;
    let doc: PlanDoc<'_> = Part::whole(document).parse()?;
    doc.format.require("", "format")?;
    doc.version.require("", "version")?;
    let options = doc
        .options
        .get()
        .map_or_else(|| Ok(Options::default()), options)?;
    let mut plan = Plan {
        strategy: doc.strategy.get().map_or(options.strategy, |word| word.0),
        options,
        status: doc.status.get().unwrap_or_default().0,
        digest: doc
            .digest
            .get()
            .map_or_else(String::new, |digest| digest.0.into_owned()),
        peak: doc.peak.get().map_or(0, |n| n.0),
        lower_bound: doc.lower_bound.get().map_or(0, |n| n.0),
        needs_dependences: doc.needs_dependences.get().unwrap_or_default(),
        notes: doc
            .notes
            .get()
            .unwrap_or_default()
            .iter()
            .map(|note| note.to_string())
            .collect(),
        ..Plan::default()
    };
    for (i, space) in doc.spaces.get().unwrap_or_default().into_iter().enumerate() {
        plan.spaces.push(SpacePlan {
            space: space.space.require(&format!("spaces[{i}]"), "space")?.0,
            core: space.core.get().map(|core| core.0),
            capacity: space.capacity.get().map(|n| n.0),
            floor: space.floor.get().map_or(0, |n| n.0),
            peak: space.peak.get().map_or(0, |n| n.0),
            lower_bound: space.lower_bound.get().map_or(0, |n| n.0),
        });
    }
    for (m, module) in doc.modules.require("", "modules")?.into_iter().enumerate() {
        plan.modules.push(read_module(document, m, module)?);
    }
    if let Some(list) = doc.dependences.get() {
        plan.dependences = Some(dependences(document, list)?);
    }
    if let Some(list) = doc.straddlers.get() {
        let list = list.into_iter().enumerate();
        let read = list.map(|(i, doc)| straddler(&format!("straddlers[{i}]"), doc));
        plan.straddlers = Some(read.collect::<crate::Result<_>>()?);
    }
    for (name, value) in doc
        .metrics
        .get()
        .map_or_else(BTreeMap::new, |metrics| metrics.0)
    {
        match value.get().parse() {
            Ok(number) => drop(plan.metrics.insert(name, number)),
            Err(_) => plan.notes.push(format!(
                "metric {name:?} is no whole number and was left out"
            )),
        }
    }
    Ok(plan)
}

fn options(doc: OptionsDoc<'_>) -> crate::Result<Options> {
    let default = Options::default();
    let mut regions = Vec::new();
    for (i, region) in doc
        .regions
        .get()
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        let path = format!("options.regions[{i}]");
        regions.push(SpaceRegion {
            space: region.space.get().unwrap_or_default().0,
            region: Region {
                base: region.base.get().map_or(0, |n| n.0),
                size: region.size.require(&path, "size")?.0,
                usages: region.usages.get().map_or(UsageMask::ALL, |mask| mask.0),
            },
        });
    }
    let options = Options {
        strategy: doc.strategy.get().map_or(default.strategy, |word| word.0),
        capacity: doc.capacity.get().map(|n| n.0),
        preset: doc.preset.get().map_or(default.preset, |word| word.0),
        budget_ms: doc.budget_ms.get().map(|n| n.0),
        budget_steps: doc.budget_steps.get().map(|n| n.0),
        floor: doc.floor.get().map_or(default.floor, |word| word.0),
        align: doc.align.get().map(|n| n.0),
        packed: doc.packed.get().unwrap_or(default.packed),
        reuse_io: doc.reuse_io.get().unwrap_or(default.reuse_io),
        strict: doc.strict.get().unwrap_or(default.strict),
        cc_limit: doc.cc_limit.get().map_or(default.cc_limit, |n| n.0),
        trim_cc: doc.trim_cc.get().unwrap_or(default.trim_cc),
        runtime_page: doc.runtime_page.get().map_or(default.runtime_page, |n| n.0),
        geometry: doc.geometry.get().map_or(default.geometry, |word| word.0),
        shared_mib_per_core: doc
            .shared_mib_per_core
            .get()
            .map_or(default.shared_mib_per_core, |n| n.0),
        separate_functions: doc
            .separate_functions
            .get()
            .unwrap_or(default.separate_functions),
        keep: doc.keep.get().map_or(default.keep, |n| n.0),
        usage_mask: doc
            .usage_mask
            .get()
            .map_or(default.usage_mask, |mask| mask.0),
        regions,
    };
    options.validate().map_err(|e| error_at("options", e))?;
    Ok(options)
}

fn read_module(document: &str, m: usize, doc: ModuleDoc<'_>) -> crate::Result<ModulePlan> {
    let path = format!("modules[{m}]");
    let core = doc.core.get().map_or(m as u32, |core| core.0);
    let mut module = ModulePlan {
        name: doc
            .name
            .get()
            .map_or_else(String::new, |name| name.0.into_owned()),
        core,
        functions: Vec::new(),
    };
    for (f, doc) in doc
        .functions
        .require(&path, "functions")?
        .into_iter()
        .enumerate()
    {
        let function = read_function(document, &format!("{path}.functions[{f}]"), doc);
        module
            .functions
            .push(function.map_err(|e| e.on_core(core))?);
    }
    Ok(module)
}

fn read_function(document: &str, path: &str, doc: FunctionDoc<'_>) -> crate::Result<FunctionPlan> {
    let name = doc.name.require(path, "name")?.0.into_owned();
    let mut function = FunctionPlan {
        name,
        spaces: Vec::new(),
        memlocs: Vec::new(),
    };
    for (i, space) in doc.spaces.get().unwrap_or_default().into_iter().enumerate() {
        function.spaces.push(FunctionSpace {
            space: space
                .space
                .require(&format!("{path}.spaces[{i}]"), "space")?
                .0,
            floor: space.floor.get().map_or(0, |n| n.0),
            hwm: space.hwm.get().map_or(0, |n| n.0),
            cc: space.cc.get().map(|cc| CollectivePlan {
                limit: cc.limit.get().map_or(0, |n| n.0),
                real: cc.real.get().map_or(0, |n| n.0),
                hwm: cc.hwm.get().map_or(0, |n| n.0),
            }),
        });
    }
    if let Some(list) = doc.memlocs.get() {
        let path = format!("{path}.memlocs");
        let part = Part {
            document,
            text: list.get(),
            path: &path,
        };
        let memlocs = &mut function.memlocs;
        part.each(|i, doc| {
            memlocs.push(read_memloc(&|| format!("{path}[{i}]"), doc)?);
            Ok(())
        })
        .map_err(|e| e.in_function(&function.name))?;
    }
    Ok(function)
}

fn read_memloc(path: &dyn Fn() -> String, doc: MemLocDoc<'_>) -> crate::Result<MemLocPlan> {
    let Some(name) = doc.name.get() else {
        return Err(missing(&path(), "name"));
    };
    let owner = match doc.owner.get() {
        None => None,
        Some(owner) => {
            let path = format!("{}.owner", path());
            Some(Owner {
                core: owner.core.require(&path, "core")?.0,
                name: owner.name.require(&path, "name")?.0.into_owned(),
            })
        }
    };
    let bytes = doc.bytes.get().map_or(0, |n| n.0);
    let segments = doc.segments.get().unwrap_or_default();
    Ok(MemLocPlan {
        name: name.0.into_owned(),
        space: doc.space.get().unwrap_or_default().0,
        address: doc.address.get().map(|n| n.0),
        bytes,
        aligned: doc.aligned.get().map_or(bytes, |n| n.0),
        pinned: doc.pinned.get().unwrap_or_default(),
        shared: doc.shared.get().unwrap_or_default(),
        owner,
        skipped: doc.skipped.get().map(|word| word.0),
        segments: segments
            .into_iter()
            .map(|(first, last)| (first.0, last.0))
            .collect(),
    })
}

fn straddler(path: &str, doc: StraddlerDoc<'_>) -> crate::Result<Straddler> {
    Ok(Straddler {
        core: doc.core.get().map_or(0, |core| core.0),
        function: doc.function.require(path, "function")?.0.into_owned(),
        name: doc.name.require(path, "name")?.0.into_owned(),
        space: doc.space.get().unwrap_or_default().0,
        address: doc.address.require(path, "address")?.0,
        bytes: doc.bytes.require(path, "bytes")?.0,
        pinned: doc.pinned.get().unwrap_or_default(),
    })
}

fn dependences(document: &str, list: Raw<'_>) -> crate::Result<Vec<Dependence>> {
    let mut names: HashMap<String, Arc<str>> = HashMap::new();
    let mut site = |path: &dyn Fn() -> String, doc: SiteDoc<'_>| {
        let Some(name) = doc.function.get() else {
            return Err(missing(&path(), "function"));
        };
        let function = match names.get(&*name) {
            Some(function) => Arc::clone(function),
            None => {
                let new: Arc<str> = (*name).into();
                names.insert(name.0.into_owned(), Arc::clone(&new));
                new
            }
        };
        let Some(index) = doc.index.get() else {
            return Err(missing(&path(), "index"));
        };
        Ok(Site {
            core: doc.core.get().map_or(0, |core| core.0),
            function,
            index: index.0,
        })
    };
    let mut all = Vec::new();
    let part = Part {
        document,
        text: list.get(),
        path: "dependences",
    };
    part.each(|i, doc: DependenceDoc<'_>| {
        let path = || format!("dependences[{i}]");
        let (Some(from), Some(to)) = (doc.from.get(), doc.to.get()) else {
            return Err(missing(&path(), "from or to"));
        };
        all.push(Dependence {
            from: site(&|| format!("{}.from", path()), from)?,
            to: site(&|| format!("{}.to", path()), to)?,
            kind: doc.kind.get().ok_or_else(|| missing(&path(), "kind"))?.0,
            distance: doc.distance.get().map_or(0, |n| n.0),
            header: doc.header.get().map(|n| n.0),
        });
        Ok(())
    })?;
    Ok(all)
}
