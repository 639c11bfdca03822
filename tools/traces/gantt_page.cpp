// The page around the data: its layout and a script for decoding, drawing, zoom and tool tips.
//
// Drawing sums the light of the states in each pixel of a row, weighted by their times, as coverage.hpp does.
// A row with many states also has a coarser version, which is made on demand: each of 16384 bins holds one
// piece per color. It is drawn while a pixel spans several bins, so a frame takes a few operations per pixel
// for any number of states.
#include "tools/traces/gantt.hpp"
#include "tools/traces/gantt_data.hpp"
#include "tools/traces/gantt_layout.hpp"

namespace espalier::trace {
namespace {

constexpr std::string_view page_head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Espalier trace</title>
<style>
html, body { margin: 0; height: 100%; font: 13px Helvetica, Arial, "DejaVu Sans", sans-serif; color: #202020; }
body { display: flex; flex-direction: column; }
#bar { display: flex; flex-wrap: wrap; gap: 6px 18px; align-items: center; padding: 8px 12px; }
#bar b { font-size: 15px; }
#bar .note, #help { color: #6a6a6a; }
#legend { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0 12px 8px; border-bottom: 1px solid #ddd; }
#legend span { display: inline-flex; align-items: center; gap: 6px; }
#legend i { width: 14px; height: 12px; display: inline-block; }
#scroll { flex: 1; overflow-y: auto; overflow-x: hidden; position: relative; }
#chart { position: sticky; top: 0; display: block; cursor: crosshair; touch-action: none; }
#tip { position: fixed; display: none; pointer-events: none; background: #fffffff2; border: 1px solid #999;
  border-radius: 4px; padding: 6px 9px; box-shadow: 0 2px 8px #0003; white-space: pre; line-height: 1.45; }
button { font: inherit; padding: 2px 9px; }
label { display: inline-flex; gap: 4px; align-items: center; }
</style>
</head>
<body>
<div id="bar"><b>Espalier trace</b><span class="note" id="about"></span>
<label>color by <select id="by"><option value="kind">kind of task</option><option value="level">level of the
tree</option></select></label>
<label><input type="checkbox" id="arrows" checked> arrows</label>
<button id="all">whole time</button>
<span id="help">wheel: zoom, drag: move, shift + wheel: rows</span></div>
<div id="legend"></div>
<div id="scroll"><canvas id="chart"></canvas><div id="space"></div></div>
<div id="tip"></div>
<script>
"use strict";
const DATA = )html";

constexpr std::string_view page_tail = R"html(;

// ---- decoding -----------------------------------------------------------------------------------------
function decode(panel) {
  const text = atob(panel.data), size = text.length;
  let at = 0;
  const number = () => {
    let value = 0, unit = 1, byte;
    do { byte = text.charCodeAt(at++); value += (byte & 127) * unit; unit *= 128; } while (byte > 127);
    return value;
  };
  const signed = () => { const n = number(); return n % 2 ? -(n + 1) / 2 : n / 2; };
  for (const row of panel.rows) {
    const n = row.count;
    Object.assign(row, { start: new Float64Array(n), end: new Float64Array(n), kind: new Uint16Array(n),
      level: new Int16Array(n), cblk: new Float64Array(n), task: new Float64Array(n), coarse: {} });
    let time = 0, cblk = 0, task = 0;
    for (let i = 0; i < n && at < size; ++i) {
      row.start[i] = time += number();
      row.end[i] = time += number();
      row.kind[i] = number();
      row.level[i] = number() - 1;
      row.cblk[i] = cblk += signed();
      row.task[i] = task += signed();
    }
  }
  delete panel.data;
}
DATA.panels.forEach(decode);

// ---- colors ------------------------------------------------------------------------------------------
const background = "#ececec";
const parse = c => [1, 3, 5].map(i => parseInt(c.substr(i, 2), 16));
const toLight = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const toValue = new Uint8ClampedArray(4097);
for (let i = 0; i <= 4096; ++i) {
  const l = i / 4096;
  toValue[i] = Math.round(255 * (l <= 0.0031308 ? 12.92 * l : 1.055 * l ** (1 / 2.4) - 0.055));
}
const deepest = DATA.levels.length - 1, levelColor = level => DATA.levels[level];
// Class of a state: its kind, or behind all kinds its level. A palette is the light of each class.
function palette(panel, by, phase) {
  const colors = panel.kinds.map(k => by === "level" && !phase && k.category === "work" ? "#969696" : k.color);
  if (by === "level") for (let l = 0; l <= deepest; ++l) colors.push(levelColor(l));
  return Float64Array.from(colors.flatMap(c => parse(c).map(toLight)));
}
function classes(panel, row, by) {
  if (by === "kind" || row.place === "process") return row.kind;
  row.byLevel ??= row.kind.map((k, i) => row.level[i] >= 0 ? panel.kinds.length + row.level[i] : k);
  return row.byLevel;
}

// ---- coarser rows -------------------------------------------------------------------------------------
const bins = 16384;
function coarser(panel, row, by) {
  if (row.count < 4 * bins) return null;
  if (row.coarse[by]) return row.coarse[by];
  const which = classes(panel, row, by), width = panel.length / bins, covered = new Map();
  const start = [], end = [], kind = [];
  let bin = 0;
  const flush = () => {
    let at = bin * width;
    for (const [k, time] of covered) { start.push(at); end.push(at += time); kind.push(k); }
    covered.clear();
  };
  for (let i = 0; i < row.count; ++i) {
    let from = row.start[i];
    while (from < row.end[i]) {
      const b = Math.min(bins - 1, Math.floor(from / width));
      if (b !== bin) { flush(); bin = b; }
      const to = b === bins - 1 ? row.end[i] : Math.min(row.end[i], (b + 1) * width);
      covered.set(which[i], (covered.get(which[i]) || 0) + to - from);
      if (to <= from) break;
      from = to;
    }
  }
  flush();
  return row.coarse[by] = { start: Float64Array.from(start), end: Float64Array.from(end),
    which: Uint16Array.from(kind) };
}
// Index of the first state that ends after `time`.
function firstAfter(end, time) {
  let low = 0, high = end.length;
  while (low < high) { const mid = low + high >> 1; if (end[mid] > time) high = mid; else low = mid + 1; }
  return low;
}

// ---- layout -------------------------------------------------------------------------------------------
const chart = document.getElementById("chart"), scroll = document.getElementById("scroll"),
  space = document.getElementById("space"), tip = document.getElementById("tip"),
  pen = chart.getContext("2d"), strip = document.createElement("canvas"), stripPen = strip.getContext("2d");
const left = 150, right = 16, axis = 26;
const span = Math.max(...DATA.panels.map(p => p.length));
const threads = Math.max(1, ...DATA.panels.map(p => p.rows.filter(r => r.place === "thread").length));
const rowHeight = threads <= 8 ? 26 : threads <= 24 ? 20 : threads <= 64 ? 15 : 11;
const lines = []; // What is drawn, from top to bottom.
let total = 0;
for (const panel of DATA.panels) {
  lines.push({ type: "title", y: total + 18, panel }); total += 30;
  panel.yOf = [];
  panel.rows.forEach((row, r) => {
    if (row.place === "process") { lines.push({ type: "group", y: total, panel, row }); }
    const whole = row.count === 1 && row.start[0] === 0 && row.end[0] === panel.length;
    if (whole && row.place === "process") panel.phase = panel.kinds[row.kind[0]].name; // The title shows it.
    if (row.place === "process" && (!row.count || whole)) { total += 16; return; }
    if (row.place === "node") { total += 4; lines.push({ type: "node", y: total, panel, row }); return; }
    const h = row.place === "process" ? 16 : rowHeight;
    lines.push({ type: "states", y: total, h, panel, row });
    panel.yOf[r] = total + h / 2;
    total += h + 1;
    const last = r + 1 === panel.rows.length || panel.rows[r + 1].place === "process";
    let process = r;
    while (process > 0 && panel.rows[process].place !== "process") --process;
    if (last) for (const curve of panel.curves.filter(c => c.row === process)) {
      lines.push({ type: "curve", y: total + 4, h: 36, panel, curve }); total += 44;
    }
  });
  total += 14;
}
space.style.height = "0px";

let t0 = 0, t1 = span, by = DATA.by, arrows = true, width = 0, height = 0, ratio = 1, scheduled = false;
const plot = () => width - left - right;
const xOf = t => left + (t - t0) / (t1 - t0) * plot();
const tOf = x => t0 + (x - left) / plot() * (t1 - t0);
const redraw = () => { if (!scheduled) { scheduled = true; requestAnimationFrame(draw); } };

// ---- drawing ------------------------------------------------------------------------------------------
function paintStates(line, y) {
  const { panel, row } = line, pixels = strip.width, perPixel = (t1 - t0) / pixels;
  const coarse = panel.length / bins * 3 < perPixel ? coarser(panel, row, by) : null;
  const { start, end } = coarse || row, which = coarse ? coarse.which : classes(panel, row, by);
  const light = palette(panel, by, row.place === "process");
  const sum = new Float64Array(4 * pixels);
  const add = (p, share, k) => {
    sum[4 * p] += share * light[k]; sum[4 * p + 1] += share * light[k + 1];
    sum[4 * p + 2] += share * light[k + 2]; sum[4 * p + 3] += share;
  };
  for (let i = firstAfter(end, t0); i < start.length && start[i] < t1; ++i) {
    const a = Math.max(0, (start[i] - t0) / perPixel), b = Math.min(pixels, (end[i] - t0) / perPixel);
    const k = 3 * which[i], first = Math.floor(a), last = Math.floor(b);
    if (first === last) { if (first < pixels) add(first, b - a, k); continue; }
    add(first, first + 1 - a, k);
    for (let p = first + 1; p < last; ++p) add(p, 1, k);
    if (last < pixels) add(last, b - last, k);
  }
  const image = stripPen.createImageData(pixels, 1), ground = toLight(0xec);
  for (let p = 0; p < pixels; ++p) {
    const rest = (1 - Math.min(1, sum[4 * p + 3])) * ground;
    for (let c = 0; c < 3; ++c)
      image.data[4 * p + c] = toValue[Math.min(4096, Math.round(4096 * (sum[4 * p + c] + rest)))];
    image.data[4 * p + 3] = t0 + p * perPixel < panel.length ? 255 : 0;
  }
  stripPen.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(strip, 0, 0, pixels, 1, left, y, plot(), line.h);
}
function unitOf(t) { return t >= 1e9 ? [1e9, "s"] : t >= 1e6 ? [1e6, "ms"] : t >= 1e3 ? [1e3, "us"] : [1, "ns"]; }
function readable(t) { const [u, n] = unitOf(Math.abs(t)); return +(t / u).toPrecision(5) + " " + n; }
function amount(v, unit) {
  if (unit !== "bytes") return +v.toPrecision(6) + (unit ? " " + unit : "");
  let p = 0;
  for (; v >= 1000 && p < 5; v /= 1000) ++p;
  return v.toPrecision(3) + " " + ["", "k", "M", "G", "T", "P"][p] + "B";
}
function ticks() {
  const wanted = (t1 - t0) / (plot() / 110), power = 10 ** Math.floor(Math.log10(wanted));
  const step = power * [1, 2, 5, 10].find(d => d * power >= wanted), [u, n] = unitOf(t1);
  const found = [];
  for (let i = Math.ceil(t0 / step); i * step <= t1; ++i)
    found.push([i * step, (i * step / u).toFixed(Math.max(0, Math.ceil(-Math.log10(step / u) - 1e-9))) + " " + n]);
  return found;
}
function paintLine(line, y) {
  pen.fillStyle = "#202020"; pen.textAlign = "left"; pen.font = "12px Helvetica, Arial, sans-serif";
  if (line.type === "title") {
    pen.font = "bold 14px Helvetica, Arial, sans-serif";
    pen.fillText(line.panel.title, 10, y);
    const w = pen.measureText(line.panel.title).width;
    pen.font = "12px Helvetica, Arial, sans-serif"; pen.fillStyle = "#6a6a6a";
    const left_out = line.panel.left_out ? `; ${line.panel.left_out} arrows left out` : "";
    const phase = line.panel.phase ? line.panel.phase + ", " : "";
    pen.fillText(phase + readable(line.panel.length) + left_out, 20 + w, y);
  } else if (line.type === "group") {
    pen.font = "bold 12px Helvetica, Arial, sans-serif"; pen.fillText(line.row.name, 10, y + 12);
  } else if (line.type === "node") {
    pen.fillText(line.row.name, 40, y + 12);
  } else if (line.type === "states") {
    if (line.row.place === "thread") {
      pen.textAlign = "right"; pen.fillText(line.row.name, left - 7, y + line.h / 2 + 4);
    }
    paintStates(line, y);
    if (line.row.place === "process") paintPhases(line, y);
  } else {
    pen.textAlign = "right"; pen.fillText(line.curve.name, left - 7, y + 15);
    const values = line.curve.values, peak = Math.max(...values, 1e-300);
    pen.fillStyle = "#6a6a6a"; pen.fillText(amount(peak, line.curve.unit), left - 7, y + 30);
    pen.fillStyle = "#7890aa";
    const step = line.panel.length / values.length;
    for (let i = Math.max(0, Math.floor(t0 / step)); i < values.length && i * step < t1; ++i) {
      const a = Math.floor(Math.max(left, xOf(i * step)));
      const b = Math.max(a + 1, Math.floor(Math.min(width - right, xOf((i + 1) * step))));
      pen.fillRect(a, y + line.h * (1 - values[i] / peak), b - a, line.h * values[i] / peak);
    }
  }
}
function paintPhases(line, y) {
  const { row, panel } = line;
  pen.font = "11px Helvetica, Arial, sans-serif"; pen.fillStyle = "#202020"; pen.textAlign = "center";
  for (let i = firstAfter(row.end, t0); i < row.count && row.start[i] < t1; ++i) {
    const a = Math.max(left, xOf(row.start[i])), b = Math.min(width - right, xOf(row.end[i]));
    const name = panel.kinds[row.kind[i]].name;
    if (pen.measureText(name).width + 6 < b - a) pen.fillText(name, (a + b) / 2, y + 12);
  }
}
function paintArrows(panel, top) {
  const seen = panel.links.filter(l => l[3] >= t0 && l[2] <= t1);
  if (seen.length > 600) return; // Arrows would hide the states.
  for (const [from, to, start, end, kind] of seen) {
    const x1 = xOf(start), y1 = panel.yOf[from] - top, x2 = xOf(end), y2 = panel.yOf[to] - top;
    if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) continue;
    const angle = Math.atan2(y2 - y1, x2 - x1);
    pen.strokeStyle = kind ? "#6e3ca0" : "#be1e2d";
    pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2);
    for (const turn of [2.7, -2.7]) {
      pen.moveTo(x2, y2); pen.lineTo(x2 + 6 * Math.cos(angle + turn), y2 + 6 * Math.sin(angle + turn));
    }
    pen.stroke();
  }
}
function draw() {
  scheduled = false;
  const top = scroll.scrollTop;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = "#fff"; pen.fillRect(0, 0, width, height);
  pen.strokeStyle = "#d8d8d8"; pen.lineWidth = 1;
  for (const [t] of ticks()) { pen.beginPath(); pen.moveTo(xOf(t), 0); pen.lineTo(xOf(t), height - axis); pen.stroke(); }
  for (const line of lines)
    if (line.y - top < height && line.y + (line.h || 20) - top > -20) paintLine(line, line.y - top);
  if (arrows) {
    pen.save(); pen.beginPath(); pen.rect(left, 0, plot(), height); pen.clip();
    for (const panel of DATA.panels) paintArrows(panel, top);
    pen.restore();
  }
  pen.fillStyle = "#fff"; pen.fillRect(0, height - axis, width, axis);
  pen.fillStyle = "#202020"; pen.textAlign = "center"; pen.font = "12px Helvetica, Arial, sans-serif";
  pen.fillRect(left, height - axis, plot(), 1);
  for (const [t, label] of ticks()) pen.fillText(label, xOf(t), height - axis + 17);
}

