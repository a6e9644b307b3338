// As many points as there are pixels, without losing a peak: the smallest and the largest value of each bucket, in order.

/** x, y: arrays of one length; x ascending. Returns [xs, ys] of at most about 2 * buckets points of x in [from, to]. */
export function reduce(x, y, from, to, buckets) {
  let begin = lowerBound(x, from), end = lowerBound(x, to, true);
  begin = Math.max(0, begin - 1); // the line continues to the neighbour outside
  end = Math.min(x.length, end + 1);
  const n = end - begin;
  if (n <= 2 * buckets) return [slice(x, begin, end), slice(y, begin, end).map((v) => (gap(v) ? null : v))];
  const xs = [], ys = [];
  const push = (i) => { xs.push(x[i]); ys.push(gap(y[i]) ? null : y[i]); };
  for (let b = 0; b < buckets; b++) {
    const first = begin + Math.floor(b * n / buckets), last = begin + Math.floor((b + 1) * n / buckets);
    let low = -1, high = -1, hole = -1;
    for (let i = first; i < last; i++) {
      const v = y[i];
      if (gap(v)) { hole = i; continue; }
      if (low < 0 || v < y[low]) low = i;
      if (high < 0 || v > y[high]) high = i;
    }
    const keep = [low, high, hole].filter((i) => i >= 0).sort((p, q) => p - q);
    for (const i of keep) if (xs.length === 0 || x[i] > xs[xs.length - 1]) push(i);
  }
  return [xs, ys];
}

const gap = (v) => v === null || v !== v || v === undefined;
const slice = (a, begin, end) => Array.from(a.slice(begin, end));

/** The first index whose x is not below v (above v, with `after`). */
export function lowerBound(x, v, after = false) {
  let lo = 0, hi = x.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (after ? x[mid] <= v : x[mid] < v) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
