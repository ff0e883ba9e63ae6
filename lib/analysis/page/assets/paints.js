// SPDX-License-Identifier: Apache-2.0
// Colours and patterns of canvases, in the theme of the page.
import {colour, isDark} from './theme.js';
import {KINDS} from './words.js';

/** Strokes of a pattern's tile of 8 by 8: from x, y to x, y. @type {Record<string, number[][]>} */
const STROKES = {
  plain: [], light: [], cross: [[0, 0, 8, 8], [0, 8, 8, 0]], rise: [[0, 8, 8, 0]], fall: [[0, 0, 8, 8]], stripes: [[4, 0, 4, 8]],
  dots: [[1, 2, 2, 2], [5, 6, 6, 6]],
};

/** All paints of the canvas. They are made again when the theme changes. */
export class Paints {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) {
    this.paper = colour("paper");
    this.raised = colour("raised");
    this.line = colour("line");
    this.ink = colour("ink");
    this.faint = colour("faint");
    this.accent = colour("accent");
    this.barInk = colour("bar-ink");
    this.mark = colour("error");
    this.kinds = KINDS.map(({ key }) => colour(key));
    this.patterns = KINDS.map(({ pattern }, index) => patternOf(context, this.kinds[index], STROKES[pattern]));
    this.shade = isDark() ? "38%, 62%" : "50%, 80%";
    /** @type {string[]} */
    this.names = [];
  }

  /** @param {number} name @returns {string} the colour of a name, the same in all lanes */
  ofName(name) {
    if (name < 0) return this.kinds[6];
    return (this.names[name] ??= `hsl(${(name * 137.5) % 360}, ${this.shade})`);
  }
}

/** @param {CanvasRenderingContext2D} context @param {string} base @param {number[][]} strokes @returns {CanvasPattern | string} */
function patternOf(context, base, strokes) {
  if (strokes.length === 0) return base;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const inside = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  inside.fillStyle = base;
  inside.fillRect(0, 0, 8, 8);
  inside.strokeStyle = colour("pattern");
  for (const [fromX, fromY, toX, toY] of strokes) {
    inside.beginPath();
    inside.moveTo(fromX, fromY);
    inside.lineTo(toX, toY);
    inside.stroke();
  }
  return context.createPattern(tile, "repeat") ?? base;
}
