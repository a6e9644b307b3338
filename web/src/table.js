// A table that sorts by any column, filters by text, and shows many rows only on request.
import { h, newId, svg } from "./dom.js";
import { toNumber } from "./format.js";

const ROWS_FIRST = 30;

/**
 * columns: [{ title, about, value(row), show(row), number, sort: "down" | "up", bar(row), wide, text(row) }]
 * `value` sorts, `show` gives text or an element, `bar` a fraction of 1 drawn in the background of the cell.
 * options: { caption, search: "Filter events", empty, rows: number of rows shown initially }
 */
export function table(columns, rows, options = {}) {
  const state = { by: columns.findIndex((c) => c.sort), down: true, words: "", all: false };
  if (state.by >= 0) state.down = columns[state.by].sort === "down";
  const body = h("tbody"), more = h("button", { type: "button", class: "more", onclick: () => { state.all = true; draw(); } });
  const count = h("span", { class: "count", role: "status", "aria-live": "polite" });
  const heads = columns.map((c, i) => h("th", { scope: "col", class: c.number ? "n" : null, title: c.about },
    h("button", { type: "button", onclick: () => sortBy(i) }, c.title, h("span", { class: "arrow", "aria-hidden": "true" }))));
  const text = (row) => columns.map((c) => (c.text ? c.text(row) : c.value(row)) ?? "").join(" ").toLowerCase();
  const texts = new Map(), first = options.rows ?? ROWS_FIRST;

  function sortBy(i) {
    state.down = state.by === i ? !state.down : !!columns[i].number;
    state.by = i;
    draw();
  }

  function compare(a, b) {
    const c = columns[state.by], [x, y] = [c.value(a), c.value(b)];
    const none = (v) => v === null || v === undefined || v === "" || Number.isNaN(v);
    if (none(x) || none(y)) return none(x) - none(y); // unknown values come last in either direction
    const order = c.number ? toNumber(x) - toNumber(y) : String(x).localeCompare(String(y), "en", { numeric: true });
    return state.down ? -order : order;
  }

  function chosen() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const left = words.length === 0 ? [...rows] : rows.filter((row) => {
      if (!texts.has(row)) texts.set(row, text(row));
      return words.every((w) => texts.get(row).includes(w));
    });
    return state.by < 0 ? left : left.sort(compare);
  }

  function cell(c, row) {
    const shown = c.show ? c.show(row) : c.value(row) ?? "";
    const bar = c.bar?.(row);
    return h("td", { class: [c.number && "n", c.wide && "wide", bar !== undefined && "barred"].filter(Boolean).join(" ") || null },
      bar !== undefined && Number.isFinite(bar) && svg("svg", { class: "bar", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: "0 0 100 1" },
        svg("rect", { width: Math.max(0, Math.min(100, 100 * bar)), height: 1 })), h("span", {}, shown));
  }

  function draw() {
    const left = chosen(), shown = state.all || left.length < 1.5 * first ? left : left.slice(0, first);
    body.replaceChildren(...shown.map((row) => h("tr", {}, columns.map((c) => cell(c, row)))));
    if (!left.length) body.append(h("tr", {}, h("td", { colspan: columns.length, class: "empty" }, options.empty ?? "nothing matches")));
    heads.forEach((th, i) => {
      if (i === state.by) th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    more.hidden = shown.length === left.length;
    more.textContent = `show all ${left.length.toLocaleString("en-US")} rows`;
    count.textContent = state.words ? `${left.length.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")}` : "";
  }

  const id = newId("f");
  const element = h("div", { class: "table" },
    options.search && rows.length > 10 && h("div", { class: "tools" },
      h("label", { for: id }, options.search),
      h("input", { id, type: "search", autocomplete: "off", spellcheck: "false", oninput: (e) => { state.words = e.target.value; draw(); } }),
      count),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": options.caption ?? "table" },
      h("table", {}, options.caption && h("caption", { class: "unseen" }, options.caption), h("thead", {}, h("tr", {}, heads)), body)),
    more);
  draw();
  addEventListener("beforeprint", () => { if (!state.all && rows.length <= 1000) { state.all = true; draw(); } });
  return element;
}
