// tare/stacks/1 as a tree of rectangles: totals per column, children in order, and the results of a search.
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

/**
 * The same stacks under their commands, and with `each` under the processes of a command that has several, as a separate document. For one
 * process, and for a difference, the document itself.
 */
export function rooted(doc, each) {
  if (!doc.processes) return doc;
  const { pid, command } = doc.processes, names = [...doc.names], { name, module, file, line } = doc.frames;
  const frames = { name: [...name], module: [...module], file: [...file], line: [...line] };
  const nodes = { parent: [0], frame: [0], self: doc.nodes.self.map(() => [0]) }, known = new Map();
  const add = (key, parent, frame) => {
    let at = known.get(key);
    if (at === undefined) {
      at = nodes.parent.push(parent) - 1;
      nodes.frame.push(frame);
      nodes.self.forEach((column) => column.push(0));
      known.set(key, at);
    }
    return at;
  };
  const label = (key, parent, text) => {
    if (!known.has(key)) {
      frames.name.push(names.push(text) - 1);
      [frames.module, frames.file, frames.line].forEach((list) => list.push(0));
    }
    return add(key, parent, frames.name.length - 1);
  };
  const several = (p) => command.some((c, i) => c === command[p] && i !== p);
  const root = pid.map((n, p) => {
    const top = label(`c${command[p]}`, 0, doc.names[command[p]]);
    return each && several(p) ? label(`p${p}`, top, `${doc.names[command[p]]} ${n}`) : top;
  });
  const place = (node, above) => (node === 0 ? above : add(`${above} ${node}`, place(doc.nodes.parent[node], above), doc.nodes.frame[node]));
  doc.parts.node.forEach((node, i) => {
    const at = place(node, root[doc.parts.process[i]]);
    doc.parts.self.forEach((column, c) => { nodes.self[c][at] += toNumber(column[i]); });
  });
  return { ...doc, names, frames, nodes };
}

/** Rectangles [node, depth, from, to] as fractions of `root`, which is as wide as the picture; those narrower than `least` are left out. */
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

/** The nodes with matching names, and their share of the whole: a match inside a match counts once. */
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
