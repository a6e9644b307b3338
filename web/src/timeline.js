// The samples of tare/stacks/1 over time, a lane for each thread; a range, a thread and a module select some of them.
import { colour, h, newId, onTheme } from "./dom.js";
import { full, plain, short } from "./format.js";
import { unpack } from "./packed.js";

const LANES = 8, HEIGHT = 34;

/** { n, at, thread, node, column, amount } in ns and numbers, and how long it took. */
export function makeSamples(doc) {
  const { samples } = doc, at = unpack(samples.at), n = at.length;
  let end = 0;
  for (let i = 0; i < n; i++) end = at[i] > end ? at[i] : end;
  const column = unpack(samples.column);
  return { n, at, tick: samples.tick_ns, end: end + 1, thread: unpack(samples.thread), node: unpack(samples.node), column, amount: unpack(samples.amount), threads: samples.threads };
}

/**
 * The document of the selected samples: its amounts are the sums of their amounts. `choice` is { from, to, thread, process, module }, null for any. Without a
 * choice the amounts stay those of the document, which may be exact counts.
 */
export function chosen(doc, s, choice) {
  const { from, to, thread, process, module } = choice;
  const parts = { node: [], label: [], thread: [], self: doc.columns.map(() => []) }, found = new Map();
  const whole = from === null && thread === null && process === null && module === null;
  const self = doc.columns.map(() => new Float64Array(doc.nodes.parent.length)), nodes = doc.nodes.parent.length;
  const { frame } = doc.nodes, modules = doc.frames.module;
  let n = 0;
  for (let i = 0; i < s.n; i++) {
    const t = s.thread[i], node = s.node[i];
    if (from !== null && (s.at[i] < from || s.at[i] >= to)) continue;
    if (thread !== null && t !== thread) continue;
    if (process !== null && s.threads[t].pid !== process) continue;
    if (module !== null && (node === 0 || modules[frame[node]] !== module)) continue;
    n++;
    self[s.column[i]][node] += s.amount[i];
    const key = t * nodes + node;
    let at = found.get(key);
    if (at === undefined) {
      at = parts.node.push(node) - 1;
      parts.label.push(t);
      parts.self.forEach((column) => column.push(0));
      found.set(key, at);
    }
    parts.self[s.column[i]][at] += s.amount[i];
  }
  return { ...doc, nodes: whole ? doc.nodes : { ...doc.nodes, self }, by_thread: parts, selected: whole ? null : n };
}

/** The labels of each thread: the command (with its pid if there are several processes), and with `each` "thread" the thread. */
export function rootsOf(threads, each) {
  const pids = new Map();
  for (const t of threads) pids.set(t.pid, (pids.get(t.pid) ?? 0) + 1);
  const commands = threads.map((t) => threads.find((u) => u.tid === t.pid && u.pid === t.pid)?.command ?? t.command);
  return threads.map((t, i) => {
    const process = pids.size > 1 ? `${commands[i]} ${t.pid}` : commands[i];
    return each === "thread" ? [process, `${t.command} ${t.tid}`] : [process];
  });
}