// ---- tool tips ----------------------------------------------------------------------------------------
function about(line, x) {
  const { panel, row } = line, time = tOf(x), half = (t1 - t0) / plot() / 2;
  const first = firstAfter(row.end, time - half);
  let last = first;
  while (last < row.count && row.start[last] < time + half && last - first < 100000) ++last;
  const head = `${row.name} at ${readable(time)}\n`;
  if (last === first) return head + (time > panel.length ? "after the end" : "not recorded");
  if (last - first > 2) {
    const covered = new Map();
    for (let i = first; i < last; ++i) {
      const part = Math.min(row.end[i], time + half) - Math.max(row.start[i], time - half);
      const name = panel.kinds[row.kind[i]].name;
      covered.set(name, (covered.get(name) || 0) + part);
    }
    return head + `${last - first} states in this pixel\n` + [...covered].sort((a, b) => b[1] - a[1])
      .map(([name, part]) => `${name}  ${(50 * part / half).toFixed(1)}%`).join("\n");
  }
  let i = first;
  while (i + 1 < last && row.end[i] <= time) ++i;
  const facts = [panel.kinds[row.kind[i]].name];
  if (row.cblk[i] >= 0) facts.push("cblk " + row.cblk[i]);
  if (row.level[i] >= 0) facts.push("level " + row.level[i]);
  if (row.task[i] >= 0) facts.push("task " + row.task[i]);
  return head + facts.join(", ") + `\n${readable(row.end[i] - row.start[i])}, from ${readable(row.start[i])} to ` +
    readable(row.end[i]);
}
function showTip(event) {
  const box = chart.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top + scroll.scrollTop;
  const line = lines.find(l => l.type === "states" && y >= l.y && y < l.y + l.h);
  tip.style.display = line && x >= left && x <= width - right ? "block" : "none";
  if (!line) return;
  tip.textContent = about(line, x);
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8) + "px";
}

