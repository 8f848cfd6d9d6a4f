// What a person does: pointer, wheel, keys, search, and what the page says about a location. Text
// from the plan reaches the page as text nodes only.

const element = id => document.getElementById(id);
const [facts, tip, said, searchField, hitsText] = ["facts", "tip", "said", "search", "hits"].map(element);

// ---- the view ----

const longest = Math.max(data.length, 4);
function setTime(from, to) {
  const wide = Math.min(Math.max(to - from, Math.min(4, longest)), longest * 1.02);
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - wide / 2, -0.01 * wide), longest - 0.99 * wide);
  view.to = view.from + wide;
}

function setBytes(space, from, to) {
  const span = lanes.find(lane => lane.space === space).span;
  const wide = Math.min(Math.max(to - from, 16), span * 1.15);
  const middle = (from + to) / 2;
  const bottom = Math.min(Math.max(middle - wide / 2, -0.02 * wide), span - 0.88 * wide);
  view.bytes[space] = [bottom, bottom + wide];
}

/** What is placed, with a little of the pins below. */
function showPlaced() {
  setTime(0, data.length);
  for (const lane of lanes) {
    const [floor, peak] = lane.home, tall = peak - floor;
    setBytes(lane.space, Math.max(-0.01 * tall, floor - tall * 0.06), peak + tall * 0.1);
  }
  redraw();
}

function showAll() {
  setTime(0, data.length);
  for (const lane of lanes) setBytes(lane.space, -0.01 * lane.span, lane.span * 1.1);
  redraw();
}

function zoomTime(factor, around = (view.from + view.to) / 2) {
  setTime(around - (around - view.from) * factor, around + (view.to - around) * factor);
  redraw();
}

function zoomBytes(factor, space = null, around = null) {
  for (const [of, [from, to]] of Object.entries(view.bytes)) {
    if (space !== null && of !== space) continue;
    const at = around ?? (from + to) / 2;
    setBytes(of, at - (at - from) * factor, at + (to - at) * factor);
  }
  redraw();
}

function pan(time, bytes, space = null) {
  const wide = view.to - view.from;
  setTime(view.from + time * wide, view.to + time * wide);
  for (const [of, [from, to]] of Object.entries(view.bytes)) {
    if (space === null || of === space) setBytes(of, from + bytes * (to - from), to + bytes * (to - from));
  }
  redraw();
}

/** Moves to a box, and closer if it is too small to be seen. */
function reveal(box, fit = false) {
  const lane = lanes[laneOf[box]], life = last[box] + 1 - first[box], size = Math.max(high[box] - low[box], 1);
  let time = view.to - view.from, [from, to] = windowOf(lane), bytes = to - from;
  if (fit || life < time / 60) time = Math.min(time, life * (fit ? 1.6 : 12));
  if (fit || size < bytes / 40) bytes = Math.min(bytes, size * (fit ? 3 : 12));
  if (fit) { time = Math.max(time, life * 1.6); bytes = Math.max(bytes, size * 3); }
  const inside = (a, b, c, d) => a >= c && b <= d;
  if (time !== view.to - view.from || !inside(first[box], last[box] + 1, view.from, view.to)) {
    const middle = life > time ? first[box] + time / 2 : (first[box] + last[box] + 1) / 2;
    setTime(middle - time / 2, middle + time / 2);
  }
  if (bytes !== to - from || !inside(low[box], high[box], from, to)) {
    const middle = (low[box] + high[box]) / 2;
    setBytes(lane.space, middle - bytes / 2, middle + bytes / 2);
  }
  const at = lane.number * laneHeight;
  if (at < stage.scrollTop || at + laneHeight > stage.scrollTop + height) stage.scrollTop = at;
  redraw();
}

// ---- what is said ----

function make(tag, text, ...children) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

/** One line about a box. */
function sentence(box) {
  const from = lanes[laneOf[box]].floor > 0 ? low[box] - lanes[laneOf[box]].floor : null;
  const at = from === null ? human(addressOf(box)) : from >= 0 ? `floor + ${human(from)}` : human(addressOf(box));
  const more = pictures.length > 1 ? `, ${data.changes[change[box]][0]}` : "";
  return `${names[box]}: ${human(takenBy(box))} at ${at}, live ${lifeText(box)}${more}`;
}

