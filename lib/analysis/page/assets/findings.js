// SPDX-License-Identifier: Apache-2.0
// Findings, ranked by the request time that they cost. Each moment of the evidence leads to the timeline.
import {duration, link, make, share} from './dom.js';
import {placeText, sourceLines, withCode} from './places.js';
import {summary} from './recording.js';
import {addressOf} from './route.js';

/** The evidence of the first findings is open. */
const FIRST_OPEN = 2;

/** @returns {HTMLElement[]} */
export function findingCards() {
  const { findings, basis } = summary().findings;
  if (findings.length === 0) return [make("p", {}, `No rule found a fault that costs 1 ms and 5 % of the time of ${basis}.`)];
  return findings.map((/** @type {any} */ each, /** @type {number} */ index) => findingCard(each, index < FIRST_OPEN));
}

/** @param {any} finding @param {boolean} isOpen */
function findingCard(finding, isOpen) {
  return make("article", { class: `card finding ${finding.severity}`, "aria-label": finding.title },
    make("div", { class: "row" },
      make("span", { class: `tag ${finding.severity}` }, finding.severity),
      make("span", { class: "price" }, `costs ${duration(finding.cost_ns)}`),
      make("span", { class: "faint" }, `${share(finding.share, 1)} of all request time`)),
    make("h3", {}, withCode(finding.title)),
    finding.cause && make("p", {}, "Cause: ", make("code", {}, finding.cause.label ?? "unknown"), " at ", placeText(finding.cause)),
    finding.cause && sourceLines(finding.cause, 2),
    make("p", {}, make("b", {}, "Try: "), finding.advice),
    victims(finding),
    make("details", { open: isOpen }, make("summary", {}, `Evidence: ${finding.count} times`), evidence(finding)));
}

/** @param {any} finding */
function victims({ victims: delayed }) {
  if (!delayed || delayed.length === 0) return null;
  return make("p", {}, "Delayed: ", delayed.map((/** @type {any} */ each, /** @type {number} */ index) =>
    [index > 0 ? "; " : "", make("code", {}, each.label), ` ${each.count} times, ${duration(each.ns)} in all`]).flat());
}

/** @param {any} finding */
function evidence({ evidence: moments, explanation }) {
  return make("ul", { class: "evidence" },
    (explanation ?? []).map((/** @type {string} */ text) => make("li", {}, withCode(text))),
    moments.map((/** @type {any} */ each) => make("li", {}, link(addressOf("timeline", {
      from: each.start_ns, for: each.ns, task: each.task, thread: each.thread, request: each.request, inside: 1,
    }), [`at ${duration(each.start_ns)} for ${duration(each.ns)}`]), ": ", make("code", {}, each.label ?? "unknown"), ` ${each.text}`,
    each.request ? `, request ${each.request}` : "")));
}
