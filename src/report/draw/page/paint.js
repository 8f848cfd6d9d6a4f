// From boxes to pixels. Rectangles are written straight into a bitmap, a pixel at least each: what is
// smaller than a pixel costs one write, and what is larger costs its area, so that a frame is bounded
// by what is in view and by the size of the window, whatever the zoom. While the view only moves, the
// bitmap moves with it, and a frame costs what comes into view. Lines and words go on top.

const map = document.getElementById("map"), stage = document.getElementById("stage");
const room = document.getElementById("room");
const canvas = map.getContext("2d", { alpha: false });
const LEFT = 84, HEAD = 24, CURVE = 40, GAP = 10, LOWEST = 190; // Pixels of a lane.

/** What is seen: an interval of time, and of each space one of addresses. */
const view = { from: 0, to: data.length, bytes: {} };
const look = { colour: pictures.length > 1 ? "change" : "usage", selected: -1, hovered: -1, hits: [], hit: -1 };
const frameTimes = []; // Milliseconds of the last frames, for whoever wants to measure.

let scale = 1, width = 0, height = 0, laneHeight = 0; // Pixels of the page; `scale` device pixels each.
let theme = {}, palette = new Uint32Array(count), dirty = false;

const probe = document.createElement("i");
/** A colour of the style sheet as [red, green, blue]. */
function styled(name) {
  probe.style.color = name.startsWith("#") ? name : `var(--${name})`;
  return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
}
const css = ([r, g, b], alpha = 1) => `rgb(${r} ${g} ${b} / ${alpha})`;
const mix = (a, b, part) => a.map((value, i) => Math.round(value + (b[i] - value) * part));
const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0; // Little-endian RGBA.

// Dark to light, legible without hue: the steps of the cividis map (Nuñez, Anderton, Renslow 2018).
const STEPS = ["#00204d", "#00336f", "#39486b", "#575c6d", "#707173", "#8a8779", "#a69d75", "#c4b56c", "#e4cf5b", "#ffea46"];

/** Reads the colours of the style sheet; again whenever the theme changes. */
function readTheme() {
  document.body.append(probe);
  const all = ["paper", "ground", "ink", "faint", "grid", "peak", "bound", "capacity", "mark", "load",
    "hatch", "hatched", "collective", "wrong"];
  theme = Object.fromEntries(all.map(name => [name, styled(name)]));
  theme.isDark = theme.paper[0] < 128;
  theme.usages = data.usages.map(([, ...tints]) => tints.slice(0, 3).map(styled));
  theme.changes = data.changes.map(([, ...tints]) => tints.slice(0, 3).map(styled));
  // The darkest steps would vanish on dark paper, the lightest on white.
  theme.steps = (theme.isDark ? STEPS.slice(2) : STEPS.slice(0, 8)).map(styled);
  probe.remove();
  colourBoxes();
}

/** The step of a size or of a number of turns. */
function stepOf(box) {
  const value = look.colour === "size" ? high[box] - low[box] : turnsOf()[box] + 1;
  const [least, most] = look.range;
  const part = most > least ? Math.log2(Math.max(value, least) / least) / Math.log2(most / least) : 0;
  return Math.min(Math.floor(part * theme.steps.length), theme.steps.length - 1);
}

/** The least and the most of what is coloured by. */
function measure() {
  look.range = [1, 1];
  if (look.colour !== "size" && look.colour !== "reuse") return;
  let least = Infinity, most = 0;
  for (let box = 0; box < count; box++) {
    const value = look.colour === "size" ? high[box] - low[box] : turnsOf()[box] + 1;
    if (value > 0) { least = Math.min(least, value); most = Math.max(most, value); }
  }
  if (most > 0) look.range = [least, most];
}

