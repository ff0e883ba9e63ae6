// SPDX-License-Identifier: Apache-2.0
// The column beside the timeline: the selection, the opened request, or the slowest requests.
import {legend, partsOf, splitBar, swatch} from './bars.js';
import {button, duration, link, make, share, shortName} from './dom.js';
import {placeText, sourceLines} from './places.js';
import {summary} from './recording.js';
import {describeRow} from './row_facts.js';
import {addressOf} from './route.js';
import {labelOf} from './scene.js';
import {blameName, mainBlame} from './task_bars.js';
import {KINDS} from './words.js';

/** @typedef {import('./timeline.js').TimelineView} TimelineView */
/** @typedef {import('./work.js').Work} Work */

/** The path of a request shows that many steps, the longest ones. */
const STEPS = 60, SUMS = 8;

/** @param {TimelineView} view @returns {HTMLElement} */
export function detailsOf(view) {
  const { scene } = view;
  if (scene.selected !== null) return selectionDetails(view, scene.selected);
  if (scene.range !== null) return rangeDetails(view, scene.range);
  return scene.request !== null ? requestDetails(view, scene.request) : firstDetails(view);
}

/** @param {TimelineView} view */
function firstDetails(view) {
  const { work } = view, { requests } = work.tables;
  const rows = [...Array(Math.min(12, requests.rows)).keys()];
  return make("div", {},
    make("h2", {}, "Nothing selected"),
    ...summary().left_out.map((/** @type {any} */ each) => make("p", { class: "card note small" }, each.sentence)),
    make("p", {}, "Click a bar to see its times and its source. Open a request to see why it was slow:"),
    rows.length === 0 ? make("p", { class: "empty" }, "The recording has no requests.") : make("ol", { class: "steps" }, rows.map((row) => make("li", {},
      button(`${duration(requests.at("length_ns", row))}  ${work.requestName(row)} (request ${requests.at("id", row)})`, () => view.openRequest(row))))),
    make("h3", {}, "Kinds of time"), legend(KINDS.map((_, kind) => kind)),
    make("p", { class: "small" }, "Arrows of a selection: solid for a wake, dotted for a spawn, dashed for a lock. A frame marks the critical path. Lanes of executors show the length of the queue above the number of busy threads."));
}

/** @param {TimelineView} view @param {number} request */
function requestDetails(view, request) {
  const { work } = view, { requests } = work.tables, id = requests.at("id", request);
  const row = Object.fromEntries(["on_cpu_ns", "blocked_ns", "preempted_ns", "unknown_state_ns", "suspended_ns", "queued_ns", "waiting_ns"]
    .map((name) => [name, requests.at(name, request)]));
  return make("div", {},
    make("h2", {}, `Request ${id}`),
    make("p", {}, make("code", {}, work.requestName(request)), ` took ${duration(requests.at("length_ns", request))}, from ${duration(requests.at("start_ns", request))} on. It is number ${request + 1} of ${requests.rows} by length.`),
    make("div", { class: "row" }, button("Next slow request", () => view.nextRequest(1), { class: "main" }), button("Close", () => view.closeRequest()),
      link(addressOf("flames", { kind: "path", request: id }), "Flame graph")),
    make("h3", {}, "Why it took that long"),
    pathSums(view, request),
    make("h3", {}, "Its own task"), splitBar(partsOf(row)),
    make("h3", {}, "Step by step"),
    pathSteps(view, request));
}

/** The sums of a path by kind and place, with the work to blame. @param {TimelineView} view @param {number} request */
function pathSums(view, request) {
  const { work } = view, total = work.tables.requests.at("length_ns", request);
  const sums = sumPath(work, request);
  if (sums.length === 0) return make("p", { class: "empty" }, "The critical path of this request is not in this report. Write one with --events and a larger number.");
  return make("ol", { class: "steps" }, sums.slice(0, SUMS).map((each) => make("li", { class: KINDS[each.kind].key },
    make("div", {}, swatch(each.kind), make("b", {}, `${share(each.ns, total)} ${KINDS[each.kind].name}`), ` ${duration(each.ns)}`),
    make("div", {}, "in ", make("code", { title: work.name(each.name) }, shortName(work.name(each.name))), withinText(work, each), " ", placeText(work.index.sites[each.site] ?? {})),
    heldText(work, each.longest),
    each.blames.size > 0 && make("div", {}, "because of ", [...each.blames.entries()].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name], index) =>
      make("span", {}, index > 0 ? " and " : "", make("code", {}, name)))),
    make("button", { type: "button", class: "small", onclick: () => view.selectRow("segments", each.longest) }, "Show the longest one"))));
}

/** The scope around a wait. @param {Work} work @param {PathSum} sum */
function withinText(work, { name, longest }) {
  const scope = work.tables.segments.at("scope", longest), around = scope < 0 ? name : work.tables.scopes.at("name", scope);
  return around === name ? null : make("span", {}, " within ", make("code", { title: work.name(around) }, shortName(work.name(around))));
}

