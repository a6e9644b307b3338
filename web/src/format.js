// Numbers and their units, as people read them; the whole number stands in the title of what shows it.
import { h } from "./dom.js";

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const COUNTS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const PLAIN_BELOW = 1e4; // 1,234 is as short as 1.234 k

/** Integers above 2^53 come as strings of digits. */
export const toNumber = (v) => (typeof v === "string" ? Number(v) : v);
export const known = (v) => v !== null && v !== undefined && !Number.isNaN(v);

function digits(x, significant) {
  const whole = x === 0 ? 1 : Math.floor(Math.log10(Math.abs(x))) + 1; // of 0.05 it is -1: small numbers keep their digits, too
  return x.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: Math.max(0, Math.min(20, significant - whole)) });
}

/** Every digit: 1,234,567. */
export function full(v, unit = "") {
  if (!known(v)) return "";
  const text = typeof v === "string" ? v.replace(/\B(?=(\d{3})+$)/g, ",") : v.toLocaleString("en-US", { maximumFractionDigits: 12 });
  return unit ? `${text} ${unit}` : text;
}

/** Short: 1.23 ms, 4.56 M. */
export function short(value, unit = "", significant = 4) {
  const v = toNumber(value);
  if (!known(v)) return "–";
  if (unit === "ns") {
    const [by, name] = TIMES.find(([size]) => Math.abs(v) >= size) ?? TIMES[3];
    return `${digits(v / by, significant)} ${name}`;
  }
  if (unit === "%") return `${digits(v, significant)} %`;
  const [by, name] = (Math.abs(v) >= PLAIN_BELOW && COUNTS.find(([size]) => Math.abs(v) >= size)) || [1, ""];
  return `${digits(v / by, significant)}${name && ` ${name}`}${unit && ` ${unit}`}`;
}

/** A count in full, a time in its unit. */
export const plain = (v, unit) => (unit === "ns" ? short(v, unit, 6) : full(v, unit));

export const percent = (x, places = 1) => (known(x) ? `${(100 * x).toFixed(places)} %` : "–");

/** ± half the range, of the median: how far the runs lie apart. */
export function spread(min, median, max) {
  const [lo, mid, hi] = [min, median, max].map(toNumber);
  if (!known(lo) || !known(hi) || !known(mid)) return null;
  if (lo === hi) return 0;
  return mid ? (hi - lo) / 2 / Math.abs(mid) : Infinity;
}

const QUALITIES = {
  exact: "proved, or counted by construction",
  counted: "by hardware or the kernel; may be off by known effects",
  scaled: "counters took turns: estimated from a share of the time",
  simulated: "by a model of hardware, not hardware",
  unavailable: "could not be counted",
};

/** A number's quality, as a badge with its meaning. */
export function quality(name) {
  return name ? h("span", { class: `quality q-${name in QUALITIES ? name : "other"}`, title: QUALITIES[name] ?? "" }, name) : "";
}

export const qualityRank = (name) => ["unavailable", "simulated", "scaled", "counted", "exact"].indexOf(name);

/** A name as a table shows it: of a very long one, as compilers make of templates, the beginning and the end. */
export const clip = (name, most = 400) => (name && name.length > most ? `${name.slice(0, most - 100)} … ${name.slice(-97)}` : name);

/** Of a file that was taken by its name alone: why it may be another build, or "". */
export const doubt = (other, newer, what) => (other ? ` It is not the file that ran, which had another inode: ${what} may be of another build.`
  : newer ? ` It is newer than the recording: ${what} may be of another build.` : "");

/** Of a recording whose recorder did not come to its end. */
export const brokeOff = "The recording broke off: its recorder did not come to its end, and what came last may be missing.";