/** The colour of every box, as it stands in a bitmap. */
function colourBoxes() {
  measure();
  const hits = new Set(look.hits), dimmed = look.hits.length > 0;
  for (let box = 0; box < count; box++) {
    const tint = (Math.floor(first[box] / 3) + box) % 3;
    let colour = look.colour === "usage" ? theme.usages[usage[box]][tint]
      : look.colour === "change" ? theme.changes[change[box]][tint]
      : mix(theme.steps[stepOf(box)], theme.paper, tint * 0.07);
    if (dimmed && !hits.has(box)) colour = mix(colour, theme.paper, 0.78);
    palette[box] = pixel(colour);
  }
  palette.version = (palette.version ?? 0) + 1; // What is painted already is stale.
  redraw();
}

function redraw() {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(() => {
    dirty = false;
    const begin = performance.now();
    paint();
    frameTimes.push(performance.now() - begin);
    if (frameTimes.length > 1000) frameTimes.shift();
  });
}

/** Fits the canvas into the window. */
function resize() {
  scale = window.devicePixelRatio || 1;
  width = stage.clientWidth;
  height = stage.clientHeight;
  map.width = Math.round(width * scale);
  map.height = Math.round(height * scale);
  map.style.height = `${height}px`;
  laneHeight = Math.max(LOWEST, Math.floor(height / Math.max(lanes.length, 1)));
  room.style.height = `${Math.max(0, laneHeight * lanes.length - height)}px`;
  redraw();
}

/** Where a lane's rectangles are: [left, top, right, bottom] in pixels of the canvas. */
function areaOf(lane) {
  const begin = lane.number * laneHeight - stage.scrollTop;
  return [LEFT, begin + HEAD, width - 8, begin + laneHeight - CURVE - GAP];
}

const windowOf = lane => view.bytes[lane.space];
const xOf = instant => LEFT + (instant - view.from) / (view.to - view.from) * (width - 8 - LEFT);
const instantOf = x => view.from + (x - LEFT) / (width - 8 - LEFT) * (view.to - view.from);
function yOf(lane, bytes) {
  const [, upper, , lower] = areaOf(lane), [from, to] = windowOf(lane);
  return lower - (bytes - from) / (to - from) * (lower - upper);
}
function bytesOf(lane, y) {
  const [, upper, , lower] = areaOf(lane), [from, to] = windowOf(lane);
  return from + (lower - y) / (lower - upper) * (to - from);
}

function paint() {
  canvas.setTransform(scale, 0, 0, scale, 0, 0);
  canvas.fillStyle = css(theme.paper);
  canvas.fillRect(0, 0, width, height);
  canvas.textBaseline = "middle";
  for (const lane of lanes) {
    const [, upper, , lower] = areaOf(lane);
    if (lower + CURVE + GAP < 0 || upper - HEAD > height) {
      lane.painted = null;
      continue;
    }
    bitmap(lane);
    decorate(lane);
    curve(lane);
  }
  canvas.font = "14px system-ui, sans-serif";
  canvas.fillStyle = css(theme.faint);
  if (lanes.length === 0) canvas.fillText("Nothing here has an address.", LEFT, 40);
  for (const box of new Set([look.hovered, look.selected])) if (box >= 0) emphasise(box);
}

/** The rectangles of a lane, with what lies behind them. What was painted before is moved along while
    the view only moves, so that a pan costs the strips that come into view. */