/** The wait during which the path was in other work, if that work held a lock or a resource. @param {Work} work @param {number} segment */
function heldText(work, segment) {
  const { segments, waits } = work.tables, wait = segments.at("through", segment), held = waits.at("held", wait);
  if (wait < 0 || held < 0) return null;
  return make("div", {}, "held ", make("code", {}, work.name(held)), ", for which ", make("code", {}, shortName(work.name(waits.at("name", wait)))), " waited");
}

/** @typedef {{kind: number, name: number, site: number, ns: number, longest: number, most: number, blames: Map<string, number>}} PathSum */

/** @param {Work} work @param {number} request @returns {PathSum[]} the longest first */
export function sumPath(work, request) {
  const { segments, blames } = work.tables;
  /** @type {Map<string, PathSum>} */
  const sums = new Map();
  for (const row of work.ofRequest("segments", request)) {
    const kind = work.segmentKinds[segments.at("kind", row)] ?? 6, name = segments.at("name", row), site = segments.at("site", row);
    const key = `${kind} ${name} ${site}`, ns = segments.at("length_ns", row);
    const sum = sums.get(key) ?? { kind, name, site, ns: 0, longest: row, most: 0, blames: new Map() };
    sum.ns += ns;
    if (ns > sum.most) Object.assign(sum, { longest: row, most: ns });
    const blame = mainBlame(work, row);
    if (blame >= 0) sum.blames.set(blameName(work, blame), (sum.blames.get(blameName(work, blame)) ?? 0) + blames.at("charged_ns", blame));
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

/** @param {TimelineView} view @param {number} request */
function pathSteps(view, request) {
  const { work } = view, { segments } = work.tables, all = [...work.ofRequest("segments", request)];
  const least = all.map((row) => segments.at("length_ns", row)).sort((a, b) => b - a)[STEPS - 1] ?? 0;
  const rows = all.filter((row) => segments.at("length_ns", row) >= least).slice(0, STEPS), left = all.length - rows.length;
  const start = work.tables.requests.at("start_ns", request);
  return make("div", {}, make("ol", { class: "steps" }, rows.map((row) => {
    const kind = work.segmentKinds[segments.at("kind", row)] ?? 6, blame = mainBlame(work, row);
    const text = `+${duration(segments.at("start_ns", row) - start)}: ${duration(segments.at("length_ns", row))} ${KINDS[kind].name}, ${shortName(work.name(segments.at("name", row)))}`
      + (blame >= 0 ? `, because of ${blameName(work, blame)}` : "");
    return make("li", { class: KINDS[kind].key }, make("button", { type: "button", onclick: () => view.selectRow("segments", row) }, swatch(kind), text));
  })), left > 0 && make("p", { class: "small" }, `${left} shorter steps are not listed; the lane shows them.`));
}

/** @param {TimelineView} view @param {[number, number]} range */
function rangeDetails(view, range) {
  const [from, to] = range.map(Math.round), { requests } = view.work.tables;
  let inside = 0;
  for (let row = 0; row < requests.rows; ++row) if (requests.at("start_ns", row) < to && requests.at("start_ns", row) + requests.at("length_ns", row) > from) ++inside;
  return make("div", {}, make("h2", {}, "Range of time"),
    facts([["From", duration(from)], ["Length", duration(to - from)], ["Requests in it", String(inside)]]),
    make("div", { class: "row" }, button("Zoom to it", () => view.scene.showTimes(from, to), { class: "main" }),
      link(addressOf("flames", { kind: "on_cpu", from, to }), "Flame graph of it"),
      button("Clear", () => {
        view.scene.range = null;
        view.select(null);
      })));
}

/** @param {TimelineView} view @param {import('./scene.js').Selection} selection */
function selectionDetails(view, { lane, bars, index }) {
  const { work } = view, start = bars.starts[index], length = bars.ends[index] - start, row = bars.rows[index];
  const described = describeRow(work, bars.source, row);
  const kind = bars.look === "kind" ? bars.values[index] : null;
  return make("div", {},
    make("h2", {}, kind !== null && swatch(kind), labelOf(work, bars, index)),
    kind !== null && make("p", { class: "small" }, `${KINDS[kind].name}: ${KINDS[kind].meaning}.`),
    facts([["Shown", `${duration(length)} from ${duration(start)} on`], ["Lane", lane.title], ...described.facts]),
    described.site >= 0 && make("div", {}, placeText(work.index.sites[described.site] ?? {}), sourceLines(work.index.sites[described.site] ?? {})),
    make("div", { class: "row" }, button("Zoom to it", () => view.zoomTo(start, length)),
      described.request >= 0 && described.request !== view.scene.request && button("Open its request", () => view.openRequest(described.request), { class: "main" }),
      view.scene.request !== null && button("Back to the request", () => view.select(null))),
    relations(view, described.relations));
}

/** @param {TimelineView} view @param {{text: string, source: string, row: number}[]} all */
function relations(view, all) {
  if (all.length === 0) return null;
  return make("ul", { class: "steps" }, all.map((each) => make("li", {}, button(each.text, () => view.selectRow(each.source, each.row)))));
}

/** @param {(string | HTMLElement)[][]} all names and values */
export function facts(all) {
  return make("dl", { class: "facts" }, all.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}
