// tare/annotate/1: one function, instruction by instruction, with the counts of each event.
import { h, section } from "./dom.js";
import { brokeOff, doubt, full, partial, percent, plain, toNumber } from "./format.js";
import { table } from "./table.js";

const share = (part, whole) => (toNumber(whole) ? toNumber(part) / toNumber(whole) : 0);
const base = (path) => path?.replace(/.*\//, "");

/** What a reader must know about the counts. */
export function remarksOf(doc) {
  return [doc.by_samples_as && `Counts are from samples, although the recording has exact counts: ${doc.by_samples_as}.`, doc.build_verified === false && `${doc.module} was taken by its name alone: of it no build id could be read from the recording.${doubt(doc.other_file, doc.newer_than_recording, "instructions")}`, doc.broke_off && brokeOff, ...(doc.uncounted_processes ?? []).map(partial), doc.no_instructions && `There are no instructions: ${doc.no_instructions}`, toNumber(doc.between_instructions) > 0 && `${full(doc.between_instructions)} samples were not at the first byte of an instruction.`,
    toNumber(doc.bytes_left_out) > 0 && `${full(doc.bytes_left_out)} bytes of this huge function are left out.`, doc.others && `Other functions of this name have counts: ${doc.others}`,
    ...(doc.newer_sources ?? []).map((file) => `${file} is newer than the program: its lines may have moved.`),
    ...(doc.refused_sources ?? []).map((file) => `${file} is not shown: the program names it, and it belongs to another user.`),
    ...doc.events.map((e) => e.skids && `${e.event} is not precise: a count may belong to an instruction some places before.`)].filter(Boolean);
}

function facts(doc) {
  const rows = [["Function", h("span", {}, doc.function), doc.module], ["Instructions", full(doc.instructions.length), `${doc.start} to ${doc.end}`],
    ...doc.events.map((e) => [e.event, plain(e.here, e.unit), `${percent(share(e.here, e.all), 2)} of all, ${e.quality}${e.quality === "exact" ? "" : `: ${full(e.samples)} samples`}`])];
  return h("section", { class: "lead" }, h("dl", { class: "facts" }, rows.map(([k, v, more]) => h("div", {}, h("dt", {}, k), h("dd", {}, v), more && h("dd", { class: "more-soft" }, more)))),
    remarksOf(doc).map((text) => h("p", { class: "remark" }, text)));
}

/** The text of each available source line, by "file:line". */
const sources = (doc) => new Map((doc.source_lines ?? []).map((l) => [`${l.file}:${l.line}`, l.text]));
const code = (text) => h("code", { class: "source" }, text);

const counts = (doc, amounts) => doc.events.flatMap((e, i) => [
  { title: e.event, number: true, value: (r) => toNumber(amounts(r)[i]), show: (r) => (toNumber(amounts(r)[i]) || e.quality === "exact" ? plain(amounts(r)[i], e.unit) : ""), bar: (r) => share(amounts(r)[i], e.here) },
  (e.quality !== "exact" || doc.file) && { title: "Share", about: `of ${e.event} in this function`, number: true, value: (r) => share(amounts(r)[i], e.here), show: (r) => (toNumber(amounts(r)[i]) ? percent(share(amounts(r)[i], e.here), 2) : "") },
].filter(Boolean));

function lines(doc, text) {
  const by = new Map(), sum = (a, b) => (Number.isSafeInteger(toNumber(a) + toNumber(b)) ? toNumber(a) + toNumber(b) : String(BigInt(a) + BigInt(b)));
  for (const i of doc.instructions) {
    if (!i.file) continue;
    const key = `${i.file}:${i.line}`, row = by.get(key) ?? by.set(key, { file: i.file, line: i.line, n: 0, amounts: doc.events.map(() => 0) }).get(key);
    row.n++;
    row.amounts = row.amounts.map((v, k) => sum(v, i.amounts[k]));
  }
  const columns = counts(doc, (r) => r.amounts);
  if (columns.length) columns[0].sort = "down";
  return by.size > 0 && section("By line", "the same, added up by source line", table([{ title: "Line", wide: true, value: (r) => `${base(r.file)}:${r.line}`, show: (r) => h("b", { title: r.file }, `${base(r.file)}:${r.line}`) },
    ...columns, { title: "Instructions", number: true, value: (r) => r.n, show: (r) => full(r.n) },
    text.size > 0 && { title: "Source", wide: true, value: (r) => text.get(`${r.file}:${r.line}`) ?? "", show: (r) => code(text.get(`${r.file}:${r.line}`) ?? "") }].filter(Boolean), [...by.values()], { caption: "By line", search: "Filter lines" }));
}

/** In the page of a report the functions are a section of its stacks (code.js). */
export function annotate(doc, documents) {
  if (documents.some((d) => d.schema === "tare/report/1")) return [];
  const text = sources(doc), at = (i) => (i?.file ? `${i.file}:${i.line}` : ""), first = new Set(doc.instructions.filter((r, i, all) => at(r) !== at(all[i - 1])));
  const instructions = section("Instructions", "in the order of their addresses; a click on a column sorts", table([
    { title: "Address", sort: "up", number: true, value: (r) => Number(r.address), text: (r) => r.address, show: (r) => h("code", { title: r.bytes }, r.address) },
    ...counts(doc, (r) => r.amounts),
    { title: "Instruction", wide: true, value: (r) => [r.text ?? "(not disassembled)", r.target].filter(Boolean).join("  "), show: (r) => [h("code", {}, r.text ?? "(not disassembled)"), r.target && h("span", { class: "soft" }, `  ${r.target}`)] },
    { title: "Line", value: (r) => (r.file ? `${base(r.file)}:${r.line}` : ""), show: (r) => (r.file ? h("span", { class: "soft", title: r.file }, `${base(r.file)}:${r.line}`) : "") },
    text.size > 0 && { title: "Source", wide: true, value: (r) => text.get(at(r)) ?? "", show: (r) => code((first.has(r) && text.get(at(r))) || "") },
  ].filter(Boolean), doc.instructions, { caption: "Instructions", search: "Filter instructions", rows: 400 }));
  return [facts(doc), lines(doc, text), instructions];
}
export const annotateTitle = (doc) => ({ title: `${doc.function}${doc.file ? ` in ${doc.file}` : ""}`, kind: "tare annotate" });
