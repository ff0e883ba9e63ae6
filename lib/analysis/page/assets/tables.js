// SPDX-License-Identifier: Apache-2.0
// The view of tables: sort, filter, copy as CSV; a row opens to its histogram, its source and its evidence.
import {announce, button, count, duration, link, make, plural, refill, saveFile} from './dom.js';
import {cellText, csvOf, isText, sortedRows} from './cells.js';
import {histogramOf} from './histogram.js';
import {placeText, sourceLines} from './places.js';
import {timeline} from './recording.js';
import {addressOf} from './route.js';
import {TABLE_MEANINGS, TABLE_TITLES, tableData, tableNames} from './table_data.js';

/** @typedef {import('./cells.js').TableData} TableData */
/** @typedef {import('./cells.js').TableColumn} TableColumn */

/** A table shows that many rows at once. */
const PAGE = 200;

/** @param {HTMLElement} place @param {URLSearchParams} values */
export function tablesView(place, values) {
  const names = tableNames(), asked = values.get("table") ?? "";
  const name = names.includes(asked) ? asked : names.includes("scopes") ? "scopes" : names[0];
  let isOpen = true;
  const content = make("div", {}, make("p", { class: "empty" }, name === undefined ? "The recording has no tables with rows." : "Reading …"));
  place.append(make("div", { class: "text", style: { "max-width": "none" } }, make("h2", {}, "Tables"),
    make("nav", { class: "tabs", "aria-label": "Tables" }, names.map((each) =>
      link(addressOf("tables", { table: each }), TABLE_TITLES[each], { "aria-current": each === name ? "true" : null }))), content));
  if (name === undefined) return;
  Promise.all([tableData(name), timeline()]).then(([data, { sites }]) => {
    if (isOpen) refill(content, new TableView(name, data, sites, values.get("type") ?? values.get("filter") ?? "", values.get("row")).element);
  });
  return { dispose: () => (isOpen = false) };
}

class TableView {
  /** @param {string} name @param {TableData} data @param {any[]} sites @param {string} filter @param {string | null} opened the name of a row to open */
  constructor(name, data, sites, filter, opened) {
    this.name = name;
    this.data = data;
    this.sites = sites;
    this.shown = PAGE;
    /** @type {{column: TableColumn, descends: boolean} | null} */
    this.order = null;
    this.input = /** @type {HTMLInputElement} */ (make("input", { type: "search", id: "filter", placeholder: "Filter rows", "aria-label": "Filter rows", value: filter, oninput: () => this.show() }));
    this.number = make("span", { role: "status", class: "small" });
    this.head = make("tr");
    this.body = make("tbody");
    this.more = button("Show more rows", () => {
      this.shown += 5 * PAGE;
      this.show();
    });
    this.opened = new Set(data.rows.flatMap((row, index) => (opened !== null && row.name === opened ? [index] : [])));
    this.element = this.layOut();
    this.showHead();
    this.show();
  }

  layOut() {
    return make("div", {}, make("p", {}, TABLE_MEANINGS[this.name]),
      make("p", { class: "row" }, this.input, this.number, button("Copy as CSV", () => this.copy(), { id: "copy" }),
        button("Save as CSV", () => saveFile(this.csv(), `${this.name}.csv`))),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": this.data.title }, make("table", {}, make("caption", { class: "for-readers" }, this.data.title), make("thead", {}, this.head), this.body)),
      this.more);
  }

  showHead() {
    refill(this.head, ...this.data.columns.map((column) => {
      const isOrder = this.order?.column === column;
      const mark = isOrder ? (this.order?.descends ? " ▼" : " ▲") : "";
      return make("th", { scope: "col", class: isText(column.kind) ? null : "number", "aria-sort": isOrder ? (this.order?.descends ? "descending" : "ascending") : null },
        button(column.heading + mark, () => this.sortBy(column)));
    }));
  }

