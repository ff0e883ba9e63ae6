// SPDX-License-Identifier: Apache-2.0
// Paints the timeline. Only visible bars cost time: those below a pixel are skipped by search, not one by one.
import {duration, shortName} from './dom.js';
import {lowerBound} from './order.js';
import {KINDS, NO_TASK} from './words.js';

/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {import('./bar_rows.js').BarRow} BarRow */
/** @typedef {import('./scene.js').Scene} Scene */

export const GUTTER = 190, AXIS = 24, HEADING = 26;
const FONT = "11px system-ui, sans-serif", BOLD = "bold 12px system-ui, sans-serif", LETTER = 6.1;
/** From this width on a bar has its pattern. */
const PATTERN_FROM = 5;

/** @param {Scene} scene paints all */
export function draw(scene) {
  const { context, paints, width, height } = scene;
  context.fillStyle = paints.paper;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  drawGrid(scene);
  for (const item of scene.visibleItems()) {
    if (item.lane) drawLane(scene, item.lane, item.y);
    else drawHeading(scene, item.title, item.note ?? "", item.y);
  }
  scene.drawArrows();
  drawRange(scene);
  drawAxis(scene);
}

/** @param {Scene} scene @param {string} title @param {string} note @param {number} y */
function drawHeading({ context, paints, width }, title, note, y) {
  context.fillStyle = paints.raised;
  context.fillRect(0, y, width, HEADING - 4);
  context.fillStyle = paints.ink;
  context.font = BOLD;
  context.fillText(note ? `${title} — ${note}` : title, 8, y + HEADING / 2 - 2, width - 16);
  context.font = FONT;
}

/** @param {Scene} scene @param {Lane} lane @param {number} y */
function drawLane(scene, lane, y) {
  const { context, paints, width } = scene;
  context.save();
  context.beginPath();
  context.rect(GUTTER, y, width - GUTTER, lane.height);
  context.clip();
  let at = y;
  for (const row of lane.rows) {
    drawBars(scene, row, at);
    at += row.height + 1;
  }
  if (lane.queue) drawSteps(scene, lane.queue, y, 32, "queued");
  if (lane.busy) drawSteps(scene, lane.busy, y + 34, 11, "on_cpu");
  if (lane.path) drawFrames(scene, lane.path, y, lane.rows[0].height);
  context.restore();
  context.fillStyle = paints.line;
  context.fillRect(0, y + lane.height - 3, width, 1);
  drawTitle(scene, lane, y);
}

/** @param {Scene} scene @param {Lane} lane @param {number} y */
function drawTitle({ context, paints }, lane, y) {
  context.fillStyle = paints.paper;
  context.fillRect(0, y, GUTTER - 2, lane.height - 3);
  context.fillStyle = paints.ink;
  context.fillText(cut(lane.title, GUTTER - 14, true), 8, y + 8);
  context.fillStyle = paints.faint;
  if (lane.height > 24) context.fillText(cut(lane.detail, GUTTER - 14, false), 8, y + 21);
}

/** @param {string} text @param {number} width @param {boolean} fromStart leaves the beginning out instead of the end @returns {string} */
function cut(text, width, fromStart) {
  const letters = Math.floor(width / LETTER);
  if (text.length <= letters) return text;
  const short = shortName(text);
  if (short.length <= letters) return short;
  if (letters < 2) return "";
  return fromStart ? `…${short.slice(1 - letters)}` : `${short.slice(0, letters - 1)}…`;
}

/** @param {Scene} scene @param {BarRow} bars @param {number} y */
function drawBars(scene, bars, y) {
  const { context, paints, from, to, found } = scene;
  const { starts, ends, values, look, height } = bars, scale = scene.scale;
  for (let i = lowerBound(ends, from); i < starts.length && starts[i] < to;) {
    const left = GUTTER + (starts[i] - from) * scale, right = GUTTER + (ends[i] - from) * scale;
    const size = right - left;
    context.globalAlpha = found !== null && !isFound(found, bars, i) ? 0.25 : 1;
    context.fillStyle = look === "kind" ? (size >= PATTERN_FROM ? paints.patterns[values[i]] : paints.kinds[values[i]]) : paints.ofName(values[i]);
    if (size < 1) {
      const pixel = Math.floor(left);
      context.fillRect(pixel, y, 1, height);
      i = Math.max(i + 1, lowerBound(ends, from + (pixel + 1 - GUTTER) / scale, i + 1));
      continue;
    }
    const begin = Math.max(left, GUTTER - 1), end = Math.min(right, scene.width + 1);
    context.fillRect(begin, y, Math.max(1, end - begin - (size > 3 ? 0.6 : 0)), height);
    if (end - begin > 12) drawLabel(scene, bars, i, begin, end, y);
    ++i;
  }
  context.globalAlpha = 1;
  if (scene.selected?.bars === bars) drawSelected(scene, bars, scene.selected.index, y);
}

/** @param {Uint8Array} found @param {BarRow} bars @param {number} index */
function isFound(found, bars, index) {
  return bars.look === "name" && bars.values[index] >= 0 && found[bars.values[index]] === 1;
}

