// A flame graph of a difference (tare/stacks/1 with two columns of one event): what changed, by how much, and whether that is more
// than the sampling noise.
import { h } from "./dom.js";
import { percent, plain, short } from "./format.js";

const SURE = 1.96; // standard deviations: 95 %
const EXACT = 4; // for counted amounts: coloured as far beyond the noise
const TOO_MUCH = 0.5; // if more of a side's samples are lost, nothing is judged: REPORT_DIFF_LOST

/** Difference of the two in standard deviations; the same as score() in src/profile/report/report_diff.c. */
export function score(before, after, [wa, wb], [all, allAfter], shares) {
  if (!shares) return 2 * (Math.sqrt(after + 0.375 * wb) - Math.sqrt(before + 0.375 * wa)) / Math.sqrt(wa + wb);
  const na = all / wa, nb = allAfter / wb, angle = (x, n) => Math.asin(Math.sqrt((x + 0.375) / (n + 0.75)));
  return na > 0 && nb > 0 ? 2 * (angle(after / wb, nb) - angle(before / wa, na)) / Math.sqrt(1 / (na + 0.5) + 1 / (nb + 0.5)) : 0;
}

/** The score of the part of the change that missing samples (`lost`, shares of each side) cannot explain; as report_change() there. */
export function sureScore(before, after, weights, all, shares, lost) {
  const change = Math.abs(shares ? after / all[1] - before / all[0] : after - before);
  const made = shares ? lost[0] + lost[1] : Math.max(...all.map((v, k) => (v * lost[k]) / (1 - lost[k])));
  return change > made && !lost.some((v) => v > TOO_MUCH) ? score(before, after, weights, all, shares) * (1 - made / change) : 0;
}

const signed = (x, show) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${show(Math.abs(x))}`;

/** How a flame graph of a difference deviates from a normal one; the tree gets a third column, both sides together. */
export function difference(doc, tree) {
  const { before: B, after: A, shares, exact } = doc.difference, unit = doc.columns[A].unit;
  const all = [tree.total[B][0], tree.total[A][0]], weights = [B, A].map((k, side) => (all[side] && doc.columns[k].squares ? doc.columns[k].squares / all[side] : 1));
  const lost = [B, A].map((k) => doc.columns[k].lost ?? 0), within = lost.some((v) => v > TOO_MUCH) ? "not judged" : lost.some((v) => v > 0) ? "within the noise and what was lost" : "within the noise";
  const scale = shares && all[0] ? all[1] / all[0] : 1, both = tree.total.length;
  for (const of of [tree.total, tree.own]) of.push(Float64Array.from(of[A], (v, i) => v + scale * of[B][i]));

  const pair = (i, what) => [tree[what][B][i], tree[what][A][i]];
  const noise = (i, what) => { // how many times the noise; the sign says whether it is more or less
    const [a, b] = pair(i, what), same = shares ? a * all[1] === b * all[0] : a === b;
    return same ? 0 : exact ? (shares ? b / all[1] < a / all[0] : b < a) ? -EXACT : EXACT : sureScore(a, b, weights, all, shares, lost) / SURE;
  };

  function sentence(i, what) {
    const [a, b] = pair(i, what), times = Math.abs(noise(i, what)), part = (x, side) => (all[side] ? x / all[side] : 0);
    const sides = shares ? `after ${percent(part(b, 1), 2)}, before ${percent(part(a, 0), 2)}` : `after ${plain(b, unit)} (${percent(part(b, 1), 2)}), before ${plain(a, unit)} (${percent(part(a, 0), 2)})`;
    if (a === 0 && b === 0) return "nothing";
    const change = shares ? `${signed(100 * (part(b, 1) - part(a, 0)), (x) => x.toFixed(2))} points` : `${signed(b - a, (x) => plain(x, unit))}${a ? ` (${signed(100 * (b - a) / a, (x) => short(x, "%", 3))})` : ""}`;
    return `${sides}: ${a === 0 ? "new, " : b === 0 ? "gone, " : ""}${change}${exact ? "" : `, ${times < 1 ? within : `${short(times, "", 2)} times the noise`}`}`;
  }

  const swatch = (name, words) => h("span", {}, h("i", { class: `swatch sw-${name}`, "aria-hidden": "true" }), words);
  return {
    widths: [["after", A], ["before", B], ["both together", both]],
    colours: [["change with what it called", "total"], ["change of the frame alone", "own"]],
    unit,
    describe: (i) => `${sentence(i, "total")}. Alone ${sentence(i, "own")}`,
    /** Grey within the noise; from there on redder or bluer, up to four times the noise. */
    fill(i, what, lightness) {
      const times = noise(i, what), size = Math.min(4, Math.abs(times));
      return size < 1 ? `hsl(45 6% ${lightness})` : `hsl(${times < 0 ? 215 : 8} ${Math.round(28 + 14 * size)}% ${lightness})`;
    },
    legend: h("p", { class: "legend" }, swatch("much-less", "less or gone, far beyond the noise"), swatch("less", "less, just beyond the noise"), swatch("same", within === "within the noise" ? "within the noise of sampling" : within),
      swatch("more", "more, just beyond the noise"), swatch("much-more", "more or new, far beyond the noise")),
  };
}
