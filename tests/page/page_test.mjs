// SPDX-License-Identifier: MIT
// The page of --html in a real Chromium: zoom, search, sort, keyboard; no error, no network, nothing that runs out of a name.
//
// usage: page_test.mjs TARE WEB FUZZ_SEEDS REGIONS [PATTERN]   prints TAP; without chromium or web/node_modules every test is skipped by name.
// PATTERN: only the tests with names that match, a regular expression
import { deepStrictEqual } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , TARE, WEB, SEEDS, REGIONS, PATTERN = ""] = process.argv;
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const room = mkdtempSync(join(tmpdir(), "tare-page-"));
const tests = [];
const test = (name, run) => new RegExp(PATTERN).test(name) && tests.push([name, run]);
const equal = (got, wanted, what) => { if (got !== wanted) throw new Error(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`); };
const same = (a, b, what) => { try { deepStrictEqual(a, b); } catch (e) { throw new Error(`${what}: ${e.message}`); } };
const yes = (condition, what) => { if (!condition) throw new Error(what); };

let chromium, browser;
const said = []; // errors, requests and breaches of the policy, of all pages

/** Until it has been laid out and drawn: what is drawn for its size is so in the first frame. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

/** A page of `file`, watched: what it says is heard by `heard`. */
async function open(file, options = {}, heard = said) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) heard.push(`console: ${m.text()}`); });
  page.on("pageerror", (e) => heard.push(`error: ${e.message}`));
  page.on("request", (r) => { if (r.url() !== pathToFileURL(file).href && !r.url().startsWith("data:")) heard.push(`request: ${r.url()}`); });
  await page.goto(pathToFileURL(file).href);
  await drawn(page);
  return page;
}

const files = {};
function file(name, make) {
  if (!files[name]) {
    files[name] = join(room, name);
    make(files[name]);
  }
  return files[name];
}
function run(words, status = 0, cwd = ".") {
  const r = spawnSync(resolve(TARE), words, { cwd, encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, LC_ALL: "C.UTF-8", NO_COLOR: "1", COLUMNS: "400" } });
  equal(r.status, status, `${words.join(" ")}: ${r.stderr}`);
  return r;
}
/** Runs alike: one file given twice would be one run. */
const copies = (n) => Array.from({ length: n }, (_, i) => file(`run.${i}`, (to) => copyFileSync(join(SEEDS, "measureme", "1"), to)));
/** Documents in the page that web/build.mjs writes by itself: what is around the data is the same each time, and made once. */
let around;
const made = (name, documents) => file(name, (to) => {
  if (!around) {
    const empty = join(room, "empty");
    execFileSync("node", [join(WEB, "build.mjs"), join(room, "unused.c"), empty], { input: '"data"' });
    around = readFileSync(empty, "utf8").split('\n"data"\n');
    equal(around.length, 2, "pieces of the page");
  }
  const page = JSON.stringify({ schema: "tare/page/1", tare: "test", kind: "tare test", title: name, documents });
  writeFileSync(to, `${around[0]}\n${page.replaceAll("<", "\\u003c")}\n${around[1]}`);
});

const EVIL = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>";
const stat = () => file("stat.html", (to) => run(["stat", "-r", "4", "-e", "task-clock,page-faults,context-switches,cpu-migrations,minor-faults,major-faults", "--engine", "perf", "--html", to, "--", "sh", "-c", ": $1", "sh", EVIL]));
/** A module of web/src, by itself. */
const source = (name) => import(pathToFileURL(join(WEB, "src", name)).href);
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
const cells = (page, title, i) => page.$$eval(`section[data-title="${title}"] tbody tr`, (rows, k) => rows.map((r) => r.cells[k].textContent), i);

const names = ["", "main", "parse", "eval <b>", EVIL, "gc", "a.c", "libx.so"];
const stacks = {
  schema: "tare/stacks/1", program: "prog", left_out: 2,
  columns: [{ name: "cycles", unit: "", quality: "counted" }, { name: "instructions", unit: "", quality: "exact" }],
  names, frames: { name: [1, 2, 3, 4, 5], module: [7, 7, 7, 0, 7], file: [6, 0, 0, 0, 0], line: [3, 0, 0, 0, 0] },
  // prog > main > (parse, eval > (evil, eval > gc))
  nodes: { parent: [0, 0, 1, 1, 3, 3, 5], frame: [0, 0, 1, 2, 3, 2, 4], self: [[0, 10, 100, 50, 40, 100, 700], [5, 20, 400, 100, 10, 60, 5]] },
};
const peaks = () => {
  const n = 1_000_000, values = Array.from({ length: n }, (_, i) => 100 + (i * 7919) % 50);
  values[654_321] = 9_999;
  values[123_456] = null;
  return { schema: "tare/series/1", title: "Windows", x: { name: "instructions", unit: "", start: 0, step: 1000, n },
    series: [{ name: "cycles", unit: "", quality: "counted", values }, { name: "ipc", unit: "", values: values.map((v) => (v === null ? null : 100 / v)) }] };
};

test("characters that are not seen are written out", async () => {
  const { shown } = await source("dom.js");
  for (const [raw, text] of [["main", "main"], ["a\x1b[31mb", "a\\x1b[31mb"], ["a\u202eb\u2066", "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6"], ["\x9b\x7f\0", "\\xc2\\x9b\\x7f\\x00"], ["größe 名前\t", "größe 名前\t"]])
    equal(shown(raw), text, JSON.stringify(raw));
  const page = await open(made("unseen.html", [{ ...stacks, names: names.map((n, i) => (i === 2 ? "pa\u202erse\x1b[2J" : n)) }]));
  const text = await page.evaluate(() => document.body.innerText + [...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].map((a) => a.value)).join("\n").replaceAll("\n", " "));
  const main = await page.evaluate(() => document.querySelector("main").innerText);
  yes(main.includes("pa\\xe2\\x80\\xaerse\\x1b[2J"), main.slice(0, 600));
  yes(!/[\x1b\u202e]/.test(main), "none stands raw");
  yes(text, "attributes, too");
  yes(!/[\x1b\u202e]/.test(text.replace(/<script[^]*/, "")), "in no attribute");
});

test("numbers are written as they are", async () => {
  const { short, full, percent, exactPercent, interval } = await source("format.js");
  for (const [value, unit, text] of [
    [0, "", "0"], [7, "", "7"], [999, "", "999"], [1000, "", "1,000"], [9999, "", "9,999"], [10_000, "", "10 k"], [200_000, "", "200 k"], [999_900, "", "999.9 k"], [1_000_000, "", "1 M"],
    [123_456_789, "", "123.5 M"], [-200_000, "", "-200 k"], [2e9, "", "2 G"], [3.5e12, "", "3.5 T"], ["18446744073709551615", "", "18,446,744 T"], [0.123456, "", "0.1235"], [0.00001234, "", "0.00001234"], [0.05, "ns", "0.05 ns"],
    [0, "ns", "0 ns"], [999, "ns", "999 ns"], [1000, "ns", "1 µs"], [1_500_000, "ns", "1.5 ms"], [61_000_000_000, "ns", "61 s"], [12.345, "%", "12.35 %"], [5000, "B", "5,000 B"], [null, "", "–"], [NaN, "", "–"],
  ]) equal(short(value, unit), text, `short(${value}, ${unit})`);
  for (const [value, unit, text] of [[1234567, "", "1,234,567"], ["9007199254740993", "", "9,007,199,254,740,993"], [1234, "ns", "1,234 ns"], [0.5, "", "0.5"], [null, "", ""]])
    equal(full(value, unit), text, `full(${value}, ${unit})`);
  equal(percent(0.12345), "12.3 %", "percent");
  for (const [percent, text] of [[0, "0 %"], [12.5, "12 %"], [13.5, "14 %"], [2.25, "2.2 %"], [2.75, "2.8 %"], [2.35, "2.4 %"], [0.0041, "0.0041 %"], [137.3, "137 %"]])
    equal(exactPercent(percent), text, `${percent} as printf rounds it`);
  equal(interval({ interval: "confidence", interval_percent: 2.5 }), "± 2.5 %", "an interval of 95 %");
  equal(interval({ interval: "range", interval_percent: 5 }), "range 5.0 %", "a range has its name");
  equal(interval({ interval: null, interval_percent: null }), "", "one run");
});

test("a line of fewer points keeps every peak", async () => {
  const { reduce } = await source("reduce.js");
  const n = 100_000, x = Array.from({ length: n }, (_, i) => i), y = x.map((i) => (i * 7919) % 101);
  y[12_345] = 1e6;
  y[77_777] = -1e6;
  y[50_000] = null;
  const [xs, ys] = reduce(x, y, 0, n - 1, 500);
  yes(xs.length <= 1502 && xs.length === ys.length, `${xs.length} points`);
  equal(ys[xs.indexOf(12_345)], 1e6, "the highest");
  equal(ys[xs.indexOf(77_777)], -1e6, "the lowest");
  equal(ys[xs.indexOf(50_000)], null, "the gap");
  yes(xs.every((v, i) => i === 0 || v > xs[i - 1]), "in order");
  const [near] = reduce(x, y, 40_000, 40_100, 500);
  equal(near.join(), x.slice(39_999, 40_102).join(), "all of a few, and the neighbours outside");
});

test("bins hold every value once", async () => {
  const { bin } = await source("histogram.js");
  for (const values of [[1, 2, 3, 4, 5], [0.1, 0.2, 0.3, 10], Array.from({ length: 1000 }, (_, i) => i * i), [5, 5, 5], [-1, 1]]) {
    const bins = bin(values);
    equal(bins.reduce((s, b) => s + b[2], 0), values.length, `bins of ${values.length}`);
    for (const [from, to, count] of bins.slice(0, -1)) equal(values.filter((v) => v >= from && v < to).length, count, `between ${from} and ${to}`);
  }
});

test("empty bins between others keep their place", async () => {
  const { doubling } = await source("histogram.js");
  same(doubling([[0, 0, 5], [4, 7, 1], [16, 31, 2]]), [[0, 0, 5], [1, 1, 0], [2, 3, 0], [4, 7, 1], [8, 15, 0], [16, 31, 2]], "from 0");
  same(doubling([[64, 127, 1], [128, 255, 2]]), [[64, 127, 1], [128, 255, 2]], "none is missing");
  const high = 2 ** 63;
  equal(doubling([[1, 1, 1], [high, 2 * high - 1, 1]]).length, 64, "up to 64 bits");
});

test("numbers of tare stat are shown as they stand in the JSON", async () => {
  const page = await open(stat()), { documents: [doc], schema } = await data(page);
  equal(schema, "tare/page/1", "schema");
  equal(doc.schema, "tare/stat/1", "document");
  const shown = await cells(page, "Events", 0), values = await cells(page, "Events", 1), counted = doc.events.filter((e) => e.value !== null);
  equal(shown.join(), counted.map((e) => e.event).join(), "events");
  const faults = counted.find((e) => e.event === "page-faults");
  equal(values[shown.indexOf("page-faults")], faults.value.toLocaleString("en-US"), "page-faults");
  equal((await page.$$eval('section[data-title="Events"] .quality', (q) => q.map((e) => e.textContent))).join(), counted.map((e) => e.quality).join(), "each number's quality");
});

test("the page lists fixed items in the words of the text output", async () => {
  const to = (name) => ["stat", "--engine", "perf", "-e", "page-faults", "--deterministic=aslr,order,readdir", ...name, "--", "true"];
  const page = await open(file("fixed.html", (path) => run(to(["--html", path]))));
  const said = (await page.locator("section.lead .remark").allTextContents()).join("\n");
  yes(said.includes("Fixed in each run: aslr, order."), said);
  yes(said.includes("Not fixed: readdir: only the exact engine can"), said);
  const doc = JSON.parse(readFileSync(join(WEB, "../tests/golden/stat-eight-runs.json"), "utf8"));
  doc.notes = ["+engine: includes engine overhead.", "1 of 8 runs failed (exit 3)."];
  const model = await open(made("model.html", [doc]));
  equal((await model.locator("section.lead .remark").allTextContents()).join("\n"), doc.notes[1], "the notes");
});

test("page and text name the same number of runs, and say which failed", async () => {
  const html = join(room, "clean.html"), text = run(["stat", "--clean-times", "-r", "2", "-e", "instructions:u,page-faults", "--html", html, "--", "true"]).stderr;
  yes(text.includes("median of 2 runs"), text);
  const page = await open(html), main = await page.locator("main").innerText();
  equal(await page.locator('section[data-title="Events"] .about').textContent(), "median of 2 runs", "the heading");
  yes(/Runs\s+2\b/.test(main), main);
  equal((await data(page)).documents[0].runs, 4, "all runs");
  for (const line of text.split("\n").map((l) => l.trim()).filter((l) => /^(exact|All else)/.test(l))) yes(main.includes(line), line);
  const failed = join(room, "failed.html"), note = run(["stat", "-r", "2", "-e", "page-faults", "--engine", "perf", "--html", failed, "--", "false"], 1).stderr.split("\n").find((l) => l.includes("runs failed")).trim();
  yes((await (await open(failed)).locator("main").innerText()).includes(note), note);
});

test("what includes engine overhead comes last, marked, as in text, JSON and CSV", async () => {
  const counted = ["instructions:u", "branches:u"], overhead = ["task-clock", "page-faults"], doc = JSON.parse(readFileSync(join(WEB, "../tests/golden/stat-eight-runs.json"), "utf8"));
  const rows = (names, more) => names.map((event, i) => ({ ...doc.events.find((e) => e.event === "task-clock"), event, unit: "", ...more }));
  doc.events = [...rows(counted, { quality: "exact" }), ...rows(overhead, { with_engine_work: true })];
  doc.notes = ["+engine: includes engine overhead. --clean-times counts these in further runs, without the engine."];
  doc.times_ns.with_engine_work = true;
  for (const varied of [true, false]) { // counts that are exact are often equal in all runs: only times vary then
    if (!varied) for (const e of doc.events.slice(0, 2)) e.max = e.min;
    const page = await open(made(`overhead-${varied}.html`, [doc]));
    equal((await cells(page, "Events", 0)).join(), [...counted, ...overhead].join(), "order");
    equal((await cells(page, "Events", 2)).map((c) => c.includes("+engine")).join(), "false,false,true,true", "mark");
    equal((await page.$$eval("section[data-title]", (s) => s.map((e) => e.dataset.title))).join(), `Events,Metrics,${varied ? "Runs," : ""}Unavailable,Engine overhead,Runs +engine`.replace("Unavailable,", doc.events.some((e) => e.value === null) ? "Unavailable," : ""), "sections");
    yes(!/wall|user|system/i.test(await page.locator("section.lead").textContent()), await page.locator("section.lead").textContent());
    const last = await page.locator('section[data-title="Engine overhead"]').textContent();
    for (const word of [/--clean-times/, /Wall[^A-Z]*\+engine/, /User[^A-Z]*\+engine/, /System[^A-Z]*\+engine/]) yes(word.test(last), `${word}: ${last}`);
    const runs = (title) => page.$$eval(`section[data-title="${title}"] option`, (o) => o.map((e) => e.textContent));
    equal((await runs("Runs +engine")).join(), overhead.join(), "the plots of what includes overhead");
    equal((await runs("Runs")).join(), varied ? counted.join() : "", "the plots of counts");
  }
});

test("how far a median is known is the same in text, JSON and page", async () => {
  const golden = (name) => readFileSync(join(WEB, "../tests/golden", name), "utf8"), seen = new Set();
  for (const runs of ["five", "eight"]) {
    const lines = golden(`stat-${runs}-runs.txt`).split("\n"), doc = JSON.parse(golden(`stat-${runs}-runs.json`));
    const page = await open(made(`${runs}-runs.html`, [doc])), counted = doc.events.filter((e) => e.value !== null), shown = await cells(page, "Events", doc.events.some((e) => e.share < 1) ? 4 : 3);
    const of = (name) => lines.find((l) => l.includes(` ${name} `)).match(/(±|range|limits) +[0-9.]+ %/)[0].replace(/ +/g, " ");
    equal(shown.join(), counted.map((e) => of(e.event)).join(), `${runs} runs`);
    const facts = await page.locator(".facts").textContent();
    for (const [name, time] of Object.entries(doc.times_ns).filter(([, t]) => t.interval)) yes(name === "counted" || facts.includes(of(name)), `${name}: ${facts}`);
    for (const e of counted) {
      const half = e.interval === "confidence" ? 2 : 1, width = 100 * (Number(e.high) - Number(e.low)) / half / Math.abs(Number(e.median));
      seen.add(e.interval);
      yes(Math.abs(width - e.interval_percent) <= 1e-9 * Math.max(1, width), `${e.event}: ${width}, ${e.interval_percent}`);
    }
  }
  equal([...seen].sort().join(), "confidence,limits,range", "each kind");
});

test("the noise budget is told in the words of the text", async () => {
  const words = ["stat", "-r", "3", "-e", "task-clock", "--engine", "perf", "--explain"];
  const page = await open(file("few.html", (to) => run([...words, "--html", to, "--", "true"])));
  const few = page.locator('section[data-title="Where the spread comes from"]');
  yes((await few.textContent()).includes("3 runs: too few to name a cause"), "too few are said to be too few");
  equal(await few.locator("table").count(), 0, "nothing to split");

  const part = (causes, text, share, low, high, how) => ({ causes, words: text, how, share, low, high, p: 0.001 });
  const doc = (await data(page)).documents[0];
  doc.explain.events = [{ event: `instructions:u ${EVIL}`, state: "split", n: 8, words: "standard deviation 672, largest minus smallest 1,900; with everything fixed 0",
    parts: [part(["hash-seeds"], "hash seeds: alone a standard deviation of 616", 0.84, 0.57, 0.96, "switched"), part(["page-faults"], "page faults: 12 (9 to 14) for each page fault", 0.1, 0.04, 0.43, "regression")],
    unexplained: { words: "unexplained: two runs part in spin", share: 0.06, low: 0, high: 0.28, place: "two runs part in spin" }, one_run: { run: 3, share: 0.9, words: "Run 3 alone makes 90 % of the variance" } },
  { ...doc.explain.events[0], words: "all 8 equal: there is no spread to explain.", state: "no spread" }];
  doc.explain.notes = ["8 runs as asked", "Not seen here: migrations."];
  const split = await open(made("explain.html", [doc])), title = "Where the spread comes from", section = split.locator(`section[data-title="${title}"]`);
  equal((await cells(split, title, 0)).join(), "84 %,10 %,6 %", "shares");
  equal((await cells(split, title, 1)).join(), "57 % to 96 %,4 % to 43 %,0 % to 28 %", "intervals");
  equal((await cells(split, title, 2)).join("|"), "hash seeds: alone a standard deviation of 616|page faults: 12 (9 to 14) for each page fault|unexplained: two runs part in spin", "causes");
  equal((await cells(split, title, 3)).join(), "switched,regression,", "how");
  equal((await section.locator("rect").evaluateAll((r) => r.map((b) => b.getAttribute("width")))).join(), "84,10,6", "bars");
  for (const text of ["standard deviation 672, largest minus smallest 1,900", "all 8 equal", "Run 3 alone makes 90 %", "8 runs as asked", "Not seen here: migrations.", EVIL])
    yes((await section.textContent()).includes(text), text);
  equal(await section.locator("table").count(), 1, "the event without spread has no table");
  const none = await open(stat());
  equal(await none.locator(`section[data-title="${title}"]`).count(), 0, "without --explain");
});

test("a table sorts by click and by key, and says how", async () => {
  const page = await open(stat()), head = page.locator('section[data-title="Events"] th', { hasText: "Largest" });
  const index = await head.evaluate((th) => th.cellIndex), wanted = (await data(page)).documents[0].events.filter((e) => e.value !== null).sort((a, b) => b.max - a.max).map((e) => e.event);
  await head.locator("button").click();
  equal(await head.getAttribute("aria-sort"), "descending", "aria-sort");
  const first = (await cells(page, "Events", 0))[0];
  equal(first, wanted[0], `by column ${index}`);
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  equal(await head.getAttribute("aria-sort"), "ascending", "the other way");
  yes((await cells(page, "Events", 0))[0] !== first, "the order turned");
});

test("a name out of a recording runs nowhere, and the policy holds", async () => {
  for (const f of [stat(), made("stacks.html", [stacks])]) {
    const heard = [], page = await open(f, {}, heard);
    equal(await page.evaluate(() => window.hacked), undefined, "hacked");
    equal(await page.evaluate(() => document.scripts.length), 2, "scripts");
    yes((await page.evaluate(() => document.body.innerText)).includes("</script><script>window.hacked=1</script>"), "the name is shown as it is");
    equal(heard.join("\n"), "", "nothing of its own");
    await page.evaluate(() => {
      const s = document.createElement("script");
      s.textContent = "window.hacked = 3";
      document.body.append(s);
      document.body.insertAdjacentHTML("beforeend", '<img src="x" onerror="window.hacked = 4">');
    });
    for (let i = 0; i < 400 && !heard.some((s) => s.includes("inline event handler")); i++)
      await page.waitForTimeout(50);
    equal(await page.evaluate(() => window.hacked), undefined, "no script but the one of the page's hash");
    yes(heard.length > 1 && heard.every((s) => /Content Security Policy|request: .*\/x$/.test(s)), `the browser says so: ${heard}`);
  }
});

test("a flame graph has commands and processes at its root", async () => {
  // main of two processes "a", one "b"; work below it in the first two alone.
  const doc = { schema: "tare/stacks/1", program: "all", left_out: 0, columns: [{ name: "cpu-clock", unit: "" }], names: ["", "main", "work", "a", "b"],
    frames: { name: [1, 2], module: [0, 0], file: [0, 0], line: [0, 0] }, nodes: { parent: [0, 0, 1], frame: [0, 0, 1], self: [[0, 60, 40]] },
    processes: { pid: [11, 12, 13], command: [3, 3, 4] }, parts: { node: [1, 1, 1, 2, 2], process: [0, 1, 2, 0, 1], self: [[10, 20, 30, 25, 15]] } };
  const { makeTree, rooted } = await source("tree.js");
  const paths = (d) => {
    const t = makeTree(d), path = (i) => (i === 0 ? d.program : `${path(t.parent[i])};${t.name(i)}`);
    return Array.from({ length: t.n }, (_, i) => [path(i), t.total[0][i]]).sort().map((p) => p.join(" "));
  };
  equal(paths(doc).join(), "all 100,all;main 100,all;main;work 40", "all together");
  equal(paths(rooted(doc, false)).join(), "all 100,all;a 70,all;a;main 70,all;a;main;work 40,all;b 30,all;b;main 30", "commands");
  equal(paths(rooted(doc, true)).join(), "all 100,all;a 70,all;a;a 11 35,all;a;a 11;main 35,all;a;a 11;main;work 25,all;a;a 12 35,all;a;a 12;main 35,all;a;a 12;main;work 15,all;b 30,all;b;main 30", "and processes");
  const page = await open(made("roots.html", [doc])), canvas = page.locator(".flame canvas"), told = page.locator(".selected");
  const first = async () => { await canvas.focus(); await page.keyboard.press("Home"); await page.keyboard.press("ArrowDown"); return told.textContent(); };
  yes((await first()).startsWith("a 70 (70.00 %)"), await told.textContent());
  await page.getByLabel("Roots:").selectOption("commands and processes");
  await first();
  await page.keyboard.press("ArrowDown");
  yes(/^a 1[12] 35 \(35.00 %\)/.test(await told.textContent()), await told.textContent());
  await page.getByLabel("Roots:").selectOption("all together");
  yes((await first()).startsWith("main 100 (100.00 %)"), await told.textContent());
});

test("a flame graph zooms by click and key, and finds", async () => {
  const page = await open(made("stacks.html", [stacks])), canvas = page.locator(".flame canvas"), told = page.locator(".selected");
  const box = await canvas.boundingBox(), row = (n) => ({ x: box.width * 0.4, y: 19 * n + 9 });
  await canvas.click({ position: row(1) });
  yes((await told.textContent()).startsWith("main 1,000 (100.00 %), alone 10"), await told.textContent());
  await page.keyboard.press("ArrowDown");
  yes((await told.textContent()).startsWith("eval <b> 890 (89.00 %), alone 50"), `the widest child: ${await told.textContent()}`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  yes((await told.textContent()).startsWith("eval <b> 800 (80.00 %)"), await told.textContent());
  await page.keyboard.press("Escape");
  yes((await told.textContent()).startsWith("main"), `Escape goes up one: ${await told.textContent()}`);
  await page.getByRole("button", { name: "whole graph" }).click();
  yes((await told.textContent()).startsWith("prog 1,000"), await told.textContent());
  await page.getByLabel("Find").fill("eval");
  equal(await page.locator(".flame ~ * , .tools .count").first().textContent(), "2 frames, 89.00 %", "a match inside a match counts once");
  await page.getByLabel("Find").fill("(");
  equal(await page.locator(".tools .count").first().textContent(), "0 frames, 0.00 %", "what is no pattern is text");
  await page.getByLabel("Find").fill("");
  await page.getByLabel("Width:").selectOption("instructions");
  yes((await told.textContent()).startsWith("prog 600"), await told.textContent());
  await page.getByLabel("Colour:").selectOption("instructions per cycles");
  yes((await told.textContent()).includes("instructions per cycles 0.6"), `the whole's ratio: ${await told.textContent()}`);
});

