// A flame graph on a canvas, root at the top. Click or Enter zooms; arrow keys move; the search marks.
import { colour, h, newId, onTheme, shown } from "./dom.js";
import { difference } from "./flame_diff.js";
import { full, percent, plain } from "./format.js";
import { layout, search } from "./tree.js";

const ROW = 19, FONT = "12px system-ui, sans-serif";

/** Calls `chosen`, if given, with the column when it changes. */
export function flame(doc, tree, chosen) {
  const columns = doc.columns, diff = doc.difference && difference(doc, tree);
  const state = { column: diff ? diff.widths[0][1] : 0, by: diff ? diff.colours[0][1] : "name", root: 0, at: 0, found: null, rects: [], rows: 1 };
  const canvas = h("canvas", { tabindex: 0, role: "application", "aria-label": "flame graph; arrow keys move, Enter zooms, Escape zooms out" });
  const tip = h("div", { class: "tip", hidden: true }), said = h("p", { class: "selected", role: "status", "aria-live": "polite" });
  const hits = h("span", { class: "count", role: "status" });
  const room = h("div", { class: "flame" }, canvas, tip);

  const ratio = ([a, b]) => (i) => (tree.total[b][i] ? tree.total[a][i] / tree.total[b][i] : null);
  const unit = () => columns[state.column].unit;

  function describe(i) {
    if (diff) return diff.describe(i);
    const total = tree.total[state.column], own = tree.own[state.column];
    const parts = [`${plain(total[i], unit())} (${percent(total[i] / total[0], 2)})`, `alone ${plain(own[i], unit())}`];
    if (state.by !== "name") {
      const r = ratio(state.by)(i);
      parts.push(`${columns[state.by[0]].name} per ${columns[state.by[1]].name} ${r === null ? "unknown" : full(Number(r.toPrecision(4)))}`);
    }
    return parts.join(", ");
  }

  function fillOf(i) {
    if (state.found) return state.found[i] ? colour("--mark") : colour("--dim");
    if (diff) return diff.fill(i, state.by, colour("--flame-l"));
    if (state.by === "name") return hue(tree.name(i));
    const r = ratio(state.by)(i), middle = ratio(state.by)(0);
    if (r === null || !middle) return colour("--dim");
    const t = Math.max(-1, Math.min(1, Math.log2(r / middle) / 2)); // a quarter of the whole's, to four times
    return `hsl(${t < 0 ? 215 : 12} ${Math.round(20 + 60 * Math.abs(t))}% ${colour("--flame-l")})`;
  }

  function hue(name) {
    let x = 0;
    for (let k = 0; k < name.length; k++) x = (x * 31 + name.charCodeAt(k)) >>> 0;
    return `hsl(${18 + x % 32} ${58 + (x >>> 8) % 22}% ${colour("--flame-l")})`;
  }

  function draw() {
    const width = room.clientWidth, ratioOf = devicePixelRatio || 1;
    if (!width) return;
    state.rects = layout(tree, state.column, state.root, 0.4 / width);
    state.rows = state.rects.reduce((most, r) => Math.max(most, r[1] + 1), 1);
    canvas.width = width * ratioOf;
    canvas.height = state.rows * ROW * ratioOf;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${state.rows * ROW}px`;
    const c = canvas.getContext("2d");
    c.scale(ratioOf, ratioOf);
    c.font = FONT;
    c.textBaseline = "middle";
    const ink = colour("--flame-ink"), fills = new Map();
    for (const [i, row, from, to] of state.rects) {
      const x = from * width, w = (to - from) * width, above = i !== state.root && tree.depth[i] < tree.depth[state.root];
      const key = state.by === "name" && !state.found ? tree.frame[i] : i;
      if (!fills.has(key)) fills.set(key, fillOf(i));
      c.globalAlpha = above ? 0.55 : 1;
      c.fillStyle = fills.get(key);
      c.fillRect(x, row * ROW, Math.max(0.5, w - (w > 3 ? 1 : 0)), ROW - 1);
      if (w > 28) {
        c.fillStyle = ink;
        c.fillText(fit(c, shown(tree.name(i)), w - 8), x + 4, row * ROW + ROW / 2);
      }
    }
    c.globalAlpha = 1;
    const selected = state.rects.find((r) => r[0] === state.at);
    if (selected && document.activeElement === canvas) {
      c.strokeStyle = colour("--focus");
      c.lineWidth = 2;
      c.strokeRect(selected[2] * width + 1, selected[1] * ROW + 1, Math.max(2, (selected[3] - selected[2]) * width - 3), ROW - 3);
    }
  }

  function fit(c, text, width) {
    let n = Math.min(text.length, Math.ceil(width / 3));
    while (n > 1 && c.measureText(text.slice(0, n)).width > width) n = Math.min(n - 1, Math.floor(n * width / c.measureText(text.slice(0, n)).width));
    return n === text.length ? text : n > 3 ? `${text.slice(0, n - 1)}…` : "";
  }

  function select(i) {
    state.at = i;
    said.replaceChildren(h("b", {}, tree.name(i)), ` ${shown(describe(i))}`, h("span", { class: "soft" }, ` ${tree.about(i)}`));
    draw();
  }
  function zoom(i) {
    state.root = i;
    back.disabled = i === 0;
    select(i);
  }

  function hit(e) {
    const box = canvas.getBoundingClientRect(), x = (e.clientX - box.left) / box.width, row = Math.floor((e.clientY - box.top) / ROW);
    return state.rects.find((r) => r[1] === row && r[2] <= x && x < r[3])?.[0];
  }
  canvas.addEventListener("click", (e) => { const i = hit(e); if (i !== undefined) zoom(i); });
  canvas.addEventListener("pointermove", (e) => {
    const i = hit(e);
    tip.hidden = i === undefined;
    if (tip.hidden) return;
    tip.replaceChildren(h("b", {}, tree.name(i)), h("div", {}, describe(i)), tree.about(i) && h("div", { class: "soft" }, tree.about(i)));
    const box = room.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    tip.style.left = `${Math.max(0, Math.min(x + 12, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${y + 18}px`;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("focus", () => select(state.at));
  canvas.addEventListener("blur", draw);
  canvas.addEventListener("keydown", (e) => {
    const i = state.at, shown = (k) => state.rects.some((r) => r[0] === k), beside = i ? tree.children[tree.parent[i]].filter(shown) : [0];
    const widest = tree.children[i].filter(shown).sort((a, b) => tree.total[state.column][b] - tree.total[state.column][a])[0];
    const to = { ArrowUp: i ? tree.parent[i] : 0, ArrowDown: widest, ArrowLeft: beside[beside.indexOf(i) - 1], ArrowRight: beside[beside.indexOf(i) + 1], Home: 0 }[e.key];
    if (e.key === "Enter" || e.key === " ") zoom(i);
    else if (e.key === "Escape" && state.root) zoom(tree.parent[state.root]);
    else if (["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home"].includes(e.key)) { if (to !== undefined) select(to); }
    else return;
    e.preventDefault();
  });

  function find(words) {
    const r = words ? search(tree, state.column, words) : null;
    state.found = r?.found ?? null;
    hits.textContent = r ? `${r.count.toLocaleString("en-US")} frames, ${percent(r.share, 2)}` : "";
    draw();
  }
  const id = newId("f"), input = h("input", { id, type: "search", autocomplete: "off", spellcheck: "false", oninput: () => find(input.value) });
  const back = h("button", { type: "button", disabled: true, onclick: () => zoom(0) }, "whole graph");
  const choice = (label, options, set) => options.length > 1 && h("label", {}, label, " ", h("select", { onchange: (e) => { set(options[e.target.selectedIndex][1]); find(input.value); select(state.at); } },
    options.map(([name]) => h("option", {}, name))));
  const ratios = columns.flatMap((a, i) => columns.map((b, k) => [`${a.name} per ${b.name}`, [i, k]])).filter(([, [i, k]]) => i !== k);

  new ResizeObserver(draw).observe(room);
  onTheme(draw);
  addEventListener("beforeprint", () => { tip.hidden = true; draw(); });
  return h("div", {},
    h("div", { class: "tools" },
      choice("Width:", diff ? diff.widths : columns.map((c, i) => [c.name, i]), (v) => { state.column = v; chosen?.(v); }),
      choice("Colour:", diff ? diff.colours : [["by name", "name"], ...ratios], (v) => { state.by = v; }),
      h("label", { for: id }, "Find"), input, hits, back),
    diff && diff.legend, room, said);
}
