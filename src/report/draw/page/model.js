// What is in the picture, as columns: one typed array per property of all boxes, so that a hundred
// thousand of them cost no objects. A box is its number; those of a lane are neighbours, sorted by
// time. Bytes are doubles here, counted from where the scale of their space begins, which is exact
// enough for pixels; what is shown as text is counted in BigInt.

const data = JSON.parse(document.getElementById("data").textContent);
const { lanes, slots, pictures } = data;
const count = lanes.reduce((sum, lane) => sum + lane.name.length, 0);

const PINNED = 1, SHARED = 2, COLLIDES = 4; // Bits of `marks`.
const CHUNK = 64; // Rectangles that are looked at together.

const names = [];
const low = new Float64Array(count), high = new Float64Array(count);
const first = new Uint32Array(count), last = new Uint32Array(count); // Of the whole life, closed.
const usage = new Uint8Array(count), marks = new Uint8Array(count), change = new Uint8Array(count);
const laneOf = new Uint32Array(count), slotOf = new Uint32Array(count);
const partner = new Int32Array(count).fill(-1);
const laterLives = new Map(); // Box -> the lives after its first, [first, last].
const firstEnd = new Uint32Array(count); // Where its first life ends.
const owners = new Map(); // Box -> [core, name] of the member that was placed.
const declaredBytes = new Map(); // Box -> bytes, where they are not those that it takes.

/** A slot of the instant, by bisection: the last one that begins at it or before. */
function slotAt(instant) {
  let from = 0, to = slots.length;
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (slots[middle].start <= instant) from = middle; else to = middle;
  }
  // Empty functions stand where the next one begins.
  return from;
}

/** Reads the columns of a lane, whose boxes begin at number `at`. */
function readLane(lane, number, at) {
  const n = lane.name.length;
  const [scaleLow, scaleHigh, floor, peak] = data.scales[lane.space].map(BigInt);
  const unit = BigInt(lane.unit), base = BigInt(lane.base);
  Object.assign(lane, {
    number, at, end: at + n, unit, base, scaleLow,
    span: Number(scaleHigh - scaleLow),
    home: [Number(floor - scaleLow), Number(peak - scaleLow)],
    floorText: lane.floor,
    floor: Number(BigInt(lane.floor) - scaleLow), peak: Number(BigInt(lane.peak) - scaleLow),
    bound: Number(BigInt(lane.bound) - scaleLow),
    capacity: lane.capacity === null ? null : Number(BigInt(lane.capacity) - scaleLow),
  });
  // Steps add up to addresses, in units; past what a double holds they are text.
  if (lane.wide) {
    let sum = 0n;
    lane.units = lane.address.map(step => sum += BigInt(step));
    lane.takes = lane.taken.map(BigInt);
  } else {
    let sum = 0;
    lane.units = Float64Array.from(lane.address, step => sum += step);
    lane.takes = Float64Array.from(lane.taken);
  }
  const from = Number(base - scaleLow), size = Number(unit);
  let start = 0;
  for (let i = 0; i < n; i++) {
    const box = at + i;
    names.push(lane.name[i]);
    low[box] = from + Number(lane.units[i]) * size;
    high[box] = low[box] + Number(lane.takes[i]) * size;
    first[box] = start += lane.first[i];
    last[box] = firstEnd[box] = start + lane.long[i];
    usage[box] = lane.usage.charCodeAt(i) - 48;
    marks[box] = lane.marks.charCodeAt(i) - 48;
    change[box] = lane.change.charCodeAt(i) - 48;
    laneOf[box] = number;
    slotOf[box] = slotAt(start);
  }
  for (let i = 0; i < lane.later.length; i += 3) {
    const box = at + lane.later[i], begin = last[box] + lane.later[i + 1];
    last[box] = begin + lane.later[i + 2];
    if (!laterLives.has(box)) laterLives.set(box, []);
    laterLives.get(box).push([begin, last[box]]);
  }
  for (let i = 0; i < lane.declared.length; i += 2) {
    declaredBytes.set(at + lane.declared[i], BigInt(lane.declared[i + 1]));
  }
  for (let i = 0; i < lane.owners.length; i += 3) {
    owners.set(at + lane.owners[i], [lane.owners[i + 1], lane.owners[i + 2]]);
  }
  lane.partner.forEach((other, i) => {
    if (other >= 0) { partner[at + i] = other; partner[other] = at + i; }
  });
  indexLane(lane);
  for (const column of ["name", "address", "taken", "first", "long", "later", "declared", "owners", "partner"]) {
    delete lane[column]; // Read; the arrays above have them.
  }
}