function bitmap(lane) {
  const [left, upper, right, lower] = areaOf(lane), [bottom, ceiling] = windowOf(lane);
  const w = Math.max(1, Math.round((right - left) * scale)), h = Math.max(1, Math.round((lower - upper) * scale));
  const perInstant = w / (view.to - view.from), perByte = h / (ceiling - bottom);
  // Pixels are counted from the start of time and from the lowest address: whole steps from view to view.
  const next = { w, h, perInstant, perByte, x: Math.round(view.from * perInstant), y: Math.round(bottom * perByte), palette: palette.version };
  const old = lane.painted, like = (a, b) => Math.abs(a / b - 1) < 1e-9;
  const dx = old ? next.x - old.x : 0, dy = old ? next.y - old.y : 0;
  const moved = old && old.w === w && old.h === h && old.palette === next.palette && like(old.perInstant, perInstant)
    && like(old.perByte, perByte) && Math.abs(dx) < w && Math.abs(dy) < h;
  if (moved) {
    Object.assign(next, { bits: old.bits, out: old.out, perInstant: old.perInstant, perByte: old.perByte });
    const shift = dx - dy * w; // Rows run down, addresses up.
    if (shift > 0) next.out.copyWithin(0, shift); else if (shift < 0) next.out.copyWithin(-shift, 0);
    if (dx > 0) fill(lane, next, w - dx, w, 0, h); else if (dx < 0) fill(lane, next, 0, -dx, 0, h);
    if (dy > 0) fill(lane, next, 0, w, 0, dy); else if (dy < 0) fill(lane, next, 0, w, h + dy, h);
  } else {
    next.bits = old && old.w === w && old.h === h ? old.bits : new ImageData(w, h);
    next.out = new Uint32Array(next.bits.data.buffer);
    fill(lane, next, 0, w, 0, h);
  }
  lane.painted = next;
  canvas.putImageData(next.bits, Math.round(left * scale), Math.round(upper * scale));
}

/** Paints a part of a lane's bitmap anew: columns and rows, ends excluded. */
function fill(lane, { out, w, h, perInstant, perByte, x: fromX, y: fromY }, left, right, upper, lower) {
  const column = instant => Math.floor(instant * perInstant) - fromX;
  const row = bytes => h - (Math.floor(bytes * perByte) - fromY);
  const box = (x0, x1, y0, y1, colour) => {
    x0 = Math.max(x0, left); x1 = Math.min(x1, right); y0 = Math.max(y0, upper); y1 = Math.min(y1, lower);
    for (let y = y0; y < y1; y++) if (x0 < x1) out.fill(colour, y * w + x0, y * w + x1);
  };
  box(left, right, upper, lower, pixel(theme.ground));
  for (const [slot, floor, , used] of lane.collective) {
    const { start, length } = slots[slot], from = Number(BigInt(floor) - lane.scaleLow);
    box(column(start), column(start + length), row(from + Number(used)), row(from), pixel(theme.collective));
  }
  for (const address of ticks(lane)) box(left, right, row(address), row(address) + 1, pixel(theme.grid));
  const hatch = pixel(theme.hatch), hatched = pixel(theme.hatched), wrong = pixel(theme.wrong);
  const striped = look.colour === "usage", phase = (((fromX - fromY) % 8) + 8) % 8;
  const { rectFirst, rectLast } = lane;
  // A pixel more on each side: what is smaller than one is widened.
  const [from, to] = [(left + fromX - 1) / perInstant, (right + fromX + 1) / perInstant];
  const [low0, high0] = [(h - lower + fromY - 1) / perByte, (h - upper + fromY + 1) / perByte];
  eachIn(lane, from, to, low0, high0, (r, number) => {
    let x0 = column(rectFirst[r]), x1 = column(rectLast[r] + 1), y0 = row(high[number]), y1 = row(low[number]);
    // A pixel at least; a pixel of ground between those that are large enough.
    if (x1 <= x0) x1 = x0 + 1; else if (x1 - x0 > 3) x1--;
    if (y1 <= y0) y1 = y0 + 1; else if (y1 - y0 > 3) y0++;
    if (x0 < left) x0 = left;
    if (x1 > right) x1 = right;
    if (y0 < upper) y0 = upper;
    if (y1 > lower) y1 = lower;
    const colour = palette[number], stripes = marks[number] & COLLIDES ? wrong : striped && marks[number] & PINNED ? hatch : 0;
    if (stripes) {
      const other = marks[number] & COLLIDES ? colour : hatched;
      for (let y = y0; y < y1; y++) {
        for (let x = x0, at = y * w + x0; x < x1; x++) out[at++] = ((x + y + phase) & 7) < 3 ? stripes : other;
      }
    } else if (x1 - x0 === 1) {
      for (let at = y0 * w + x0, end = y1 * w; at < end; at += w) out[at] = colour;
    } else if (x1 - x0 < 16) {
      for (let y = y0; y < y1; y++) for (let at = y * w + x0, end = y * w + x1; at < end; at++) out[at] = colour;
    } else {
      for (let y = y0; y < y1; y++) out.fill(colour, y * w + x0, y * w + x1);
    }
  });
}

