// The page: every document in it is shown by the row of its schema. A new kind of document is a module and a row.
import "./style.css";
import { aggregate, aggregateTitle } from "./aggregate.js";
import { annotate, annotateTitle } from "./annotate.js";
import { bench, benchTitle } from "./bench.js";
import { compare, compareTitle } from "./compare.js";
import { diff, diffTitle } from "./diff.js";
import { h, themeChanged } from "./dom.js";
import { history, historyTitle } from "./history.js";
import { stacks, summarize, summarizeTitle } from "./regions.js";
import { memory, memoryTitle, sharing, sharingTitle } from "./memory.js";
import { report, reportTitle } from "./report.js";
import { reportDiff, reportDiffTitle } from "./report_diff.js";
import { series } from "./series.js";
import { spans } from "./spans.js";
import { intervals, stat, statTitle } from "./stat.js";
import { windows, windowsTitle } from "./windows.js";
import { windowsDiff, windowsDiffTitle } from "./windows_diff.js";

const kinds = {
  "tare/stat/1": { show: stat, title: statTitle },
  "tare/report/1": { show: report, title: reportTitle },
  "tare/report-diff/1": { show: reportDiff, title: reportDiffTitle },
  "tare/memory/1": { show: memory, title: memoryTitle },
  "tare/sharing/1": { show: sharing, title: sharingTitle },
  "tare/summarize/1": { show: summarize, title: summarizeTitle },
  "tare/aggregate/1": { show: aggregate, title: aggregateTitle },
  "tare/bench/1": { show: bench, title: benchTitle },
  "tare/windows/1": { show: windows, title: windowsTitle },
  "tare/compare/1": { show: compare, title: compareTitle },
  "tare/diff/1": { show: diff, title: diffTitle },
  "tare/windows-diff/1": { show: windowsDiff, title: windowsDiffTitle },
  "tare/annotate/1": { show: annotate, title: annotateTitle },
  "tare/history-plot/1": { show: history, title: historyTitle },
  "tare/stacks/1": { show: stacks },
  "tare/series/1": { show: series },
  "tare/spans/1": { show: spans },
};

function themeButton() {
  const button = h("button", { type: "button", class: "theme", "aria-label": "light or dark", onclick: () => {
    const root = document.documentElement.dataset, dark = root.theme ? root.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.theme = dark ? "light" : "dark";
    themeChanged();
  } }, "◐");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  return button;
}

function show(page) {
  const documents = page.documents, known = documents.filter((d) => kinds[d.schema]);
  const sections = [intervals_of(documents), ...known.flatMap((d) => kinds[d.schema].show(d, documents))].flat().filter(Boolean);
  const lead = sections.findIndex((s) => s.className === "lead");
  if (lead > 0) sections.unshift(...sections.splice(lead, 1));
  const links = sections.filter((s) => s.dataset.title).map((s) => h("a", { href: `#${s.getAttribute("aria-labelledby")}` }, s.dataset.title));
  const unknown = documents.filter((d) => !kinds[d.schema] && d.schema !== "tare/stat-interval/1");
  const first = known.find((d) => kinds[d.schema].title), about = first ? kinds[first.schema].title(first) : { title: page.title, kind: "tare" };
  return [
    h("header", {}, h("div", { class: "top" }, h("span", { class: "kind" }, page.kind ?? about.kind), themeButton()), h("h1", {}, about.title || page.title),
      links.length > 1 && h("nav", { "aria-label": "sections" }, links)),
    ...sections,
    unknown.map((d) => h("p", { class: "remark" }, `A part of this page (${d.schema}) is of a kind that it cannot show.`)),
    h("footer", {}, page.notes?.map((n) => h("p", {}, n)), h("p", {}, `${page.recorded ? `Recorded ${page.recorded}. ` : ""}Written by tare ${page.tare}. This page is one file, works offline and talks to nobody. Plots by uPlot (MIT).`)),
  ];
}

function intervals_of(documents) {
  const all = documents.filter((d) => d.schema === "tare/stat-interval/1");
  return all.length ? [intervals(all)] : [];
}

const main = document.getElementById("page");
try {
  main.append(...show(JSON.parse(document.getElementById("data").textContent)).flat());
} catch (e) {
  main.append(h("p", { class: "remark" }, `This page's data could not be shown: ${e.message}`));
  throw e;
}