// ---- zoom and pan ------------------------------------------------------------------------------------
function show(from, to) {
  const length = Math.min(span, Math.max(10, to - from));
  t0 = Math.max(0, Math.min(span - length, from)); t1 = t0 + length;
  redraw();
}
let held = null;
chart.addEventListener("wheel", event => {
  if (event.shiftKey) return;
  event.preventDefault();
  const time = tOf(event.clientX - chart.getBoundingClientRect().left), f = Math.exp(event.deltaY * 0.0015);
  show(time - (time - t0) * f, time + (t1 - time) * f);
  showTip(event);
}, { passive: false });
chart.addEventListener("pointerdown", event => {
  held = { x: event.clientX, y: event.clientY, t0, t1, top: scroll.scrollTop };
  chart.setPointerCapture(event.pointerId);
});
chart.addEventListener("pointermove", event => {
  if (held) {
    const shift = (held.x - event.clientX) / plot() * (held.t1 - held.t0);
    scroll.scrollTop = held.top + held.y - event.clientY;
    show(held.t0 + shift, held.t1 + shift);
  }
  showTip(event);
});
chart.addEventListener("pointerup", () => held = null);
chart.addEventListener("pointerleave", () => tip.style.display = "none");
chart.addEventListener("dblclick", () => show(0, span));
scroll.addEventListener("scroll", redraw);
addEventListener("keydown", event => {
  const step = (t1 - t0) / 5, middle = (t0 + t1) / 2;
  if (event.key === "ArrowLeft") show(t0 - step, t1 - step);
  else if (event.key === "ArrowRight") show(t0 + step, t1 + step);
  else if (event.key === "+") show(middle - 2 * step, middle + 2 * step);
  else if (event.key === "-") show(middle - 3.2 * step, middle + 3.2 * step);
  else if (event.key === "0") show(0, span);
});
document.getElementById("all").onclick = () => show(0, span);
document.getElementById("arrows").onchange = event => { arrows = event.target.checked; redraw(); };
const select = document.getElementById("by");
select.value = by;
select.onchange = () => { by = select.value; legend(); redraw(); };

