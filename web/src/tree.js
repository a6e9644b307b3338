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
  const keys = new Map(); // by frame
  const key = (i) => {
    if (i === 0) return doc.program;
    if (!keys.has(frame[i])) keys.set(frame[i], `${name(i)}\0${about(i)}`);
    return keys.get(frame[i]);
  };
  return { n, parent, frame, own, total, depth, children, name, about, key };
}

/**
 * A document of the same stacks with new roots. Part i of `parts` has a node, an index `label` and, by column, an amount; it is put under the names
 * labels[label], outermost first.
 */
export function under(doc, parts, labels) {
  const names = [...doc.names], { name, module, file, line } = doc.frames;
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
  const roots = labels.map((path) => path.reduce(([at, key], text) => [label(`${key}\0${text}`, at, text), `${key}\0${text}`], [0, ""])[0]);
  const place = (node, above) => (node === 0 ? above : add(`${above} ${node}`, place(doc.nodes.parent[node], above), doc.nodes.frame[node]));
  parts.node.forEach((node, i) => {
    const at = place(node, roots[parts.label[i]]);
    parts.self.forEach((column, c) => { nodes.self[c][at] += toNumber(column[i]); });
  });
  return { ...doc, names, frames, nodes };
}

/** The stacks under their commands and, with `each`, under the processes of commands with several. For one process, the document itself. */
export function rooted(doc, each) {
  if (!doc.processes) return doc;
  const { pid, command } = doc.processes, several = (p) => command.some((c, i) => c === command[p] && i !== p);
  return under(doc, { ...doc.parts, label: doc.parts.process }, pid.map((n, p) => {
    const name = doc.names[command[p]];
    return each && several(p) ? [name, `${name} ${n}`] : [name];
  }));
}

/** The same stacks from the innermost frame to the outermost. */
export function inverted(doc) {
  const nodes = { parent: [0], frame: [0], self: doc.nodes.self.map(() => [0]) }, known = new Map();
  const own = doc.nodes.self.map((column) => Array.from(column, toNumber));
  for (let i = 0; i < doc.nodes.parent.length; i++) {
    if (!own.some((column) => column[i])) continue;
    let at = 0;
    for (let up = i; up !== 0; up = doc.nodes.parent[up]) {
      const key = `${at} ${doc.nodes.frame[up]}`;
      let next = known.get(key);
      if (next === undefined) {
        next = nodes.parent.push(at) - 1;
        nodes.frame.push(doc.nodes.frame[up]);
        nodes.self.forEach((column) => column.push(0));
        known.set(key, next);
      }
      at = next;
    }
    own.forEach((column, c) => { nodes.self[c][at] += column[i]; });
  }
  return { ...doc, nodes };
}

/** Frames of the whole tree by name and place: self, and total with recursion counted once. */
export function frames(doc, tree, column) {
  const rows = new Map(), inside = new Map(), total = tree.total[column], own = tree.own[column];
  const walk = [[0, false]];
  while (walk.length) {
    const [i, done] = walk.pop(), key = tree.key(i);
    if (done) {
      inside.set(key, inside.get(key) - 1);
      continue;
    }
    const row = rows.get(key) ?? rows.set(key, { key, name: tree.name(i), about: tree.about(i), self: 0, total: 0 }).get(key);
    row.self += own[i];
    if (!inside.get(key)) row.total += total[i];
    inside.set(key, (inside.get(key) ?? 0) + 1);
    walk.push([i, true]);
    for (const c of tree.children[i]) walk.push([c, false]);
  }
  return [...rows.values()].filter((r) => r.total);
}

/** The direct callers and callees of the frames of this key: [{ key, name, about, amount }]; recursion counts once. */
export function relatives(tree, column, key) {
  const callers = new Map(), callees = new Map(), total = tree.total[column], open = new Map();
  const add = (to, i, amount) => {
    const k = tree.key(i);
    (to.get(k) ?? to.set(k, { key: k, name: tree.name(i), about: tree.about(i), amount: 0 }).get(k)).amount += amount;
  };
  const walk = [[0, false, false]];
  let inside = 0, all = 0, own = 0;
  while (walk.length) {
    const [i, done, called] = walk.pop(), mine = tree.key(i) === key;
    if (done) {
      inside -= mine;
      if (called) open.set(tree.key(i), open.get(tree.key(i)) - 1);
      continue;
    }
    if (mine) own += tree.own[column][i];
    if (mine && !inside) {
      all += total[i];
      if (i) add(callers, tree.parent[i], total[i]);
    }
    if (called) {
      if (!open.get(tree.key(i))) add(callees, i, total[i]);
      open.set(tree.key(i), (open.get(tree.key(i)) ?? 0) + 1);
    }
    inside += mine;
    walk.push([i, true, called]);
    for (const c of tree.children[i]) if (total[c]) walk.push([c, false, mine && tree.key(c) !== key]);
  }
  return { total: all, self: own, callers: [...callers.values()], callees: [...callees.values()] };
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
