// SPDX-License-Identifier: Apache-2.0
// Wheel, pointer and keys of the timeline.
import {GUTTER} from './draw.js';
import {openHelp} from './help.js';
import {describe} from './scene.js';

/** @typedef {import('./timeline.js').TimelineView} TimelineView */

/** A pointer that moved less than that many pixels has clicked. */
const CLICK = 4;

/** @param {TimelineView} view */
export function listen(view) {
  const { canvas } = view;
  canvas.addEventListener("wheel", (event) => onWheel(view, event), { passive: false });
  canvas.addEventListener("keydown", (event) => onKey(view, event));
  canvas.addEventListener("dblclick", (event) => onDoubleClick(view, event));
  listenToPointer(view);
}

/** @param {TimelineView} view @param {WheelEvent} event */
function onWheel({ scene }, event) {
  event.preventDefault();
  const pixels = event.deltaMode === 1 ? 30 : 1, x = event.deltaX * pixels, y = event.deltaY * pixels;
  if (event.ctrlKey || event.metaKey) return scene.zoom(Math.exp(Math.max(-60, Math.min(60, y)) / 150), Math.max(GUTTER, event.offsetX));
  if (event.shiftKey) return scene.pan(y || x);
  if (x !== 0) scene.pan(x);
  scene.scrollTo(scene.scroll + y);
}

