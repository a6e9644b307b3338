// tare/stacks/1 as a tree of rectangles: totals per column, children in order, and what a search finds.
import { toNumber } from "./format.js";

/** doc.nodes: parent[] and frame[] (node 0 is the root, a parent comes before its children), self[column][node]. */
export function makeTree(doc) {
  const { parent, frame, self } = doc.nodes, n = parent.length;
  const own = self.map((column) => Float64Array.from(column, toNumber));
  const total = own.map((column) => {
    const sum = Float64Array.from(column);
    for (let i = n - 1; i > 0; i--) sum[parent[i]] += sum[i];
    return sum;
  });
  const depth = new Uint16Array(n), children = Array.from({ length: n }, () => []);
  for (let i = 1; i < n; i++) {
    depth[i] = depth[parent[i]] + 1;
    children[parent[i]].push(i);
  }
  const name = (i) => (i === 0 ? doc.program : doc.names[doc.frames.name[frame[i]]]);
  const about = (i) => {
    if (i === 0) return "";
    const f = frame[i], module = doc.frames.module && doc.names[doc.frames.module[f]], file = doc.frames.file && doc.names[doc.frames.file[f]];
    return [module, file && `${file}${doc.frames.line[f] ? `:${doc.frames.line[f]}` : ""}`].filter(Boolean).join("  ");
  };
  for (const list of children) list.sort((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0));
  return { n, parent, frame, own, total, depth, children, name, about };
}

/** Rectangles [node, depth, from, to] in parts of `root`, which is as wide as the picture; narrower than `least` left out. */
export function layout(tree, column, root, least) {
  const total = tree.total[column], out = [];
  const above = [];
  for (let i = root; i !== 0; i = tree.parent[i]) above.unshift(tree.parent[i]);
  for (const i of above) out.push([i, tree.depth[i], 0, 1]);
  const scale = total[root] || 1, stack = [[root, 0]];
  while (stack.length) {
    const [i, from] = stack.pop(), width = total[i] / scale;
    if (width < least) continue;
    out.push([i, tree.depth[i], from, from + width]);
    let at = from;
    for (const c of tree.children[i]) {
      stack.push([c, at]);
      at += total[c] / scale;
    }
  }
  return out;
}

/** Which nodes' names match, and what share of the whole lies in them: a match inside a match counts once. */
export function search(tree, column, words) {
  const found = new Uint8Array(tree.n);
  let matches, sum = 0, count = 0;
  try {
    const pattern = new RegExp(words, "i");
    matches = (s) => pattern.test(s);
  } catch {
    matches = (s) => s.toLowerCase().includes(words.toLowerCase());
  }
  const inside = new Uint8Array(tree.n), known = new Map();
  for (let i = 0; i < tree.n; i++) {
    const name = tree.name(i);
    if (!known.has(name)) known.set(name, matches(name));
    const up = i > 0 && inside[tree.parent[i]];
    found[i] = known.get(name);
    inside[i] = up || found[i];
    count += found[i];
    if (found[i] && !up) sum += tree.total[column][i];
  }
  return { found, count, share: tree.total[column][0] ? sum / tree.total[column][0] : 0 };
}
