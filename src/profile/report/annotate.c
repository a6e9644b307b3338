/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/array.h"
#include "profile/report/annotate.h"
#include "symbols/disasm.h"
#include "profile/report/report.h"
#include "base/text.h"

enum { BYTES_MAX = 4 << 20, OTHERS_SHOWN = 4 };

/* The counts at [offset, offset + size) of a module; size 0: one instruction. */
struct place {
	uint32_t module, column;
	uint64_t offset, samples;
	int64_t amount;
	uint16_t size;
	bool by_samples; /* while others are counted */
};

struct making {
	struct annotation *out;
	const struct annotate_options *o;
	struct modules *modules;
	struct place *place;
	size_t places, room;
	struct tare_error *err;
};

struct candidate {
	uint32_t module;
	uint64_t start, end;
	char *name;
	int64_t amount;
};

static bool add_place(struct making *m, const struct place *p)
{
	if (!array_reserve(&m->place, &m->room, m->places + 1, sizeof(*m->place)))
		return false;
	m->place[m->places++] = *p;
	return true;
}

static bool add_column(struct annotation *a, const char *name, const char *unit, bool exact,
		       bool skids, int64_t all)
{
	if (!array_one_more(&a->column, a->columns, sizeof(*a->column)))
		return false;
	a->column[a->columns] = (struct annotate_column){ .name = strdup(name),
							  .unit = strdup(unit),
							  .exact = exact,
							  .skids = skids,
							  .all = all };
	a->columns++;
	return a->column[a->columns - 1].name && a->column[a->columns - 1].unit;
}

/* ---- which function ---- */

static const char *path_of(const struct making *m, uint32_t module)
{
	return words_at(&m->modules->words, m->modules->module[module].path);
}

static bool matches_function(const struct making *m, const char *name)
{
	return m->o->no_patterns ? !strcmp(m->o->function, name)
				 : report_matches_function(m->o->function, name);
}

static bool matches_module(const struct making *m, const char *path)
{
	return m->o->no_patterns && m->o->module ? !strcmp(m->o->module, path)
						 : report_matches(m->o->module, path);
}

static int take_candidate(struct making *m, const struct place *p, struct candidate **all,
			  size_t *n)
{
	struct symbol symbol;

	for (size_t i = 0; i < *n; i++)
		if ((*all)[i].module == p->module && p->offset >= (*all)[i].start &&
		    p->offset < (*all)[i].end) {
			(*all)[i].amount += p->column == m->o->column ? p->amount : 0;
			return 0;
		}
	if (!matches_module(m, path_of(m, p->module)) ||
	    !modules_find(m->modules, p->module, p->offset, &symbol) ||
	    !matches_function(m, symbol.name))
		return 0;
	if (!array_one_more(all, *n, sizeof(**all)))
		return -ENOMEM;
	(*all)[*n] = (struct candidate){ p->module, symbol.start, symbol.end, strdup(symbol.name),
					 p->column == m->o->column ? p->amount : 0 };
	return (*all)[(*n)++].name ? 0 : -ENOMEM;
}

static char *name_others(struct making *m, const struct candidate *all, size_t n, size_t shown)
{
	struct text t = { 0 };
	size_t named = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == shown)
			continue;
		if (named++ < OTHERS_SHOWN)
			text_add(&t, "%s%s in %s", t.len ? ", " : "", all[i].name,
				 path_of(m, all[i].module));
	}
	if (named > OTHERS_SHOWN)
		text_add(&t, " and %zu more", named - OTHERS_SHOWN);
	if (!named)
		return NULL;
	return text_take(&t);
}

/* ---- its instructions ---- */

static char *target_name(struct making *m, uint32_t module, uint64_t target)
{
	const struct module *of = &m->modules->module[module];
	uint64_t offset = target;
	struct symbol symbol;
	char *name = NULL;

	if (of->fd >= 0 && !elf_address_to_offset(&of->head, target, &offset))
		return NULL;
	if (!modules_find(m->modules, module, offset, &symbol))
		return NULL;
	if (offset == symbol.start)
		return strdup(symbol.name);
	if (asprintf(&name, "%s+0x%llx", symbol.name, (unsigned long long)(offset - symbol.start)) <
	    0)
		return NULL;
	return name;
}

