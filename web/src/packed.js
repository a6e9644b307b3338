// Long columns of numbers: a plain array, or bytes in base64 (docs/internals/page.md, src/output/base64_column.c).
import { toNumber } from "./format.js";

// As in memory: every machine with a browser is little-endian.
const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

export const size = (column) => (Array.isArray(column) ? column.length : column.n);

function bytes(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

/** All values, as an object with length and indices; a value that could not be counted is null or NaN. */
export function unpack(column) {
  if (Array.isArray(column)) return column.some((v) => typeof v === "string") ? column.map(toNumber) : column;
  const { packed, n, first, step } = column, raw = bytes(column.base64), stepped = step !== undefined, want = stepped ? n - 1 : n;
  const part = packed === "u0" ? new Uint8Array(want) : new KINDS[packed](raw.buffer);
  if (part.length !== want) throw new Error(`a column of ${n} values as ${packed} in ${raw.length} bytes`);
  if (packed === "f64") return part;
  const out = new Float64Array(n);
  if (!stepped) for (let i = 0; i < n; i++) out[i] = first + part[i];
  else for (let i = 1, v = out[0] = first; i < n; i++) out[i] = v += step + part[i - 1];
  return out;
}