function describe(box) {
  if (box < 0) {
    facts.replaceChildren(make("p", "Point at a location, or press n to walk from one to the next."));
    return;
  }
  const lane = lanes[laneOf[box]], list = make("dl"), address = addressOf(box), taken = takenBy(box);
  const row = (name, value) => list.append(make("dt", name), make("dd", value));
  row("bytes", `${grouped(declaredBytes.get(box) ?? taken)} (${human(declaredBytes.get(box) ?? taken)})`);
  if (declaredBytes.has(box)) row("takes", `${grouped(taken)} (${human(taken)})`);
  row("address", `${address} (0x${address.toString(16)})`);
  row("end", `${address + taken}`);
  row("life", `${lifeText(box)} of ${slots[slotOf[box]].name}`);
  row("usage", data.usages[usage[box]][0] + (marks[box] & PINNED ? ", pinned by the host" : ""));
  row("lane", (pictures.length > 1 ? `${"AB"[lane.picture]} · ` : "") + lane.label);
  if (marks[box] & SHARED) row("shared", owners.has(box) ? `with ${owners.get(box)[1]} of core ${owners.get(box)[0]}` : "with other cores");
  if (marks[box] & COLLIDES) row("wrong", "some of its bytes are another's at the same time");
  row("reuse", turnsOf()[box] === 0 ? "first in these bytes" : `${turnsOf()[box]} before it in these bytes`);
  if (pictures.length > 1) {
    const other = partner[box];
    row("change", data.changes[change[box]][0]);
    if (other >= 0) {
      const moved = addressOf(box) - addressOf(other), grown = takenBy(box) - takenBy(other);
      row(lane.picture ? "in A" : "in B", `${human(takenBy(other))} at ${addressOf(other)}`);
      const sign = lane.picture ? 1n : -1n, signed = n => (n < 0n ? "−" : "+") + human(n < 0n ? -n : n);
      if (moved !== 0n) row("moved by", signed(moved * sign));
      if (grown !== 0n) row("grown by", signed(grown * sign));
    }
  }
  const near = (title, boxes) => {
    if (boxes.length === 0) return [make("h3", title), make("p", "nothing")];
    const items = boxes.slice(0, 8).map(other => {
      const button = make("button", `${names[other]} · ${human(takenBy(other))} · ${lifeText(other)}`);
      button.addEventListener("click", () => { select(other); reveal(other); });
      return make("li", "", button);
    });
    const rest = boxes.length > 8 ? [make("p", `and ${boxes.length - 8} more`)] : [];
    return [make("h3", title), make("ul", "", ...items), ...rest];
  };
  facts.replaceChildren(make("h2", names[box]), list,
    ...near("Before it in these bytes", neighbours(box, -1)), ...near("After it in these bytes", neighbours(box, 1)));
}

function select(box, speak = true) {
  look.selected = box;
  describe(box);
  if (speak) said.textContent = box < 0 ? "nothing is selected" : sentence(box);
  redraw();
}

function hover(box, x = 0, y = 0) {
  if (box !== look.hovered) {
    look.hovered = box;
    describe(box >= 0 ? box : look.selected);
    redraw();
  }
  tip.hidden = box < 0;
  if (box < 0) return;
  tip.textContent = sentence(box);
  const { offsetWidth: w, offsetHeight: h } = tip;
  tip.style.left = `${Math.min(x + 14, innerWidth - w - 6)}px`;
  tip.style.top = `${y + 18 + h > innerHeight ? y - h - 10 : y + 18}px`;
}

// ---- pointer ----

const laneUnder = y => lanes[Math.floor((y + stage.scrollTop) / laneHeight)];

function under(event) {
  const { left, top: upper } = map.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - upper;
  const lane = laneUnder(y);
  if (!lane) return { x, y, lane: null, box: -1 };
  const [from, ceiling, to, floor] = areaOf(lane), inside = x >= from && x <= to && y >= ceiling && y <= floor;
  const perPixel = (view.to - view.from) / (to - from), bytes = windowOf(lane), perRow = (bytes[1] - bytes[0]) / (floor - ceiling);
  const box = inside ? boxAt(lane, instantOf(x), bytesOf(lane, y), perPixel * 2, perRow * 2) : -1;
  return { x, y, lane, box };
}

