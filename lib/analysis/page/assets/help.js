// SPDX-License-Identifier: Apache-2.0
// The list of keys.
import {button, make} from './dom.js';
import {TIMELINE_KEYS} from './words.js';

/** @param {HTMLElement} origin has the focus after the dialog is closed */
export function openHelp(origin) {
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { "aria-label": "Keys of the timeline" },
    make("h2", {}, "Keys of the timeline"),
    make("table", {}, make("tbody", {}, TIMELINE_KEYS.map(([keys, meaning]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, keys)), make("td", {}, meaning))))),
    make("p", {}, "The wheel scrolls the lanes, with Ctrl it zooms, with Shift it moves along the time. A drag moves the view; with Shift it selects a range of time. A double click zooms to a bar, or opens a request."),
    button("Close", () => dialog.close(), { class: "main" })));
  dialog.addEventListener("close", () => {
    dialog.remove();
    origin.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}