  /** Numbers begin with the largest, texts with the first. @param {TableColumn} column */
  sortBy(column) {
    const descends = this.order?.column === column ? !this.order.descends : !isText(column.kind);
    this.order = { column, descends };
    this.showHead();
    this.show();
    announce(`Sorted by ${column.heading}, ${descends ? "largest" : "smallest"} first`);
  }

  /** @returns {number[]} the rows that pass the filter, in order */
  visible() {
    const { rows, columns } = this.data, text = this.input.value.trim().toLowerCase();
    const order = this.order === null ? [...rows.keys()] : sortedRows(rows, this.order.column, this.order.descends);
    if (text === "") return order;
    const texts = columns.filter((column) => isText(column.kind));
    return order.filter((row) => texts.some(({ key }) => String(rows[row][key] ?? "").toLowerCase().includes(text)));
  }

  show() {
    const rows = this.visible(), first = rows.slice(0, this.shown);
    this.number.textContent = rows.length === this.data.rows.length ? plural(rows.length, "row") : `${count(rows.length)} of ${plural(this.data.rows.length, "row")}`;
    refill(this.body, ...first.flatMap((row) => this.rowElements(row)));
    this.more.hidden = first.length === rows.length;
  }

  /** @param {number} row @returns {HTMLElement[]} */
  rowElements(row) {
    const { columns, rows } = this.data, isOpen = this.opened.has(row);
    const toggle = this.hasMore(row) ? button(isOpen ? "▾" : "▸", () => {
      if (!this.opened.delete(row)) this.opened.add(row);
      this.show();
      /** @type {HTMLElement | null} */ (this.body.querySelector(`[data-row="${row}"]`))?.focus();
    }, { "aria-expanded": String(isOpen), "aria-label": `More about row ${row + 1}`, "data-row": row, class: "small" }) : null;
    const cells = columns.map((column, index) => make("td", { class: column.kind === "sentence" ? "name sentence" : isText(column.kind) ? "name" : "number" }, index === 0 && toggle !== null
      ? make("span", { class: "opens" }, toggle, make("span", {}, cellText(column, rows[row][column.key]))) : cellText(column, rows[row][column.key])));
    const elements = [make("tr", {}, cells)];
    if (isOpen) elements.push(make("tr", {}, make("td", { colspan: columns.length }, this.details(row))));
    return elements;
  }

  /** @param {number} row */
  hasMore(row) {
    const links = this.data.links[row];
    return links !== undefined && links !== null && Object.values(links).some((each) => each !== null && each !== undefined);
  }

  /** @param {number} row */
  details(row) {
    const links = this.data.links[row], site = this.sites[links.site];
    return make("div", {},
      site !== undefined && make("p", {}, placeText(site)), site !== undefined && sourceLines(site),
      (links.requests || links.longest) && make("p", { class: "row" }, "Show in the timeline:",
        (links.requests ?? []).map((/** @type {any} */ each) => link(addressOf("timeline", { request: each.request }), each.text)),
        (links.longest ?? []).map((/** @type {any} */ each) => link(addressOf("timeline", { from: each.start_ns, for: each.length_ns, task: each.task, thread: each.thread }),
          `${duration(each.length_ns)} at ${duration(each.start_ns)}`)),
        this.name === "scopes" && links.name && link(addressOf("timeline", { search: links.name }), "all of that name")),
      links.histogram && histogramOf(links.histogram, links.name ?? this.data.rows[row].name ?? "the row"));
  }

  csv() {
    return csvOf(this.data.columns, this.visible().map((row) => this.data.rows[row]));
  }

  async copy() {
    const text = this.csv();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyBySelection(text);
    }
    announce(`Copied ${plural(this.visible().length, "row")} as CSV`);
    this.number.textContent = `${plural(this.visible().length, "row")} copied`;
  }
}

/** Copies in browsers that do not give a file the clipboard. @param {string} text */
function copyBySelection(text) {
  const area = /** @type {HTMLTextAreaElement} */ (make("textarea", { class: "for-readers", "aria-hidden": "true" }));
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