/** @param {Scene} scene @param {BarRow} bars @param {number} index @param {number} begin @param {number} end @param {number} y */
function drawLabel({ context, paints, labelOf }, bars, index, begin, end, y) {
  const room = end - begin - 6;
  let text = cut(labelOf(bars, index), room, false);
  if (bars.look === "kind" && (text === "" || room < 40)) text = KINDS[bars.values[index]].mark;
  if (text === "") return;
  if (bars.look === "kind" && bars.height >= 12) {
    context.fillStyle = paints.kinds[bars.values[index]];
    context.fillRect(begin + 1, y + 1, Math.min(room + 4, text.length * LETTER + 5), bars.height - 2);
  }
  context.fillStyle = bars.look === "kind" && bars.values[index] === NO_TASK ? paints.faint : paints.barInk;
  context.fillText(text, begin + 3, y + bars.height / 2 + 0.5, room + 3);
}

/** @param {Scene} scene @param {BarRow} bars @param {number} index @param {number} y */
function drawSelected(scene, bars, index, y) {
  const { context, paints, from, scale, width } = scene;
  const left = Math.max(GUTTER - 2, GUTTER + (bars.starts[index] - from) * scale);
  const right = Math.min(width + 2, GUTTER + (bars.ends[index] - from) * scale);
  context.strokeStyle = paints.ink;
  context.lineWidth = 2.5;
  context.strokeRect(left, y - 0.5, Math.max(2, right - left), bars.height + 1);
}

/** Frames around the parts of a critical path, with a line below, so that they show without colour. @param {Scene} scene @param {BarRow} path @param {number} y @param {number} height */
function drawFrames({ context, paints, from, to, scale }, path, y, height) {
  context.strokeStyle = paints.mark;
  context.lineWidth = 2;
  let last = -10;
  for (let i = lowerBound(path.ends, from); i < path.starts.length && path.starts[i] < to; ++i) {
    const left = GUTTER + (path.starts[i] - from) * scale, size = Math.max(2, (path.ends[i] - path.starts[i]) * scale);
    if (left + size < last + 1) continue;
    context.strokeRect(left, y + 1, size, height - 2);
    last = left + size;
  }
}

/** @param {Scene} scene @param {import('./lanes.js').Steps} steps @param {number} y @param {number} height @param {"queued" | "on_cpu"} kind */
function drawSteps(scene, steps, y, height, kind) {
  const { context, paints, from, scale, width } = scene;
  const { times, values, maxima, most } = steps;
  if (most <= 0) return;
  context.fillStyle = paints.kinds[kind === "queued" ? 5 : 0];
  let next = lowerBound(times, from);
  for (let x = GUTTER; x < width;) {
    const before = next > 0 ? values[next - 1] : 0;
    const after = lowerBound(times, from + (x + 1 - GUTTER) / scale, next);
    const change = next < times.length ? Math.floor(GUTTER + (times[next] - from) * scale) : width;
    const end = after > next ? x + 1 : Math.max(x + 1, Math.min(width, change));
    const size = (height * Math.max(before, maxima.of(next, after))) / most;
    if (size > 0) context.fillRect(x, y + height - size, end - x, size);
    next = after;
    x = end;
  }
}

/** @param {Scene} scene */
function drawRange({ context, paints, range, from, scale, height }) {
  if (range === null) return;
  const left = GUTTER + (range[0] - from) * scale, right = GUTTER + (range[1] - from) * scale;
  context.fillStyle = paints.accent;
  context.globalAlpha = 0.13;
  context.fillRect(Math.max(GUTTER, left), AXIS, right - Math.max(GUTTER, left), height);
  context.globalAlpha = 1;
  context.fillRect(left, AXIS, 1.5, height);
  context.fillRect(right, AXIS, 1.5, height);
}

/** @param {Scene} scene @returns {number} the time between two lines */
function stepOf({ from, to, width }) {
  const rough = ((to - from) * 110) / (width - GUTTER), power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
}

/** @param {Scene} scene */
function drawGrid(scene) {
  const { context, paints, from, to, height } = scene, step = stepOf(scene);
  context.fillStyle = paints.line;
  for (let time = Math.ceil(from / step) * step; time < to; time += step) context.fillRect(scene.placeOf(time), AXIS, 1, height);
}

/** @param {Scene} scene */
function drawAxis(scene) {
  const { context, paints, from, to, width } = scene, step = stepOf(scene);
  context.fillStyle = paints.raised;
  context.fillRect(0, 0, width, AXIS);
  for (let time = Math.ceil(from / step) * step; time < to; time += step) {
    const x = scene.placeOf(time);
    context.fillStyle = paints.line;
    context.fillRect(x, AXIS - 6, 1, 6);
    context.fillStyle = paints.faint;
    context.fillText(moment(time, step), x + 4, AXIS / 2);
  }
  context.fillStyle = paints.raised;
  context.fillRect(0, 0, GUTTER - 2, AXIS);
  context.fillStyle = paints.ink;
  context.fillText(`${duration(to - from)} shown`, 8, AXIS / 2);
}

/** @param {number} time @param {number} step @returns {string} with as many digits as the step needs */
export function moment(time, step) {
  const [size, unit] = step >= 1e8 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : [1e3, "µs"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return `${(time / size).toFixed(Math.min(6, digits))} ${unit}`;
}