/** Round addresses in view, some fifty pixels apart, counted from the floor if it is in the picture. */
function ticks(lane) {
  const [from, to] = windowOf(lane), [, upper, , lower] = areaOf(lane);
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / Math.max(1, (lower - upper) / 46))));
  const found = [], row = (to - from) / Math.max(1, lower - upper); // One more at each end, for rounding.
  for (let at = lane.floor + Math.ceil((Math.max(from - row, 0) - lane.floor) / step) * step; at <= to + row; at += step) found.push(at);
  return found;
}

/** Lines and words of a lane. */
function decorate(lane) {
  const [left, upper, right, lower] = areaOf(lane);
  const words = (text, x, y, colour, font, align = "left") => {
    canvas.font = font; canvas.fillStyle = colour; canvas.textAlign = align;
    canvas.fillText(text, x, y);
  };
  const small = "11.5px system-ui, sans-serif";
  const picture = pictures.length > 1 ? `${"AB"[lane.picture]} · ` : "";
  const from = lane.floor > 0 ? " above the floor" : "";
  const height = lane.peak - lane.floor, bound = lane.bound - lane.floor;
  const verdict = height === bound ? "optimal" : bound > 0 ? `${((height / bound - 1) * 100).toFixed(2)} % above the lower bound` : "";
  const name = `${picture}${lane.label}`;
  words(name, 8, upper - 12, css(theme.ink), "600 13px system-ui, sans-serif");
  const beside = 8 + canvas.measureText(name).width + 12;
  words([`peak ${human(height)}${from}`, verdict].filter(Boolean).join(", "), beside, upper - 12, css(theme.faint), small);
  const instant = Math.max(0, Math.min(data.length - 1, Math.floor(view.from))), seen = slots[slotAt(instant)];
  if (lane.number === 0 && seen) {
    const text = `${grouped(Math.round(Math.min(view.to, data.length) - Math.max(view.from, 0)))} instructions in view, from ${instant - seen.start} of ${seen.name}`;
    words(text, right, upper - 12, css(theme.faint), small, "right");
  }
  for (const address of ticks(lane)) {
    const y = yOf(lane, address), offset = address - lane.floor;
    const text = lane.floor > 0 ? (offset === 0 ? "floor" : `${offset > 0 ? "+" : "−"}${human(Math.abs(offset))}`) : human(address + Number(lane.scaleLow));
    if (y > upper + 4 && y <= lower) words(text, left - 8, y, css(theme.faint), small, "right");
  }
  canvas.save();
  canvas.beginPath();
  canvas.rect(left, upper, right - left, lower - upper);
  canvas.clip();
  labels(lane);
  const level = (bytes, colour, text, dash, below) => {
    const y = Math.round(yOf(lane, bytes));
    if (y < upper - 20 || y > lower + 20) return;
    canvas.strokeStyle = css(colour); canvas.lineWidth = 1.5; canvas.setLineDash(dash);
    canvas.beginPath(); canvas.moveTo(left, y); canvas.lineTo(right, y); canvas.stroke();
    canvas.setLineDash([]);
    const under = (below || y < upper + 16) && y + 18 < lower;
    rimmed(text, right - 6, y + (under ? 9 : -8), css(colour), "600 11.5px system-ui, sans-serif", "right");
  };
  for (const [base, size, usages] of lane.regions) {
    const bottom = Number(BigInt(base) - lane.scaleLow);
    level(bottom, theme.faint, `region for ${usages}`, [2, 3], false);
    level(bottom + Number(size), theme.faint, "", [2, 3], true);
  }
  for (const [slot, floor, limit, used] of lane.collective) {
    const bottom = Number(BigInt(floor) - lane.scaleLow), { start, length } = slots[slot];
    const x0 = Math.max(left, xOf(start)), x1 = Math.min(right, xOf(start + length));
    if (x1 - x0 < 200 || yOf(lane, bottom) - yOf(lane, bottom + Number(used)) < 24) continue;
    rimmed(`collective region: ${human(used)} of ${human(limit)}`, x0 + 6, yOf(lane, bottom + Number(used)) + 9, css(theme.faint), small, "left");
  }
  if (lane.floor > 0) level(lane.floor, theme.ink, "floor", [], true);
  if (lane.peak === lane.bound) {
    level(lane.peak, theme.peak, `peak = lower bound ${human(height)}`, [], false);
  } else {
    level(lane.peak, theme.peak, `peak ${human(height)}`, [], false);
    level(lane.bound, theme.bound, `lower bound ${human(bound)}`, [7, 4], true);
  }
  if (lane.capacity !== null) level(lane.capacity, theme.capacity, "capacity", [2, 4], true);
  // Where functions begin, and the instant at which most is live.
  for (const { name, start, length } of slots) {
    const x = xOf(start), end = xOf(start + length);
    if (end < left || x > right || length === 0) continue;
    if (start > 0) { canvas.strokeStyle = css(theme.ink, 0.6); canvas.lineWidth = 1; canvas.beginPath(); canvas.moveTo(x, upper); canvas.lineTo(x, lower); canvas.stroke(); }
    canvas.font = "600 12px system-ui, sans-serif";
    if (end - x > canvas.measureText(name).width + 12) rimmed(name, Math.max(x, left) + 6, upper + 10, css(theme.ink), canvas.font, "left");
  }
  const x = xOf(lane.highestAt + 0.5);
  canvas.strokeStyle = css(theme.peak); canvas.setLineDash([1, 4]);
  canvas.beginPath(); canvas.moveTo(x, upper); canvas.lineTo(x, lower); canvas.stroke();
  canvas.setLineDash([]);
  canvas.fillStyle = css(theme.peak);
  canvas.beginPath(); canvas.moveTo(x - 5, upper); canvas.lineTo(x + 5, upper); canvas.lineTo(x, upper + 8); canvas.fill();
  canvas.restore();
}

