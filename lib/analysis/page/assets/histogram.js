// SPDX-License-Identifier: Apache-2.0
// Histograms of lengths, with a logarithmic axis.
import {count, duration, make} from './dom.js';

/** @typedef {{lower_ns: number[], upper_ns: number[], count: number[]}} Histogram */

const WIDTH = 640, HEIGHT = 150, BASE = 120;

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] @returns {SVGElement} */
function shape(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** @param {Histogram} histogram @param {string} name @returns {HTMLElement} */
export function histogramOf(histogram, name) {
  const { lower_ns: lower, upper_ns: upper, count: counts } = histogram;
  if (!counts || counts.length === 0) return make("p", { class: "empty" }, "No lengths are known.");
  const first = Math.log(Math.max(1, lower[0])), last = Math.log(Math.max(2, upper[upper.length - 1])), most = Math.max(...counts);
  const place = (/** @type {number} */ ns) => (WIDTH * (Math.log(Math.max(1, ns)) - first)) / Math.max(0.01, last - first);
  const total = counts.reduce((sum, each) => sum + each, 0);
  const svg = shape("svg", { class: "histogram", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": `Histogram of ${name}: ${count(total)} lengths from ${duration(lower[0])} to ${duration(upper[upper.length - 1])}; the most frequent are near ${duration(lower[counts.indexOf(most)])}` });
  counts.forEach((each, index) => {
    const height = Math.max(1.5, (BASE - 12) * (each / most)), left = place(lower[index]);
    const bar = shape("rect", { x: left, y: BASE - height, width: Math.max(1.5, place(upper[index]) - left - 0.7), height });
    bar.append(shape("title", {}, `${duration(lower[index])} to ${duration(upper[index])}: ${count(each)}`));
    svg.append(bar);
  });
  svg.append(shape("line", { x1: 0, y1: BASE, x2: WIDTH, y2: BASE }), shape("text", { x: 2, y: 10 }, `most in a class: ${count(most)}`));
  addMarks(svg, histogram, total, place);
  addTicks(svg, Math.exp(first), Math.exp(last), place);
  return make("figure", {}, svg, make("figcaption", { class: "small faint" }, `${count(total)} lengths of ${name}; the axis is logarithmic. Dashed lines: p50 and p99, to an eighth of their value.`));
}

/** @param {SVGElement} svg @param {Histogram} histogram @param {number} total @param {(ns: number) => number} place */
function addMarks(svg, { lower_ns: lower, count: counts }, total, place) {
  for (const [name, rank] of /** @type {[string, number][]} */ ([["p50", 0.5], ["p99", 0.99]])) {
    let index = 0;
    for (let sum = counts[0]; sum < rank * total && index + 1 < counts.length; sum += counts[++index]);
    const x = place(lower[index]);
    svg.append(shape("line", { class: "percentile-mark", x1: x, x2: x, y1: 14, y2: BASE }), shape("text", { x: Math.min(x + 3, WIDTH - 28), y: 24 }, name));
  }
}

/** @param {SVGElement} svg @param {number} from @param {number} to @param {(ns: number) => number} place */
function addTicks(svg, from, to, place) {
  let before = -100;
  for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10) {
    for (const factor of [1, 2, 5]) {
      const x = place(power * factor);
      if (power * factor < from || power * factor > to || x < before + 56 || x > WIDTH - 40) continue;
      svg.append(shape("line", { x1: x, x2: x, y1: BASE, y2: BASE + 5 }), shape("text", { x: x + 2, y: BASE + 17 }, duration(power * factor)));
      before = x;
    }
  }
}
