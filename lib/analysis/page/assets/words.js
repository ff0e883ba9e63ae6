// SPDX-License-Identifier: Apache-2.0
// The kinds of time, with their colours, patterns and meanings: the one table that all views use.

/**
 * A kind of time. `mark` is the letter that views show beside or instead of the colour, and `pattern` is the
 * texture of its bars, so that no view depends on colours alone.
 * @typedef {{key: string, name: string, mark: string, pattern: string, meaning: string}} Kind
 */

/** @type {Kind[]} */
export const KINDS = [
  { key: "on_cpu", name: "on-CPU", mark: "C", pattern: "plain", meaning: "ran on a processor" },
  { key: "blocked", name: "blocked", mark: "B", pattern: "cross", meaning: "kept its thread while it waited in the kernel: a system call, a lock, a page" },
  { key: "preempted", name: "preempted", mark: "P", pattern: "rise", meaning: "could run, but the machine had no free processor" },
  { key: "unknown", name: "running", mark: "R", pattern: "dots", meaning: "was on a thread; the recording does not say whether it was on a processor" },
  { key: "suspended", name: "suspended", mark: "S", pattern: "light", meaning: "waited for the end of something else" },
  { key: "queued", name: "queued", mark: "Q", pattern: "fall", meaning: "was ready and waited for a thread" },
  { key: "waiting", name: "waiting", mark: "W", pattern: "stripes", meaning: "suspended or queued; the recording does not show the wake between them" },
  { key: "no_task", name: "no task", mark: "–", pattern: "light", meaning: "the thread waited in the kernel, and no task or scope was on it" },
];

/** The kind of a thread that has nothing to do; requests and tasks have the kinds before it. */
export const NO_TASK = 7;

/** The other names of kinds in critical paths. */
export const KIND_OF_NAME = new Map([
  ...KINDS.map((kind, index) => /** @type {[string, number]} */ ([kind.name, index])),
  ["CPU", 0], ["device", 4], ["not started", 5], ["unknown", 6],
]);

/** @param {string} name @returns {number} the kind with that name; "waiting" if there is none */
export function kindNamed(name) {
  return KIND_OF_NAME.get(name) ?? 6;
}

/** The keys that work in the timeline. */
export const TIMELINE_KEYS = [
  ["← →", "move to the left or to the right; with Shift: by a whole screen"],
  ["↑ ↓", "scroll the lanes"],
  ["+ −", "zoom in, zoom out (also W and S, or Ctrl and the wheel)"],
  ["0", "show all of the recording"],
  ["N, Shift+N", "next or previous slow request"],
  ["Tab, then Enter", "the buttons and links of the selection"],
  ["[ ]", "select the previous or the next bar of the lane"],
  ["{ }", "select a bar in the lane above or below"],
  ["F", "zoom to the selection"],
  ["/", "search"],
  ["Esc", "close the selection, or the opened request"],
];
