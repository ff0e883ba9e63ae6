// SPDX-License-Identifier: Apache-2.0
// The view of the timeline: tools, canvas, details.
import {announce, button, duration, make, refill} from './dom.js';
import {detailsOf} from './details.js';
import {listen} from './gestures.js';
import {openHelp} from './help.js';
import {Lanes} from './lanes.js';
import {groupRows, rowsOf} from './order.js';
import {addressOf, numberIn, rememberAddress} from './route.js';
import {Scene, describe} from './scene.js';
import {searchBox} from './search.js';
import {barAt} from './task_bars.js';
import {work} from './work.js';

/** @typedef {import('./scene.js').Selection} Selection */
/** @typedef {import('./work.js').Work} Work */

const GROUPS = [["requests", "Requests"], ["threads", "Threads"], ["executors", "Executors"], ["devices", "Devices"], ["values", "Values"], ["tasks", "Tasks"]];
/** The groups that are shown; kept while the page is open. */
const shownGroups = new Set(["requests", "threads", "executors", "devices", "values"]);
let shownRequests = 20;

/** @param {HTMLElement} place @param {URLSearchParams} values */
export function timelineView(place, values) {
  let isOpen = true;
  /** @type {TimelineView | null} */
  let view = null;
  place.append(make("p", { class: "empty", style: { padding: "1rem" } }, "Reading the timeline …"));
  work().then((read) => {
    if (!isOpen) return;
    view = new TimelineView(place, read);
    view.follow(values);
    performance.mark("coroscope-timeline");
  });
  return { dispose: () => {
    isOpen = false;
    view?.dispose();
  } };
}

