// SPDX-License-Identifier: Apache-2.0
// Addresses within the page, such as #timeline?request=7. They are data from outside: unknown values are ignored.

/** @param {string[]} names @returns {{name: string, values: URLSearchParams}} */
export function readAddress(names) {
  const [name, query = ""] = location.hash.slice(1).split("?", 2);
  return { name: names.includes(name) ? name : names[0], values: new URLSearchParams(query) };
}

/** @param {string} name @param {Record<string, string | number | null | undefined>} [values] @returns {string} with "#" */
export function addressOf(name, values = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value !== null && value !== undefined) query.set(key, String(value));
  const text = query.toString();
  return `#${name}${text === "" ? "" : `?${text}`}`;
}

/** @param {URLSearchParams} values @param {string} key @returns {number | null} */
export function numberIn(values, key) {
  const text = values.get(key);
  return text === null || !/^-?\d+$/.test(text) ? null : Number(text);
}

/** Changes the address without opening the view again. @param {string} address */
export function rememberAddress(address) {
  history.replaceState(null, "", address);
}
