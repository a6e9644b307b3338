// The functions of tare/annotate/1 in a page of tare/report/1: source lines next to instructions, each with its amount.
import { h, section } from "./dom.js";
import { percent, plain, toNumber } from "./format.js";
import { remarksOf } from "./annotate.js";

const base = (path) => path?.replace(/.*\//, "") ?? "";
const add = (a, b) => { const sum = toNumber(a) + toNumber(b); return Number.isSafeInteger(sum) ? sum : String(BigInt(a) + BigInt(b)); };

/** The lines of a function by file, the file with most instructions first: [{ file, lines: [{ line, text, n, amounts }] }]. */
export function linesOf(doc) {
  const files = new Map(), fileOf = (file) => files.get(file) ?? files.set(file, { file, n: 0, lines: new Map() }).get(file);
  const lineOf = (f, line) => f.lines.get(line) ?? f.lines.set(line, { line, text: null, n: 0, amounts: doc.events.map(() => 0) }).get(line);
  for (const i of doc.instructions) {
    if (!i.file) continue;
    const f = fileOf(i.file), l = lineOf(f, i.line);
    f.n++;
    l.n++;
    l.amounts = l.amounts.map((v, k) => add(v, i.amounts[k]));
  }
  for (const { file, line, text } of doc.source_lines ?? []) if (files.has(file)) lineOf(files.get(file), line).text = text;
  return [...files.values()].sort((a, b) => b.n - a.n).map(({ file, lines }) => ({ file, lines: [...lines.values()].sort((a, b) => a.line - b.line) }));
}

/** One function: `doc`, the column `e` of its events. */
function listing(doc, e) {
  const event = doc.events[e], here = toNumber(event.here), rows = new Map(); // by "file:line": the rows of both sides
  const amount = (amounts) => h("td", { class: "n heat" }, toNumber(amounts[e]) > 0 && [h("span", { class: "heat-bar", style: { width: `${(100 * toNumber(amounts[e])) / here}%` }, "aria-hidden": "true" }),
    h("span", { title: `${percent(toNumber(amounts[e]) / here, 2)} of the function` }, plain(amounts[e], event.unit))]);
  const root = h("div", { class: "code-sides" });
  let marked = null;
  function mark(key, from) {
    for (const r of rows.get(marked) ?? []) r.classList.remove("marked");
    root.querySelectorAll("button[aria-pressed=true]").forEach((b) => b.setAttribute("aria-pressed", "false"));
    marked = marked === key ? null : key;
    const all = rows.get(marked) ?? [];
    for (const r of all) {
      r.classList.add("marked");
      r.querySelector("button")?.setAttribute("aria-pressed", "true");
    }
    all.find((r) => r.closest(".code-side") !== from.closest(".code-side"))?.scrollIntoView({ block: "nearest" });
  }
  const row = (key, label, ...cells) => {
    const tr = h("tr", {}, h("td", { class: "n" }, key ? h("button", { type: "button", class: "plain", "aria-pressed": "false", onclick: () => mark(key, tr) }, label) : label), cells);
    if (key) (rows.get(key) ?? rows.set(key, []).get(key)).push(tr);
    return tr;
  };
  const head = (...names) => h("thead", {}, h("tr", {}, names.map((name, i) => h("th", { scope: "col", class: i < 2 ? "n" : null }, name))));
  const side = (caption, headings, body) => h("div", { class: "code-side", tabindex: 0, role: "region", "aria-label": caption }, h("table", {}, h("caption", { class: "unseen" }, caption), headings, body));
  const files = linesOf(doc);
  const source = files.map((f) => [h("tr", { class: "file" }, h("th", { colspan: 3, scope: "rowgroup", title: f.file }, base(f.file))),
    f.lines.map((l, i) => [i > 0 && l.line > f.lines[i - 1].line + 1 && h("tr", { class: "gap" }, h("td", { colspan: 3 }, "⋮")),
      row(l.n > 0 ? `${f.file}:${l.line}` : null, String(l.line), amount(l.amounts), h("td", { class: "code-text" }, h("code", { class: "source" }, l.text ?? "")))])]);
  const start = BigInt(doc.instructions[0]?.address ?? 0);
  const assembly = doc.instructions.map((i) => row(i.file ? `${i.file}:${i.line}` : null, `+${(BigInt(i.address) - start).toString(16)}`, amount(i.amounts),
    h("td", { class: "code-text", title: `${i.address}${i.file ? `  ${base(i.file)}:${i.line}` : ""}` }, h("code", {}, i.text || "(not disassembled)"), i.target && h("span", { class: "soft" }, `  ${i.target}`))));
  root.append(...[files.length > 0 && side(`Source of ${doc.function}`, head("Line", event.event, "Source"), h("tbody", {}, source)),
    side(`Instructions of ${doc.function}`, head("Offset", event.event, "Instruction"), h("tbody", {}, assembly))].filter(Boolean));
  const most = (list, amounts) => list.reduce((a, b) => (toNumber(amounts(b)[e]) > toNumber(amounts(a)[e]) ? b : a), list[0]);
  const line = most(files.flatMap((f) => f.lines.map((l) => ({ key: `${f.file}:${l.line}`, ...l }))), (l) => l.amounts), at = doc.instructions.indexOf(most(doc.instructions, (i) => i.amounts));
  const hottest = [line && rows.get(line.key)?.[0], assembly[at]].filter(Boolean);
  return { root, show: () => hottest.forEach((r) => { const box = r.closest(".code-side"); box.scrollTop = Math.max(0, r.offsetTop - box.clientHeight / 3); }) };
}

const views = new WeakMap(); // by the documents of the page

/** { has(function, about), open(function, about), section }, or null if the page has no code. */
export function codeOf(documents) {
  if (!views.has(documents)) views.set(documents, make(documents.filter((d) => d.schema === "tare/annotate/1")));
  return views.get(documents);
}

function make(docs) {
  if (!docs.length) return null;
  const find = (name, about) => docs.findIndex((d) => d.function === name && (about === d.module || about.startsWith(`${d.module}  `)));
  const room = h("div"), said = h("div"), state = { at: 0, event: 0 };
  const share = (d) => { const e = d.events[state.event]; return toNumber(e.all) ? toNumber(e.here) / toNumber(e.all) : 0; };
  const functions = h("select", { onchange: (e) => { state.at = e.target.selectedIndex; draw(); } });
  const events = docs[0].events.length > 1 && h("select", { onchange: (e) => { state.event = e.target.selectedIndex; draw(); } }, docs[0].events.map((e) => h("option", {}, e.event)));
  function draw() {
    functions.replaceChildren(...docs.map((d, i) => h("option", { selected: i === state.at }, `${d.function}  ${percent(share(d), 1)}  ${base(d.module)}`)));
    const { root, show } = listing(docs[state.at], state.event);
    room.replaceChildren(root);
    requestAnimationFrame(show); // to the largest amount, once it has a size
    said.replaceChildren(...remarksOf(docs[state.at]).map((text) => h("p", { class: "remark" }, text)));
  }
  draw();
  const element = section("Code", "The source lines and the instructions of the functions with the largest amounts, in the whole recording. A click on a line number marks its instructions, and a click on an offset marks its line.",
    h("div", { class: "tools" }, h("label", {}, "Function: ", functions), events && h("label", {}, "Event: ", events)), room, said);
  return {
    section: element,
    has: (name, about) => find(name, about) >= 0,
    open(name, about) {
      state.at = find(name, about);
      draw();
      element.scrollIntoView();
      functions.focus({ preventScroll: true });
    },
  };
}