/** Words with a rim of paper, legible on anything. */
function rimmed(text, x, y, colour, font, align, rim = theme.paper) {
  canvas.font = font; canvas.textAlign = align; canvas.lineJoin = "round"; canvas.lineWidth = 3;
  canvas.strokeStyle = css(rim, 0.85); canvas.strokeText(text, x, y);
  canvas.fillStyle = colour; canvas.fillText(text, x, y);
}

/** Names, where rectangles have room for them. */
function labels(lane) {
  const [left, , right] = areaOf(lane), [bottom, ceiling] = windowOf(lane);
  const leastTime = (view.to - view.from) / (right - left) * 26, leastBytes = bytesOf(lane, 0) - bytesOf(lane, 14);
  let drawn = 0;
  canvas.font = "11.5px system-ui, sans-serif";
  const large = chunk => lane.chunkLongest[chunk] >= leastTime && lane.chunkTallest[chunk] >= leastBytes;
  eachIn(lane, view.from, view.to, bottom, ceiling, (r, box) => {
    if (lane.rectLast[r] + 1 - lane.rectFirst[r] < leastTime || high[box] - low[box] < leastBytes || drawn > 1500) return;
    const x0 = Math.max(left, xOf(lane.rectFirst[r])), x1 = Math.min(right, xOf(lane.rectLast[r] + 1));
    const y0 = yOf(lane, Math.min(ceiling, high[box])), y1 = yOf(lane, Math.max(bottom, low[box]));
    if (y1 - y0 < 14 || canvas.measureText(names[box]).width > x1 - x0 - 6) return;
    drawn++;
    const colour = palette[box], rgb = [colour & 255, colour >> 8 & 255, colour >> 16 & 255];
    const pinned = look.colour === "usage" && marks[box] & PINNED;
    const ground = pinned ? theme.hatched : rgb;
    const bright = 0.299 * ground[0] + 0.587 * ground[1] + 0.114 * ground[2] > 135;
    rimmed(names[box], (x0 + x1) / 2, (y0 + y1) / 2, bright ? "#16202c" : "#ffffff", canvas.font, "center", ground);
  }, large);
}