test("frames add up, and one inside itself counts once", async () => {
  const page = await open(made("stacks.html", [stacks]));
  const rows = await page.$$eval('section[data-title="Frames"] tbody tr', (r) => r.map((x) => [x.cells[0].textContent, x.cells[1].textContent, x.cells[3].textContent]));
  equal(JSON.stringify(rows.find((r) => r[0] === "eval <b>")), JSON.stringify(["eval <b>", "150", "890"]), "self and total of what is recursive");
  equal(rows[0][0], "gc", "the dearest first");
});

test("a million windows open; zoom keeps the peak", async () => {
  const f = made("million.html", [peaks()]), began = Date.now(), page = await open(f);
  await page.waitForSelector(".uplot canvas");
  const took = Date.now() - began;
  console.log(`# ${JSON.stringify(await page.evaluate(() => { const t = performance.getEntriesByType('navigation')[0]; return [t.responseEnd, t.domInteractive, t.loadEventEnd].map(Math.round); }))}`);
  console.log(`# ${(statSync(f).size / 1e6).toFixed(1)} MB, open in ${took} ms`);
  const over = page.locator(".u-over").first(), box = await over.boundingBox(), at = (i) => box.x + box.width * i / 1_000_000;
  let seen = "";
  for (let d = -2; d <= 2 && !seen.includes("9,999"); d++) {
    await page.mouse.move(at(654_321) + d, box.y + 50);
    seen = await page.locator(".readout").first().textContent();
  }
  yes(/cycles 100 to 9,999$/.test(seen), `one window of a million is seen before any zoom: ${seen}`);
  await page.mouse.move(at(600_000), box.y + 60);
  await page.mouse.down();
  await page.mouse.move(at(700_000), box.y + 60, { steps: 4 });
  await page.mouse.up();
  const range = await page.locator(".charts .count").textContent();
  yes(/^(599|600|60[01])\.?\d* M to (699|700|70[01])/.test(range), `zoomed to ${range}`);
  await page.locator(".plot").nth(1).focus();
  await page.keyboard.press("+");
  yes((await page.locator(".charts .count").textContent()) !== range, "a key zooms, too");
  await page.getByRole("button", { name: "show all" }).click();
  equal(await page.locator(".charts .count").textContent(), "", "all of it again");
  yes((await page.locator(".remark").first().textContent()).startsWith("1 values of cycles could not be counted"), "a gap is said");
});

