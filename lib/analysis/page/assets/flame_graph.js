// SPDX-License-Identifier: Apache-2.0
// One flame graph: the root on top, a button for each frame that is wide enough.
import {duration, make, share} from './dom.js';
import {KINDS} from './words.js';

/** @typedef {import('./flame_trees.js').FlameNode} FlameNode */

const ROW = 22;
/** Frames below this share of the shown width are left out. */
const NARROWEST = 0.0012;
const DEEPEST = 120;

/** A change below this share counts as none. */
const SAME = 0.02;

export class FlameGraph {
  /** @param {FlameNode} root @param {boolean} compares @param {(node: FlameNode) => void} onLook */
  constructor(root, compares, onLook) {
    this.root = root;
    this.compares = compares;
    this.onLook = onLook;
    this.text = "";
    this.top = root;
    this.element = make("div", { class: "flame", role: "group", "aria-label": "Flame graph", onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) });
    /** @type {Map<FlameNode, HTMLElement>} */
    this.buttons = new Map();
    this.zoom(root);
  }

  /** @param {FlameNode} node */
  weight(node) {
    return this.compares ? Math.max(node.total, node.other) : node.total;
  }

  /** @param {FlameNode} top @param {boolean} [focuses] */
  zoom(top, focuses = false) {
    this.top = top;
    this.buttons.clear();
    const around = [];
    for (let above = top.above; above !== null; above = above.above) around.unshift(above);
    around.forEach((node, row) => this.place(node, row, 0, 1, true));
    const deepest = this.layOut(top, around.length, 0, 1);
    this.element.style.height = `${(deepest + 1) * ROW + 4}px`;
    this.element.replaceChildren(...this.buttons.values());
    this.setStop(top);
    this.onLook(top);
    if (focuses) this.buttons.get(top)?.focus();
  }

  /** @param {FlameNode} node @param {number} row @param {number} left @param {number} width @returns {number} the deepest row */
  layOut(node, row, left, width) {
    this.place(node, row, left, width, false);
    let at = left, deepest = row;
    const whole = this.weight(node) || 1;
    const below = [...node.below.values()].sort((a, b) => this.weight(b) - this.weight(a));
    const scale = Math.min(1, whole / Math.max(1, below.reduce((sum, each) => sum + this.weight(each), 0)));
    for (const each of below) {
      const size = (width * this.weight(each) * scale) / whole;
      if (size < NARROWEST || row > DEEPEST) break;
      deepest = Math.max(deepest, this.layOut(each, row + 1, at, size));
      at += size;
    }
    return deepest;
  }

  /** @param {FlameNode} node @param {number} row @param {number} left @param {number} width @param {boolean} isAround */
  place(node, row, left, width, isAround) {
    const label = this.label(node);
    const element = make("button", { type: "button", tabindex: "-1", title: label, "aria-label": label, class: this.classOf(node, isAround),
      style: { left: `${100 * left}%`, width: `${100 * width}%`, top: `${row * ROW + 2}px` },
      onclick: () => this.zoom(node, true), onfocus: () => this.onLook(node), onpointerenter: () => this.onLook(node) },
    width > 0.012 ? this.shortLabel(node) : "");
    if (node.kind === null && !this.compares) element.style.setProperty("background-color", colourOf(node.name));
    this.buttons.set(node, element);
  }

  /** @param {FlameNode} node @returns {string} */
  shortLabel(node) {
    return `${this.sign(node)}${node.kind === null ? "" : `${KINDS[node.kind].mark} `}${node.name}`;
  }

  /** @param {FlameNode} node @returns {string} */
  label(node) {
    const more = node.total - node.other;
    const change = this.compares ? `, ${more >= 0 ? "+" : "−"}${duration(Math.abs(more))} (before ${duration(node.other)})` : `, ${share(node.total, this.root.total)}`;
    return `${this.shortLabel(node)}: ${duration(node.total)}${change}`;
  }

  /** @param {FlameNode} node @returns {"worse" | "better" | "same"} */
  change(node) {
    const more = node.total - node.other;
    return Math.abs(more) <= SAME * Math.max(node.total, node.other) ? "same" : more > 0 ? "worse" : "better";
  }

  /** @param {FlameNode} node */
  sign(node) {
    return this.compares ? { worse: "▲ ", better: "▼ ", same: "= " }[this.change(node)] : "";
  }

  /** @param {FlameNode} node @param {boolean} isAround */
  classOf(node, isAround) {
    const found = this.text !== "" && node.name.toLowerCase().includes(this.text);
    return [node.kind !== null ? `kind ${KINDS[node.kind].key}` : this.compares ? this.change(node) : "", isAround ? "aside" : "", found ? "found" : ""].join(" ").trim();
  }

  /** @param {string} text @returns {{frames: number, time: number}} the frames that have the text; their time is that of the topmost ones */
  search(text) {
    this.text = text.trim().toLowerCase();
    for (const [node, element] of this.buttons) element.className = this.classOf(node, element.classList.contains("aside"));
    let frames = 0, time = 0;
    const count = (/** @type {FlameNode} */ node, /** @type {boolean} */ isInside) => {
      const isFound = this.text !== "" && node.name.toLowerCase().includes(this.text);
      if (isFound) ++frames;
      if (isFound && !isInside) time += node.total;
      for (const each of node.below.values()) count(each, isInside || isFound);
    };
    count(this.root, false);
    return { frames, time };
  }

  /** Makes one frame reachable by Tab. @param {FlameNode} node */
  setStop(node) {
    for (const element of this.buttons.values()) element.tabIndex = -1;
    const stop = this.buttons.get(node);
    if (stop !== undefined) stop.tabIndex = 0;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const now = [...this.buttons].find(([, element]) => element === document.activeElement)?.[0];
    if (now === undefined) return;
    const next = this.neighbour(now, event.key);
    if (event.key === "Escape") this.zoom(this.top.above ?? this.root, true);
    else if (next === undefined) return;
    else {
      this.setStop(next);
      this.buttons.get(next)?.focus();
    }
    event.preventDefault();
  }

  /** @param {FlameNode} node @param {string} key @returns {FlameNode | undefined} a shown frame beside another one */
  neighbour(node, key) {
    const shown = (/** @type {Iterable<FlameNode>} */ nodes) => [...nodes].filter((each) => this.buttons.has(each)).sort((a, b) => this.weight(b) - this.weight(a));
    if (key === "ArrowUp") return node.above !== null && this.buttons.has(node.above) ? node.above : undefined;
    if (key === "ArrowDown") return shown(node.below.values())[0];
    if (key !== "ArrowLeft" && key !== "ArrowRight") return undefined;
    const siblings = shown(node.above?.below.values() ?? []);
    return siblings[siblings.indexOf(node) + (key === "ArrowRight" ? 1 : -1)];
  }
}

/** @param {string} name @returns {string} a warm colour, the same for each frame of the name */
function colourOf(name) {
  let hash = 7;
  for (let i = 0; i < name.length; ++i) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) >>> 0;
  return `hsl(${12 + (hash % 44)}, 72%, ${66 + (hash >> 8) % 12}%)`;
}