/** Calls `changed(choice)` whenever the selection changes; returns the element. */
export function timeline(doc, s, changed) {
  const choice = { from: null, to: null, thread: null, process: null, module: null };
  const counts = new Float64Array(s.threads.length);
  for (let i = 0; i < s.n; i++) counts[s.thread[i]]++;
  const order = [...counts.keys()].sort((a, b) => counts[b] - counts[a]), shown = s.threads.length > 1 ? order.slice(0, LANES) : [];
  const lanes = [{ name: "all threads", of: null }, ...shown.map((t) => ({ name: `${s.threads[t].command} ${s.threads[t].tid}`, of: t }))];
  const left = s.threads.length - shown.length, ms = (ticks) => Number(((ticks * s.tick) / 1e6).toFixed(3));
  const said = h("p", { class: "selected", role: "status", "aria-live": "polite" });
  let drag = null;

  function bins(of, width) {
    const out = new Float64Array(width);
    for (let i = 0; i < s.n; i++) {
      if (s.column[i] !== s.column[0] || (of !== null && s.thread[i] !== of)) continue;
      if (choice.process !== null && s.threads[s.thread[i]].pid !== choice.process) continue;
      out[Math.min(width - 1, Math.floor((s.at[i] / s.end) * width))] += s.amount[i];
    }
    return out;
  }

  function draw() {
    for (const lane of lanes) {
      const canvas = lane.canvas, width = canvas.parentElement?.clientWidth ?? 0, ratio = devicePixelRatio || 1;
      if (!width) continue;
      canvas.width = width * ratio;
      canvas.height = HEIGHT * ratio;
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      if (lane.width !== width || lane.process !== choice.process) Object.assign(lane, { width, process: choice.process, bins: bins(lane.of, Math.max(1, Math.floor(width / 2))) });
      const high = lane.bins.reduce((a, b) => Math.max(a, b), 0) || 1, [from, to] = range();
      for (let i = 0; i < lane.bins.length; i++) {
        const x = i * 2, inside = choice.from === null || ((x + 1) / width) * s.end >= from && ((x + 1) / width) * s.end < to;
        const tall = (lane.bins[i] / high) * (HEIGHT - 4);
        c.fillStyle = colour(inside ? "--c0" : "--dim");
        c.fillRect(x, HEIGHT - tall, 2, tall);
      }
      if (choice.from !== null) {
        c.fillStyle = colour("--focus");
        for (const at of [from, to]) c.fillRect(Math.min(width - 1, (at / s.end) * width), 0, 1, HEIGHT);
      }
    }
  }

  const range = () => (choice.from === null ? [0, s.end] : [choice.from, choice.to]);

  function tell() {
    const [from, to] = range();
    first.value = String(ms(from));
    last.value = String(ms(to));
    whole.disabled = choice.from === null && choice.thread === null && choice.module === null && choice.process === null;
    lanes.forEach((lane) => lane.button.setAttribute("aria-pressed", String(lane.of === choice.thread)));
    draw();
  }
  function set(part) {
    Object.assign(choice, part);
    const n = changed({ ...choice }), [from, to] = range();
    said.textContent = n === null ? `${full(s.n)} samples in ${short(s.end * s.tick, "ns")}` : `selected: ${full(n)} of ${full(s.n)} samples${choice.from === null ? "" : `, ${short((to - from) * s.tick, "ns")} from ${plain(from * s.tick, "ns")}`}`;
    tell();
  }
  function select(a, b) {
    const from = Math.max(0, Math.min(a, b)), to = Math.min(s.end, Math.max(a, b));
    if (to - from >= 1) set({ from, to });
  }

  for (const lane of lanes) {
    lane.canvas = h("canvas", { class: "lane", role: "img", "aria-label": `samples of ${lane.name} over time` });
    lane.button = h("button", { type: "button", class: "plain", onclick: () => set({ thread: lane.of }) }, lane.name);
    const at = (e) => {
      const box = lane.canvas.getBoundingClientRect();
      return Math.round(Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)) * s.end);
    };
    lane.canvas.style.height = `${HEIGHT}px`;
    lane.canvas.addEventListener("pointerdown", (e) => { drag = at(e); lane.canvas.setPointerCapture(e.pointerId); });
    lane.canvas.addEventListener("pointermove", (e) => {
      if (drag === null || Math.abs(at(e) - drag) < s.end / 500) return;
      [choice.from, choice.to] = [Math.min(drag, at(e)), Math.max(drag, at(e))];
      tell();
    });
    lane.canvas.addEventListener("pointerup", (e) => {
      if (drag === null) return;
      const began = drag;
      drag = null;
      if (Math.abs(at(e) - began) >= s.end / 500) select(began, at(e));
      else set({ from: null, to: null });
    });
  }
  const number = (label, change) => {
    const id = newId("f"), input = h("input", { id, type: "number", step: "any", min: 0, class: "time", onchange: change });
    return [[h("label", { for: id }, label), input], input];
  };
  const typed = () => {
    const [from, to] = [first.value, last.value].map((v) => Math.round((Number(v) * 1e6) / s.tick));
    if (Number.isFinite(from) && Number.isFinite(to) && to > from) select(from, to);
    else tell();
  };
  const [firstBox, first] = number("From", typed), [lastBox, last] = number("to", typed);
  const whole = h("button", { type: "button", onclick: () => set({ from: null, to: null, thread: null, process: null, module: null }) }, "whole recording");
  const choose = (label, options, key) => options.length > 1 && h("label", {}, label, " ", h("select", { onchange: (e) => set({ [key]: e.target.selectedIndex ? options[e.target.selectedIndex - 1][1] : null }) },
    [h("option", {}, "all"), ...options.map(([name]) => h("option", {}, name))]));
  const commands = new Map(s.threads.map((t) => [t.pid, s.threads.find((u) => u.tid === t.pid && u.pid === t.pid)?.command ?? t.command]));
  const seen = new Set();
  for (let i = 0; i < s.n; i++) if (s.node[i]) seen.add(doc.frames.module[doc.nodes.frame[s.node[i]]]);
  const modules = [...seen].map((m) => [doc.names[m].replace(/.*\//, "") || "[unknown]", m]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const selects = [choose("Process:", [...commands].map(([pid, command]) => [`${command} ${pid}`, pid]), "process"),
    choose("Thread:", order.length > 1 ? order.map((t) => [`${s.threads[t].command} ${s.threads[t].tid}`, t]) : [], "thread"), choose("Module:", modules, "module")];
  whole.addEventListener("click", () => element.querySelectorAll("select").forEach((e) => { e.selectedIndex = 0; }));
  const element = h("div", { class: "timeline", onkeydown: (e) => { if (e.key === "Escape" && choice.from !== null) set({ from: null, to: null }); } },
    h("div", { class: "tools" }, firstBox, lastBox, " ms ", selects, whole),
    lanes.map((lane) => h("div", { class: "lane-row" }, lane.button, h("div", {}, lane.canvas))),
    left > 0 && shown.length > 0 && h("p", { class: "about" }, `${full(left)} more threads are in "all threads"; the list above has each of them.`), said);
  new ResizeObserver(draw).observe(element);
  onTheme(draw);
  addEventListener("beforeprint", draw);
  set({});
  return element;
}