/** The sum of live bytes under a lane: in each pixel the highest of its instants. */
function curve(lane) {
  const [left, , right, lower] = areaOf(lane), base = lower + CURVE, tall = CURVE - 6;
  const most = lanes.reduce((m, other) => other.space === lane.space ? Math.max(m, other.highest) : m, 1);
  canvas.fillStyle = css(theme.load);
  canvas.beginPath();
  canvas.moveTo(left, base);
  for (let x = left; x < right; x++) {
    const from = Math.max(0, Math.floor(instantOf(x))), to = Math.min(data.length, Math.max(from + 1, Math.ceil(instantOf(x + 1))));
    let highest = 0;
    for (let at = from; at < to; at++) if (lane.load[at] > highest) highest = lane.load[at];
    canvas.lineTo(x, base - highest / most * tall);
    canvas.lineTo(x + 1, base - highest / most * tall);
  }
  canvas.lineTo(right, base);
  canvas.fill();
  canvas.strokeStyle = css(theme.grid);
  canvas.lineWidth = 1;
  canvas.beginPath(); canvas.moveTo(left, base + 0.5); canvas.lineTo(right, base + 0.5); canvas.stroke();
  canvas.font = "11px system-ui, sans-serif"; canvas.textAlign = "right"; canvas.fillStyle = css(theme.faint);
  canvas.fillText("live bytes", left - 8, lower + CURVE / 2 + 2);
}

/** All parts of a box, its partner's, and the lines that join them. */
function emphasise(box) {
  const mark = (of, dash) => {
    const lane = lanes[laneOf[of]], [left, upper, right, lower] = areaOf(lane);
    canvas.save();
    canvas.beginPath();
    canvas.rect(left, upper, right - left, lower - upper);
    canvas.clip();
    const y0 = yOf(lane, high[of]), y1 = Math.max(yOf(lane, low[of]), y0 + 2);
    let before = null;
    for (const [from, to] of lifeOf(of)) {
      const x0 = xOf(from), x1 = Math.max(xOf(to + 1), x0 + 2);
      for (const [colour, line] of [[theme.paper, 5], [theme.mark, 2.5]]) {
        canvas.strokeStyle = css(colour); canvas.lineWidth = line; canvas.setLineDash(dash);
        canvas.strokeRect(x0, y0, x1 - x0, y1 - y0);
      }
      if (before !== null) {
        canvas.lineWidth = 2; canvas.setLineDash([4, 4]);
        canvas.beginPath(); canvas.moveTo(before, (y0 + y1) / 2); canvas.lineTo(x0, (y0 + y1) / 2); canvas.stroke();
      }
      before = x1;
    }
    canvas.restore();
    return [xOf((first[of] + last[of] + 1) / 2), (y0 + y1) / 2];
  };
  const here = mark(box, []);
  if (partner[box] < 0) return;
  const there = mark(partner[box], [5, 3]);
  canvas.setLineDash([3, 4]); canvas.lineWidth = 1.5; canvas.strokeStyle = css(theme.mark);
  canvas.beginPath(); canvas.moveTo(...here); canvas.lineTo(...there); canvas.stroke();
  canvas.setLineDash([]);
}
