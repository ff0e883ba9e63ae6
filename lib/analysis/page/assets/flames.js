// SPDX-License-Identifier: Apache-2.0
// The view of flame graphs: the choice of times, zoom, search, and a list of the frames with the longest own times.
import {announce, button, duration, link, make, refill, share} from './dom.js';
import {FlameGraph} from './flame_graph.js';
import {MODES, compareFrames, flameTree} from './flame_trees.js';
import {placeText} from './places.js';
import {summary, timeline} from './recording.js';
import {addressOf, numberIn} from './route.js';

/** @typedef {import('./flame_trees.js').FlameNode} FlameNode */
/** @typedef {{mode: import('./flame_trees.js').Mode, type: string | null, request: number | null, range: [number, number] | null, compares: boolean}} Choice */

const LISTED = 25;
const ALL_TIME = MODES[4];

/** @param {URLSearchParams} values @returns {Choice} */
function choiceOf(values) {
  const from = numberIn(values, "from"), to = numberIn(values, "to"), request = numberIn(values, "request");
  const known = summary().requests.types.map((/** @type {any} */ each) => each.name), type = values.get("type");
  const asked = MODES.find((each) => each.key === values.get("kind")), mode = request !== null && (asked === undefined || asked.key === "path") ? ALL_TIME : asked ?? MODES[0];
  return { mode, type: type !== null && known.includes(type) ? type : null, request,
    range: from !== null && to !== null && to > from ? [from, to] : null, compares: values.get("difference") === "1" && summary().against !== null };
}

/** @param {Choice} choice @param {Record<string, any>} [change] @returns {string} */
function addressOfChoice({ mode, type, request, range, compares }, change = {}) {
  return addressOf("flames", { kind: mode.key, type, request, from: range?.[0], to: range?.[1], difference: compares ? 1 : null, ...change });
}

/** @param {HTMLElement} place @param {URLSearchParams} values */
export function flamesView(place, values) {
  const choice = choiceOf(values);
  let isOpen = true;
  const result = make("div", {}, make("p", { class: "empty" }, "Adding up …"));
  place.append(make("div", { class: "text" }, make("h2", {}, "Flame graphs"),
    make("p", {}, `${choice.request === null ? "" : `The critical path of request ${choice.request}. `}${choice.mode.title}: ${choice.mode.meaning}. The width of a frame is its time with all frames below it. Click a frame to zoom.`),
    tabsOf(choice), subject(choice), result));
  treeOf(choice).then(async (root) => {
    const { sites } = await timeline();
    if (isOpen) showTree(result, root, choice, sites);
  });
  return { dispose: () => (isOpen = false) };
}

/** @param {Choice} choice */
async function treeOf(choice) {
  const root = await flameTree(choice.mode, choice);
  if (choice.compares) await compareFrames(choice.mode, root, choice.type);
  return root;
}

/** @param {Choice} choice */
function tabsOf(choice) {
  const modes = choice.request !== null ? MODES.filter(({ key }) => key !== "path") : choice.range !== null ? MODES.filter(({ key }) => key !== "path" && key !== "blocked") : MODES;
  return make("nav", { class: "tabs", "aria-label": "Kinds of time" }, modes.map((mode) =>
    link(addressOfChoice(choice, { kind: mode.key }), mode.title, { "aria-current": mode === choice.mode ? "true" : null })));
}

/** @param {Choice} choice */
function subject(choice) {
  const { types } = summary().requests;
  const select = make("select", { id: "subject", onchange: (/** @type {any} */ event) => {
    location.hash = addressOfChoice(choice, { type: event.target.value === "" ? null : types[Number(event.target.value)].name, request: null, from: null, to: null });
  } }, make("option", { value: "", selected: choice.type === null }, choice.mode.key === "path" ? "all requests" : "the whole recording"),
  types.map((/** @type {any} */ type, /** @type {number} */ index) => make("option", { value: index, selected: type.name === choice.type }, `requests ${type.name}`)),
  choice.request !== null && make("option", { value: "-", selected: true, disabled: true }, `request ${choice.request}`),
  choice.range !== null && make("option", { value: "-", selected: true, disabled: true }, `${duration(choice.range[0])} to ${duration(choice.range[1])}`));
  const against = summary().against !== null && choice.request === null && choice.range === null && choice.mode.key !== "path";
  return make("p", { class: "row" }, make("label", { for: "subject" }, "Of"), select,
    choice.request !== null && link(addressOf("timeline", { request: choice.request }), "Show it in the timeline"),
    choice.range !== null && make("span", { class: "small" }, "Running time of a range is not divided into on-CPU, blocked and preempted."),
    against && link(addressOfChoice(choice, { difference: choice.compares ? null : 1 }), choice.compares ? "Without the difference" : `Difference to ${summary().against.trace}`));
}