test("long columns are packed, and hold what --format json says", async () => {
  const how = ["windows", "--engine", "exact", "-e", "instructions:u,branches:u", "--every", "20"], copies = ["a", "b"].map((name) => file(name, (to) => writeFileSync(to, "a line of a file\n".repeat(1 << 17))));
  const spin = ["cmp", ...copies]; // reads no clock and no number of a process: the same windows in every run
  const f = file("packed.html", (to) => run([...how, "--html", to, "--", ...spin])), plain = JSON.parse(run([...how, "--format", "json", "--", ...spin]).stdout).threads[0].columns;
  const page = await open(f), packed = (await data(page)).documents[0].threads[0].columns, { size, unpack } = await source("packed.js");
  await page.waitForSelector(".uplot canvas");
  yes(packed.begin.packed && packed.events[1].packed, "they are packed");
  equal(size(packed.begin), plain.begin.length, "as many windows");
  for (const [name, a, b] of [["begin", packed.begin, plain.begin], ["instructions", packed.events[0], plain.events[0]], ["branches", packed.events[1], plain.events[1]]])
    equal(Array.from(unpack(a)).join(), b.join(), name);
  const numbers = [[{ packed: "u0", n: 3, first: 7, base64: "" }, "7,7,7"], [{ packed: "u8", n: 3, first: 1, base64: "AP8B" }, "1,256,2"], [{ packed: "u16", n: 2, first: 0, base64: "AAH//w==" }, "256,65535"],
    [{ packed: "u32", n: 2, first: 5, step: 10, base64: "AAAAAQ==" }, "5,16777231"], [{ packed: "f64", n: 2, base64: "AAAAAAAA+D8AAAAAAAD4fw==" }, "1.5,NaN"], [["9007199254740993", 2], "9007199254740992,2"]];
  for (const [column, wanted] of numbers) equal(Array.from(unpack(column)).join(), wanted, JSON.stringify(column));
});

