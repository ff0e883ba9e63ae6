// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system. The choice is kept for this page only: a file has no storage that all browsers give it.

const THEMES = ["system", "light", "dark"];
let chosen = 0;

/** @returns {boolean} */
export function isDark() {
  return THEMES[chosen] === "dark" || (chosen === 0 && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function applyTheme() {
  document.documentElement.setAttribute("data-theme", isDark() ? "dark" : "light");
}

export function nextTheme() {
  chosen = (chosen + 1) % THEMES.length;
  applyTheme();
}

/** @returns {string} */
export function themeName() {
  return `Theme: ${THEMES[chosen]}`;
}

/** @param {string} name @returns {string} a colour of the style sheet, for canvases */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