/** @param {HTMLElement} place @param {FlameNode} root @param {Choice} choice @param {any[]} sites */
function showTree(place, root, choice, sites) {
  if (root.total <= 0 && root.other <= 0) {
    refill(place, make("p", { class: "empty", id: "no-frames" }, emptyText(choice)));
    return;
  }
  const detail = make("p", { class: "row", role: "status", id: "frame" });
  const graph = new FlameGraph(root, choice.compares, (node) => {
    const site = node.place ?? sites[node.site];
    refill(detail, make("b", {}, node.name), choice.compares ? difference(node) : `${duration(node.total)}, ${share(node.total, root.total)}`, site?.file ? placeText(site) : null);
  });
  const found = make("span", { role: "status", class: "small" });
  const search = make("input", { type: "search", placeholder: "Search frames", "aria-label": "Search frames", oninput: (/** @type {any} */ event) => {
    const { frames, time } = graph.search(event.target.value);
    found.textContent = event.target.value === "" ? "" : `${frames} frames, ${duration(time)}, ${share(time, root.total)}`;
  } });
  refill(place, make("p", { class: "row" }, search, found, button("Reset zoom", () => graph.zoom(root)),
    make("span", { class: "mono", id: "flame-total", title: `${root.total} ns` }, `Total ${choice.compares ? difference(root) : duration(root.total)}`)), detail, graph.element,
  make("p", { class: "small" }, "Keys: arrows move between frames, Enter zooms, Escape zooms out."), ownList(root, sites));
  announce(`Flame graph of ${duration(root.total)}`);
}

/** @param {Choice} choice */
function emptyText({ mode, type, request }) {
  if (request !== null) return "The critical path of this request is not in this report.";
  if (type !== null) return `No frame of "${type}" has ${mode.title.toLowerCase()} time. For guessed requests, see the critical path.`;
  return `The recording has no ${mode.title.toLowerCase()} time${summary().has_states ? "" : ": the states of threads are unknown"}.`;
}

/** @param {FlameNode} node @returns {string} */
export function difference({ total, other }) {
  const more = total - other;
  return `${duration(total)}, before ${duration(other)}: ${more === 0 ? "the same" : `${duration(Math.abs(more))} ${more > 0 ? "more" : "less"}`}`;
}

/** The frames with the longest own times, as a table. @param {FlameNode} root @param {any[]} sites */
function ownList(root, sites) {
  /** @type {Map<string, {name: string, own: number, place: any}>} */
  const sums = new Map();
  const add = (/** @type {FlameNode} */ node) => {
    const below = [...node.below.values()].filter((each) => each.kind === null);
    const own = node.total - below.reduce((sum, each) => sum + each.total, 0), sum = sums.get(node.name);
    if (sum !== undefined) sum.own += own;
    else if (own > 0) sums.set(node.name, { name: node.name, own, place: node.place ?? sites[node.site] });
    below.forEach(add);
  };
  add(root);
  const rows = [...sums.values()].sort((a, b) => b.own - a.own).slice(0, LISTED);
  return make("details", { open: true }, make("summary", {}, "Frames with the longest own times"), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Frames with the longest own times" }, make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "number" }, "Own time"), make("th", { scope: "col", class: "number" }, "Share"), make("th", { scope: "col" }, "Frame"), make("th", { scope: "col" }, "Place"))),
    make("tbody", {}, rows.map((row) => make("tr", {}, make("td", { class: "number" }, duration(row.own)), make("td", { class: "number" }, share(row.own, root.total)),
      make("td", { class: "name" }, make("code", {}, row.name)), make("td", {}, row.place?.file ? placeText(row.place) : "–")))))));
}
