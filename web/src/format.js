// Numbers and their units, as people read them; the full number is in the title of its element.
import { h } from "./dom.js";

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const COUNTS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const PLAIN_BELOW = 1e4; // 1,234 is as short as 1.234 k

/** Integers above 2^53 come as strings of digits. */
export const toNumber = (v) => (typeof v === "string" ? Number(v) : v);
export const known = (v) => v !== null && v !== undefined && !Number.isNaN(v);

function digits(x, significant) {
  const whole = x === 0 ? 1 : Math.floor(Math.log10(Math.abs(x))) + 1; // -1 for 0.05: small numbers keep their digits, too
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

/** To this many places; a tie goes to the even digit, as printf rounds it. toFixed() rounds ties up. */
export function fixed(v, places) {
  const x = Math.abs(v), half = x * 2 ** (places + 1), down = Math.floor(x * 10 ** places);
  const tie = Number.isInteger(half) && half % 2 !== 0;
  const text = (tie ? (down + (down % 2)) / 10 ** places : x).toFixed(places);
  return v < 0 && /[1-9]/.test(text) ? `-${text}` : text;
}

/** The same with thousands separators, like put_real() for text. */
export const real = (v, places) => fixed(v, places).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");

/** A time with the same digits as in text: put_time(). */
function time(ns) {
  const v = Math.round(Math.abs(ns)), [by, name, places] = v >= 1e11 ? [1e9, "s", 2] : v >= 1e9 ? [1e9, "s", 3] : v >= 1e6 ? [1e6, "ms", 2] : v >= 1e3 ? [1e3, "µs", 1] : [1, "ns", 0];
  return `${ns < 0 && v ? "-" : ""}${real(v / by, places)} ${name}`;
}

/** A count in full, a time in its unit. */
export const plain = (v, unit) => (unit !== "ns" ? full(v, unit) : known(toNumber(v)) ? time(toNumber(v)) : "–");

export const percent = (x, places = 1) => (known(x) ? `${fixed(100 * x, places)} %` : "–");

/** In percent, with the same digits as in text: 12 %, 1.2 %, 0.0041 %. */
export function exactPercent(percent) {
  if (percent === 0) return "0 %";
  let digits = 1;
  for (let p = percent; p < 1 && digits < 9; p *= 10) digits++;
  return `${fixed(percent, percent >= 10 ? 0 : digits)} %`;
}

/** The uncertainty of a median, in the same words as text: ± is half of a 95 % confidence interval; ranges and limits are named. */
export function interval(e) {
  if (!e || !e.interval || !known(e.interval_percent)) return "";
  return `${e.interval === "confidence" ? "±" : e.interval} ${exactPercent(e.interval_percent)}`;
}

const QUALITIES = {
  exact: "proved, or exact by construction",
  counted: "by hardware or the kernel; may be off by known effects",
  scaled: "multiplexed: estimated from a fraction of the time",
  estimated: "from times, with assumptions that the remarks name",
  simulated: "by a model of hardware, not hardware",
  unavailable: "could not be counted",
};

/** A number's quality, as a badge with its meaning. */
export function quality(name) {
  const kind = name?.split(",")[0]; // "exact, without 2 processes"
  return name ? h("span", { class: `quality q-${kind in QUALITIES ? (kind === name ? kind : "scaled") : "other"}`, title: QUALITIES[kind] ?? "" }, name) : "";
}

export const qualityRank = (name) => ["unavailable", "simulated", "estimated", "scaled", "counted", "exact"].indexOf(name?.split(",")[0]) - (name?.includes(",") ? 0.5 : 0);

/** A process that is not counted to its end, in the same words as text. */
export const partial = (p) => `Without ${p.comm}, process ${p.pid}, ${p.ended_by_engine ? "after the exact engine ended it" : "which ran without the exact engine, and all that it started"}: ${p.reason}.`;

/** A name for a table: a very long one, such as that of a C++ template, is shortened in the middle. */
export const clip = (name, most = 400) => (name && name.length > most ? `${name.slice(0, most - 100)} … ${name.slice(-97)}` : name);

/** For a file that was used only because of its name: why it may be another build, or "". */
export const doubt = (other, newer, what) => (other ? ` It is not the file that ran, which had another inode: ${what} may be of another build.`
  : newer ? ` It is newer than the recording: ${what} may be of another build.` : "");

/** For a recording with a recorder that did not end normally. */
export const brokeOff = "The recording broke off: its recorder did not finish, and its end may be missing.";
