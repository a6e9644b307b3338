/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include "base/path.h"
#include "memory/allocations_view.h"
#include "output/escape.h"
#include "output/json.h"
#include "output/style.h"

enum { COL_BYTES, COL_SHARE, COL_COUNT, COL_PEAK, COL_LIVE, COL_LIVE_COUNT, COL_WHERE, COLS };
enum { NAME_MOST = 60, PROCESSES_SHOWN = 4 };

static const char *word(const struct allocations *a, uint32_t number)
{
	return number ? words_at(&a->recording.modules.words, number) : "";
}

static size_t rows_shown(const struct allocations_shown *s)
{
	return s->limit && s->limit < s->of->n ? s->limit : s->of->n;
}

static const char *comm_of(const struct allocations *a, const struct allocations_process *p)
{
	return memory_samples_comm(&a->recording, p->pid, p->pid);
}

/* ---- text ---- */

static uint64_t address_of(const struct allocations *a, const struct memory_samples_code *code)
{
	const struct module *of = &a->recording.modules.module[code->module];
	uint64_t address;

	return of->fd >= 0 && elf_offset_to_address(&of->head, code->offset, &address)
		? address
		: code->offset;
}

/* A function without a name is shown as module and address, as in the exports. */
static void put_place(struct text *out, const struct allocations *a,
		      const struct memory_samples_name *n, const struct memory_samples_code *code)
{
	const char *name = word(a, n->function), *file = word(a, n->file);

	const char *module = path_base(word(a, n->module));
	/* From call frame information: its first address */
	bool nameless = !strncmp(name, "0x", 2);

	if (nameless || !n->function)
		escape(out, module, strlen(module));
	if (nameless)
		text_add(out, "+%s", name);
	else if (n->function)
		escape_middle(out, name, strlen(name), NAME_MOST);
	else
		text_add(out, "+0x%" PRIx64, address_of(a, code));
	if (n->file) {
		text_add(out, "  ");
		escape(out, path_base(file), strlen(path_base(file)));
		text_add(out, ":%u", n->line);
	}
}

static void put_row(struct grid *g, const struct allocations_shown *s,
		    const struct allocations_row *r, const struct style *style)
{
	const struct allocations *a = s->of;
	struct text t = { 0 };

	grid_row(g);
	grid_count(g, COL_BYTES, s->sort == ALLOCATIONS_BYTES ? INK_STRONG : INK_PLAIN, style,
		   r->sum.bytes);
	if (a->total.bytes)
		text_add(&t, "%.1f %%", 100 * (double)r->sum.bytes / (double)a->total.bytes);
	grid_put(g, COL_SHARE, INK_FAINT, &t);
	grid_count(g, COL_COUNT, s->sort == ALLOCATIONS_COUNT ? INK_STRONG : INK_PLAIN, style,
		   r->sum.count);
	grid_count(g, COL_PEAK, s->sort == ALLOCATIONS_PEAK ? INK_STRONG : INK_PLAIN, style,
		   r->sum.peak_bytes);
	grid_count(g, COL_LIVE, s->sort == ALLOCATIONS_LIVE ? INK_STRONG : INK_PLAIN, style,
		   r->sum.live_bytes);
	grid_count(g, COL_LIVE_COUNT, INK_PLAIN, style, r->sum.live_count);
	put_place(&t, a, &r->at, &r->code);
	if (r->caller.module) {
		text_add(&t, ", called by ");
		put_place(&t, a, &r->caller, &r->caller_code);
	}
	grid_put(g, COL_WHERE, INK_PLAIN, &t);
}

static void put_sum(struct text *out, const struct allocations_sum *sum, const struct style *style,
		    bool peak)
{
	put_count(out, style, sum->count);
	text_add(out, " allocation%s of ", sum->count == 1 ? "" : "s");
	put_count(out, style, sum->bytes);
	text_add(out, " bytes; ");
	if (peak) {
		text_add(out, "peak ");
		put_count(out, style, sum->peak_bytes);
		text_add(out, " bytes in ");
		put_count(out, style, sum->peak_count);
		text_add(out, " block%s; ", sum->peak_count == 1 ? "" : "s");
	}
	text_add(out, "live at exit ");
	put_count(out, style, sum->live_bytes);
	text_add(out, " bytes in ");
	put_count(out, style, sum->live_count);
	text_add(out, " block%s\n", sum->live_count == 1 ? "" : "s");
}

