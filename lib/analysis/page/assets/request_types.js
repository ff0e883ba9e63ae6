// SPDX-License-Identifier: Apache-2.0
// The types of requests: rate, percentiles, and the division of the time at each percentile.
import {partsOf, sentenceOf, splitBar, sumOf} from './bars.js';
import {count, duration, link, make, plural} from './dom.js';
import {summary} from './recording.js';
import {addressOf} from './route.js';
import {kindNamed, KINDS} from './words.js';

/** The percentiles that are shown before "all percentiles" is opened. */
const FIRST = ["p50", "p99"];

/** @param {any[]} types @returns {HTMLElement[]} */
export function typeRows(types) {
  return types.map((type) => make("section", { class: "type", "aria-label": type.name }, typeFacts(type), percentileBars(type)));
}

/** @param {any} type */
function typeFacts(type) {
  const rare = [["failed", type.failed], ["late", type.with_deadline > 0 ? type.late : 0], ["abandoned", type.abandoned], ["unfinished", type.unfinished]]
    .filter(([, number]) => number > 0).map(([name, number]) => `${count(number)} ${name}`);
  return make("div", {},
    make("h3", {}, type.name),
    make("div", { class: "small" }, `${plural(type.count, "request")}, ${count(type.per_second)} per second`),
    rare.length > 0 && make("div", { class: "small" }, make("span", { class: "tag warning" }, rare.join(", "))),
    make("div", { class: "small" }, `${duration(type.total_ns)} in all`),
    make("div", { class: "row small" },
      link(addressOf("flames", { kind: "path", type: type.name }), "Flame graph"),
      link(addressOf("tables", { table: "requests", type: type.name }), "Requests"),
      link(addressOf("tables", { table: "types", row: type.name }), "Histogram")));
}

/** The bars of the critical paths if they are known, else those of the task in which the request began. @param {any} type */
function percentileBars(type) {
  const rows = (type.parts?.length ? type.parts : type.percentiles);
  const first = rows.filter((/** @type {any} */ row) => FIRST.includes(row.name));
  const followed = FIRST.map((name) => followedBar(type, name)).filter((each) => each !== null);
  if (followed.length === 0) {
    const others = rows.filter((/** @type {any} */ row) => !FIRST.includes(row.name));
    return make("div", {}, first.map(percentileBar), make("details", { class: "small" }, make("summary", {}, "p90, p99.9, max"), others.map(percentileBar)));
  }
  return make("div", {}, followed, make("details", { class: "small" },
    make("summary", {}, "Without the work that it waited for; p90, p99.9, max"),
    make("p", {}, "These bars have the time of the task in which the request began. While it waited for other tasks, it was suspended."), rows.map(percentileBar)));
}

/** @param {any} row @param {number[]} parts @param {number} [requests] the number of requests that the parts are the mean of */
function barLink(row, parts, requests = 1) {
  const around = requests > 1 ? `, the mean of the ${requests} requests around it` : "";
  const text = `${row.name}: ${duration(row.wall_ns)}; ${sentenceOf(parts)}${around}. Show request ${row.request} in the timeline`;
  return link(addressOf("timeline", { request: row.request }),
    [make("b", {}, row.name), make("span", { class: "mono" }, duration(row.wall_ns)), sumOf(parts) > 0 ? splitBar(parts) : make("span", { class: "small faint" }, "parts unknown: left out, or not recorded in full")],
    { class: "percentile", title: text });
}

/** @param {any} row */
function percentileBar(row) {
  return barLink(row, partsOf(row));
}

/** The request at a percentile, divided like the critical paths of the requests around it. @param {any} type @param {string} name */
function followedBar(type, name) {
  const path = summary().paths.find((/** @type {any} */ each) => each.name === type.name);
  const group = path?.groups.find((/** @type {any} */ each) => `p${each.percentile}` === name);
  const row = type.percentiles.find((/** @type {any} */ each) => each.name === name);
  if (!group || !row) return null;
  const parts = KINDS.map(() => 0), own = ownTimes(path.nodes, `p${group.percentile}_ns`);
  path.nodes.forEach((/** @type {any} */ node, /** @type {number} */ index) => (parts[kindNamed(node.kind)] += own[index]));
  return barLink(row, parts, group.requests.length);
}

/** @param {any[]} nodes with the index of the parent @param {string} key @returns {number[]} the times without those of the nodes below */
export function ownTimes(nodes, key) {
  const own = nodes.map((node) => node[key] ?? 0);
  for (const node of nodes) if (node.parent !== null) own[node.parent] -= node[key] ?? 0;
  return own.map((each) => Math.max(0, each));
}
