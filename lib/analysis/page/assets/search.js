// SPDX-License-Identifier: Apache-2.0
// The search of the timeline: marks the bars whose names contain a text, and goes from one scope to the next.
import {announce, button, count, make, plural} from './dom.js';
import {lowerBound} from './order.js';

/** @typedef {import('./timeline.js').TimelineView} TimelineView */

/** @param {TimelineView} view */
export function searchBox(view) {
  return new SearchBox(view);
}

class SearchBox {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.result = make("span", { class: "small mono", role: "status" });
    this.input = /** @type {HTMLInputElement} */ (make("input", { type: "search", id: "search", placeholder: "Search names", "aria-label": "Search names",
      oninput: () => this.mark(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) }));
    this.element = make("span", { class: "row", role: "search" }, this.input, button("‹", () => this.step(-1), { "aria-label": "Previous match" }),
      button("›", () => this.step(1), { "aria-label": "Next match" }), this.result);
    /** @type {number[]} the scopes that match, by start */
    this.matches = [];
    this.at = -1;
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  /** @param {string} text */
  find(text) {
    this.input.value = text;
    this.mark();
    this.step(1);
  }

  mark() {
    const { scene, work } = this.view, text = this.input.value.trim().toLowerCase();
    this.at = -1;
    this.matches = [];
    scene.found = text === "" ? null : Uint8Array.from(work.index.names, (name) => (name.toLowerCase().includes(text) ? 1 : 0));
    if (scene.found !== null) {
      const name = work.tables.scopes.column("name");
      for (let row = 0; row < name.length; ++row) if (name[row] >= 0 && scene.found[name[row]] === 1) this.matches.push(row);
    }
    this.result.textContent = text === "" ? "" : plural(this.matches.length, "scope");
    scene.ask();
  }

  /** @param {number} step */
  step(step) {
    const { view, matches } = this, { scopes } = view.work.tables;
    if (matches.length === 0) return announce("Nothing found");
    if (this.at < 0) this.at = step > 0 ? lowerBound(matches.map((row) => scopes.at("start_ns", row)), view.scene.from) : matches.length;
    else this.at += step;
    this.at = (this.at + matches.length) % matches.length;
    const row = matches[this.at], start = scopes.at("start_ns", row), length = Math.max(1, scopes.at("length_ns", row));
    view.scene.range = [start, start + length];
    view.zoomTo(start, length);
    view.selectRow("scopes", row);
    this.result.textContent = `${count(this.at + 1)} of ${plural(matches.length, "scope")}`;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") this.view.canvas.focus();
    else return;
    event.preventDefault();
  }
}
