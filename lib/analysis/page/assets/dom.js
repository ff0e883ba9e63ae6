// SPDX-License-Identifier: Apache-2.0
// Elements and numbers. A name of the recorded program reaches the page as text only: make() has no way to parse it.

/** @typedef {string | number | Node | null | undefined | false} Child */

/**
 * Makes an element. A member of `attributes` that begins with "on" is a listener, "style" an object of properties;
 * false and null leave an attribute out. Children that are strings become text.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  append(element, children.flat());
  return element;
}

/** @param {HTMLElement} element @param {string} name @param {any} value */
function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, String(each));
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** @param {Node} element @param {Child[]} children */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** @param {Element} element @param {...Child} children */
export function refill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** @param {string} id @returns {HTMLElement} an element of the template */
export function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Says a sentence to a screen reader. @param {string} text */
export function announce(text) {
  part("announcements").textContent = text;
}

/** @param {string} label @param {() => void} action @param {Record<string, any>} [attributes] */
export function button(label, action, attributes = {}) {
  return make("button", { type: "button", onclick: action, ...attributes }, label);
}

/** @param {string} address @param {Child | Child[]} content @param {Record<string, any>} [attributes] a link within the page */
export function link(address, content, attributes = {}) {
  return make("a", { href: address.startsWith("#") ? address : `#${address}`, ...attributes }, content);
}

/** @param {string} text @param {string} name offers a text as a file */
export function saveFile(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const anchor = make("a", { href: address, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const UNITS = /** @type {[number, string][]} */ ([[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);

/** @param {number | null | undefined} ns @returns {string} such as "1.28 ms"; "unknown" without a value */
export function duration(ns) {
  if (ns === null || ns === undefined || Number.isNaN(ns)) return "unknown";
  if (ns === 0) return "0";
  const [size, unit] = UNITS.find(([each]) => Math.abs(ns) >= each) ?? UNITS[3];
  const value = ns / size;
  const digits = Math.abs(value) >= 100 || unit === "ns" ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

/** @param {number} part @param {number} whole @returns {string} */
export function share(part, whole) {
  if (!whole) return "–";
  const percent = Math.abs((100 * part) / whole), sign = part < 0 ? "−" : "";
  return `${percent === 0 ? "" : sign}${percent >= 10 || percent === 0 ? Math.round(percent) : percent < 0.1 ? "<0.1" : percent.toFixed(1)} %`;
}

/** @param {number | null | undefined} value @returns {string} with separators of thousands */
export function count(value) {
  if (value === null || value === undefined) return "unknown";
  const text = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, (gap, _, at) => (text.includes(".") && at > text.indexOf(".") ? gap : "\u2009"));
}

/** @param {number} number @param {string} one @param {string} [many] */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** @param {string} file @returns {string} the last parts of a path */
export function shortPath(file) {
  return file.split("/").slice(-2).join("/");
}

/** @param {string} name @returns {string} the name without template arguments and outer namespaces, if it is long */
export function shortName(name) {
  if (name.length <= 26 || !name.includes("::")) return name;
  let plain = "", depth = 0;
  for (const letter of name) {
    if (letter === "<" && ++depth === 1) plain += "<…>";
    if (depth === 0) plain += letter;
    if (letter === ">" && depth > 0) --depth;
  }
  return plain.length <= 26 ? plain : plain.split("::").slice(-2).join("::");
}
