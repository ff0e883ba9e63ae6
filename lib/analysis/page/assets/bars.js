// SPDX-License-Identifier: Apache-2.0
// Bars that divide a time by its kinds, and their legend.
import {duration, make, share} from './dom.js';
import {KINDS} from './words.js';

/** @typedef {number[]} Parts the time of each kind, in the order of KINDS */

/** @param {Record<string, number | null>} row with on_cpu_ns, blocked_ns and so on @returns {Parts} */
export function partsOf(row) {
  return KINDS.map(({ key }) => Math.max(0, row[key === "unknown" ? "unknown_state_ns" : `${key}_ns`] ?? 0));
}

/** @param {Parts} parts @returns {number} */
export function sumOf(parts) {
  return parts.reduce((total, each) => total + each, 0);
}

/** @param {Parts} parts @returns {string} such as "61 % queued, 39 % on-CPU" */
export function sentenceOf(parts) {
  const total = sumOf(parts);
  const named = KINDS.map((kind, index) => ({ kind, ns: parts[index] })).filter((each) => each.ns > 0);
  if (named.length === 0) return "its parts are unknown";
  return named.sort((a, b) => b.ns - a.ns).map(({ kind, ns }) => `${share(ns, total)} ${kind.name}`).join(", ");
}

/** @param {Parts} parts @returns {HTMLElement} a bar whose pieces add up to its whole width */
export function splitBar(parts) {
  const total = sumOf(parts), sentence = sentenceOf(parts);
  const pieces = KINDS.map((kind, index) => parts[index] > 0 && make("span", {
    class: `kind ${kind.key}`, style: { width: `${(100 * parts[index]) / total}%` },
    title: `${kind.name}: ${duration(parts[index])}, ${share(parts[index], total)} – ${kind.meaning}`,
  }, parts[index] / total > 0.13 ? `${kind.name} ${share(parts[index], total)}` : parts[index] / total > 0.03 ? kind.mark : ""));
  return make("div", { class: "bar", role: "img", "aria-label": sentence }, pieces);
}

/** @param {number} kind @returns {HTMLElement} */
export function swatch(kind) {
  const { key, mark } = KINDS[kind];
  return make("span", { class: `swatch kind ${key}`, "aria-hidden": "true" }, mark);
}

/** @param {number[]} [kinds] @returns {HTMLElement} */
export function legend(kinds = [0, 1, 2, 3, 4, 5, 6]) {
  return make("ul", { class: "legend", "aria-label": "Kinds of time" }, kinds.map((kind) => {
    const { name, meaning } = KINDS[kind];
    return make("li", { title: meaning }, swatch(kind), make("b", {}, name), ` ${meaning}`);
  }));
}
