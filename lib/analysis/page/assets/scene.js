// SPDX-License-Identifier: Apache-2.0
// The state of the timeline's canvas: the time and the lanes that it shows, the selection, and what lies under a point.
import {arrowsOfScene} from './arrows.js';
import {duration, shortName} from './dom.js';
import {AXIS, GUTTER, HEADING, draw} from './draw.js';
import {Paints} from './paints.js';
import {barAt, blameName, mainBlame} from './task_bars.js';
import {KINDS} from './words.js';

/** @typedef {import('./work.js').Work} Work */
/** @typedef {import('./bar_rows.js').BarRow} BarRow */
/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {import('./lanes.js').LaneGroup} LaneGroup */
/** @typedef {{lane: Lane, bars: BarRow, index: number}} Selection */
/** @typedef {{y: number, height: number, lane?: Lane, title: string, note?: string}} Item */

/** The shortest time that the canvas shows. */
const SHORTEST = 50;

/** What the canvas shows. A change asks for one frame, however many changes come before it. */
export class Scene {
  /** @param {HTMLCanvasElement} canvas @param {Work} work */
  constructor(canvas, work) {
    this.canvas = canvas;
    this.work = work;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.paints = new Paints(this.context);
    this.width = this.height = 0;
    this.from = 0;
    this.to = work.end;
    this.scroll = 0;
    /** @type {Item[]} */
    this.items = [];
    /** @type {Selection | null} */
    this.selected = null;
    /** @type {Uint8Array | null} the names that a search found */
    this.found = null;
    /** @type {[number, number] | null} */
    this.range = null;
    /** @type {number | null} the opened request */
    this.request = null;
    this.isAsked = false;
    this.labelOf = (/** @type {BarRow} */ bars, /** @type {number} */ index) => labelOf(work, bars, index);
    this.resize();
  }

  /** Pixels for each nanosecond. */
  get scale() {
    return (this.width - GUTTER) / (this.to - this.from);
  }

  get contentHeight() {
    const last = this.items.at(-1);
    return last === undefined ? 0 : last.y + last.height;
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas, ratio = devicePixelRatio || 1;
    this.width = Math.max(GUTTER + 50, clientWidth);
    this.height = Math.max(80, clientHeight);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paints = new Paints(this.context);
    this.ask();
  }

  /** Asks for a frame. */
  ask() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      draw(this);
      this.canvas.dataset.shown = `${Math.round(this.from)} ${Math.round(this.to)} ${Math.round(this.scroll)}`;
    });
  }

  /** @param {LaneGroup[]} groups */
  show(groups) {
    this.items = [];
    let y = AXIS;
    for (const group of groups) {
      this.items.push({ y, height: HEADING, title: group.title, note: group.note });
      y += HEADING;
      for (const lane of group.lanes) {
        this.items.push({ y, height: lane.height, lane, title: lane.title });
        y += lane.height;
      }
    }
    this.scrollTo(this.scroll);
  }

  /** @returns {Generator<Item>} with their places on the canvas */
  *visibleItems() {
    for (const item of this.items) {
      const y = item.y - this.scroll;
      if (y + item.height > AXIS && y < this.height) yield { ...item, y };
    }
  }

  drawArrows() {
    arrowsOfScene(this);
  }

  /** @param {number} scroll */
  scrollTo(scroll) {
    this.scroll = Math.max(0, Math.min(scroll, this.contentHeight - this.height + 8));
    this.ask();
  }

  /** @param {number} from @param {number} to */
  showTimes(from, to) {
    const length = Math.min(Math.max(SHORTEST, to - from), this.work.end * 1.1 + SHORTEST);
    const middle = (from + to) / 2, margin = this.work.end * 0.05;
    this.from = Math.max(-margin, Math.min(middle - length / 2, this.work.end + margin - length));
    this.to = this.from + length;
    this.ask();
  }

  /** @param {number} factor below 1: zooms in @param {number} [x] the place that stays */
  zoom(factor, x = (GUTTER + this.width) / 2) {
    const at = this.timeAt(x);
    this.showTimes(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  /** @param {number} pixels */
  pan(pixels) {
    const time = pixels / this.scale;
    this.showTimes(this.from + time, this.to + time);
  }

  /** @param {number} x @returns {number} */
  timeAt(x) {
    return this.from + (x - GUTTER) / this.scale;
  }

  /** @param {number} time @returns {number} */
  placeOf(time) {
    return GUTTER + (time - this.from) * this.scale;
  }

  /** @param {number} x @param {number} y @returns {{lane: Lane | undefined, hit: Selection | null}} */
  under(x, y) {
    const item = this.items.find((each) => y + this.scroll >= each.y && y + this.scroll < each.y + each.height);
    const lane = y > AXIS ? item?.lane : undefined;
    if (lane === undefined || item === undefined) return { lane, hit: null };
    let top = item.y - this.scroll;
    for (const bars of lane.rows) {
      if (y >= top && y < top + bars.height + 1) return { lane, hit: this.hitIn(lane, bars, x) };
      top += bars.height + 1;
    }
    return { lane, hit: null };
  }

  /** @param {Lane} lane @param {BarRow} bars @param {number} x @returns {Selection | null} a bar below the point, or one at most 3 pixels away */
  hitIn(lane, bars, x) {
    if (x < GUTTER) return null;
    for (const near of [0, -1, 1, -2, 2, -3, 3]) {
      const index = barAt(bars, this.timeAt(x + near));
      if (index >= 0) return { lane, bars, index };
    }
    return null;
  }

  /** Makes a lane visible. @param {Lane} lane */
  reveal(lane) {
    const item = this.items.find((each) => each.lane === lane);
    if (item === undefined) return;
    const top = item.y - this.scroll;
    if (top < AXIS || top + Math.min(item.height, this.height / 2) > this.height) this.scrollTo(item.y - this.height / 3);
  }
}

/** @param {Work} work @param {BarRow} bars @param {number} index @returns {string} */
export function labelOf(work, bars, index) {
  const row = bars.rows[index];
  if (bars.source === "segments") return segmentLabel(work, bars, row, bars.values[index]);
  return bars.look === "name" ? (bars.values[index] < 0 ? "no task" : work.name(bars.values[index])) : KINDS[bars.values[index]].name;
}

/** @param {Work} work @param {BarRow} bars @param {number} row @param {number} value */
function segmentLabel(work, bars, row, value) {
  const { segments } = work.tables;
  const blame = mainBlame(work, row), because = blame >= 0 ? `because of ${blameName(work, blame)}` : "";
  if (bars.look === "name") return because;
  return `${KINDS[value].name}: ${shortName(work.name(segments.at("name", row)))}${because === "" ? "" : `, ${because}`}`;
}

/** @param {Work} work @param {Selection} selection @returns {string} one line for the pointer and for readers */
export function describe(work, { lane, bars, index }) {
  const length = bars.ends[index] - bars.starts[index];
  return `${labelOf(work, bars, index)} – ${duration(length)}, from ${duration(bars.starts[index])} on, in ${lane.title}`;
}
