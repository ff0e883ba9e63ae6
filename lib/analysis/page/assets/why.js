// SPDX-License-Identifier: Apache-2.0
// The difference between the slow requests of a type and its median ones, part by part.
import {swatch} from './bars.js';
import {duration, link, make, plural, share} from './dom.js';
import {placeText} from './places.js';
import {summary} from './recording.js';
import {addressOf} from './route.js';
import {kindNamed, KINDS} from './words.js';

/** Parts below this share of the difference are left out, as in the command's text. */
const SMALLEST_SHARE = 0.01;

/** @returns {HTMLElement[]} */
export function whyCards() {
  const order = (/** @type {any} */ each) => each.slow_wall_ns - each.median_wall_ns;
  const compared = [...summary().why].filter((each) => each.differ).sort((a, b) => order(b) - order(a));
  const equal = summary().why.filter((/** @type {any} */ each) => !each.differ);
  return [
    ...compared.map(whyCard),
    ...equal.map((/** @type {any} */ each) => make("p", { class: "small" }, `The slow requests ${each.name} hardly differ from the median ones.`)),
  ];
}

/** @param {any} why */
function whyCard(why) {
  const more = why.slow_wall_ns - why.median_wall_ns;
  const parts = why.differences.filter((/** @type {any} */ each) => Math.abs(each.share) >= SMALLEST_SHARE);
  return make("article", { class: "card", "aria-label": `Slow requests ${why.name}` },
    make("h3", {}, `The slowest ${plural(why.slow.length, "request")} `, make("code", {}, why.name), ` of ${why.requests} take ${duration(more)} longer than the median`),
    make("p", { class: "small" }, `${duration(why.slow_wall_ns)} on average instead of ${duration(why.median_wall_ns)}. The difference consists of:`),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Parts of the difference, ${why.name}` }, partsTable(parts)),
    make("p", { class: "small row" }, "Slow ones:", why.slow.slice(0, 5).map((/** @type {number} */ id) => link(addressOf("timeline", { request: id }), `request ${id}`)),
      "Median ones:", why.median.slice(0, 3).map((/** @type {number} */ id) => link(addressOf("timeline", { request: id }), `request ${id}`))));
}

/** @param {any[]} parts */
function partsTable(parts) {
  const heads = ["Longer by", "Share", "Kind of time", "In", "Because of", "Place"];
  return make("table", {},
    make("thead", {}, make("tr", {}, heads.map((head, index) => make("th", { scope: "col", class: index < 2 ? "number" : null }, head)))),
    make("tbody", {}, parts.map((each) => {
      const kind = kindNamed(each.kind);
      return make("tr", {}, make("td", { class: "number" }, duration(each.slow_ns - each.median_ns)), make("td", { class: "number" }, share(each.share, 1)),
        make("td", {}, swatch(kind), each.kind === KINDS[kind].name ? KINDS[kind].name : each.kind),
        make("td", { class: "name" }, make("code", {}, each.label ?? "unknown")), make("td", { class: "name" }, causeText(each)), make("td", {}, placeText(each)));
    })));
}

/** @type {Record<string, string>} the causes of times in which the work itself went on, or was preempted */
const OWN_CAUSES = { "on-CPU": "own work", preempted: "no processor" };

/** @param {any} part @returns {string} the work that explains a part, or a dash */
export function causeText({ cause, kind }) {
  if (!cause) return OWN_CAUSES[kind] ?? "–";
  if (cause.holds) return `${cause.resource ? `resource ${cause.resource}` : "a lock"} held by ${cause.label ?? "an unknown holder"}`;
  const thread = cause.thread === null || cause.thread === undefined ? "the threads" : `thread ${cause.thread}`;
  if (cause.role === "idle") return `no recorded task ran on ${thread}`;
  if (cause.role === "preempted") return `no processor for ${thread}`;
  if (cause.role === "unknown") return `missing facts about ${thread}`;
  return cause.label ?? "unknown work";
}
