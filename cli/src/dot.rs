//! Dependences as a picture: the DOT language of Graphviz.
//!
//! One box per function, in it the instructions that some edge touches, from top to bottom in
//! their order; flow is drawn solid, output dotted, anti dashed. An edge into the next iteration is
//! labelled with its loop and does not push its ends apart.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dramalloc::ir::Program;
use dramalloc::{Dependence, DependenceKind, Plan};

/// More edges than this are no picture any more.
pub const MOST_EDGES: usize = 2000;

/// The dependences of a plan, as a directed graph.
pub fn dot(program: &Program, plan: &Plan) -> String {
    let edges = plan.dependences.as_deref().unwrap_or_default();
    let mut text = String::from("digraph dependences {\n  node [shape=box, fontname=monospace];\n");
    for module in program.modules() {
        for function in module.functions() {
            let (core, name) = (module.core(), function.name());
            let own: Vec<&Dependence> = (edges.iter())
                .filter(|e| e.from.core == core && *e.from.function == *name)
                .collect();
            if own.is_empty() {
                continue;
            }
            let prefix = format!("core {core} {name}");
            let node = |index: u32| quoted(&format!("{prefix} {index}"));
            // Infallible: text grows as long as there is memory.
            let _ = writeln!(
                text,
                "  subgraph {} {{",
                quoted(&format!("cluster {prefix}"))
            );
            let _ = writeln!(text, "    label={};", quoted(&prefix));
            let touched: BTreeSet<u32> = (own.iter())
                .flat_map(|e| [e.from.index, e.to.index])
                .collect();
            for &index in &touched {
                let label = match function.instructions().get(index as usize) {
                    Some(i) => format!("{index} {}, engine {}", function.symbol(i.op), i.engine),
                    None => index.to_string(),
                };
                let _ = writeln!(text, "    {} [label={}];", node(index), quoted(&label));
            }
            for edge in own {
                let style = match edge.kind {
                    DependenceKind::Flow => "solid",
                    DependenceKind::Output => "dotted",
                    DependenceKind::Anti => "dashed",
                };
                let carried = edge.header.map_or(String::new(), |block| {
                    format!(", label=\"loop at block {block}\", constraint=false")
                });
                let (from, to) = (node(edge.from.index), node(edge.to.index));
                let _ = writeln!(text, "    {from} -> {to} [style={style}{carried}];");
            }
            text.push_str("  }\n");
        }
    }
    text.push_str("}\n");
    text
}

/// A string of DOT: only quotes and backslashes mean anything in it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_cannot_end_a_string() {
        assert_eq!(quoted(r#"a"b\"#), r#""a\"b\\""#);
        assert_eq!(quoted("a\nb"), r#""a\nb""#);
    }
}