/** The lane's rectangles by time, and around each chunk of them the box that bounds it. */
function indexLane(lane) {
  const rects = [];
  for (let box = lane.at; box < lane.end; box++) {
    rects.push([first[box], firstEnd[box], box]);
    for (const [from, to] of laterLives.get(box) ?? []) rects.push([from, to, box]);
  }
  if (rects.length > lane.end - lane.at) rects.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
  lane.rectFirst = Uint32Array.from(rects, r => r[0]);
  lane.rectLast = Uint32Array.from(rects, r => r[1]);
  lane.rectBox = Uint32Array.from(rects, r => r[2]);
  const chunks = Math.ceil(rects.length / CHUNK);
  lane.chunkLast = new Uint32Array(chunks);
  lane.chunkLow = new Float64Array(chunks).fill(Infinity);
  lane.chunkHigh = new Float64Array(chunks);
  lane.chunkLongest = new Uint32Array(chunks);
  lane.chunkTallest = new Float64Array(chunks);
  rects.forEach(([from, to, box], i) => {
    const chunk = Math.floor(i / CHUNK);
    lane.chunkLast[chunk] = Math.max(lane.chunkLast[chunk], to);
    lane.chunkLow[chunk] = Math.min(lane.chunkLow[chunk], low[box]);
    lane.chunkHigh[chunk] = Math.max(lane.chunkHigh[chunk], high[box]);
    lane.chunkLongest[chunk] = Math.max(lane.chunkLongest[chunk], to + 1 - from);
    lane.chunkTallest[chunk] = Math.max(lane.chunkTallest[chunk], high[box] - low[box]);
  });
  lane.load = load(lane);
  lane.highest = lane.load.reduce((most, live) => Math.max(most, live), 0);
  lane.highestAt = lane.load.indexOf(lane.highest);
}

/** The bytes live at each instant, of what lies at the floor or above. */
function load(lane) {
  const change = new Float64Array(data.length + 1);
  for (let r = 0; r < lane.rectBox.length; r++) {
    const box = lane.rectBox[r];
    if (low[box] < lane.floor) continue;
    change[lane.rectFirst[r]] += high[box] - low[box];
    change[lane.rectLast[r] + 1] -= high[box] - low[box]; // Lives are closed.
  }
  let live = 0;
  const sums = change.subarray(0, data.length).map(step => live += step);
  for (let i = 0; i < lane.handed.length; i += 2) sums[lane.handed[i]] -= Number(lane.handed[i + 1]);
  return sums;
}

lanes.reduce((at, lane, number) => { readLane(lane, number, at); return lane.end; }, 0);

// ---- questions ----

const lifeOf = box => [[first[box], firstEnd[box]], ...laterLives.get(box) ?? []];
const unitsOf = (box, column) => BigInt(lanes[laneOf[box]][column][box - lanes[laneOf[box]].at]) * lanes[laneOf[box]].unit;
const addressOf = box => lanes[laneOf[box]].base + unitsOf(box, "units");
const takenBy = box => unitsOf(box, "takes");

/** Calls back with the number of each rectangle that touches a window of a lane; `among` picks chunks. */
function eachIn(lane, from, to, bottom, ceiling, visit, among = () => true) {
  const { rectFirst, rectLast, rectBox } = lane;
  for (let chunk = 0; chunk < lane.chunkLast.length; chunk++) {
    const start = chunk * CHUNK;
    if (rectFirst[start] >= to) return;
    if (lane.chunkLast[chunk] + 1 <= from || lane.chunkLow[chunk] >= ceiling || lane.chunkHigh[chunk] <= bottom || !among(chunk)) continue;
    const end = Math.min(start + CHUNK, rectBox.length);
    for (let r = start; r < end; r++) {
      const box = rectBox[r];
      if (rectFirst[r] < to && rectLast[r] + 1 > from && low[box] < ceiling && high[box] > bottom) visit(r, box);
    }
  }
}

