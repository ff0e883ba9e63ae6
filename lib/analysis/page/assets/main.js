// SPDX-License-Identifier: Apache-2.0
// Starts the page: the head, the theme, and the view that the address names.
import {announce, button, link, make, part, refill} from './dom.js';
import {flamesView} from './flames.js';
import {overviewView} from './overview.js';
import {summary} from './recording.js';
import {addressOf, readAddress} from './route.js';
import {tablesView} from './tables.js';
import {timelineView} from './timeline.js';
import {applyTheme, nextTheme, themeName} from './theme.js';
import {work} from './work.js';

/** @typedef {{dispose?: () => void}} View */
/** @type {Record<string, {title: string, open: (place: HTMLElement, values: URLSearchParams) => View | void}>} */
const VIEWS = {
  overview: { title: "Overview", open: overviewView },
  timeline: { title: "Timeline", open: timelineView },
  flames: { title: "Flame graphs", open: flamesView },
  tables: { title: "Tables", open: tablesView },
};

/** @type {View | void} */
let view;
let viewName = "";

function showHead() {
  const { title, trace } = summary();
  part("title").textContent = `${title} — ${trace.split("/").at(-1)}`;
  part("title").setAttribute("title", trace);
  refill(part("views"), ...Object.entries(VIEWS).map(([name, each]) => link(name, each.title, { "data-view": name })));
  const theme = button(themeName(), () => {
    nextTheme();
    theme.textContent = themeName();
    showView();
  }, { id: "theme", title: "Light, dark, or as your system" });
  refill(part("tools"), theme);
}

/** Opens the view of the address. */
function showView() {
  const { name, values } = readAddress(Object.keys(VIEWS));
  view?.dispose?.();
  const isOther = name !== viewName;
  viewName = name;
  for (const each of part("views").children) {
    if (each.getAttribute("data-view") === name) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  const main = part("main");
  main.className = name === "timeline" ? "whole" : "";
  main.replaceChildren();
  view = VIEWS[name].open(main, values);
  if (isOther) announce(`${VIEWS[name].title} is open`);
}

function showFailure(/** @type {unknown} */ reason) {
  const text = reason instanceof Error ? reason.message : String(reason);
  part("main").prepend(make("p", { class: "card error", role: "alert" },
    `The page could not show this part of the recording (${text}). Write the report again with the same version of Coroscope.`));
}

function start() {
  addEventListener("error", (event) => showFailure(event.error));
  addEventListener("unhandledrejection", (event) => showFailure(event.reason));
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    applyTheme();
    showView();
  });
  showHead();
  part("skip").addEventListener("click", (event) => {
    event.preventDefault();
    part("main").focus();
  });
  addEventListener("hashchange", showView);
  if (location.hash === "") history.replaceState(null, "", addressOf("overview"));
  showView();
  performance.mark("coroscope-first-view");
  // The timeline is read while the browser has nothing else to do, so that it opens at once.
  if ("requestIdleCallback" in window) requestIdleCallback(() => work());
  else setTimeout(work, 500);
}

start();
