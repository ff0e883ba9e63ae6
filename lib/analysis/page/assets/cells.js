// SPDX-License-Identifier: Apache-2.0
// The cells of tables: their text, their order, and their form in CSV.
import {count, duration} from './dom.js';

/** @typedef {{key: string, heading: string, kind: string}} TableColumn */
/** @typedef {Record<string, any>} TableRow */
/** A table to show. `links` belongs to `rows`, row by row. @typedef {{title: string, columns: TableColumn[], rows: TableRow[], links: any[]}} TableData */

const TEXTS = ["text", "source", "sentence", "outline"];

/** @param {string} kind @returns {boolean} */
export function isText(kind) {
  return TEXTS.includes(kind);
}

/** @param {TableColumn} column @param {any} value @returns {string} */
export function cellText({ kind }, value) {
  if (value === null || value === undefined) return isText(kind) ? "" : "unknown";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "number") return String(value);
  if (kind === "percent" && value > 99) return "> 100-fold";
  if (kind === "percent") return `${value > 0 ? "+" : value < 0 ? "−" : ""}${count(Math.round(Math.abs(1000 * value)) / 10)} %`;
  if (kind === "time" || kind === "moment") return duration(value);
  return kind === "hundredths" ? (value / 100).toFixed(2) : count(value);
}

/** @param {TableRow[]} rows @param {TableColumn} column @param {boolean} descends @returns {number[]} the indices in order; unknown values come last */
export function sortedRows(rows, { key, kind }, descends) {
  const sign = descends ? -1 : 1;
  return [...rows.keys()].sort((a, b) => {
    const left = rows[a][key], right = rows[b][key];
    if (left === null || left === undefined || right === null || right === undefined) return (left === null || left === undefined ? 1 : 0) - (right === null || right === undefined ? 1 : 0);
    return sign * (isText(kind) ? String(left).localeCompare(String(right)) : left - right) || a - b;
  });
}

/** @param {any} value @returns {string} in CSV; a text cannot begin a formula of a spreadsheet */
export function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = Array.isArray(value) ? value.join(", ") : String(value), safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {TableColumn[]} columns @param {TableRow[]} rows @returns {string} */
export function csvOf(columns, rows) {
  const lines = [columns.map((each) => csvCell(each.key)).join(","), ...rows.map((row) => columns.map(({ key }) => csvCell(row[key])).join(","))];
  return `${lines.join("\r\n")}\r\n`;
}