/** Drags move the view; with Shift they select a range of time. @param {TimelineView} view */
function listenToPointer(view) {
  const { canvas, scene } = view;
  /** @type {{x: number, y: number, startX: number, startY: number, selects: boolean} | null} */
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.offsetX, y: event.offsetY, startX: event.offsetX, startY: event.offsetY, selects: event.shiftKey };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag === null) return showTip(view, event);
    if (drag.selects) selectRange(view, drag.startX, event.offsetX);
    else {
      scene.pan(drag.x - event.offsetX);
      scene.scrollTo(scene.scroll + drag.y - event.offsetY);
    }
    drag = { ...drag, x: event.offsetX, y: event.offsetY };
  });
  canvas.addEventListener("pointerup", (event) => {
    const isClick = drag !== null && Math.hypot(event.offsetX - drag.startX, event.offsetY - drag.startY) < CLICK;
    if (isClick) onClick(view, event);
    else if (drag?.selects) view.showDetails();
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
}

/** @param {TimelineView} view @param {number} startX @param {number} endX */
function selectRange({ scene }, startX, endX) {
  const times = [scene.timeAt(Math.max(GUTTER, startX)), scene.timeAt(Math.max(GUTTER, endX))].sort((a, b) => a - b);
  scene.range = [Math.round(times[0]), Math.round(times[1])];
  scene.ask();
}

/** @param {TimelineView} view @param {PointerEvent} event */
function showTip({ canvas, scene, work }, event) {
  const { hit, lane } = scene.under(event.offsetX, event.offsetY);
  canvas.title = hit !== null ? describe(work, hit) : lane !== undefined ? `${lane.title}: ${lane.detail}` : "";
  canvas.style.cursor = hit !== null || lane?.request !== undefined ? "pointer" : "grab";
}

/** @param {TimelineView} view @param {PointerEvent} event */
function onClick(view, event) {
  const { hit, lane } = view.scene.under(event.offsetX, event.offsetY);
  view.scene.range = null;
  if (hit === null && lane?.request !== undefined && event.offsetX < GUTTER) return view.openRequest(lane.request);
  view.select(hit, true, false);
}

/** @param {TimelineView} view @param {MouseEvent} event */
function onDoubleClick(view, event) {
  const { hit, lane } = view.scene.under(event.offsetX, event.offsetY);
  if (lane?.request !== undefined && lane.request !== view.scene.request) return view.openRequest(lane.request);
  if (hit !== null) view.zoomTo(hit.bars.starts[hit.index], hit.bars.ends[hit.index] - hit.bars.starts[hit.index]);
}

/** @type {Record<string, (view: TimelineView, shift: boolean) => void>} */
const KEYS = {
  ArrowLeft: ({ scene }, shift) => scene.pan(-(scene.width - GUTTER) * (shift ? 0.9 : 0.15)),
  ArrowRight: ({ scene }, shift) => scene.pan((scene.width - GUTTER) * (shift ? 0.9 : 0.15)),
  ArrowUp: ({ scene }, shift) => scene.scrollTo(scene.scroll - (shift ? scene.height : 60)),
  ArrowDown: ({ scene }, shift) => scene.scrollTo(scene.scroll + (shift ? scene.height : 60)),
  "+": ({ scene }) => scene.zoom(1 / 1.5), "=": ({ scene }) => scene.zoom(1 / 1.5), w: ({ scene }) => scene.zoom(1 / 1.5),
  "-": ({ scene }) => scene.zoom(1.5), s: ({ scene }) => scene.zoom(1.5),
  a: ({ scene }) => scene.pan(-(scene.width - GUTTER) * 0.15), d: ({ scene }) => scene.pan((scene.width - GUTTER) * 0.15),
  0: (view) => view.showAll(),
  n: (view) => view.nextRequest(1), N: (view) => view.nextRequest(-1),
  "]": (view) => moveInRow(view, 1), "[": (view) => moveInRow(view, -1),
  "}": (view) => moveToLane(view, 1), "{": (view) => moveToLane(view, -1),
  f: (view) => zoomToSelection(view),
  Enter: (view) => view.aside.focus(),
  "/": (view) => view.search.focus(),
  "?": (view) => openHelp(view.canvas),
  Escape: (view) => (view.scene.selected !== null || view.scene.range !== null || view.scene.request === null ? clear(view) : view.closeRequest()),
};

/** @param {TimelineView} view @param {KeyboardEvent} event */
function onKey(view, event) {
  const action = KEYS[event.key];
  if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action(view, event.shiftKey);
}

/** @param {TimelineView} view */
function clear(view) {
  view.scene.range = null;
  view.select(null);
}

/** @param {TimelineView} view @param {number} step */
function moveInRow(view, step) {
  const { selected } = view.scene;
  if (selected === null) return selectFirst(view);
  const index = Math.max(0, Math.min(selected.bars.starts.length - 1, selected.index + step));
  followSelection(view, { ...selected, index });
}

/** @param {TimelineView} view @param {number} step */
function moveToLane(view, step) {
  const { scene } = view, { selected } = scene;
  if (selected === null) return selectFirst(view);
  const lanes = scene.items.flatMap(({ lane }) => (lane !== undefined && lane.rows.some((bars) => bars.starts.length > 0) ? [lane] : []));
  const rows = lanes.flatMap((lane) => lane.rows.filter((bars) => bars.starts.length > 0).map((bars) => ({ lane, bars })));
  const at = rows.findIndex((each) => each.bars === selected.bars) + step;
  const next = rows[at];
  if (next === undefined) return;
  const time = selected.bars.starts[selected.index];
  let index = 0;
  while (index + 1 < next.bars.starts.length && next.bars.ends[index] <= time) ++index;
  followSelection(view, { ...next, index });
}

/** @param {TimelineView} view */
function selectFirst(view) {
  for (const { lane } of view.scene.items) {
    const bars = lane?.rows.find((each) => each.starts.length > 0);
    if (lane !== undefined && bars !== undefined) return followSelection(view, { lane, bars, index: 0 });
  }
}

/** @param {TimelineView} view @param {import('./scene.js').Selection} selection */
function followSelection(view, selection) {
  const { scene } = view, { bars, index } = selection;
  if (bars.starts[index] < scene.from || bars.ends[index] > scene.to) {
    const half = (scene.to - scene.from) / 2, middle = (bars.starts[index] + bars.ends[index]) / 2;
    scene.showTimes(middle - half, middle + half);
  }
  view.select(selection);
}

/** @param {TimelineView} view */
function zoomToSelection(view) {
  const { selected, range } = view.scene;
  if (selected !== null) view.zoomTo(selected.bars.starts[selected.index], selected.bars.ends[selected.index] - selected.bars.starts[selected.index]);
  else if (range !== null) view.scene.showTimes(range[0], range[1]);
}