static struct annotate_line *add_line(struct annotation *a, size_t *room)
{
	struct annotate_line *l;

	if (!array_reserve(&a->line, room, a->lines + 1, sizeof(*a->line)))
		return NULL;
	l = &a->line[a->lines];
	*l = (struct annotate_line){ .amount = calloc(a->columns, sizeof(*l->amount)),
				     .samples = calloc(a->columns, sizeof(*l->samples)) };
	if (!l->amount || !l->samples) {
		free(l->amount);
		free(l->samples);
		return NULL;
	}
	a->lines++;
	return l;
}

static void find_line(struct module *of, uint64_t offset, struct annotate_line *l)
{
	const char *file;

	if (of->symbols && symbols_line(of->symbols, offset, &file, &l->line))
		l->file = strdup(file);
}

static uint16_t machine_of(const struct module *of)
{
	if (of->fd >= 0)
		return of->head.machine;
#ifdef __x86_64__
	return EM_X86_64;
#else
	return EM_AARCH64;
#endif
}

static int disassemble(struct making *m, const struct candidate *c, const uint8_t *bytes, size_t n)
{
	struct module *of = &m->modules->module[c->module];
	struct annotation *a = m->out;
	struct tare_error why = TARE_ERROR_INIT;
	struct disasm *d = NULL;
	size_t room = 0;
	int ret = disasm_open(&d, machine_of(of), m->o->intel_syntax, &why);

	if (ret < 0) {
		if (asprintf(&a->no_code, "%s%s%s", why.what, why.hint[0] ? "; " : "", why.hint) <
		    0)
			a->no_code = NULL;
		return a->no_code ? 0 : tare_fail_nomem(m->err);
	}
	ret = 0;
	for (size_t at = 0; at < n;) {
		struct annotate_line *l = add_line(a, &room);
		struct disasm_insn insn;
		uint64_t address = c->start + at;

		if (!l) {
			ret = tare_fail_nomem(m->err);
			break;
		}
		if (of->fd >= 0)
			elf_offset_to_address(&of->head, c->start + at, &address);
		disasm_next(d, bytes + at, n - at, address, &insn);
		l->address = address;
		l->size = insn.size;
		memcpy(l->bytes, bytes + at,
		       insn.size < sizeof(l->bytes) ? insn.size : sizeof(l->bytes));
		l->text = strdup(insn.text);
		l->target = insn.target ? target_name(m, c->module, insn.target) : NULL;
		find_line(of, c->start + at, l);
		if (!l->text)
			ret = tare_fail_nomem(m->err);
		if (ret < 0)
			break;
		at += insn.size;
	}
	disasm_close(d);
	return ret;
}

/* Without disassembly: one row per address with counts. */
static int list_places(struct making *m, const struct candidate *c)
{
	struct module *of = &m->modules->module[c->module];
	size_t room = 0;

	for (size_t i = 0; i < m->places; i++) {
		const struct place *p = &m->place[i];
		struct annotate_line *l;

		if (p->module != c->module || p->offset < c->start || p->offset >= c->end)
			continue;
		if (m->out->lines && m->out->line[m->out->lines - 1].bytes[0] == 0 &&
		    m->out->line[m->out->lines - 1].address == p->offset)
			continue;
		l = add_line(m->out, &room);
		if (!l || !(l->text = strdup("")))
			return tare_fail_nomem(m->err);
		l->address = p->offset;
		l->size = 1;
		find_line(of, p->offset, l);
	}
	return 0;
}

/* ---- counts ---- */

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The line of the byte at `address`; each line extends to the next one. */
static size_t line_at(const struct annotation *a, uint64_t address)
{
	return ARRAY_UPTO(a->line, a->lines, address, address);
}

