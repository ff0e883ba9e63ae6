// SPDX-License-Identifier: Apache-2.0
// Decodes the columns of a table: base64, gzip, then a coding for each column (docs/contributing/report_data.md).

/** @typedef {Float64Array | Int32Array | Uint8Array} Column */
/** @typedef {{name: string, coding: string, array: string, of?: string}} ColumnForm */

const SIX_BITS = (() => {
  const values = new Uint8Array(128);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < 64; ++i) values[letters.charCodeAt(i)] = i;
  return values;
})();

/** @param {string} text base64 @returns {Uint8Array<ArrayBuffer>} */
export function bytesOfBase64(text) {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length >> 2) * 3);
  for (let i = 0, at = 0; i + 3 < text.length; i += 4) {
    const word = (SIX_BITS[text.charCodeAt(i)] << 18) | (SIX_BITS[text.charCodeAt(i + 1)] << 12)
      | (SIX_BITS[text.charCodeAt(i + 2)] << 6) | SIX_BITS[text.charCodeAt(i + 3)];
    bytes[at++] = word >> 16;
    bytes[at++] = word >> 8;
    bytes[at++] = word;
  }
  return bytes.subarray(0, bytes.length - padding);
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Uint8Array>} */
export async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads the codings one after the other. */
export class ColumnReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** @returns {number} a varint; a shift by bits would cut it to 32 bits */
  varint() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, scale = 128;
    do {
      if (this.at >= bytes.length) throw new Error("a column ends too early");
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  }

  /** @param {Column} values @param {string} coding fills the column */
  fill(values, coding) {
    if (coding === "byte") this.fillBytes(values);
    else if (coding === "double") this.fillDoubles(values);
    else if (coding === "count") for (let row = 0; row < values.length; ++row) values[row] = this.varint();
    else if (coding === "maybe") for (let row = 0; row < values.length; ++row) values[row] = this.varint() - 1;
    else if (coding === "delta") this.fillDifferences(values);
    else if (coding === "back") this.fillBack(values);
    else throw new Error(`unknown coding ${coding}: this page is older than its data`);
  }

  /** @param {Column} values */
  fillBytes(values) {
    for (let row = 0; row < values.length; ++row) values[row] = this.bytes[this.at++];
  }

  /** @param {Column} values */
  fillDoubles(values) {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8 * values.length);
    for (let row = 0; row < values.length; ++row) values[row] = view.getFloat64(8 * row, true);
    this.at += 8 * values.length;
  }

  /** @param {Column} values */
  fillDifferences(values) {
    for (let row = 0, value = 0; row < values.length; ++row) {
      const zigzag = this.varint();
      value += zigzag % 2 === 1 ? -(zigzag + 1) / 2 : zigzag / 2;
      values[row] = value;
    }
  }

  /** @param {Column} values */
  fillBack(values) {
    for (let row = 0; row < values.length; ++row) {
      const back = this.varint();
      values[row] = back === 0 ? -1 : row - back;
    }
  }
}

/** @param {string} name @param {number} rows @returns {Column} */
export function makeColumn(name, rows) {
  if (name === "Uint8Array") return new Uint8Array(rows);
  return name === "Int32Array" ? new Int32Array(rows) : new Float64Array(rows);
}