static void put_process(struct text *out, const struct allocations *a,
			const struct allocations_process *p)
{
	text_add(out, "process %u", p->pid);
	if (*comm_of(a, p)) {
		text_add(out, " ");
		escape(out, comm_of(a, p), strlen(comm_of(a, p)));
	}
	if (p->program > 1)
		text_add(out, " (program %u)", p->program);
}

/*
 * With several processes: one line each, or only the one with the largest peak if there are many.
 */
static void put_processes(struct text *out, const struct allocations_shown *s,
			  const struct style *style)
{
	const struct allocations *a = s->of;
	const struct allocations_process *largest = a->process;
	size_t begun = 0;

	if (a->processes < 2)
		return;
	for (size_t i = 0; i < a->processes; i++) {
		const struct allocations_process *p = &a->process[i];

		begun += p->program == 1;
		if (p->sum.peak_bytes > largest->sum.peak_bytes)
			largest = p;
		if (!s->verbose && a->processes > PROCESSES_SHOWN)
			continue;
		text_add(out, "   ");
		put_process(out, a, p);
		text_add(out, ": ");
		put_sum(out, &p->sum, style, true);
	}
	if (s->verbose || a->processes <= PROCESSES_SHOWN)
		return;
	text_add(out, "   %zu process%s", begun, begun == 1 ? "" : "es");
	if (begun < a->processes)
		text_add(out, " with %zu programs", a->processes);
	text_add(out, " (-v lists each); the largest peak is of ");
	put_process(out, a, largest);
	text_add(out, ": ");
	put_count(out, style, largest->sum.peak_bytes);
	text_add(out, " bytes\n");
}

static void put_head(struct text *out, const struct allocations_shown *s, const struct style *style)
{
	const struct allocations *a = s->of;

	text_add(out, "\n %s", ink_on(style, INK_STRONG));
	escape(out, s->path, strlen(s->path));
	text_add(out, "%s   ", ink_off(style));
	put_sum(out, &a->total, style, a->processes == 1);
	put_processes(out, s, style);
	text_add(out, "\n");
}

static void put_notes(struct text *out, const struct allocations_shown *s,
		      const struct style *style)
{
	const struct allocations *a = s->of;
	uint64_t unmatched = 0;

	for (size_t i = 0; i < a->processes; i++)
		unmatched += a->process[i].unmatched;
	put_paragraph(
		out, style, INK_FAINT,
		"at peak: bytes that were live when their process had the most live bytes. live at exit: at the end of the process, or when it executed another program.");
	if (a->mapped)
		put_paragraph(out, style, INK_FAINT,
			      "%" PRIu64 " mapping%s by mmap(2) %s not included.", a->mapped,
			      a->mapped == 1 ? "" : "s", a->mapped == 1 ? "is" : "are");
	if (unmatched)
		put_paragraph(
			out, style, INK_FAINT,
			"%" PRIu64
			" more block%s freed by a process that did not allocate %s: blocks of its parent, or from before recording.",
			unmatched, unmatched == 1 ? " was" : "s were",
			unmatched == 1 ? "it" : "them");
	if (a->lost)
		put_paragraph(
			out, style, INK_BAD,
			"%" PRIu64
			" records are missing: counts and bytes are too low, and peak and live may be wrong.",
			a->lost);
	for (size_t i = 0; i < a->recording.n_notes; i++)
		put_paragraph(out, style, INK_CAREFUL, "%s.", a->recording.note[i]);
	if (a->recording.damage[0])
		put_paragraph(out, style, INK_BAD, "%s.", a->recording.damage);
}

void allocations_text(struct text *out, const struct allocations_shown *s,
		      const struct style *style)
{
	static const struct grid_column columns[COLS] = {
		{ "bytes", true },        { "", true, 1 },          { "count", true },
		{ "at peak", true },      { "live at exit", true }, { "blocks", true, 2 },
		{ "allocated in", false }
	};
	struct grid g = grid_begin(columns, COLS);
	size_t n = rows_shown(s);

	put_head(out, s, style);
	for (size_t i = 0; i < n; i++)
		put_row(&g, s, &s->of->row[i], style);
	if (s->of->n)
		grid_write(out, &g, style, 1);
	grid_free(&g);
	if (n < s->of->n)
		text_add(out, " %s(%zu more; --limit 0 shows all)%s\n", ink_on(style, INK_FAINT),
			 s->of->n - n, ink_off(style));
	text_add(out, "\n");
	put_notes(out, s, style);
}