function legend() {
  const entries = new Map();
  for (const panel of DATA.panels) {
    const used = new Set();
    for (const row of panel.rows) if (row.place === "thread") for (const k of row.kind) used.add(k);
    panel.kinds.forEach((k, i) => {
      if (used.has(i) && (by === "kind" || k.category !== "work")) entries.set(k.name, k.color);
    });
  }
  const every = Math.ceil(Math.max(1, deepest) / 12);
  if (by === "level") for (let l = 0; l <= deepest; l += every) entries.set(l ? "level " + l : "root", levelColor(l));
  entries.set("not recorded", background);
  document.getElementById("legend").replaceChildren(...[...entries].map(([name, color]) => {
    const entry = document.createElement("span"), box = document.createElement("i");
    box.style.background = color;
    entry.append(box, name);
    return entry;
  }));
}
function resize() {
  ratio = devicePixelRatio || 1;
  width = scroll.clientWidth; height = scroll.clientHeight;
  chart.width = width * ratio; chart.height = height * ratio;
  chart.style.width = width + "px"; chart.style.height = height + "px";
  space.style.height = Math.max(0, total + axis - height) + "px";
  strip.width = Math.max(1, Math.round(plot() * ratio)); strip.height = 1;
  redraw();
}
document.getElementById("about").textContent = Object.entries(Object.assign({}, ...DATA.panels.map(p => p.about)))
  .filter(([key]) => key !== "origin").map(([key, value]) => key + " " + value).join(", ");
addEventListener("resize", resize);
legend();
resize();
</script>
</body>
</html>
)html";

} // namespace

std::string gantt_html(std::vector<GanttPanel> const& panels, HtmlOptions const& options) {
    lay_out(panels, {}); // For its checks.
    std::string page(page_head);
    page += gantt_data(panels, options);
    return page += page_tail;
}

} // namespace espalier::trace
