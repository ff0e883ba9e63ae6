// SPDX-License-Identifier: Apache-2.0
// Places in the source: their text, the lines around them, and links for an editor.
import {make, shortPath} from './dom.js';
import {summary} from './recording.js';

/** @typedef {{label?: string | null, file?: string | null, line?: number | null}} Place */

/** Schemes that could run code or leave the page; the command refuses them, too. */
const REFUSED_SCHEME = /^\s*(javascript|data|vbscript|blob|https?|ftp|about):/i;

/** @param {Place} place @returns {string | null} the address of the place in the editor */
export function editorAddress({ file, line }) {
  const template = summary().editor;
  if (!template || !file || REFUSED_SCHEME.test(template)) return null;
  const path = summary().sources?.files?.[file]?.path ?? file;
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return template.replace("{file}", () => encoded).replace("{line}", () => String(line ?? 1));
}

/** @param {Place} place @returns {HTMLElement} "file:line", as a link if there is an editor */
export function placeText(place) {
  if (!place.file) return make("span", { class: "faint" }, "place unknown");
  const text = `${shortPath(place.file)}${place.line ? `:${place.line}` : ""}`;
  const address = editorAddress(place);
  return address === null ? make("code", { title: place.file }, text) : make("a", { class: "code", href: address, title: `Open ${place.file} in the editor` }, text);
}

/** @param {Place} place @param {number} [around] @returns {HTMLElement | null} the lines around a place; null if its source was not found */
export function sourceLines({ file, line }, around = 3) {
  const lines = file && summary().sources?.files?.[file]?.lines;
  if (!lines || !line) return null;
  const numbers = Object.keys(lines).map(Number).filter((each) => Math.abs(each - line) <= around).sort((a, b) => a - b);
  if (!numbers.includes(line)) return null;
  return make("div", { class: "source", role: "group", "aria-label": `Source of ${shortPath(file)}, line ${line}`, tabindex: "0" },
    numbers.map((each) => make("span", { class: each === line ? "here" : null }, `${each === line ? "▶" : " "}${String(each).padStart(5)}  ${lines[each]}`)));
}

/** @param {string} text with code between backticks, as in the titles of findings @returns {(string | HTMLElement)[]} */
export function withCode(text) {
  return text.split("`").map((piece, index) => (index % 2 === 1 ? make("code", {}, piece) : piece));
}