test("on a phone, in print and in the dark", async () => {
  const phone = await open(stat(), { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  yes(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is no wider than the phone");
  const page = await open(stat()), ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor), light = await ground();
  await page.emulateMedia({ colorScheme: "dark" });
  yes(await ground() !== light, "dark where the system is");
  await page.getByRole("button", { name: "light or dark" }).click();
  equal(await ground(), light, "and as the reader wants it");
  await page.emulateMedia({ media: "print" });
  equal(await page.locator(".theme").isVisible(), false, "no buttons on paper");
});

test("intervals are a plot for each event", async () => {
  const f = file("intervals.html", (to) => run(["stat", "-I", "20", "-e", "task-clock,page-faults", "--engine", "perf", "--html", to, "--", "sh", "-c", "for i in 1 2 3 4 5; do sleep 0.03; done"]));
  const page = await open(f), { documents } = await data(page);
  yes(documents.length > 2 && documents.slice(1).every((d) => d.schema === "tare/stat-interval/1"), "one document for each");
  equal((await page.$$eval('section[data-title="Over time"] h3', (h) => h.map((e) => e.textContent))).join(), "task-clock,page-faults", "plots");
});

test("a recording of regions is a page", async () => {
  const f = file("regions.html", (to) => run(["export", "-o", to, join(SEEDS, "measureme", "1")])), page = await open(f);
  yes((await page.$$eval('section[data-title="Frames"] tbody tr', (r) => r.map((x) => x.cells[0].textContent))).includes("a"), "its labels");
});

test("regions are drawn over time, by thread", async () => {
  const { lanesOf, visible } = await source("spans.js");
  const doc = { schema: "tare/spans/1", axis: { name: "wall-time", unit: "ns", first: "100", tick: 10 }, labels: ["outer", "inner", EVIL], threads: [{ pid: 1, tid: 1, name: "a" }, { pid: 1, tid: 2, name: "b" }, { pid: 1, tid: 3, name: "none" }],
    // in the order of their ends
    begin: [10, 40, 0, 50, 51], length: [10, 20, 100, 1, 49], thread: [0, 0, 0, 1, 1], label: [1, 1, 0, 2, 2], depth: [1, 1, 0, 0, 0] };
  const s = lanesOf(doc);
  same(s.lanes.map((l) => [l.name, l.spans, l.depth]), [["a 1", [2, 0, 1], 2], ["b 2", [3, 4], 1]], "by thread, in the order of their begins");
  same(visible(s, s.lanes[0], 0, 100, 100), [[2, 0, 0, 100], [0, 1, 10, 10], [1, 1, 40, 20]], "all of it");
  same(visible(s, s.lanes[0], 45, 55, 100), [[2, 0, 0, 100], [1, 1, 0, 100]], "a part");
  same(visible(s, s.lanes[1], 0, 1000, 100).map((d) => d[0]), [3, 4], "short ones have a pixel");
  same(visible(s, s.lanes[1], 0, 10000, 100).map((d) => d[0]), [3], "one of those in the same pixel");
  const page = await open(made("spans.html", [doc])), told = page.locator('section[data-title="Timeline"] .selected'), lane = page.locator("canvas.lane").first();
  equal(await page.locator("canvas.lane").count(), 2, "a lane for each thread with regions");
  equal(await told.textContent(), "5 regions; shown: 0 ns to 1.0 µs of wall-time, 1 µs", "the whole");
  const box = await lane.boundingBox(), click = (part, row) => page.mouse.click(box.x + box.width * part, box.y + 15 * row + 7);
  await click(0.5, 1);
  equal(await told.textContent(), "inner 200 ns, from 400 ns. 5 regions; shown: 400 ns to 600 ns of wall-time, 200 ns", "a click on a region");
  await page.keyboard.press("Escape");
  await lane.focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("+");
  equal(await told.textContent(), "5 regions; shown: 250 ns to 750 ns of wall-time, 500 ns", "by keyboard");
  await page.getByRole("button", { name: "whole recording" }).click();
  const real = await data(await open(file("own.html", (to) => run(["export", "-o", to, own()])))), found = real.documents.find((d) => d.schema === "tare/spans/1"), { unpack } = await source("packed.js");
  const csv = run(["export", "-f", "csv", own()]).stdout.trim().split(/\r?\n/).map((l) => l.split(",")), head = csv[0];
  const begins = Array.from(unpack(found.begin)).map((v) => v * Number(found.axis.tick) + Number(found.axis.first)).sort((a, b) => a - b);
  const at = head.indexOf("start_ns");
  same(begins, csv.slice(1).filter((l) => l[0] === "region").map((l) => Number(l[at])).sort((a, b) => a - b), "the begins of tare export -f csv");
});

test("a recording of samples is a page", async () => {
  const recording = file("perf.data", (to) => run(["record", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", to, "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]));
  const page = await open(file("report.html", (to) => run(["report", "--html", to, recording]))), { documents } = await data(page);
  equal([...new Set(documents.map((d) => d.schema))].join(), "tare/stacks/1,tare/report/1,tare/annotate/1", "documents");
  const rows = documents[1].rows.slice().sort((a, b) => b.events[0].share - a.events[0].share);
  const shown = await cells(page, "Samples", 1);
  equal(shown[0], `${(100 * rows[0].events[0].share).toFixed(2)} % ± ${(100 * rows[0].events[0].margin).toFixed(2)}`, "the first row's share, with its margin");
  yes(await page.locator(".flame canvas").isVisible(), "a flame graph");
  const from = await page.locator("td.barred").first().evaluate((td) => td.querySelector(".bar rect").getBoundingClientRect().left - td.getBoundingClientRect().left);
  yes(from >= 0 && from < 8, `its share's bar begins ${from} pixels from the left of its cell`);
});

/** Two processes, three threads; `at`, `thread`, `node` as plain columns. */
const sampled = (at, thread, node, amount = at.map(() => 10)) => ({
  schema: "tare/stacks/1", program: "all", left_out: 0, columns: [{ name: "cpu-clock", unit: "ns" }], names: ["", "main", "work", "leaf", "prog", "libx.so"],
  frames: { name: [1, 2, 3], module: [4, 4, 5], file: [0, 0, 0], line: [0, 0, 0] },
  // all > main > work > leaf, main > leaf, work > leaf
  nodes: { parent: [0, 0, 1, 2, 1, 0, 5], frame: [0, 0, 1, 2, 2, 1, 2], self: [[0, 1, 2, 3, 4, 5, 6].map((i) => node.reduce((sum, k, s) => sum + (k === i ? amount[s] : 0), 0))] },
  samples: { tick_ns: 1000, threads: [{ pid: 5, tid: 5, command: "prog" }, { pid: 5, tid: 6, command: "helper" }, { pid: 9, tid: 9, command: "prog" }], at, thread, node, column: at.map(() => 0), amount },
});
const few = () => sampled([0, 10, 20, 30, 40, 5, 25, 50, 60], [0, 0, 0, 0, 0, 1, 1, 2, 2], [2, 3, 3, 4, 1, 5, 6, 3, 4]);

test("samples are selected by time, thread, process and module, and add up", async () => {
  const { chosen, makeSamples } = await source("timeline.js"), { makeTree, frames, inverted, relatives } = await source("tree.js");
  const doc = few(), s = makeSamples(doc), any = { from: null, to: null, thread: null, process: null, module: null };
  const total = (part) => { const d = chosen(doc, s, { ...any, ...part }); return [d.selected, makeTree(d).total[0][0], d.by_thread.self[0].reduce((a, b) => a + b, 0)].join(); };
  equal(total({}), ",90,90", "all of it, as it is in the document");
  equal(total({ from: 0, to: 30 }), "5,50,50", "the end is not in a range");
  equal(total({ thread: 1 }), "2,20,20", "a thread");
  equal(total({ process: 5 }), "7,70,70", "a process");
  equal(total({ module: 5 }), "6,60,60", "the module of the innermost function");
  equal(total({ from: 20, to: 61, process: 5, module: 4 }), "1,10,10", "together");
  equal(chosen(doc, s, any).nodes, doc.nodes, "without a choice the amounts of the document");
  const tree = makeTree(doc), rows = Object.fromEntries(frames(doc, tree, 0).map((r) => [r.name, [r.self, r.total]])), back = makeTree(inverted(doc));
  same(rows, { all: [0, 90], main: [10, 70], work: [20, 60], leaf: [60, 60] }, "functions");
  same([back.total[0][0], ...back.children[0].map((i) => [back.name(i), back.total[0][i]])], [90, ["leaf", 60], ["main", 10], ["work", 20]], "the innermost at the root");
  const of = (name) => { const r = relatives(tree, 0, tree.key([...tree.frame.keys()].find((i) => i && tree.name(i) === name))); const list = (l) => l.map((x) => `${x.name} ${x.amount}`).sort().join(); return [r.self, r.total, list(r.callers), list(r.callees)].join("; "); };
  equal(of("work"), "20; 60; all 20,main 40; leaf 40", "callers and callees");
  equal(of("leaf"), "60; 60; main 20,work 40; ", "of a leaf");
  // f > g > f > g: each counts once.
  const again = { ...doc, nodes: { parent: [0, 0, 1, 2, 3], frame: [0, 0, 1, 0, 1], self: [[0, 1, 2, 4, 8]] } }, nested = makeTree(again), f = relatives(nested, 0, nested.key(1));
  same([f.total, f.self, f.callers.map((x) => x.amount), f.callees.map((x) => [x.name, x.amount])], [15, 5, [15], [["work", 14]]], "recursion");
});

test("a range of time selects what the graph and the functions show", async () => {
  const page = await open(made("selected.html", [few()])), lane = page.locator("canvas.lane").first(), told = page.locator(".timeline .selected");
  const section = page.locator('section[data-title="Functions"]'), row = async (name) => (await section.locator("table").first().locator("tbody tr", { hasText: name }).first().locator("td").allTextContents()).slice(0, 5).join();
  equal(await told.textContent(), "9 samples in 61 µs", "at first all");
  equal(await row("leaf"), "leaf,60 ns,66.67 %,60 ns,66.67 %", "of all");
  equal(await page.locator("canvas.lane").count(), 4, "a lane for each thread, and one for all");
  const box = await lane.boundingBox(), x = (part) => box.x + box.width * part;
  await page.mouse.move(x(0.3), box.y + 9);
  await page.mouse.down();
  await page.mouse.move(x(0.5), box.y + 9, { steps: 3 });
  await page.mouse.up();
  yes(/^selected: 3 of 9 samples, 1[123](\.\d+)? µs from 18/.test(await told.textContent()), await told.textContent());
  equal(await row("leaf"), "leaf,30 ns,100.00 %,30 ns,100.00 %", "of the range");
  await section.getByRole("button", { name: "leaf", exact: true }).first().click();
  equal((await section.locator(".around tbody tr").allTextContents()).sort().join("|"), "main10 ns33.33 %|none|work20 ns66.67 %", "its callers in the range");
  await page.keyboard.press("Escape");
  await lane.click();
  equal(await told.textContent(), "9 samples in 61 µs", "a click ends the range");
  yes((await section.locator(".around tbody tr").allTextContents()).includes("work40 ns66.67 %"), "the chosen function stays chosen");
  await page.getByRole("button", { name: "helper 6" }).click();
  equal(await told.textContent(), "selected: 2 of 9 samples", "a thread by its name");
  await page.getByRole("button", { name: "whole recording" }).click();
  await page.getByLabel("From").fill("0.02");
  await page.getByLabel("to", { exact: true }).fill("0.03");
  await page.keyboard.press("Enter");
  yes(/^selected: 2 of 9 samples, 10 µs from 20(\.0)? µs$/.test(await told.textContent()), `by keyboard: ${await told.textContent()}`);
  await page.getByLabel("Roots:").selectOption("processes and threads");
  await page.locator(".flame canvas").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  yes((await page.locator(".flame ~ .selected").textContent()).startsWith("prog 5 20 ns (100.00 %)"), await page.locator(".flame ~ .selected").textContent());
  await page.getByRole("button", { name: "whole recording" }).click();
  equal(await page.getByLabel("Roots:").evaluate((e) => e.selectedOptions[0].text), "processes and threads", "the roots stay");
});

test("a recording's samples over time are its samples", async () => {
  const recording = file("perf.data", (to) => run(["record", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", to, "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]));
  const page = await open(file("report.html", (to) => run(["report", "--html", to, recording]))), { documents: [stacks, doc] } = await data(page);
  const { chosen, makeSamples } = await source("timeline.js"), s = makeSamples(stacks), any = { from: 0, to: s.end, thread: null, process: null, module: null };
  equal(s.n, doc.quality.used, "each sample");
  same(Array.from(chosen(stacks, s, any).nodes.self[0]), stacks.nodes.self[0].map(Number), "add up to the flame graph, node by node");
  yes((await page.locator(".timeline .selected").textContent()).startsWith(`${doc.quality.used.toLocaleString("en-US")} samples in `), "said");
});

test("a million samples open, and a range of them is selected", async () => {
  const n = 1_000_000, i = Array.from({ length: n }, (_, k) => k), page = await open(made("million-samples.html", [sampled(i, i.map((k) => Math.floor(k / 400_000)), i.map((k) => 1 + k % 6))]));
  const told = page.locator(".timeline .selected");
  equal(await told.textContent(), "1,000,000 samples in 1 s", "all");
  await page.getByLabel("From").fill("100");
  await page.getByLabel("to", { exact: true }).fill("350");
  await page.keyboard.press("Enter");
  yes((await told.textContent()).startsWith("selected: 250,000 of 1,000,000 samples, 250 ms"), await told.textContent());
});

test("the page of a report has the source and the instructions of its functions", async () => {
  const source = join(room, "tree.cc"), exe = join(room, "tree");
  writeFileSync(source, `#include <cstdlib>
struct num { long v; };
__attribute__((noinline)) num operator*(num a, num b)
{
	long sum = 0;

	/* <b>: */
	for (long i = 0; i < a.v; i++)
		sum += b.v ^ i;
	return {sum};
}
int main(int, char **argv) { num x{atol(argv[1])}; return (x * x).v == 1; }
`);
  execFileSync("c++", ["-g", "-O1", source, "-o", exe]);
  const recording = file("tree.data", (to) => run(["record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", to, "--", exe, "200000000"]));
  const page = await open(file("tree.html", (to) => run(["report", "--html", to, recording]))), docs = (await data(page)).documents.filter((d) => d.schema === "tare/annotate/1");
  const alone = JSON.parse(run(["annotate", "--format", "json", "-i", recording, "operator\\*(num, num)"]).stdout);
  same(docs[0], alone, "the same as of tare annotate, although the name is a pattern, too");
  const code = page.locator('section[data-title="Code"]'), [lines, insns] = [0, 1].map((i) => code.locator(".code-side").nth(i));
  const row = lines.locator("tr", { hasText: "sum += b.v ^ i" }), number = row.locator("button"), marked = () => insns.locator("tr.marked").count();
  const wanted = docs[0].instructions.filter((i) => i.file === source && i.line === 9);
  yes(wanted.length > 0 && await lines.locator("td", { hasText: "/* <b>: */" }).count() === 1, "lines between lines with instructions");
  const seen = (side) => side.evaluate((e) => [...e.querySelectorAll("tr")].filter((r) => { const a = r.getBoundingClientRect(), b = e.getBoundingClientRect(); return a.top >= b.top && a.bottom <= b.bottom; }).map((r) => r.querySelector("button")?.textContent));
  const most = docs[0].instructions.reduce((a, b) => (b.amounts[0] > a.amounts[0] ? b : a));
  yes((await seen(insns)).includes(`+${(Number(most.address) - Number(docs[0].instructions[0].address)).toString(16)}`), "the instruction with the largest amount is visible");
  equal(await marked(), 0, "before a click");
  await number.click();
  equal(await marked(), wanted.length, "the instructions of the line");
  equal(await number.getAttribute("aria-pressed"), "true", "for a screen reader");
  await number.click();
  equal(await marked(), 0, "a second click ends it");
  await insns.locator("tr", { hasText: "ret" }).first().locator("button").click();
  equal(await lines.locator("tr.marked button").textContent(), String(docs[0].instructions.find((i) => i.text.startsWith("ret")).line), "the line of an instruction");
  const functions = page.locator('section[data-title="Functions"]');
  await functions.getByRole("button", { name: "operator*(num, num)" }).first().click();
  await functions.getByRole("button", { name: "source and instructions" }).click();
  yes((await code.getByLabel("Function:").evaluate((e) => e.selectedOptions[0].text)).startsWith("operator*(num, num)"), "opened from the list of functions");
  for (const width of [1400, 700]) {
    await page.setViewportSize({ width, height: 900 });
    const boxes = await Promise.all([lines.boundingBox(), insns.boundingBox()]);
    equal(boxes[0].y === boxes[1].y, width === 1400, `side by side at ${width} pixels`);
    yes(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `not wider than ${width} pixels`);
  }
});

if (process.arch === "x64") test("what the exact engine counted is on the page, and in its flame graph", async () => {
  const recording = file("exact.data", (to) => run(["record", "-q", "--engine", "exact", "-e", "{exact/branches/,exact/instructions/}:S", "-c", "5003", "-o", to, "--", "sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"]));
  const page = await open(file("exact.html", (to) => run(["report", "--html", to, recording]))), { documents: [stacks, doc] } = await data(page);
  const remarks = async (of) => (await of.locator(".remark").allTextContents()).join("\n");
  yes((await page.locator(".lead .about").allTextContents()).some((t) => t.startsWith("Amounts are exact: the engine counted every instruction.")), "said, and not as a warning");
  yes(!(await remarks(page)).includes("Ratios are mixed"), "exact ratios are of the function itself");
  equal(doc.events.map((e) => e.exact).join(), "true,true");
  doc.events.forEach((e, i) => equal(doc.rows.reduce((n, r) => n + r.events[i].self, 0), e.total, `rows of ${e.event}`));
  equal((await cells(page, "Samples", 1))[0], `${(100 * Math.max(...doc.rows.map((r) => r.events[0].share))).toFixed(2)} %`, "a share without a margin");
  equal(JSON.stringify(stacks).includes(String(doc.rows[0].events[0].self)), true, "the flame graph has the same");
  const sampled = await open(file("exact-sampled.html", (to) => run(["report", "--filter", "comm=*", "--html", to, recording])));
  yes((await remarks(sampled)).includes("Amounts are from samples, although the recording has exact amounts: filters"), "why they are not exact");
  yes((await remarks(sampled)).includes("Ratios are mixed if functions are short"), "as the text says it of --ratio");
});

test("a summary of regions is a page", async () => {
  const page = await open(file("summary.html", (to) => run(["summarize", "--html", to, join(SEEDS, "measureme", "1")]))), { documents } = await data(page);
  equal(documents.map((d) => d.schema).join(), "tare/stacks/1,tare/summarize/1", "documents");
  const labels = await cells(page, "Regions by wall-time", 0);
  equal(labels.length, documents[1].labels.filter((l) => l.counters["wall-time"]).length, "a row for each label");
  equal((await cells(page, "Numbers", 2)).join(), documents[1].labels.filter((l) => l.integers).map((l) => l.integers.sum).join(), "its numbers");
  yes((await page.locator(".remark").allTextContents()).some((t) => t.includes("overlap others")), "what is wrong with it is said");
});

test("runs side by side are a page", async () => {
  const page = await open(file("aggregate.html", (to) => run(["aggregate", "--html", to, ...copies(2)]))), { documents } = await data(page);
  equal(documents.map((d) => d.schema).join(), "tare/aggregate/1", "documents");
  equal((await cells(page, "Labels by wall-time", 0)).length, documents[0].labels.filter((l) => l.counters["wall-time"]).length, "labels");
  yes((await page.locator(".facts").textContent()).includes("the runs did the same"), "and what of them differs");
});

test("an interval of a slope has the digits of the text", async () => {
  const { within } = await source("aggregate.js");
  for (const [value, half, text] of [[12.345, 0.67, "12.35 ± 0.67"], [-1234567, 4321, "-1,234,600 ± 4,400"], [0.012345, 0.0021, "0.0123 ± 0.0021"], [7, 0, "7 ± 0"], [2.5, 0, "2.50 ± 0"], [3, 12.3, "3 ± 13"], [250.5, 99.9, "251 ± 100"]])
    equal(within(value, half), text, `${value}, ${half}, as in aggregate_view_test`);
});

/** As both write it: signs, units, blanks. */
const tidy = (s) => (s ?? "").replaceAll("−", "-").replaceAll("µ", "u").replace(/\s+/g, " ").replace(/± /g, "±").trim();
/** The numbers of "+12.3 ms ±4.5 us" are these, rounded to the digits that are shown; a limit is rounded up. */
function rounded(shown, numbers, up, what) {
  const found = [...shown.matchAll(/([-+]?[0-9][0-9,]*(?:\.([0-9]+))?) ?(?:(s|ms|us|K|M|G)\b|([KMG])(?=[a-z/]))?/g)];
  equal(found.length, numbers.length, `${what}: numbers in "${shown}"`);
  for (const [i, [, digits, places = "", time, prefix]] of found.entries()) {
    const size = { s: 1e9, ms: 1e6, us: 1e3, K: 1e3, M: 1e6, G: 1e9 }[time ?? prefix] ?? 1, step = size * 10 ** -places.length;
    const apart = (Number(digits.replaceAll(",", "")) * size - Number(numbers[i])) / step;
    yes(up ? apart > -1e-6 && apart < 1 + 1e-6 : Math.abs(apart) < 0.5 + 1e-6, `${what}: "${shown}" is not ${numbers[i]}`);
  }
}
/** The rows of a table of the page, by the titles of its columns. */
async function rowsOf(page, title) {
  const more = page.locator(`section[data-title="${title}"] button.more`);
  if (await more.count() && await more.first().isVisible()) await more.first().click();
  return page.$$eval(`section[data-title="${title}"] table`, ([t]) => (t ? [...t.tBodies[0].rows].map((r) => Object.fromEntries([...t.tHead.rows[0].cells].map((c, i) => [(c.querySelector("button")?.firstChild ?? c).textContent, r.cells[i].textContent]))) : []));
}

/** Recordings of regions with noise, by tests/cli/mmprofdata.py: always the same. */
const noisy = (n) => {
  file("noisy", (to) => execFileSync("python3", ["-c", `
import random, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from mmprofdata import write
for seed in range(12):
    r, at, events = random.Random(seed), 1000, []
    for i in range(30):
        cost = round(r.gauss(10 ** (3 + i % 7), 10 ** (1 + i % 7)) * (1.05 if seed > 5 and i % 3 else 1))
        events.append(("GenericActivity", f"part {i % 10}", 1, at, at + cost))
        at += cost + 10
    write(Path(f"{sys.argv[2]}.{seed}"), events)`, join(SEEDS, "../../cli"), to]));
  return Array.from({ length: n }, (_, i) => `${join(room, "noisy")}.${i}`);
};
const loops = (n) => file(`loops.${n}.data`, (to) => run(["record", "-e", "cpu-clock:u", "-F", "2000", "-o", to, "--", "sh", "-c", `i=0; while [ $i -lt ${n} ]; do i=$((i+1)); done`]));
const own = () => file("own.tare", (to) => run(["regions", "-q", "-o", to, "--", REGIONS, "loop", "2000", "1"]));
const code = (n) => file(`turns${n}.c`, (to) => writeFileSync(to, `void execute_test(void (*start)(void), void (*stop)(void)) { volatile int x = 0; start(); for (int i = 0; i < ${n}; i++) x += i; stop(); }\n`));

/*
 * Every document with an interval or a spread. A case: the document, and which of it; the command with its options; its operands; "live" if it counts each time, and text and page
 * have to be of one run; a function that gives each interval as [name, in the text, on the page, numbers of the JSON, is it a limit, its sign or word].
 */
const kinds = { confidence: "±", range: "range", limits: "limits" };
const ofStat = async (lines, doc, page) => {
  const events = await rowsOf(page, "Events"), metrics = await rowsOf(page, "Metrics"), line = (name) => lines.find((l) => new RegExp(`[0-9] .* ${name} `).test(l)) ?? "";
  return [...doc.events.filter((e) => e.interval !== null).flatMap((e) => {
    const row = events.find((r) => r.Event === e.event), of = line(e.event), [, least, most] = /([0-9.,]+) … ([0-9.,]*[0-9])/.exec(of.replace(/\(.*/, "")) ?? [];
    return [[e.event, /(±|range|limits) +[0-9.]+ %/.exec(of)?.[0], row.Spread, [e.interval_percent], false, kinds[e.interval]],
      ...(e.min === e.max ? [] : [[`${e.event}, runs`, `${least} ${row.Smallest.split(" ")[1] ?? ""} … ${most} ${row.Largest.split(" ")[1] ?? ""}`, `${row.Smallest}${row.Smallest.includes(" ") ? "" : " "} … ${row.Largest}`, [e.min, e.max]]])];
  }), ...doc.metrics.filter((m) => m.value !== null && m.high > m.low).map((m) => {
    const row = metrics.find((r) => r.Metric === m.metric && r.Event === m.event), [, value, unit, low, high] = /([0-9.,]+) ([^0-9(]+?) +\(([0-9.,]+) … ([0-9.,]+)\)$/.exec(line(m.event)) ?? [];
    return [m.metric, [value, low, high].map((v) => `${v} ${unit}`).join("; "), [row.Value, row.From, row.To].join("; "), [m.value, m.low, m.high]];
  })];
};
const ofAggregate = async (lines, doc, page) => {
  const rows = await rowsOf(page, "Labels by wall-time");
  return doc.labels.filter((l) => l.counters["wall-time"]?.self).flatMap((l) => {
    const s = l.counters["wall-time"].self, row = rows.find((r) => r.Label.startsWith(`${l.label} `)), [, range, of] = lines.find((t) => t.endsWith(` ${l.label}`)).trim().split(/ {2,}/);
    return [[l.label, of, row["Of median"], [s.interval_percent], false, kinds[s.interval]], [`range of ${l.label}`, range, row.Range, [s.max - s.min]]];
  });
};
const ofReportDiff = async (lines, doc, page) => {
  const rows = await rowsOf(page, "What changed"), key = (r) => `${r.module} ${r.function}`, scale = doc.shares ? 100 : 1, changed = doc.shares ? "Self changed, points" : "Self changed";
  return doc.rows.filter((r) => r.function && r.self.half_95 && doc.rows.filter((o) => key(o) === key(r)).length === 1).map((r) => {
    const line = lines.find((l) => l.trimEnd().endsWith(` ${r.module.replace(/.*\//, "")}  ${r.function}`.replace(/ +/g, " ")) || tidy(l).endsWith(` ${r.module.replace(/.*\//, "")} ${r.function}`)) ?? "", of = rows.find((o) => o.Module === r.module && o.Function === r.function);
    return [key(r), /[-+]?[0-9.,]+(?: [a-z]+)? ± [0-9.,]+(?: [mun]?s)?/.exec(line)?.[0], of?.[changed], [scale * r.self.change, scale * r.self.half_95], false, "±"];
  });
};
const intervals = [
  ["stat, 3 runs", ["stat", "-r", "3", "-e", "task-clock,page-faults", "--engine", "perf"], ["--", "sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"], "live", ofStat],
  ["stat, 8 runs", ["stat", "-r", "8", "-e", "task-clock,page-faults", "--engine", "perf"], ["--", "sh", "-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"], "live", ofStat],
  ["stat, noise budget", ["stat", "-r", "6", "-e", "task-clock", "--engine", "perf", "--explain"], ["--", "true"], "live", async (lines, doc, page) => {
    const rows = await rowsOf(page, "Where the spread comes from"), of = lines.map((l) => /^ +([0-9]+) % +\(([0-9]+) to ([0-9]+) %\)/.exec(l)).filter(Boolean), e = doc.explain.events[0];
    equal(of.length, rows.length, "causes");
    return rows.map((r, i) => {
      const p = [...e.parts, e.unexplained][i];
      return [`cause ${i}`, `${of[i][1]} % ${of[i][2]} % to ${of[i][3]} %`, `${r.Share} ${r["95 % interval"]}`, [100 * p.share, 100 * p.low, 100 * p.high]];
    });
  }],
  ["aggregate, 5 runs", ["aggregate", "--top", "0"], () => noisy(5), "", ofAggregate],
  ["aggregate, 6 runs", ["aggregate", "--top", "0"], () => noisy(6), "", ofAggregate],
  ["diff", ["diff", "--top", "0"], () => [...noisy(6), "--", ...noisy(12).slice(6)], "", async (lines, doc, page) => {
    const rows = await rowsOf(page, "Changes of wall-time"), self = (l) => l.counters["wall-time"].self;
    return doc.labels.filter((l) => self(l).half_95 > 0).map((l) => [l.label, /[-+0-9.,]+ [a-z]+ +±[0-9.,]+ [a-z]+/.exec(lines.find((t) => `${t} `.includes(` ${l.label} `)))?.[0],
      rows.find((r) => r.Label.startsWith(`${l.label} `))["Self changed"], [self(l).change, self(l).half_95], false, "±"]);
  }],
  ["report", ["report"], () => [loops(50000)], "", async (lines, doc, page) => {
    const e = doc.rows[0].events[0], [, share, margin] = /A share of ([0-9.]+ %) is known to (± [0-9.]+) points/.exec(lines.join("\n")) ?? [], rows = await rowsOf(page, "Samples");
    return [["share", `${share} ${margin}`, rows.find((r) => r.Function.startsWith(doc.rows[0].function ?? "[unknown]") && r.Module === doc.rows[0].module.replace(/.*\//, "")).Share, [100 * e.share, 100 * e.margin], false, "±"]];
  }],
  ["report-diff, amounts", ["report", "--percent-limit", "0", "-n", "0", "--diff"], () => [loops(50000), loops(150000)], "", ofReportDiff],
  ["report-diff, shares", ["report", "--percent-limit", "0", "-n", "0", "--normalise", "--diff"], () => [loops(50000), loops(150000)], "", ofReportDiff],
  ["summarize", ["summarize", "--subtract-own"], () => [own()], "", async (lines, doc, page) => {
    const rows = await rowsOf(page, "Regions by wall-time"), limit = (name) => /≤ [0-9.,]+ [a-z]+/.exec(lines.find((l) => l.includes("≤") && l.endsWith(` ${name}`)))?.[0];
    const facts = await page.locator(".facts").textContent(), { whole_own_off: off } = doc.counters[0];
    return [...doc.labels.filter((l) => l.counters["wall-time"].self_own_off > 0).map((l) => [l.label, limit(l.label), rows.find((r) => r.Label.startsWith(`${l.label} `))["Off by"], [l.counters["wall-time"].self_own_off], true, "≤"]),
      ["all", limit("(all)"), /off by(≤ [0-9.,]+ .?s)/.exec(facts)?.[1], [off], true, "≤"]];
  }],
  ["bench", ["bench", "-r", "20", "-e", "tsc,exact/instructions/"], () => [code(200), code(260)], "live", async (lines, doc, page) => {
    const rows = await rowsOf(page, "Per operation"), judged = await rowsOf(page, "Compared"), out = [];
    const within = (head, name) => lines.slice(lines.findIndex((l) => l.startsWith(head))).find((l) => l.startsWith(`  ${name} `)) ?? "", v = doc.verdicts.find((d) => d.event === "tsc");
    for (const r of doc.results.filter((x) => x.event === "tsc" && (x.low !== x.high || x.min !== x.max))) {
      const name = doc.variants[r.variant].name, row = rows.find((x) => x.Test === name && x.Counter === "tsc"), [, value, known, all] = /^ +tsc +(\S+) +(\S+ … \S+) +(\S+ … \S+)/.exec(within(name, "tsc")) ?? [];
      out.push([name, `${value} ${known}`, `${row.Value} ${row.From} … ${row.To}`, [r.value, r.low, r.high]], [`${name}, all runs`, all, `${row["Smallest run"]} … ${row["Largest run"]}`, [r.min, r.max]]);
    }
    if (v.half > 0) {
      const [, verdict, change] = /tsc +(no difference|less|more).*?(-?[0-9.,]+ ± [0-9.,]*[0-9])/.exec(within(`${doc.variants[1].name} against`, "tsc")) ?? [], row = judged.find((x) => x.Counter === "tsc");
      equal(verdict, v.verdict, "verdict");
      equal(row.Verdict, v.verdict, "verdict on the page");
      out.push(["tsc", change, `${v.verdict === "less" ? row.Change.replace("-", "") : row.Change} ± ${row["±"]}`, [v.verdict === "less" ? -v.change : v.change, v.half], false, "±"]);
    }
    return out;
  }],
];
for (const [title, words, operands, live, find] of intervals) test(`an interval is the same in text, JSON and page: ${title}`, async () => {
  const rest = typeof operands === "function" ? operands() : operands, name = `interval of ${title}`, html = join(room, `${name}.html`), again = live ? join(room, `${name}.json.html`) : html;
  const diff = words.filter((w) => w === "--diff"), out = (...more) => { const r = run([...words.filter((w) => w !== "--diff"), ...more, ...diff, ...rest]); return r.stdout || r.stderr; };
  const text = live ? out("--html", html) : out(), of = (d) => d.documents.find((x) => x.schema === `tare/${title.split(",")[0]}/1`);
  if (!live) out("--html", html);
  const json = JSON.parse(live ? out("--format", "json", "--html", again) : out("--format", "json"));
  same(of(embedded(readFileSync(again, "utf8"))), json, "JSON and page");
  const page = await open(html), found = await find(text.split("\n").map((l) => l.trimEnd()), of(await data(page)), page);
  yes(found.length > 0 || live, "there are intervals");
  for (const [what, inText, onPage, numbers, up = false, word = ""] of found) {
    equal(tidy(onPage), tidy(inText), `${what}: page and text`);
    yes(tidy(inText).includes(word), `${what}: "${inText}" has the word ${word}`);
    rounded(tidy(inText), numbers, up, what);
  }
});

test("detached timings have rows beside the runs' regions, without a number where none is known", async () => {
  const self = (runs) => ({ min: Math.min(...runs), median: runs[0], max: Math.max(...runs), runs }), none = { unit: "", self: null, total: null, interval_noise: 0, intervals_compared: 0 };
  const label = (name, counts, rest) => ({ label: name, kind: "", arguments: [], counts, ...rest });
  const page = await open(made("detached.html", [{ schema: "tare/aggregate/1", runs: [{ path: "a" }, { path: "b" }], threads: [], intervals: 1, differences: 0, first_differences: [],
    counters: [{ counter: "instructions:u", unit: "", quality: "exact", intervals: 1, equal: 0, not_counted: 0, histogram: [], largest_noise: [], longest: [], causes: [] }],
    labels: [label("work", [2, 2], { counters: { "instructions:u": { ...none, self: self([100, 90]), total: self([200, 190]) } } }), label("request", [5, 6], { detached: [4, 5], counters: { "instructions:u": none } })] }]));
  equal((await cells(page, "Labels by instructions:u", 1)).join(), "100,unavailable", "selves");
  equal((await cells(page, "Labels by instructions:u", 2)).join(), "10,", "noise");
  equal((await cells(page, "Labels by instructions:u", 7)).join("; "), "; 4, 5", "detached");
});

test("windows are plots, with phases", async () => {
  const columns = (n) => ({ begin: Array.from({ length: n }, (_, i) => i * 1000), time_ns: Array.from({ length: n }, (_, i) => String(2n ** 60n + BigInt(i) * 500n)), wall_ns: Array(n).fill(500), cpu: Array(n).fill(0),
    ended: Array(n).fill("whole"), events: [Array(n).fill(1000), Array.from({ length: n }, (_, i) => (i < n / 2 ? 500 : 2000))], metrics: [Array.from({ length: n }, (_, i) => (i === 3 ? null : i < n / 2 ? 2 : 0.5))] });
  const page = await open(made("windows.html", [{ schema: "tare/windows/1", command: ["prog", EVIL], exit_status: 0, mode: "sample", engine: "perf", quality: "counted", every: 1000, wall_ns: 5000, lost: 2, throttled: 0,
    kernel_left_out: true, children_left_out: false, rests_unknown: false, events: [{ event: "instructions", unit: "", scale: 1 }, { event: "cycles", unit: "", scale: 1 }], metrics: [{ metric: "ipc", unit: "" }],
    threads: [{ thread: 0, pid: 5, tid: 5, comm: "prog", phases: [{ phase: 1, first_window: 1, windows: 50 }, { phase: 2, first_window: 51, windows: 50 }], columns: columns(100) }] }]));
  equal((await page.$$eval("section h3", (h) => h.map((e) => e.textContent))).join(), "ipc,cycles,instructions,Phases", "plots");
  equal((await cells(page, "Windows", 4)).join(), "500,2,000", "cycles of each phase");
  yes((await page.locator(".remark").allTextContents()).join().startsWith("2 windows were lost"), "losses are said");
  // The most frequent colour of a part of the plot is its background.
  const behind = (from, to) => page.locator(".plot canvas").first().evaluate((c, [a, b]) => {
    const copy = Object.assign(document.createElement("canvas"), { width: c.width, height: c.height }), context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(c, 0, 0);
    const seen = new Map(), x = Math.round(c.width * a), d = context.getImageData(x, 0, Math.round(c.width * b) - x, Math.round(c.height * 0.7)).data;
    for (let k = 0; k < d.length; k += 4) { const key = d.slice(k, k + 4).join(); seen.set(key, (seen.get(key) ?? 0) + 1); }
    return [...seen].sort((x, y) => y[1] - x[1])[0][0];
  }, [from, to]);
  const two = [await behind(0.2, 0.4), await behind(0.7, 0.9)];
  yes(two[0] !== two[1] && two.every((c) => !c.endsWith(",0")), `a colour for each phase: ${two.join(" and ")}`);
  yes((await page.locator(".about").allTextContents()).some((t) => t.startsWith("The background shows the phases along instructions")), "said");
  await page.getByLabel("Along:").selectOption("time");
  await page.locator(".plot").first().focus();
  await page.keyboard.press("+");
  equal(await page.locator(".charts .count").textContent(), "12.38 µs to 37.13 µs", "the middle half, from times above 2^53");
});

test("windows of time have readable axes, and the rest is no window", async () => {
  const columns = { begin: [0, 5e6, 1e7], time_ns: [0, 5e6, 6e6], wall_ns: [5e6, 5e6, 1e6], cpu: [0, 0, 0], ended: ["whole", "whole", "rest"], events: [[5e6, 5e6, 1e6]], metrics: [[1, 0.5, 40]] };
  const page = await open(made("windows-of-time.html", [{ schema: "tare/windows/1", command: ["prog"], exit_status: 0, mode: "sample", engine: "perf", quality: "counted", every: 5e6, wall_ns: 11e6, lost: 0, throttled: 0,
    kernel_left_out: false, children_left_out: false, rests_unknown: false, events: [{ event: "task-clock", unit: "ns", scale: 1 }], metrics: [{ metric: "cpus-utilized", unit: "CPUs utilized" }],
    threads: [{ thread: 0, pid: 5, tid: 5, comm: "prog", whole: 2, phases: [], columns }] }]));
  equal((await page.$$eval("section h3", (h) => h.map((e) => e.textContent))).join(), "cpus-utilized, CPUs utilized,task-clock", "units stand where there is room");
  yes((await page.locator(".facts").textContent()).includes("every 5 ms of task-clock"), "the length is a time");
  yes((await page.locator(".remark").allTextContents()).join().includes("after the thread's last complete window is not included"), "the rest is told");
  yes(!(await page.locator(".histogram svg").getAttribute("aria-label")).includes("40"), "nor is the rest in a histogram");
  equal((await page.locator(".histogram .edges span").allTextContents()).join(), "0.5 CPUs utilized,0.75 CPUs utilized,1 CPUs utilized", "5 bins: the centre is in the middle of the third");
});

test("a bench is a table, a comparison and its runs", async () => {
  const result = (variant, event, value, runs) => ({ variant, event, quality: runs ? "counted" : "exact", value, low: value - (runs ? 1 : 0), high: value + (runs ? 1 : 0), min: runs ? Math.min(...runs) : value,
    max: runs ? Math.max(...runs) : value, mean: value, error_of_mean: 0, outliers: runs ? 1 : 0, per_byte: null, baseline: { value: 25, low: 25, high: 25, pairs: [25, 25] }, runs: [], per_operation: runs ?? Array(4).fill(value) });
  const verdict = (event, word, change, half) => ({ variant: 1, against: 0, event, verdict: word, change, half, percent: change ? -25 : 0, p: change ? 0.00001 : 1, blocks: 20 });
  const page = await open(made("bench.html", [{ schema: "tare/bench/1", conditions: { runs: 4, warmup: 1, baselines: 2, order: "abba", seed: null, cpu: 1, cold: "none", aslr: false, clock_hz: 2596000000 },
    variants: [{ name: "a.c", ops: 1, bytes: null, own_baseline: false }, { name: EVIL, ops: 1, bytes: null, own_baseline: false }],
    counters: [{ event: "exact/instructions/", quality: "exact", how: "exact engine", set: 0, again: 0, reason: null }, { event: "cycles", quality: "unavailable", how: null, set: null, again: 0, reason: "no PMU" }],
    results: [result(0, "exact/instructions/", 4), result(0, "exact/loads/", 0), result(0, "tsc", 10.5, [10, 11, 10, 400]), { ...result(0, "cycles", 15, [14, 15, 15, 16]), quality: "estimated" }, result(1, "exact/instructions/", 3), result(1, "exact/loads/", 0), result(1, "tsc", 8, [7, 8, 8, 9])],
    pairs: [[1, 1, 1, 1], [1, 1, 1, 1]], verdicts: [verdict("exact/instructions/", "less", -1, 0), verdict("exact/loads/", "no difference", 0, 0), verdict("tsc", "less", -2.5, 0.5)], remarks: ["tsc is time"] }]));
  equal((await cells(page, "Per operation", 1)).join(), "instructions,tsc,cycles,instructions,tsc", "what is not 0");
  yes((await page.locator(".q-estimated").getAttribute("title")).includes("assumptions"), "an estimate is marked");
  equal((await cells(page, "Compared", 2)).join(), "less,less", "verdicts that say something");
  yes((await page.locator(".about").allTextContents()).join().includes("0 in every run: loads."), "what is 0 is said");
  yes((await page.locator(".remark").allTextContents()).join("|").startsWith("cycles is unavailable: no PMU|tsc is time"), "remarks");
  equal(await page.locator(".plot").count(), 2, "a plot for each test");
  equal(await page.locator(".histogram").count(), 2, "a distribution for each test");
});

/** A recording of accesses, made by tests/cli/made_accesses.py: two threads of an evil name update fields of their own in one line. */
const accesses = () => file("accesses.data", (to) => execFileSync("python3", ["-c", `
import sys
sys.path.insert(0, sys.argv[1])
from made_accesses import *
r = Recording()
r.comm(1, 1, "<b>evil")
r.mmap(1, 0x10000000, 4096, 0, "//anon", data=True)
for i in range(400):
    r.sample(0x1000 + i % 2, 1, 1 + i % 2, i, 0x10000000 + 8 * (i % 2), 0, 1, 100 + i, source("load" if i % 3 else "store", "far cache", "modified", "walk"))
r.write(sys.argv[2])`, join(SEEDS, "../../cli"), to]));

const untimed = () => file("untimed.data", (to) => execFileSync("python3", ["-c", `
import sys
sys.path.insert(0, sys.argv[1])
from made_accesses import *
r = Recording(kind=KIND & ~TIME)
r.mmap(1, 0x10000000, 4096, 0, "//anon", data=True)
for i in range(600):
    r.sample(0x1000, 1, 1 + i % 2, 0, 0x10000000 + 64 * (i % 3) + 32 * (i % 2), src=source("store"))
r.write(sys.argv[2])`, join(SEEDS, "../../cli"), to]));

test("accesses to memory are tables", async () => {
  const page = await open(file("memory.html", (to) => run(["memory", "--html", to, accesses()]))), { documents } = await data(page);
  equal(documents.map((d) => d.by).join(), "line,function,instruction,symbol,page,level,tlb,node,thread", "documents");
  equal((await cells(page, "Data source", 0)).join(), "cache, remote", "the level");
  equal((await cells(page, "Threads", 2)).join(), "200,200", "samples of each thread");
  equal((await cells(page, "Accessed data", 0)).join(), "memory at 0x10000000 of <b>evil (1)  4096 bytes", "names are text");
  yes(/(29[7-9]|30[01]) cycles/.test(await page.locator(".facts").textContent()), "the median: 299, within 1/128");
  equal(await page.locator(".histogram rect:not(.none)").count(), 3, "latencies of 64 to 127, to 255, to 511 cycles");
  equal((await page.locator(".histogram .edges span").allTextContents()).join(), "64,128 to 255,511", "the centre");
  equal(await page.locator("section:has(h2:text-is('Threads')) .spread").first().getAttribute("title"), "64 to 127: 9\n128 to 255: 43\n256 to 511: 81", "a row's own: of 200 samples those that are loads");
});

test("the page has no table that --by refuses", async () => {
  const bare = file("bare.data", (to) => execFileSync("python3", ["-c", `
import sys
sys.path.insert(0, sys.argv[1])
from made_accesses import *
r = Recording()
r.mmap(1, 0x10000000, 4096, 0, "//anon", data=True)
for i in range(10):
    r.sample(0x1000, 1, 1, i, 0x10000000, 0, 1, 100, source("load"))
r.write(sys.argv[2])`, join(SEEDS, "../../cli"), to]));
  const { documents } = await data(await open(file("bare.html", (to) => run(["memory", "--html", to, bare])))), all = documents.map((d) => d.by);
  for (const by of ["line", "function", "instruction", "symbol", "page", "level", "tlb", "node", "thread"])
    equal(all.includes(by), spawnSync(TARE, ["memory", "--by", by, bare]).status === 0, by);
  yes(!all.includes("tlb") && all.includes("line"), all.join());
});

test("shares of what served are rounded as in the text", async () => {
  const page = await open(file("memory.html", (to) => run(["memory", "--html", to, accesses()]))), { documents } = await data(page);
  const doc = documents.find((d) => d.by === "thread");
  doc.rows[0].places = { L1: 500, L2: 200, "fill buffer": 100 };
  doc.rows[1].places = { L1: 9990, L2: 925, memory: 9, L3: 1 };
  doc.rows[0].samples = 399;
  doc.total.samples = 400;
  doc.rows[1].samples = 399_999;
  const shares = await open(made("memory-shares.html", [doc])), at = await cells(shares, "Threads", 10);
  yes((await cells(shares, "Threads", 1)).includes("99.8 %"), "less than all is not 100 %");
  equal(at.sort().join("|"), "L1 62 %, L2 25 %, fill buffer 12 %|L1 91 %, L2 8.5 %, memory 0.1 %, other <0.1 %", "shares");
});

test("lines that are fought over have their bytes and their code", async () => {
  const page = await open(file("sharing.html", (to) => run(["sharing", "--html", to, accesses()])));
  equal((await cells(page, "1. memory at 0x10000000 of <b>evil (1), at +0x0", 0)).join(), "+0,+8", "fields");
  yes((await page.locator("section").nth(1).textContent()).includes("FALSE SHARING"), "the verdict");
  yes((await page.locator("section").nth(1).textContent()).includes("The size of some of these accesses is unknown"), "what the verdict hangs on");
});

test("the bytes of a line are drawn, a row for each thread", async () => {
  const { lanesOf } = await source("memory.js"), cell = (offset, size, tid, loads, stores, field = null) => ({ offset, size, pid: 1, tid, comm: "t", loads, stores, field });
  same(lanesOf({ cells: [cell(8, 4, 1, 3, 0), cell(8, 4, 1, 0, 2), cell(0, null, 1, 1, 0), cell(60, 8, 2, 0, "99", "x.y")] }),
    [{ name: "t 1/2", parts: [{ from: 60, to: 68, loads: 0, stores: 99, field: "x.y" }] }, { name: "t 1/1", parts: [{ from: 0, to: 1, loads: 1, stores: 0, field: null }, { from: 8, to: 12, loads: 3, stores: 2, field: null }] }], "merged by bytes");
  const page = await open(file("sharing.html", (to) => run(["sharing", "--html", to, accesses()]))), { documents: [doc] } = await data(page);
  doc.lines[0].cells[0].size = 8;
  const shown = await open(made("bytes.html", [doc])), rects = shown.locator("figure.bytes").first().locator("rect"), boxes = await rects.evaluateAll((all) => all.map((r) => r.getBBox()).map((b) => [b.x, b.width]));
  equal(boxes.length, doc.lines[0].cells.length, "a rectangle for the bytes of each");
  const at = doc.lines[0].cells.findIndex((c) => c.offset === 0), wide = Math.max(...boxes.map((b) => b[1]));
  yes(wide > 7 * 11 && wide < 8 * 12 && at >= 0, `8 bytes are as wide as 8: ${boxes}`);
  yes((await shown.locator("figure.bytes svg").first().getAttribute("aria-label")).includes("bytes 0 to 7"), "for a screen reader");
});

test("the fields that are fought over are named, where their types are known", async () => {
  const page = await open(file("sharing.html", (to) => run(["sharing", "--html", to, accesses()]))), { documents: [doc] } = await data(page);
  const head = async (p) => (await p.locator("section:has(h2:text-matches('^1\\. ')) th").allTextContents()).map((t) => t.trim()).join();
  yes(!(await head(page)).includes("Field"), await head(page));
  doc.lines[0].cells.forEach((c, i) => { c.field = ["stats.hits", null][i]; });
  const named = await open(made("named.html", [doc]));
  yes((await head(named)).startsWith("At,Field,Thread"), await head(named));
  equal((await cells(named, "1. memory at 0x10000000 of <b>evil (1), at +0x0", 1)).join(), "stats.hits,–", "fields");
  doc.lines[0].cells.forEach((c) => { c.function = "f"; c.file = "/x/a.c"; c.line = 3; });
  doc.lines[0].cells.push({ ...doc.lines[0].cells[0], ip: "0x1234" });
  const twice = await open(made("twice.html", [doc])), code = await cells(twice, "1. memory at 0x10000000 of <b>evil (1), at +0x0", (await head(twice)).split(",").indexOf("Code"));
  equal(code.sort().join(), `f a.c:3,f a.c:3 ${doc.lines[0].cells[0].ip},f a.c:3 0x1234`, "two instructions of one line of source are told apart");
});

/** A recording with what makes numbers doubtful: samples lost and without an access, no address, throttled events, two processes, a damaged time, no end. */
const doubtful = () => file("doubtful.data", (to) => execFileSync("python3", ["-c", `
import sys
sys.path.insert(0, sys.argv[1])
from made_accesses import *
r = Recording()
r.comm(1, 1, "<b>evil")
r.mmap(1, 0x400000, 0x1000, 0, "/nowhere/<b>module")
r.mmap(1, 0x10000000, 4096, 0, "//anon", data=True)
for i in range(400):
    r.sample(0x400100, 1 + i % 2, 1 + i % 2, i, 0x10000000 + 8 * (i % 2) if i % 5 else 0, 0, 1, 0, source("load" if i % 3 else "store") if i % 7 else 0)
r.sample(0x400100, 1, 1, 2 ** 62, 0x10000000, 0, 1, 0, source("load"))
r.add(LOST, struct.pack("<QQ", 1, 1234))
for at in range(3):
    r.add(5, struct.pack("<QQQ", at, 1, 1))
r.write(sys.argv[2])
whole = open(sys.argv[2], "rb").read()
open(sys.argv[2], "wb").write(whole[:72] + bytes(32) + whole[104:])`, join(SEEDS, "../../cli"), to]));

test("whatever the text says of its numbers is on the page of accesses", async () => {
  for (const command of ["memory", "sharing"]) {
    const page = await open(file(`doubtful-${command}.html`, (to) => run([command, "--html", to, doubtful()])));
    const lead = (await page.locator("section.lead").textContent()).toLowerCase(), text = run([command, doubtful()]).stdout.trimEnd();
    const lines = text.slice(text.lastIndexOf("\n\n") + 2).split("\n").filter((l) => !l.startsWith(" no names for") && !l.startsWith("   "));
    yes(lines.length >= 5, lines.join("\n"));
    for (const line of lines)
      yes(lead.includes(line.trim().toLowerCase().replace(/ \(-a shows \w+\)/, "")), `${command}: ${line}\nis not in\n${lead}`);
    for (const says of ["1,234 samples were lost", "3 times the kernel throttled", "broke off"])
      yes((await page.locator(".remark").allTextContents()).join("\n").includes(says), `${command}: ${says}`);
  }
});

test("sharing without times says whose bytes are whose; lines of one object are added up", async () => {
  const page = await open(file("untimed.html", (to) => run(["sharing", "--html", to, untimed()])));
  const first = await page.locator("section:has(h2:text-matches('^1\\. memory'))").textContent();
  yes(first.includes("perhaps not at the same time") && first.includes("if it is: FALSE SHARING") && !/ moves? between/.test(first), first);
  equal((await cells(page, "By object", 2)).join(), "3", "lines of the object");
  yes((await page.locator(".facts").textContent()).startsWith("Contended lines0"), "none is known to be");
});

/** Of 1000 samples each: f went from 100 to 300, g is gone, h is new, and i is what it was, within the noise. */
const difference = (shares) => ({ schema: "tare/stacks/1", program: "all", left_out: 0, difference: { before: 0, after: 1, shares },
  columns: [{ name: "before", unit: "", squares: 1000 }, { name: "after", unit: "", squares: 1000 }], names: ["", "main", "f", "g", "h", "i", EVIL],
  frames: { name: [1, 2, 3, 4, 5, 6], module: [0, 0, 0, 0, 0, 0], file: [0, 0, 0, 0, 0, 0], line: [0, 0, 0, 0, 0, 0] },
  nodes: { parent: [0, 0, 1, 1, 1, 1, 2], frame: [0, 0, 1, 2, 3, 4, 5], self: [[0, 190, 90, 200, 0, 510, 10], [0, 90, 300, 0, 100, 510, 0]] } });

test("a flame graph of a difference: both sides, what has gone, what is noise", async () => {
  const page = await open(made("difference.html", [difference(false)])), told = page.locator(".selected"), key = (k) => page.keyboard.press(k), canvas = page.locator(".flame canvas");
  await canvas.focus();
  yes((await told.textContent()).startsWith("all after 1,000 (100.00 %), before 1,000 (100.00 %): 0 (0 %), within the noise"), await told.textContent());
  await key("ArrowDown");
  await key("ArrowDown"); // i, the widest
  yes((await told.textContent()).startsWith("i after 510 (51.00 %), before 510 (51.00 %): 0 (0 %)"), await told.textContent());
  await key("ArrowLeft"); // h; g is not as wide as a line of the new side
  yes((await told.textContent()).startsWith("h after 100 (10.00 %), before 0 (0.00 %): new, +100, 6.8 times the noise"), await told.textContent());
  await key("ArrowLeft");
  yes((await told.textContent()).startsWith("f after 300 (30.00 %), before 100 (10.00 %): +200 (+200 %), 5.3 times the noise. Alone after 300 (30.00 %), before 90"), await told.textContent());
  await page.getByLabel("Width:").selectOption("before");
  await canvas.focus();
  await key("ArrowRight");
  yes((await told.textContent()).startsWith("g after 0 (0.00 %), before 200 (20.00 %): gone, −200 (−100 %)"), `what has gone is seen: ${await told.textContent()}`);
  await page.getByLabel("Width:").selectOption("both together");
  await canvas.focus();
  await key("ArrowRight");
  yes((await told.textContent()).startsWith("h "), `what is new and what has gone at once: ${await told.textContent()}`);
  await page.getByLabel("Find").fill("^[gh]$");
  equal(await page.locator(".tools .count").first().textContent(), "2 frames, 15.00 %", "found on both sides");
  await page.getByLabel("Find").fill("");
  const hues = await page.evaluate(() => { // the colours of the row of f, g, h, i, from left to right
    const c = document.querySelector(".flame canvas"), r = c.width / c.clientWidth, line = c.getContext("2d").getImageData(0, Math.round((19 * 2 + 17) * r), c.width, 1).data, seen = [];
    for (let x = 0; x < c.width; x += 4) {
      const [red, , blue] = line.slice(4 * x, 4 * x + 3), name = red > blue + 40 ? "red" : blue > red + 40 ? "blue" : "grey";
      if (line[4 * x + 3] === 255 && seen.at(-1) !== name) seen.push(name);
    }
    return seen.join();
  });
  yes(/^red,(grey,)?blue,(grey,)?red,grey$/.test(hues), `f more, g gone, h new, i noise: ${hues}`);
  yes((await page.locator(".legend").textContent()).includes("within the noise of sampling"), "the colours in words");
  equal(await page.evaluate(() => window.hacked), undefined, "a name runs nowhere");
  const phone = await open(made("difference.html", []), { viewport: { width: 360, height: 740 }, isMobile: true });
  yes(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no wider than a phone");
  await page.emulateMedia({ media: "print" });
  yes(await page.locator(".legend").isVisible(), "the legend is on paper, too");
});

test("what was lost may have made a difference", async () => {
  const of = (lost) => ({ ...difference(false), columns: difference(false).columns.map((c, k) => ({ ...c, lost: lost[k] })) });
  const told = async (name, lost) => {
    const page = await open(made(name, [of(lost)]));
    await page.locator(".flame canvas").focus();
    for (const k of ["ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"]) await page.keyboard.press(k);
    return page.locator(".selected").textContent();
  };
  yes((await told("lost-some.html", [0.05, 0])).startsWith("f after 300 (30.00 %), before 100 (10.00 %): +200 (+200 %), 3.9 times the noise"), await told("lost-some.html", [0.05, 0]));
  yes((await told("lost-more.html", [0.2, 0])).startsWith("f after 300 (30.00 %), before 100 (10.00 %): +200 (+200 %), within the noise and what was lost"), await told("lost-more.html", [0.2, 0]));
  yes((await told("lost-most.html", [0, 0.51])).startsWith("f after 300 (30.00 %), before 100 (10.00 %): +200 (+200 %), not judged"), await told("lost-most.html", [0, 0.51]));
});

test("shares are compared as shares", async () => {
  const page = await open(made("shares.html", [difference(true)]));
  await page.locator(".flame canvas").focus();
  for (const k of ["ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"]) await page.keyboard.press(k);
  yes((await page.locator(".selected").textContent()).startsWith("f after 30.00 %, before 10.00 %: +20.00 points, 5.9 times the noise"), await page.locator(".selected").textContent());
});

test("two recordings of samples are a page", async () => {
  const spin = (name, n) => file(name, (to) => run(["record", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", to, "--", "sh", "-c", `i=0; while [ $i -lt ${n} ]; do i=$((i+1)); done`]));
  const old = spin("before.data", 50000), now = spin("after.data", 200000);
  const page = await open(file("report-diff.html", (to) => run(["report", "--diff", old, "--html", to, now]))), { documents } = await data(page);
  equal(documents.map((d) => d.schema).join(), "tare/stacks/1,tare/report-diff/1", "documents");
  const shown = await cells(page, "What changed", 0), wanted = documents[1].rows;
  equal(shown[0], wanted[0].function ?? "[unknown]", "the surest first");
  yes(await page.locator(".flame canvas").isVisible(), "a flame graph");
  const notes = await page.locator("section.lead .remark").allTextContents(), text = run(["report", "--diff", old, now]).stdout;
  yes(notes.some((n) => n.includes(" rows changed")), notes.join("\n"));
  for (const note of notes) yes(text.includes(note), `${note}: ${text}`);
  yes(documents[1].sampling_noise || !/noise/i.test(await page.locator('section[data-title="What changed"]').innerText()), "exact recordings have no noise");
  const { score } = await source("flame_diff.js"), [a, b] = [documents[1].before, documents[1].after], [x, y] = documents[0].columns;
  const sure = wanted[0].self, z = score(sure.before, sure.after, [x.squares / a.amount, y.squares / b.amount], [a.amount, b.amount], false), t = 1 / (1 + 0.3275911 * Math.abs(z) / Math.SQRT2);
  const p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-z * z / 2); // Abramowitz and Stegun, 7.1.26
  equal((await source("flame_diff.js")).sureScore(100, 300, [1, 1], [1000, 1000], false, [0, 0]), score(100, 300, [1, 1], [1000, 1000], false), "nothing lost");
  yes(Math.abs(p - sure.p) < 1e-6, `the page and the table judge alike: ${p} and ${sure.p}`);
});

test("recordings of regions before and after are a page", async () => {
  const runs = copies(4), page = await open(file("diff.html", (to) => run(["diff", "--html", to, ...runs.slice(0, 2), "--", ...runs.slice(2)]))), { documents } = await data(page);
  equal(documents.map((d) => d.schema).join(), "tare/diff/1", "documents");
  const { whole, outside, detached } = documents[0].all.counters["wall-time"], selves = documents[0].labels.map((l) => l.counters["wall-time"]?.self).filter(Boolean), mean = (c) => c.before.mean;
  equal((await cells(page, "Changes of wall-time", 4)).join(), [...selves, outside, detached].filter((c, i) => i < selves.length || mean(c)).map((c) => `${mean(c)} ns`).join(), "before");
  equal(selves.reduce((sum, c) => sum + mean(c), mean(outside)) - mean(detached), mean(whole), "which add up");
  const noisy = structuredClone(documents[0]), label = noisy.labels.findIndex((l) => l.counters["wall-time"]?.self), self = noisy.labels[label].counters["wall-time"].self;
  noisy.counters.find((c) => c.counter === "wall-time").unit = "";
  Object.assign(self, { change: 5000, half_95: 1234.56 });
  const shown = await cells(await open(made("noisy-diff.html", [noisy])), "Changes of wall-time", noisy.test ? 2 : 1);
  yes(shown.some((s) => s === "+5,000 ± 1,235"), `± to the count, as in the text: ${shown}`);
});

test("a page of a difference says by which test, how many runs are enough, and what else may differ", async () => {
  const { remarksOf } = await source("diff.js"), side = (mean) => ({ mean, min: mean, max: mean, runs: [mean] });
  const doc = (test, more) => ({ test, one_thread: true, counters: [{ counter: "instructions:u", unit: "", quality: "exact" }], all: { counters: {} },
    labels: [{ label: "x", counters: { "instructions:u": { self: { before: side(1), after: side(3), change: 2, percent: 200, ...more } } } }] });
  const words = (...of) => remarksOf(doc(...of)).join(" ");
  yes(/Barnard's test/.test(words("welch", { test: "barnard", beyond: true, reason: null })) && !/Welch|Too few/.test(words("welch", { test: "barnard", beyond: true, reason: null })), "the test that it is by, no other");
  yes(/rank .*3 \+ 3 runs are enough.*the executed code/.test(words("student", { test: "rank", beyond: false, reason: "few_runs", enough_runs: 3 })), "few runs");
  yes(/6 \+ 6 runs are enough/.test(words("welch", { test: "welch", beyond: false, reason: "resolution", enough_runs: 6 })), "threads");
  equal(words("welch", { test: "welch", beyond: false, reason: null }), "p is by Welch's t test, or Student's if its p is larger. A change exceeds the noise if q, which is p adjusted by Benjamini and Hochberg, is at most 0.05: of all reported changes, at most 5 % are expected to be by chance.", "noise");
  yes(/noise is not known.*the executed code/.test(words(null, { reason: "few_runs", enough_runs: 3 })), "one on each side");
  equal(remarksOf({ ...doc("welch", {}), labels: [] }).length, 0, "nothing to be said");
});

test("ratios of three events with long names fit on a phone, and a name of 100 KB fits in a table", async () => {
  const columns = ["exact/conditional-branches/", "exact/instructions-of-many-kinds/", "exact/loads-and-stores-of-all/"].map((name) => ({ name, unit: "", quality: "exact" }));
  const page = await open(made("three.html", [{ ...stacks, columns, nodes: { ...stacks.nodes, self: [...stacks.nodes.self, stacks.nodes.self[0]] } }]), { viewport: { width: 375, height: 740 }, isMobile: true });
  yes(await page.locator("select").count() > 0, "there are ratios to choose");
  yes(await page.evaluate(() => document.documentElement.scrollWidth <= 375), `no wider than the phone: ${await page.evaluate(() => document.documentElement.scrollWidth)}`);
  const { clip } = await source("format.js"), long = clip("a".repeat(50000) + "b".repeat(50000));
  equal(`${long.length} ${long.slice(0, 2)} ${long.slice(-2)}`, "400 aa bb", "both ends of it");
  equal(clip("short"), "short");
});

test("windows of two runs are a page", async () => {
  const csv = (name, n) => file(name, (to) => run(["windows", "--engine", "exact", "-e", "branches:u", "--every", "20k", "--format", "csv", "-o", to, "--", "sh", "-c", `i=0; while [ $i -lt ${n} ]; do i=$((i+1)); done`]));
  const a = csv("a.csv", 2000), b = csv("b.csv", 4000), page = await open(file("windows-diff.html", (to) => run(["windows", "diff", "--html", to, a, b], 1))), { documents } = await data(page);
  equal(documents.map((d) => d.schema).join(), "tare/windows-diff/1", "documents");
  equal((await cells(page, "In total", 1))[1], documents[0].total_a[1].toLocaleString("en-US"), "branches of A");
  yes((await page.locator(".remark").first().textContent()).startsWith("B is longer by"), "the longer one");
});

test("a function is a page, instruction by instruction", async () => {
  const f = file("annotate.html", (to) => run(["annotate", "--html", to, "malloc", "--", "sh", "-c", ":"])), page = await open(f), { documents: [doc] } = await data(page);
  equal(doc.schema, "tare/annotate/1", "document");
  const shown = await cells(page, "Instructions", 0);
  equal(shown.slice(0, 5).join(), doc.instructions.slice(0, 5).map((i) => i.address).join(), "in the order of their addresses");
  const never = doc.instructions.findIndex((i) => i.amounts[0] === 0);
  equal(doc.events[0].quality, "exact", "quality");
  yes(never >= 0 && (await cells(page, "Instructions", 1))[never] === "0", "0 executions are a fact");
});

test("a function's page has the text of its source lines", async () => {
  const source = join(room, "wick.c"), exe = join(room, "wick"), line = '\tx += "a\\tb"[i % 3]; /* <b>\ttab</b> */';
  writeFileSync(source, `volatile int x;\n__attribute__((noinline)) void wick(int i)\n{\n${line}\n\tx ^= 1; /* \x1b\u202e */\n}\nint main(void) { wick(1); return 0; }\n`);
  execFileSync("cc", ["-w", "-g", "-O1", source, "-o", exe]);
  const page = await open(file("wick.html", (to) => run(["annotate", "--html", to, "wick", "--", exe])));
  const texts = (title) => page.$$eval(`section[data-title="${title}"] code.source`, (all) => all.map((c) => c.textContent));
  for (const title of ["By line", "Instructions"]) {
    const all = await texts(title);
    yes(all.includes(line), `${title}: ${JSON.stringify(all)}`);
    yes(all.includes("\tx ^= 1; /* \\x1b\\xe2\\x80\\xae */"), `${title}: ${JSON.stringify(all)}`);
  }
  equal(await page.$eval('section[data-title="By line"] code.source', (c) => getComputedStyle(c).whiteSpace.startsWith("pre-wrap") || getComputedStyle(c).whiteSpaceCollapse === "preserve"), true, "blanks stay");
});

/** A history that tare writes: 60 values with a step, a second version of tare, and noisy times. */
const historyPage = () => file("history.html", (to) => {
  const db = join(room, "history.db");
  for (let i = 0; i < 60; i++) {
    const n = 150_000 + (i >= 40 ? 60_000 : 0), t = 1e6 + (7 * i) % 11 * 1000 + (i >= 30 ? 2e5 : 0), d = join(room, `history-${i}.json`);
    writeFileSync(d, JSON.stringify({ schema: "tare/stat/1", command: [EVIL], exit_status: 0, runs: 2, conditions: { tare: i < 55 ? "0.1" : "0.2", isa: "x86-64-v3", fixed: [], engine: "exact" },
      events: [{ event: "instructions:u", value: n, unit: "", quality: "exact", engine: "exact", n: 2, min: n, max: n }], times_ns: { wall: { value: t, min: t - 500, max: t + 500 } } }));
    run(["history", "add", d, "--db", db, "--commit", `v${i}`], 0, room);
  }
  run(["history", "plot", "--db", db, "-o", to]);
});
const picked = (page, i) => page.locator(".series").nth(i).locator(".details").evaluate((dl) => Object.fromEntries([...dl.children].filter((e) => e.tagName === "DT").map((e) => [e.textContent, e.nextSibling.textContent])));
const press = async (page, i, part, y = 60) => {
  const over = page.locator(".series").nth(i).locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.click(box.x + box.width * part, box.y + y);
};

test("a history is a page: change points, and the commit of a point", async () => {
  const page = await open(historyPage());
  equal(await page.locator(".facts dd").allTextContents().then((t) => t.join()), "2,120,60", "facts");
  await page.locator(".series").nth(1).locator("canvas").waitFor();
  const [first, second] = [page.locator(".series").first(), page.locator(".series").nth(1)];
  equal(await first.locator("summary").textContent(), "1 change", "exact");
  equal(await second.locator("summary").textContent(), "1 change", "noisy");
  yes((await first.locator(".lines li").nth(1).textContent()).includes("version of tare (0.1; 0.2)"), "what differs");
  await first.locator("summary").click();
  const change = first.locator("tbody tr");
  equal((await change.locator("td").allTextContents()).slice(0, 4).filter((_, i) => i !== 1).join(), "v40,210,000,+60,000 (+40 %)", "the change");
  await change.locator("button").click();
  let d = await picked(page, 0);
  equal([d.Commit, d.Value, d.Difference, d["Change point"]].join(), "v40,210,000 (2 runs),+60,000 (+40 %) from v39,+60,000 (+40 %)", "its commit");
  await page.getByRole("button", { name: "next value" }).first().click();
  d = await picked(page, 0);
  equal([d.Commit, d.Difference, d["Change point"]].join(), "v41,none from v40,", "the next");
  // the first value with other conditions is not compared
  for (let i = 41; i < 55; i++) await page.getByRole("button", { name: "next value" }).first().click();
  d = await picked(page, 0);
  equal([d.Commit, d.Difference].join(), "v55,no earlier value has the same conditions", "not compared");
  yes(d.Conditions.includes("The previous value has other conditions, so the two are not compared: version of tare (0.1; 0.2)."), d.Conditions);
  await press(page, 1, 0.01);
  d = await picked(page, 1);
  equal([d.Commit, d.Value].join(), "v0,1.00 ms (2 runs, 999.5 µs to 1.00 ms)", "a click");
  equal(await page.evaluate(() => window.hacked), undefined, "names are text");
});

test("a change point of a history shows its verdict, and the functions that changed", async () => {
  const page = await open(file("history-functions.html", (to) => {
    const db = join(room, "functions.db");
    for (let i = 0; i < 4; i++) {
      const d = join(room, `functions-${i}.json`), parse = i < 2 ? 100 : 160, rows = [{ function: EVIL, module: "prog", count: parse }, { function: "main", module: "prog", count: 40 }];
      writeFileSync(d, JSON.stringify({ schema: "tare/gate/1", commit: null, benchmarks: [{ benchmark: "b", verdict: i === 2 ? "slower" : "same", why: i === 2 ? `in ${EVIL}` : null, command: "b", tare: "0.1",
        fixed: "aslr", isa: "x86-64-v3", events: { "instructions:u": parse + 47 }, functions: { total: parse + 47, rows, others: 7 } }] }));
      run(["history", "add", d, "--db", db, "--commit", `v${i}`], 0, room);
    }
    run(["history", "plot", "--db", db, "-o", to]);
  }));
  await page.locator(".series canvas").waitFor();
  await page.locator("summary").click();
  await page.locator("tbody button").click();
  const d = await picked(page, 0), cells = await page.locator(".picked tbody td").allTextContents();
  equal([d.Commit, d["Change point"]].join(), "v2,+60 (+41 %)", "the change point");
  yes(d.Verdict.startsWith("slower: in "), d.Verdict);
  equal([cells[0], cells[1], cells[2], cells[4]].join(), "+60 (+60 %),100,160,prog", "the largest change first");
  equal(cells.slice(5).join(), "none,40,40,main,prog,none,7,7,other code,", "the others");
  await page.getByRole("button", { name: "previous value" }).click();
  equal(await page.locator(".picked tbody").count(), 0, "no table at other values");
  equal(await page.evaluate(() => window.hacked), undefined, "names are text");
});

test("a click after a zoom shows the value that is there", async () => {
  const page = await open(historyPage()), plot = page.locator(".series").first().locator(".plot");
  await plot.locator("canvas").waitFor();
  await plot.focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("+");
  await press(page, 0, 0.55);
  equal((await picked(page, 0)).Commit, "v30", "near the middle of 0..59");
});

test("a history of a million values keeps each of them", async () => {
  const n = 1_000_000, values = Float64Array.from({ length: n }, (_, i) => 1000 + i % 7);
  values[654_321] = 5000;
  const packed = (a) => ({ packed: "f64", n: a.length, base64: Buffer.from(a.buffer).toString("base64") }), none = { packed: "u0", n, first: 0, base64: "" };
  const page = await open(made("history-million.html", [{ schema: "tare/history-plot/1", series: [{ benchmark: "b", event: "e", unit: "", region: null,
    conditions: [{ tare: null, engine: "perf", quality: "counted", isa: null, fixed: "", command: null, machine: "m", exact: false }],
    columns: { commit: { packed: "u0", n, first: 0, step: 1, base64: "" }, conditions: none, runs: { ...none, first: 1 }, value: packed(values) },
    changes: [{ at: 654_321, change: { from: "c654320", before: 1003, after: 1004, change: 1, percent: 0.1, p: 0.0001 } }] }],
    commits: { n, names: Array.from({ length: n }, (_, i) => `c${i}`).join("\n"), subjects: "\n".repeat(n - 1), times: packed(Float64Array.from({ length: n }, (_, i) => 1.7e9 + i)), dirty: none } }]));
  await page.locator(".series canvas").waitFor();
  await page.locator("summary").click();
  await page.locator("tbody button").click();
  const d = await picked(page, 0);
  equal([d.Commit, d.Value, d.Difference].join(), "c654321,5,000,+3,998 (+399 %) from c654320", "the peak");
  await page.getByRole("button", { name: "next value" }).click();
  equal((await picked(page, 0)).Commit, "c654322", "its neighbour");
});

test("what the page does not know it names", async () => {
  const page = await open(made("unknown.html", [{ schema: "tare/tomorrow/1" }, stacks]));
  yes((await page.locator(".remark").first().textContent()).includes("tare/tomorrow/1"), "said");
});

/** The same documents with marks in every string that is a name; `fixed` are the words and numbers that the page goes by. */
function poisoned(x, key = "") {
  const fixed = /^(schema|quality|unit|packed|base64|kind|by|mode|ended|verdict|test|how|latency|counters|counter)$/;
  if (typeof x === "string") return fixed.test(key) || /^(-?[0-9.]+|0x[0-9a-f]+|)$/.test(x) ? x : `a\u202e${x}\x1b[2J`;
  if (Array.isArray(x)) return x.map((v) => poisoned(v, key));
  return x && typeof x === "object" ? Object.fromEntries(Object.entries(x).map(([k, v]) => [k, poisoned(v, k)])) : x;
}
const embedded = (html) => JSON.parse(/<script[^>]*id="?data"?[^>]*>([^]*?)<\/script>/.exec(html)[1]);

test("names are written out in every kind of page: text, attributes, plots and flame graphs", async () => {
  const kinds = new Set();
  made("series.html", [{ schema: "tare/series/1", title: "Windows", x: { name: "instructions", unit: "", start: 0, step: 1000, n: 3 }, series: [{ name: "cycles", unit: "", quality: "counted", values: [1, 2, 3] }] }]);
  for (const [name, path] of Object.entries(files).filter(([n, p]) => n.endsWith(".html") && n !== "unknown.html" && statSync(p).size < 3_000_000)) {
    const { documents } = embedded(readFileSync(path, "utf8")), fresh = documents.filter((d) => !kinds.has(d.schema));
    if (!fresh.length) continue;
    fresh.forEach((d) => kinds.add(d.schema));
    const target = made(`poisoned-${name}`, documents.map((d) => poisoned(d))), context = await browser.newContext({ viewport: { width: 1200, height: 900 } }), page = await context.newPage();
    page.on("pageerror", (e) => said.push(`error in ${name}: ${e.message}`));
    await page.addInitScript(() => {
      window.drawn = [];
      const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { window.drawn.push(text); return draw.call(this, text, ...at); };
    });
    await page.goto(pathToFileURL(target).href);
    for (const plot of (await page.locator(".u-over").all()).slice(0, 2)) await plot.hover();
    const canvas = page.locator(".flame canvas").first();
    if (await canvas.count()) { await canvas.hover({ position: { x: 100, y: 10 } }); await canvas.focus(); await page.keyboard.press("ArrowDown"); }
    const found = await page.evaluate(() => {
      const out = [["title", document.title], ...window.drawn.map((t) => ["canvas", t])];
      for (const e of document.body.querySelectorAll(":not(script)")) {
        for (const a of e.attributes) out.push([`${e.tagName} ${a.name}`, a.value]);
        for (const n of e.childNodes) if (n.nodeType === 3) out.push([e.tagName, n.data]);
      }
      return { written: out.filter(([, t]) => t.includes("\\x1b")).length, raw: out.filter(([, t]) => /[\x1b\u202e]/.test(t)) };
    });
    equal(found.raw.slice(0, 3).join(" | "), "", `${name}: raw`);
    yes(found.written > 0, `${name}: written out`);
    await context.close();
  }
  for (const schema of ["stat", "stacks", "series", "report", "report-diff", "windows", "windows-diff", "diff", "memory", "sharing", "bench", "aggregate", "summarize", "annotate", "history-plot"])
    yes(kinds.has(`tare/${schema}/1`), `a page of tare/${schema}/1 was looked at`);
});

test("every word of the pages of differences can be read, by day and by night", async () => {
  for (const name of ["difference.html", "report-diff.html", "diff.html", "windows-diff.html"]) for (const colorScheme of ["light", "dark"]) {
    yes(files[name], `${name} was made`);
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme }), page = await context.newPage();
    await page.addInitScript(() => {
      window.drawn = [];
      const draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const m = this.getTransform(), under = this.getImageData(Math.max(0, x * m.a + m.e - 2), y * m.d + m.f, 1, 1).data;
        if (under[3] === 255) window.drawn.push([text, this.fillStyle, `rgb(${under[0]}, ${under[1]}, ${under[2]})`]);
        return draw.call(this, text, x, y);
      };
    });
    await page.goto(pathToFileURL(files[name]).href);
    await drawn(page);
    const dim = await page.evaluate(() => {
      const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const rgb = (c) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = c; probe.fillRect(0, 0, 1, 1); return probe.getImageData(0, 0, 1, 1).data; };
      const light = (c) => [...rgb(c)].slice(0, 3).map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
      const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); }; // WCAG 2.1, "contrast ratio"
      const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] === 255) return c; } return "white"; };
      const words = [...document.querySelectorAll("main *")].filter((e) => e.checkVisibility() && !e.disabled && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
        .map((e) => [e.textContent.slice(0, 30), getComputedStyle(e).color, ground(e)]);
      return { n: words.length, drawn: window.drawn.length, low: [...words, ...window.drawn].map((w) => [...w, contrast(w[1], w[2]).toFixed(2)]).filter((w) => w[3] < 4.5) };
    });
    yes(dim.n > 10, `${name}: ${dim.n} words`);
    yes(!/difference|report/.test(name) || dim.drawn > 0, `${name}: words in the flame graph`);
    equal(dim.low.slice(0, 5).join(" | "), "", `${name}, ${colorScheme}: too little contrast`);
    await context.close();
  }
});

test("no error, no warning, no request in any of them", async () => equal(said.join("\n"), "", "said"));

const missing = !CHROMIUM ? "there is no chromium" : !existsSync(join(WEB, "node_modules/playwright-core")) ? "npm ci was not run in web/" : null;
let failed = 0;
if (!missing) {
  ({ chromium } = (await import(pathToFileURL(join(WEB, "node_modules/playwright-core/index.mjs")).href)));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
for (const [i, [name, f]] of tests.entries()) {
  if (missing) {
    console.log(`ok ${i + 1} ${name} # SKIP ${missing}`);
    continue;
  }
  const began = Date.now();
  try {
    await f();
    console.log(`# ${Date.now() - began} ms\nok ${i + 1} ${name}`);
  } catch (e) {
    failed++;
    console.log(`${String(e.stack).split("\n").map((l) => `# ${l}`).join("\n")}\nnot ok ${i + 1} ${name}`);
  }
  for (const context of browser.contexts()) await context.close();
}
console.log(`1..${tests.length}`);
await browser?.close();
rmSync(room, { recursive: true });
process.exit(failed ? 1 : 0);
