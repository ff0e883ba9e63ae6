// SPDX-License-Identifier: Apache-2.0
// Searches, groups and sorts columns of a million rows without an object or a comparison per row.

/**
 * @param {ArrayLike<number>} sorted @param {number} value @param {number} [begin] @param {number} [end]
 * @returns {number} the first index with sorted[index] >= value
 */
export function lowerBound(sorted, value, begin = 0, end = sorted.length) {
  let from = begin, to = end;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Groups rows by a key between 0 and `groups - 1`; rows of other keys are left out. The rows of group g are
 * order[starts[g]] to order[starts[g + 1] - 1], in their order.
 * @param {ArrayLike<number>} keys @param {number} groups
 * @returns {{starts: Uint32Array, order: Uint32Array}}
 */
export function groupRows(keys, groups) {
  const starts = new Uint32Array(groups + 1);
  for (let row = 0; row < keys.length; ++row) if (keys[row] >= 0 && keys[row] < groups) ++starts[keys[row] + 1];
  for (let group = 0; group < groups; ++group) starts[group + 1] += starts[group];
  const next = starts.slice(), order = new Uint32Array(starts[groups]);
  for (let row = 0; row < keys.length; ++row) if (keys[row] >= 0 && keys[row] < groups) order[next[keys[row]]++] = row;
  return { starts, order };
}

/** @param {{starts: Uint32Array, order: Uint32Array}} groups @param {number} group @returns {Uint32Array} */
export function rowsOf(groups, group) {
  if (group < 0 || group + 1 >= groups.starts.length) return new Uint32Array(0);
  return groups.order.subarray(groups.starts[group], groups.starts[group + 1]);
}

const DIGITS = 1 << 16;

/**
 * Sorts rows by values that are not negative, by digits of 16 bits. Equal values keep their order.
 * @param {ArrayLike<number>} values @param {Uint32Array} rows
 * @returns {Uint32Array}
 */
export function sortRows(values, rows) {
  if (rows.length < 4096) return rows.slice().sort((a, b) => values[a] - values[b] || a - b);
  let most = 0;
  for (const row of rows) if (values[row] > most) most = values[row];
  let from = rows.slice(), to = new Uint32Array(rows.length);
  for (let scale = 1; scale <= most; scale *= DIGITS) {
    const next = new Uint32Array(DIGITS + 1);
    for (const row of from) ++next[(Math.floor(values[row] / scale) % DIGITS) + 1];
    for (let digit = 0; digit < DIGITS; ++digit) next[digit + 1] += next[digit];
    for (const row of from) to[next[Math.floor(values[row] / scale) % DIGITS]++] = row;
    [from, to] = [to, from];
  }
  return from;
}

/** A list of numbers that grows without an object per number. */
export class GrowingColumn {
  constructor() {
    this.values = new Float64Array(1024);
    this.length = 0;
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** @returns {Float64Array} */
  done() {
    return this.values.subarray(0, this.length);
  }
}

/** The largest values of stretches of a list, so that a pixel of a long list costs a few steps. */
export class Maxima {
  /** @param {ArrayLike<number>} values */
  constructor(values) {
    /** @type {ArrayLike<number>[]} */
    this.levels = [values];
    for (let below = values; below.length > 16;) {
      const level = new Float64Array(Math.ceil(below.length / 16));
      for (let i = 0; i < below.length; ++i) level[i >> 4] = Math.max(level[i >> 4], below[i]);
      this.levels.push((below = level));
    }
  }

  /** @param {number} from @param {number} to exclusive @returns {number} 0 for an empty stretch */
  of(from, to) {
    let most = 0, level = 0;
    for (; from < to; from >>= 4, to >>= 4, ++level) {
      const values = this.levels[level];
      if (level + 1 === this.levels.length || to - from < 32) {
        for (; from < to; ++from) most = Math.max(most, values[from]);
        break;
      }
      for (; from & 15; ++from) most = Math.max(most, values[from]);
      for (; to & 15;) most = Math.max(most, values[--to]);
    }
    return most;
  }
}