/** The box at an instant and address, or the nearest one that touches the window around it. */
function boxAt(lane, instant, address, aroundTime, aroundBytes) {
  let found = -1, nearest = Infinity;
  eachIn(lane, instant - aroundTime, instant + aroundTime, address - aroundBytes, address + aroundBytes, (r, box) => {
    const away = (value, from, to) => Math.max(from - value, 0, value - to);
    const distance = away(instant, lane.rectFirst[r], lane.rectLast[r] + 1) / aroundTime
      + away(address, low[box], high[box]) / aroundBytes;
    if (distance <= nearest) { nearest = distance; found = box; }
  });
  return found;
}

/** Who had these bytes last before a box (`-1`), or has them first after it (`1`): of each byte one. */
function neighbours(box, side) {
  const lane = lanes[laneOf[box]], others = [];
  for (let i = lane.at; i < lane.end; i++) {
    if (i === box || slotOf[i] !== slotOf[box] || low[i] >= high[box] || high[i] <= low[box]) continue;
    if (side < 0 ? last[i] <= first[box] && first[i] < first[box] : first[i] >= last[box] && last[i] > last[box]) others.push(i);
  }
  others.sort((a, b) => (side < 0 ? last[b] - last[a] : first[a] - first[b]) || low[a] - low[b]);
  let free = [[low[box], high[box]]]; // Bytes whose neighbour is not known yet.
  const found = [];
  for (const i of others) {
    const rest = free.flatMap(([from, to]) => [[from, Math.min(to, low[i])], [Math.max(from, high[i]), to]]
      .filter(([a, b]) => a < b));
    if (rest.reduce((sum, [a, b]) => sum + b - a, 0) < free.reduce((sum, [a, b]) => sum + b - a, 0)) found.push(i);
    free = rest;
    if (free.length === 0) break;
  }
  return found;
}

let turns = null;
/** How often the bytes of each box were taken before it, along the longest chain. */
function turnsOf() {
  if (turns) return turns;
  turns = new Uint32Array(count);
  for (const lane of lanes) {
    let slot = -1, starts = [], taken = []; // From each start to the next, the bytes were taken so often.
    for (let box = lane.at; box < lane.end; box++) {
      if (slotOf[box] !== slot) { slot = slotOf[box]; starts = [-Infinity]; taken = [0]; }
      if (high[box] <= low[box]) continue;
      const at = value => { // The last start at the value or below.
        let from = 0, to = starts.length;
        while (to - from > 1) { const middle = (from + to) >> 1; if (starts[middle] <= value) from = middle; else to = middle; }
        return from;
      };
      const a = at(low[box]), b = at(high[box]);
      let most = 0;
      for (let k = a; k <= b; k++) if (starts[k] < high[box]) most = Math.max(most, taken[k]);
      turns[box] = most;
      const left = starts[a] < low[box] ? [[starts[a], taken[a]]] : [];
      const middle = [...left, [low[box], most + 1]];
      const right = starts[b] === high[box] ? [] : [[high[box], taken[b]]];
      const put = [...middle, ...right];
      const until = starts[b] === high[box] ? b : b + 1;
      starts.splice(a, until - a, ...put.map(p => p[0]));
      taken.splice(a, until - a, ...put.map(p => p[1]));
    }
  }
  return turns;
}

/** The boxes whose names contain a text, whatever its case; an exact name comes first. */
function search(text) {
  const wanted = text.toLowerCase(), found = [], exact = [];
  for (let box = 0; box < count; box++) {
    if (names[box] === text) exact.push(box);
    else if (names[box].toLowerCase().includes(wanted)) found.push(box);
  }
  return exact.concat(found);
}

// ---- words ----

/** Bytes in the largest unit of which there is one, with three digits. */
function human(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = Number(bytes), unit = 0;
  while (Math.abs(value) >= 1024 && unit < 4) { value /= 1024; unit++; }
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

const grouped = number => number.toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");

function lifeText(box) {
  const start = slots[slotOf[box]].start, life = lifeOf(box);
  const shown = life.slice(0, 6).map(([from, to]) => `[${from - start}, ${to - start}]`).join(" ");
  return shown + (life.length > 6 ? ` and ${life.length - 6} more` : "");
}