static void count_places(struct making *m, const struct candidate *c)
{
	const struct module *of = &m->modules->module[c->module];
	struct annotation *a = m->out;

	for (size_t i = 0; i < m->places; i++) {
		const struct place *p = &m->place[i];
		uint64_t from = p->offset, last = p->offset + (p->size ? p->size - 1u : 0);
		struct annotate_column *column = &a->column[p->column];
		size_t at;

		if (p->module != c->module || last < c->start || from >= c->end)
			continue;
		from = from < c->start ? c->start : from;
		last = last >= c->end ? c->end - 1 : last;
		if (of->fd >= 0 && a->no_code == NULL &&
		    (!elf_offset_to_address(&of->head, from, &from) ||
		     !elf_offset_to_address(&of->head, last, &last)))
			continue;
		at = line_at(a, from);
		column->exact &= !p->by_samples;
		if (p->size == 0) { /* a sample, or an instruction with a count */
			if (at == 0 || from >= a->line[at - 1].address + a->line[at - 1].size)
				continue;
			a->between += a->line[at - 1].address == from ? 0 : p->samples;
			a->line[at - 1].amount[p->column] += p->amount;
			a->line[at - 1].samples[p->column] += p->samples;
			column->here += p->amount;
			column->samples += p->samples;
			continue;
		}
		/* Adds up the executions of each instruction that starts in it. */
		if (at > 0 && a->line[at - 1].address == from)
			at--;
		for (; at < a->lines && a->line[at].address <= last; at++) {
			a->line[at].amount[p->column] += p->amount;
			column->here += p->amount;
		}
	}
}

static int show(struct making *m, const struct candidate *c)
{
	size_t n = c->end - c->start < BYTES_MAX ? (size_t)(c->end - c->start) : BYTES_MAX, got;
	uint8_t *bytes = malloc(n ? n : 1);
	struct annotation *a = m->out;
	struct stat st;
	int ret = 0;

	a->function = strdup(c->name);
	a->module = strdup(m->modules->module[c->module].kind == MODULE_MEMORY
				   ? "[anonymous memory]"
				   : path_of(m, c->module));
	a->start = c->start;
	a->end = c->end;
	if (!bytes || !a->function || !a->module) {
		free(bytes);
		return tare_fail_nomem(m->err);
	}
	got = modules_bytes(m->modules, c->module, c->start, bytes, n);
	a->owned = m->modules->module[c->module].kind == MODULE_FILE &&
		fstat(m->modules->module[c->module].fd, &st) == 0;
	a->owner = a->owned ? st.st_uid : 0;
	if (got) {
		ret = disassemble(m, c, bytes, got);
		a->left_out = (size_t)(c->end - c->start) - got;
	} else {
		a->no_code = strdup(m->modules->module[c->module].kind == MODULE_MEMORY
					    ? "code generated at run time is in no file"
					    : "the bytes of this code are not available here");
	}
	free(bytes);
	if (ret == 0 && a->no_code)
		ret = list_places(m, c);
	if (ret == 0)
		count_places(m, c);
	if (ret == 0 && m->modules->module[c->module].fd >= 0) {
		elf_offset_to_address(&m->modules->module[c->module].head, c->start, &a->start);
		a->end = a->start + (c->end - c->start);
	}
	return ret;
}

static int annotate(struct making *m)
{
	struct candidate *all = NULL;
	size_t n = 0, best = 0;
	int ret = 0;

	if (m->places)
		qsort(m->place, m->places, sizeof(*m->place), by_place);
	for (size_t i = 0; ret == 0 && i < m->places; i++)
		ret = take_candidate(m, &m->place[i], &all, &n);
	for (size_t i = 1; i < n; i++)
		if (all[i].amount > all[best].amount)
			best = i;
	if (ret < 0) {
		tare_fail_nomem(m->err);
	} else if (n == 0) {
		ret = tare_fail(m->err, ENOENT, "nothing was counted in a function '%.100s'",
				m->o->function);
		if (strpbrk(m->o->function, "*?["))
			tare_hint(m->err, "tare report lists the functions that have counts");
		else
			tare_hint(
				m->err,
				"tare report lists the functions that have counts; a pattern such as '*%.60s*' may match one",
				m->o->function);
	} else {
		m->out->others = name_others(m, all, n, best);
		ret = show(m, &all[best]);
	}
	for (size_t i = 0; i < n; i++)
		free(all[i].name);
	free(all);
	return ret;
}