const pointers = new Map(); // Those that are down: where they were.
let dragged = false;
map.addEventListener("pointerdown", event => {
  pointers.set(event.pointerId, event);
  map.setPointerCapture(event.pointerId);
  dragged = false;
});
map.addEventListener("pointermove", event => {
  const before = pointers.get(event.pointerId);
  if (!before) {
    const { box } = under(event);
    hover(box, event.clientX, event.clientY);
    return;
  }
  const { lane } = under(before);
  const [left, upper, right, lower] = areaOf(lane ?? lanes[0] ?? { number: 0 });
  const others = [...pointers.values()].filter(other => other.pointerId !== event.pointerId);
  if (others.length > 0) {
    const apart = (a, b) => Math.max(Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), 1);
    const factor = apart(before, others[0]) / apart(event, others[0]);
    zoomTime(factor, instantOf(event.clientX - map.getBoundingClientRect().left));
    if (lane) zoomBytes(factor, lane.space);
  } else {
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    if (!dragged && Math.hypot(dx, dy) < 3) return;
    dragged = true;
    map.classList.add("dragged");
    hover(-1);
    pan(-dx / (right - left), dy / (lower - upper), lane?.space ?? null);
  }
  pointers.set(event.pointerId, event);
});
for (const kind of ["pointerup", "pointercancel"]) {
  map.addEventListener(kind, event => {
    if (kind === "pointerup" && !dragged && pointers.has(event.pointerId)) select(under(event).box);
    pointers.delete(event.pointerId);
    map.classList.remove("dragged");
  });
}
map.addEventListener("pointerleave", () => { if (pointers.size === 0) hover(-1); });
map.addEventListener("dblclick", event => { const { box } = under(event); if (box >= 0) reveal(box, true); });
map.addEventListener("wheel", event => {
  event.preventDefault();
  const { x, y, lane } = under(event), amount = event.deltaY || event.deltaX;
  const factor = Math.exp(Math.max(-300, Math.min(300, amount)) * (event.deltaMode === 1 ? 0.05 : 0.0018));
  if (!event.shiftKey) zoomTime(factor, instantOf(x));
  if ((event.shiftKey || event.ctrlKey) && lane) zoomBytes(factor, lane.space, bytesOf(lane, y));
}, { passive: false });
stage.addEventListener("scroll", redraw);

// ---- keys ----

/** The next box in time, of the same lane if there is one. */
function walkTime(step) {
  if (count === 0) return;
  const from = look.selected;
  const to = from < 0 ? (step > 0 ? 0 : count - 1) : from + step;
  if (to >= 0 && to < count) { select(to); reveal(to); }
}

/** The next box above or below among those that are live when the selected one begins. */
function walkAddress(step) {
  const from = look.selected;
  if (from < 0) { walkTime(1); return; }
  const lane = lanes[laneOf[from]];
  let found = -1;
  eachIn(lane, first[from], first[from] + 1, -Infinity, Infinity, (r, box) => {
    if (box === from || (low[box] - low[from]) * step <= 0) return;
    if (found < 0 || (low[box] - low[found]) * step < 0) found = box;
  });
  if (found >= 0) { select(found); reveal(found); }
}

function cycleColour() {
  const select = element("colour");
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  select.dispatchEvent(new Event("change"));
}

const KEYS = [
  ["← → ↑ ↓", "move", { ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, 0.1), ArrowDown: () => pan(0, -0.1) }],
  ["+ −", "zoom into time, and out", { "+": () => zoomTime(0.7), "=": () => zoomTime(0.7), "-": () => zoomTime(1 / 0.7) }],
  ["i o", "zoom into addresses, and out", { i: () => zoomBytes(0.7), o: () => zoomBytes(1 / 0.7) }],
  ["n p", "next and previous location by time", { n: () => walkTime(1), p: () => walkTime(-1) }],
  ["u d", "next location above and below that is live then", { u: () => walkAddress(1), d: () => walkAddress(-1) }],
  ["b a", "who had these bytes before, who has them after", {
    b: () => step(neighbours(look.selected, -1)), a: () => step(neighbours(look.selected, 1)) }],
  ["m", "the same location in the other picture", { m: () => step([partner[look.selected]].filter(box => box >= 0)) }],
  ["f", "fit the selected location", { f: () => look.selected >= 0 && reveal(look.selected, true) }],
  ["0 9", "what is placed; everything, pins too", { 0: showPlaced, 9: showAll }],
  ["/", "search; Enter and Shift+Enter walk through what was found", { "/": () => { searchField.focus(); searchField.select(); } }],
  ["c", "colour by something else", { c: cycleColour }],
  ["t", "light or dark", { t: () => element("theme").click() }],
  ["Escape", "select nothing, search nothing", { Escape: () => { searchField.value = ""; find(); select(-1); } }],
  ["?", "these keys", { "?": () => element("help").showModal() }],
];
const actions = Object.assign({}, ...KEYS.map(([, , of]) => of));