export class TimelineView {
  /** @param {HTMLElement} place @param {Work} read */
  constructor(place, read) {
    this.work = read;
    this.lanes = new Lanes(read);
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { tabindex: "0", role: "application", id: "canvas",
      "aria-label": "Timeline. Arrow keys move, plus and minus zoom, N selects the next slow request, question mark lists all keys. The list beside it has the same contents." }));
    this.aside = make("aside", { "aria-label": "Selection", tabindex: "0" });
    this.tip = make("div", { class: "for-readers", "aria-hidden": "true" });
    this.tools = make("div", { class: "bar-of-tools row", role: "toolbar", "aria-label": "Timeline" });
    refill(place, make("div", { class: "timeline" }, this.tools, make("div", { class: "plot" }, this.canvas), this.aside));
    this.scene = new Scene(this.canvas, read);
    this.search = searchBox(this);
    this.showTools();
    listen(this);
    this.observer = new ResizeObserver(() => this.scene.resize());
    this.observer.observe(this.canvas);
    this.showLanes();
    this.showDetails();
    this.lanes.readScopes().then(() => this.showLanes());
  }

  dispose() {
    this.observer.disconnect();
  }

  showTools() {
    const toggles = GROUPS.filter(([name]) => this.hasRows(name)).map(([name, title]) => {
      const each = button(title, () => {
        if (!shownGroups.delete(name)) shownGroups.add(name);
        each.setAttribute("aria-pressed", String(shownGroups.has(name)));
        this.showLanes();
      }, { "aria-pressed": String(shownGroups.has(name)) });
      return each;
    });
    const number = make("select", { "aria-label": "Number of requests", onchange: (/** @type {any} */ event) => {
      shownRequests = Number(event.target.value);
      this.showLanes();
    } }, [20, 50, 200, 1000].map((each) => make("option", { value: each, selected: each === shownRequests }, `${each} slowest`)));
    refill(this.tools, this.search.element, button("Next slow request", () => this.nextRequest(1), { class: "main", title: "Key N" }),
      ...toggles, number, button("−", () => this.scene.zoom(1.6), { "aria-label": "Zoom out" }), button("+", () => this.scene.zoom(1 / 1.6), { "aria-label": "Zoom in" }),
      button("All", () => this.showAll(), { title: "Show all of the recording. Key 0" }), button("Keys ?", () => openHelp(this.canvas)));
  }

  /** @param {string} group @returns {boolean} whether the recording may have lanes of the group */
  hasRows(group) {
    const { values, activities } = this.work.tables;
    return group === "values" ? values.rows > 0 : group === "devices" ? activities.rows > 0 : true;
  }

  showLanes() {
    const { request } = this.scene, opened = request === null ? [] : this.lanes.opened(request);
    const others = GROUPS.filter(([name]) => shownGroups.has(name) && (request === null || name !== "requests")).map(([name]) => this.lanes.group(name, shownRequests));
    if (request !== null) this.frameThreads(others, request);
    else for (const lane of others.flatMap((group) => group.lanes)) delete lane.path;
    this.scene.show([...opened, ...others].filter((group) => group.lanes.length > 0 || group.note));
    this.reselect();
  }

  /** Puts the parts of the critical path on the lanes of threads. @param {import('./lanes.js').LaneGroup[]} groups @param {number} request */
  frameThreads(groups, request) {
    for (const lane of groups.flatMap((group) => group.lanes)) {
      if (lane.thread !== undefined) lane.path = this.lanes.pathIn(request, "thread", lane.thread);
    }
  }

  /** Finds the selected bar again after lanes were made anew. */
  reselect() {
    const { selected } = this.scene;
    if (selected === null) return;
    const lane = this.scene.items.map((item) => item.lane).find((each) => each !== undefined && each.rows.includes(selected.bars));
    if (lane === undefined) this.select(null, false);
  }

  /** @param {URLSearchParams} values of the address */
  follow(values) {
    const id = numberIn(values, "request"), from = numberIn(values, "from");
    const request = id === null ? -1 : this.work.rowOf("requests", id);
    if (request >= 0) this.openRequest(request, from === null);
    else if (id !== null) announce(`Request ${id} is not in this report`);
    if (from !== null) this.showMoment(from, Math.max(1, numberIn(values, "for") ?? 1), numberIn(values, "thread"), numberIn(values, "task"));
    const request_ = request >= 0 ? "" : values.get("search");
    if (request_) this.search.find(request_);
  }

  /** @param {number} from @param {number} length @param {number | null} thread @param {number | null} task ids */
  showMoment(from, length, thread, task) {
    this.scene.showTimes(from - length * 0.3, from + length * 1.3);
    this.scene.range = [from, from + length];
    this.lanes.readScopes().then(() => {
      this.showLanes();
      const lane = this.laneOf(thread, task);
      if (lane === undefined) return;
      const bars = [...lane.rows].reverse().find((row) => row.look === "name" && barAt(row, from + length / 2) >= 0) ?? lane.rows[0];
      const index = bars === undefined ? -1 : barAt(bars, from + length / 2);
      if (index >= 0) this.select({ lane, bars, index }, true, false);
      this.scene.reveal(lane);
    });
  }

  /** @param {number | null} thread @param {number | null} task @returns {import('./lanes.js').Lane | undefined} */
  laneOf(thread, task) {
    const row = task === null ? -1 : this.work.rowOf("tasks", task);
    const index = this.work.index.threads.findIndex((each) => each.id === thread);
    const lanes = this.scene.items.flatMap((item) => (item.lane === undefined ? [] : [item.lane]));
    return lanes.find((lane) => lane.thread !== undefined && lane.thread === index) ?? lanes.find((lane) => lane.task !== undefined && lane.task === row);
  }

  /** @param {number} request a row @param {boolean} zooms */
  openRequest(request, zooms = true) {
    const { requests } = this.work.tables, start = requests.at("start_ns", request), length = requests.at("length_ns", request);
    this.scene.request = request;
    this.scene.selected = null;
    this.scene.range = null;
    this.scene.scroll = 0;
    this.showLanes();
    if (zooms) this.scene.showTimes(start - length * 0.04, start + length * 1.04);
    this.showDetails();
    rememberAddress(addressOf("timeline", { request: requests.at("id", request) }));
    announce(`Request ${requests.at("id", request)}, ${this.work.requestName(request)}, ${duration(length)}, is open`);
  }

  closeRequest() {
    this.scene.request = null;
    this.scene.scroll = 0;
    this.select(null);
    this.showLanes();
    rememberAddress(addressOf("timeline"));
  }

  /** @param {number} step */
  nextRequest(step) {
    const { rows } = this.work.tables.requests;
    if (rows === 0) return announce("The recording has no requests");
    const now = this.scene.request;
    this.openRequest(now === null ? 0 : (now + step + rows) % rows);
  }

  showAll() {
    this.scene.range = null;
    this.scene.showTimes(0, this.work.end);
  }

  /** @param {Selection | null} selection @param {boolean} [shows] also in the details @param {boolean} [reveals] */
  select(selection, shows = true, reveals = true) {
    this.scene.selected = selection;
    if (selection !== null) {
      announce(describe(this.work, selection));
      if (reveals) this.scene.reveal(selection.lane);
    }
    this.scene.ask();
    if (shows) this.showDetails();
  }

  showDetails() {
    refill(this.aside, detailsOf(this));
    this.aside.scrollTop = 0;
  }

  /** Shows the bars of a row of a table, if a lane has it. @param {string} source @param {number} row */
  selectRow(source, row) {
    for (const { lane } of this.scene.items) {
      for (const bars of lane?.rows ?? []) {
        const index = bars.source === source ? indexOf(bars.rows, row) : -1;
        if (lane === undefined || index < 0) continue;
        const length = bars.ends[index] - bars.starts[index];
        if (bars.starts[index] > this.scene.to || bars.ends[index] < this.scene.from || length * this.scene.scale < 2) this.zoomTo(bars.starts[index], length);
        return this.select({ lane, bars, index });
      }
    }
    announce("No lane that is shown has it");
  }

  /** @param {number} start @param {number} length */
  zoomTo(start, length) {
    this.scene.showTimes(start - length, start + 2 * length);
  }
}

/** @param {ArrayLike<number>} values @param {number} value */
function indexOf(values, value) {
  for (let i = 0; i < values.length; ++i) if (values[i] === value) return i;
  return -1;
}

/** @param {Work} read @param {number} name @returns {Uint32Array} the scopes of a name, by start */
export function scopesNamed(read, name) {
  return rowsOf(groupRows(read.tables.scopes.column("name"), read.index.names.length), name);
}
