//! Shapes and words as the text of an SVG.

use std::fmt::Write as _;

use super::super::palette::DARK;
use super::super::units::Px;

const FONT: &str = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
pub(super) const PAPER: &str = "#ffffff";
pub(super) const FAINT: &str = "#5b6675";
/// The hatches that the picture defines.
pub(super) const PINS: &str = "url(#pins)";
pub(super) const COLLECTIVE: &str = "url(#collective)";

/// The text of a picture, as far as it goes.
pub(super) struct Svg {
    pub(super) text: String,
    pub(super) width: i64,
}

/// How words look.
pub(super) struct Words {
    pub(super) size: u32,
    pub(super) colour: &'static str,
    pub(super) anchor: &'static str,
    pub(super) weight: u32,
    /// Turned to read upwards.
    pub(super) standing: bool,
    /// The colour of a rim, so that nothing runs through the words.
    pub(super) halo: &'static str,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            size: 13,
            colour: DARK,
            anchor: "start",
            weight: 400,
            standing: false,
            halo: "",
        }
    }
}

impl Svg {
    pub(super) fn new((width, height): (i64, i64), title: &str, description: &str) -> Svg {
        let mut text = String::new();
        let title = escape(&format!("Memory plan of {title}"));
        let description = escape(description);
        let (w, h) = (Px(width), Px(height));
        let _ = write!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" font-family=\"{FONT}\" \
             font-size=\"13\" fill=\"{DARK}\" role=\"img\" aria-labelledby=\"title description\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"description\">{description}</desc>\n\
             <rect width=\"{w}\" height=\"{h}\" rx=\"10\" fill=\"{PAPER}\"/>\n<defs>"
        );
        for (name, ground, line) in [
            ("pins", "#eef0f4", "#c9d0da"),
            ("collective", "#fdf6e6", "#f5dca4"),
        ] {
            let _ = write!(
                text,
                "<pattern id=\"{name}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" fill=\"{ground}\"/>\
                 <rect width=\"3\" height=\"8\" fill=\"{line}\"/></pattern>"
            );
        }
        text.push_str("</defs>\n");
        Svg { text, width }
    }

    /// A rectangle; `more` is further attributes.
    pub(super) fn rect(
        &mut self,
        x: (i64, i64),
        y: (i64, i64),
        fill: &str,
        title: &str,
        more: &str,
    ) {
        let (left, top, width, height) = (Px(x.0), Px(y.0), Px(x.1 - x.0), Px(y.1 - y.0));
        let _ = write!(
            self.text,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{more}"
        );
        if title.is_empty() {
            self.text.push_str("/>\n");
        } else {
            let _ = writeln!(self.text, "><title>{}</title></rect>", escape(title));
        }
    }

    pub(super) fn line(&mut self, from: (i64, i64), to: (i64, i64), colour: &str, more: &str) {
        let (x1, y1, x2, y2) = (Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        let _ = writeln!(
            self.text,
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\"{more}/>"
        );
    }

    pub(super) fn path(&mut self, d: &str, more: &str) {
        let _ = writeln!(self.text, "<path d=\"{d}\"{more}/>");
    }

    pub(super) fn text(&mut self, x: i64, y: i64, words: &str, look: &Words) {
        let (x, y, words) = (Px(x), Px(y), escape(words));
        let Words {
            size,
            colour,
            anchor,
            weight,
            ..
        } = look;
        let _ = write!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\" text-anchor=\"{anchor}\" \
             font-weight=\"{weight}\""
        );
        if look.standing {
            let _ = write!(self.text, " transform=\"rotate(-90 {x} {y})\"");
        }
        if !look.halo.is_empty() {
            let halo = look.halo;
            let _ = write!(
                self.text,
                " stroke=\"{halo}\" stroke-width=\"3\" paint-order=\"stroke\" stroke-linejoin=\"round\""
            );
        }
        let _ = writeln!(self.text, ">{words}</text>");
    }
}

/// Text of XML; what XML cannot say at all becomes a replacement character.
pub(in crate::report::draw) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