function step(boxes) {
  if (look.selected < 0) return;
  if (boxes.length === 0) { said.textContent = "there is none"; return; }
  select(boxes[0]);
  reveal(boxes[0]);
}

document.addEventListener("keydown", event => {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (element("help").open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing && event.key !== "Escape") return;
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
  if (!action) return;
  event.preventDefault();
  if (event.key === "Escape" && typing) map.focus();
  action();
});

// ---- search ----

function find() {
  const text = searchField.value;
  look.hits = text ? search(text) : [];
  look.hit = -1;
  hitsText.textContent = text ? `${look.hits.length} found` : "";
  colourBoxes();
}

function jump(by) {
  if (look.hits.length === 0) return;
  look.hit = (look.hit + by + look.hits.length + (look.hit < 0 && by < 0 ? 1 : 0)) % look.hits.length;
  hitsText.textContent = `${look.hit + 1} of ${look.hits.length}`;
  select(look.hits[look.hit]);
  reveal(look.hits[look.hit]);
}

searchField.addEventListener("input", find);
searchField.addEventListener("keydown", event => {
  if (event.key === "Enter") { event.preventDefault(); jump(event.shiftKey ? -1 : 1); }
});

// ---- the rest of the page ----

function legend() {
  const entry = (style, text, kind = "") => {
    const swatch = make("i");
    swatch.className = kind;
    Object.assign(swatch.style, style);
    return make("span", "", swatch, text);
  };
  const has = (column, value) => column.includes(value);
  const entries = [];
  if (look.colour === "usage") {
    data.usages.forEach(([name, colour], i) => { if (has(usage, i)) entries.push(entry({ background: colour }, name)); });
    if (marks.some(m => m & PINNED)) entries.push(entry({}, "pinned by the host", "hatched"));
  } else if (look.colour === "change") {
    data.changes.forEach(([name, colour], i) => { if (has(change, i)) entries.push(entry({ background: colour }, name)); });
  } else {
    const [least, most] = look.range, words = look.colour === "size" ? human : n => n <= 1 ? "first in its bytes" : `${Math.round(n) - 1} before`;
    theme.steps.forEach((colour, i) => {
      const text = i === 0 ? words(least) : i === theme.steps.length - 1 ? words(most) : "";
      entries.push(entry({ background: css(colour) }, text));
    });
  }
  if (marks.some(m => m & COLLIDES)) entries.push(entry({ background: css(theme.wrong) }, "collides"));
  if (lanes.some(lane => lane.collective.length > 0)) entries.push(entry({ background: css(theme.collective) }, "collective region"));
  entries.push(entry({ borderColor: css(theme.peak) }, "peak, and when most is live", "line"));
  entries.push(entry({ borderColor: css(theme.bound) }, "lower bound", "line"));
  element("legend").replaceChildren(...entries);
}

function summary() {
  const drawn = `${grouped(count)} locations drawn`;
  const missing = pictures.flatMap(picture => [["callers", "without an address"], ["views", "views"], ["other memory", "in other memory"], ["unused", "unused"]]
    .filter(([key]) => picture[key] > 0).map(([key, words]) => `${grouped(picture[key])} ${words}`));
  element("summary").textContent = drawn + (missing.length ? `; not drawn: ${missing.join(", ")}` : "")
    + (pictures.length === 1 && pictures[0].status ? `; the plan is ${pictures[0].status}` : "");
  element("title").textContent = pictures.map((picture, i) => pictures.length > 1 ? `${"AB"[i]}: ${picture.title}` : picture.title).join("  →  ");
}

const choices = [...pictures.length > 1 ? ["change"] : [], "usage", "size", "reuse"];
element("colour").append(...choices.map(choice => make("option", choice)));
element("colour").addEventListener("change", event => { look.colour = event.target.value; colourBoxes(); legend(); });
element("zoom-in").addEventListener("click", () => zoomTime(0.7));
element("zoom-out").addEventListener("click", () => zoomTime(1 / 0.7));
element("home").addEventListener("click", showPlaced);
element("all").addEventListener("click", showAll);
element("ask").addEventListener("click", () => element("help").showModal());
element("keys").append(...KEYS.flatMap(([keys, words]) => [make("dt", "", ...keys.split(" ").map(key => make("kbd", key))), make("dd", words)]));

function retheme() {
  readTheme();
  legend();
  element("theme").textContent = theme.isDark ? "Light" : "Dark";
}
element("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = theme.isDark ? "light" : "dark";
  retheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", retheme);

summary();
describe(-1);
showPlaced();
new ResizeObserver(resize).observe(stage);
resize();
retheme();