/* ---- where counts come from ---- */

static int take_samples(struct making *m, const struct samples *s)
{
	size_t frames, nodes, rows;
	const struct call_tree_frame *frame = call_tree_frames(s->call_tree, &frames);
	const struct call_tree_node *node = call_tree_nodes(s->call_tree, &nodes);
	const struct call_tree_row *row = call_tree_rows(s->call_tree, &rows);

	for (uint32_t c = 0; c < s->call_tree->columns; c++) {
		const struct call_tree_column *of = &s->call_tree->column[c];

		if (!add_column(m->out, call_tree_name(s->call_tree, of->name),
				call_tree_name(s->call_tree, of->unit), of->counted,
				of->skids && !of->counted, (int64_t)of->amount))
			return -ENOMEM;
	}
	for (size_t i = 0; i < rows; i++) {
		const struct call_tree_frame *f = &frame[node[row[i].node].frame];
		struct place p = { f->code,
				   row[i].column,
				   f->address,
				   row[i].samples,
				   (int64_t)row[i].amount,
				   0,
				   s->call_tree->by_samples &&
					   s->call_tree->by_samples[node[row[i].node].frame] };
		struct module *elf;

		if (f->flags & CALL_TREE_MARK ||
		    !matches_function(m, call_tree_name(s->call_tree, f->function)))
			continue;
		if (modules_elf(m->modules, f->code, &elf))
			elf_address_to_offset(&elf->head, f->address, &p.offset);
		if (!add_place(m, &p))
			return -ENOMEM;
	}
	return 0;
}

/* The function may be in the profile without a name. */
static int not_found(const struct samples *s, const struct annotate_options *o,
		     struct tare_error *err)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < s->n_unnamed; i++)
		if (report_matches(o->module, s->unnamed[i].module))
			samples += s->unnamed[i].samples;
	for (size_t i = 0; samples && i < s->n_unnamed; i++) {
		const struct samples_unnamed *u = &s->unnamed[i];

		if (!report_matches(o->module, u->module))
			continue;
		tare_fail(
			err, ENOENT,
			"no samples in '%.40s', but %.0f %% are in code without names: %.64s: %.110s",
			o->function, 100.0 * (double)samples / (double)s->quality.used, u->module,
			u->why);
		tare_hint(err, "%s%stare report --sort module,address shows them", u->remedy,
			  u->remedy[0] ? "; " : "");
		break;
	}
	return -ENOENT;
}

int annotate_samples(struct annotation *out, struct samples *s, const struct annotate_options *o,
		     struct tare_error *err)
{
	struct making m = { .out = out, .o = o, .modules = s->modules, .err = err };
	int ret;

	*out = (struct annotation){ 0 };
	if (!s->modules)
		return tare_fail_nomem(err);
	ret = take_samples(&m, s);
	ret = ret < 0 ? tare_fail_nomem(err) : annotate(&m);
	if (ret == -ENOENT && !m.places)
		ret = not_found(s, o, err);
	free(m.place);
	if (ret < 0)
		annotate_free(out);
	return ret;
}

/* Is the file still the one that was executed? */
static bool is_unchanged(const struct exact_module *of)
{
	struct stat st;

	return of->kind == EXACT_VDSO ||
		(of->kind == EXACT_FILE && !of->elsewhere && stat(of->path, &st) == 0 &&
		 st.st_size == of->size && st.st_mtim.tv_sec == of->mtime_s &&
		 st.st_mtim.tv_nsec == of->mtime_ns);
}