/* ---- json ---- */

static void sum_json(struct json *j, const struct allocations_sum *sum, bool peak)
{
	json_uint(j, "count", sum->count);
	json_uint(j, "bytes", sum->bytes);
	json_uint(j, "freed", sum->freed);
	json_uint(j, "largest", sum->largest);
	json_uint_if(j, "peak_count", peak, sum->peak_count);
	json_uint_if(j, "peak_bytes", peak, sum->peak_bytes);
	json_uint(j, "live_count", sum->live_count);
	json_uint(j, "live_bytes", sum->live_bytes);
}

static void word_json(struct json *j, const char *key, const struct allocations *a, uint32_t number)
{
	json_string(j, key, number ? word(a, number) : NULL);
}

static void place_json(struct json *j, const struct allocations *a,
		       const struct memory_samples_name *n)
{
	word_json(j, "function", a, n->function);
	word_json(j, "module", a, n->module);
	word_json(j, "file", a, n->file);
	json_uint_if(j, "line", n->file, n->line);
}

static void lacking_json(struct json *j, const char *type, uint64_t n, uint64_t at)
{
	if (!n)
		return;
	json_object(j, NULL);
	json_string(j, "type", type);
	json_uint(j, "number", n);
	json_uint(j, "first_offset", at);
	json_end(j);
}

void allocations_document(struct text *out, enum output_format format,
			  const struct allocations_shown *s)
{
	static const struct table_layout rows = {
		.rows = "rows",
		.columns =
			"function,module,file,line,caller=caller/function,caller_module=caller/module,"
			"caller_file=caller/file,caller_line=caller/line,count,bytes,freed,largest,"
			"peak_count,peak_bytes,live_count,live_bytes",
	};
	struct json document = document_as(format, &rows), *j = &document;
	const struct allocations *a = s->of;

	json_object(j, NULL);
	json_string(j, "schema", "tare/allocations/1");
	json_string(j, "path", s->path);
	json_string(j, "by", s->by_function ? "function" : "line");
	json_string(j, "sort", allocations_sort_name(s->sort));
	json_object(j, "total");
	sum_json(j, &a->total, a->processes == 1);
	json_end(j);
	json_uint(j, "mapped", a->mapped);
	json_uint(j, "lost", a->lost);
	json_bool(j, "damaged", a->damaged);
	json_array(j, "undecoded");
	lacking_json(j, "bytes", a->recording.blocks_lacking.damaged,
		     a->recording.blocks_lacking.damaged_at);
	lacking_json(j, "blocks", a->recording.blocks_lacking.missing,
		     a->recording.blocks_lacking.missing_at);
	json_end(j);
	json_array(j, "processes");
	for (size_t i = 0; i < a->processes; i++) {
		const struct allocations_process *p = &a->process[i];

		json_object(j, NULL);
		json_uint(j, "pid", p->pid);
		json_string(j, "comm", comm_of(a, p));
		json_uint(j, "program", p->program);
		sum_json(j, &p->sum, true);
		json_uint(j, "peak_ns", p->peak_ns);
		json_uint(j, "unmatched", p->unmatched);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "rows_in_all", a->n);
	json_array(j, "rows");
	for (size_t i = 0; i < rows_shown(s); i++) {
		const struct allocations_row *r = &a->row[i];

		json_object(j, NULL);
		place_json(j, a, &r->at);
		json_uint_if(j, "offset", !r->at.function, r->code.offset);
		if (r->caller.module) {
			json_object(j, "caller");
			place_json(j, a, &r->caller);
			json_end(j);
		} else {
			json_null(j, "caller");
		}
		sum_json(j, &r->sum, true);
		json_end(j);
	}
	json_end(j);
	json_array(j, "notes");
	for (size_t i = 0; i < a->recording.n_notes; i++)
		json_string(j, NULL, a->recording.note[i]);
	json_end(j);
	json_end(j);
	json_into(out, j);
}