static int take_executions(struct making *m, const struct exact_profile *p)
{
	uint32_t *number = calloc(p->n_modules + 1, sizeof(*number));
	int64_t all = p->unplaced;
	int ret = number ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < p->n_modules; i++) {
		const struct exact_module *of = &p->module[i];

		number[i] = SET_NONE;
		if (!is_unchanged(of))
			continue;
		number[i] = modules_add(m->modules,
					of->kind == EXACT_VDSO ? MODULE_VDSO : MODULE_FILE,
					of->kind == EXACT_VDSO ? "[vdso]" : of->path, NULL, 0, 0);
		if (number[i] == SET_NONE)
			ret = -ENOMEM;
	}
	for (size_t i = 0; ret == 0 && i < p->n_code; i++) {
		const struct exact_code *c = &p->code[i];
		struct place place = { c->module < p->n_modules ? number[c->module] : SET_NONE,
				       0,
				       c->offset,
				       0,
				       c->executions,
				       c->size,
				       false };

		all += c->executions * c->instructions;
		if (place.module != SET_NONE && c->executions && c->instructions &&
		    !add_place(m, &place))
			ret = -ENOMEM;
	}
	free(number);
	if (ret == 0 && !add_column(m->out, "executions", "", true, false, all))
		ret = -ENOMEM;
	return ret;
}

int annotate_inlined(const char *function, const char *host, const char *amounts,
		     struct tare_error *err)
{
	tare_fail(err, ENOENT,
		  "'%.60s' was inlined and has no instructions of its own: they are in '%.100s', "
		  "which has most of its %s",
		  function, host, amounts);
	tare_hint(err, "tare annotate '%.100s' shows them", host);
	return -ENOENT;
}

static bool is_within(const struct making *m, struct symbols *s, const struct place *p)
{
	struct symbol_inlined in[SYMBOL_INLINED_MAX];

	for (uint64_t at = p->offset; s && at < p->offset + p->size; at++)
		for (unsigned i = symbols_inlined(s, at, in); i-- > 0;)
			if (matches_function(m, in[i].name))
				return true;
	return false;
}

/* The function that has most executions of blocks with such code, which are sorted. */
static int find_inlined(struct making *m)
{
	int64_t sum = 0, most = 0;
	uint64_t start = UINT64_MAX;
	uint32_t module = SET_NONE;
	char host[128] = "";

	for (size_t i = 0; i < m->places; i++) {
		const struct place *p = &m->place[i];
		struct symbol s;

		if (!modules_find(m->modules, p->module, p->offset, &s) ||
		    !is_within(m, m->modules->module[p->module].symbols, p))
			continue;
		if (s.start != start || p->module != module)
			sum = 0;
		start = s.start;
		module = p->module;
		sum += p->amount;
		if (sum <= most)
			continue;
		most = sum;
		snprintf(host, sizeof(host), "%.120s", s.name);
	}
	return host[0] ? annotate_inlined(m->o->function, host, "executions", m->err) : -ENOENT;
}

int annotate_exact(struct annotation *out, const struct exact_profile *p,
		   const struct annotate_options *o, struct tare_error *err)
{
	struct modules modules = { .opts = o->modules };
	struct making m = { .out = out, .o = o, .modules = &modules, .err = err };
	int ret;

	modules.opts.force_names = true; /* is_unchanged() compares the files with those that ran */
	*out = (struct annotation){ 0 };
	ret = take_executions(&m, p);
	ret = ret < 0 ? tare_fail_nomem(err) : annotate(&m);
	if (ret == -ENOENT)
		ret = find_inlined(&m);
	free(m.place);
	modules_free(&modules);
	if (ret < 0)
		annotate_free(out);
	return ret;
}

void annotate_free(struct annotation *a)
{
	for (size_t i = 0; i < a->lines; i++) {
		free(a->line[i].text);
		free(a->line[i].target);
		free(a->line[i].file);
		free(a->line[i].amount);
		free(a->line[i].samples);
	}
	for (uint32_t i = 0; i < a->columns; i++) {
		free(a->column[i].name);
		free(a->column[i].unit);
	}
	free(a->line);
	free(a->column);
	free(a->function);
	free(a->module);
	free(a->no_code);
	free(a->others);
	*a = (struct annotation){ 0 };
}
