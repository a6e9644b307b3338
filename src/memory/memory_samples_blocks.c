/* SPDX-License-Identifier: MIT */
/*
 * Memory blocks that the recorded program allocated, from the file that `tare record --alloc` wrote
 * next to the recording. Maps an address at a time to the code that allocated the block. A freed
 * block is replaced by an empty mapping.
 */
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/path.h"
#include "memory/memory_samples_private.h"
#include "symbols/unwind.h"
#include "perfdata/alloc.h"

enum {
	FACTS_MOST = 3 << 20,
	ATTR_CLOCKID_BIT = 25,
	MONOTONIC = 1,
	GENERATIONS_MAX = 8,
	CALLS_MOST = 16,
	NO_BLOCK = UINT32_MAX
};

struct live {                    /* a block of a process */
	uint32_t pid, low, high; /* its address, in halves */
	uint64_t size;
};

struct parent {
	uint32_t pid, parent;
};

struct known_site {
	struct object site;
	uint32_t object;
};

/*
 * The name of a place in the code. Calls of one source line, or of one function where lines are not
 * known, are one place.
 */
struct place {
	struct memory_samples_name in, caller;
	uint64_t start, caller_start; /* 0 if the function is known */
	uint32_t object;
};

struct reading {
	struct memory_samples *c;
	struct set live, parents, returns, sites, places;
	uint64_t facts;
	bool cut;
	struct tare_error *err;

	struct unwinder *unwinder; /* NULL: this build has none */
	uint16_t machine;
	const struct alloc_event *ev; /* these are its calls, the innermost first */
	struct unwind_call from;
	struct memory_samples_code call[CALLS_MOST];
	unsigned calls;
	bool all; /* no more calls are known */
};

/* Code that allocates for others: its caller is of interest. */
static bool takes_for_others(const struct memory_samples *c, uint32_t module)
{
	static const char *const names[] = { "libc.so",       "libc-",    "libstdc++", "libc++",
					     "libtare-alloc", "ld-linux", "ld-2" };
	const char *path = words_at(&c->modules.words, c->modules.module[module].path);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(path_base(path), names[i], strlen(names[i])))
			return true;
	return false;
}

/* The owner of the code at a place. */
enum whose {
	NOT_ASKED,
	PROGRAMS,
	OPERATORS /* an operator new */,
	LIBRARYS /* C++ library code, compiled into the program */
};

struct return_place {
	struct memory_samples_code code;
	bool after_call;
	enum whose whose;
};

/*
 * Is there a call instruction right before this address? Code without unwind information may not
 * keep a frame pointer either, and leave words on the stack that look like return addresses. x86-64
 * only; programs for arm64 have frame pointers. Source: Intel SDM vol. 2A, "CALL": E8, or FF /2 of
 * 2 to 7 bytes.
 */
static bool after_call(struct reading *r, const struct memory_samples_code *last)
{
	enum { LONGEST = 7, NEAR = 5, INDIRECT = 0xff, RELATIVE = 0xe8 };
	const struct module *of = &r->c->modules.module[last->module];
	uint8_t bytes[LONGEST];
	bool is;

	if (of->kind != MODULE_FILE || last->offset < LONGEST ||
	    modules_bytes(&r->c->modules, last->module, last->offset + 1 - LONGEST, bytes,
			  sizeof(bytes)) < sizeof(bytes))
		return false;
	is = of->head.machine != EM_X86_64 || bytes[LONGEST - NEAR] == RELATIVE;
	for (unsigned i = 0; i + 1 < LONGEST; i++)
		is |= bytes[i] == INDIRECT && (bytes[i + 1] >> 3 & 7) == 2;
	return is;
}

/* Looked up once for each place. NULL: out of memory. */
static struct return_place *return_place(struct reading *r, const struct memory_samples_code *last)
{
	struct return_place p = { .code = *last };
	bool fresh;
	uint32_t at = set_add(&r->returns, &p, sizeof(p), sizeof(p.code), &fresh);
	struct return_place *known = at == SET_NONE ? NULL
						    : (struct return_place *)r->returns.item + at;

	if (known && fresh)
		known->after_call = after_call(r, last);
	return known;
}

/* Opens the module's symbols: only for code that may have allocated a block. */
static enum whose whose_code(struct reading *r, const struct memory_samples_code *code)
{
	static const char operator[] = "operator new"; /* [], too */
	struct return_place *p = return_place(r, code);
	struct memory_samples_name name;
	bool library;

	if (!p || p->whose != NOT_ASKED)
		return p ? p->whose : PROGRAMS;
	p->whose = PROGRAMS;
	if (!memory_samples_name_caller(r->c, code, &name, &library))
		return PROGRAMS;
	if (!strncmp(words_at(&r->c->modules.words, name.function), operator, sizeof(operator) - 1))
		p->whose = OPERATORS;
	else if (library)
		p->whose = LIBRARYS;
	return p->whose;
}

/* The address of a call: just before its return address. */
static struct memory_samples_code code_at(struct reading *r, uint64_t address)
{
	struct tare_access a = {
		.has = TARE_ACCESS_TIME, .time_ns = r->ev->time_ns, .pid = r->ev->pid, .ip = address
	};

	return memory_samples_code(r->c, &a);
}

static bool elf_of(void *arg, uint32_t number, struct unwind_file *out)
{
	struct memory_samples *c = arg;
	struct module *of;

	if (!modules_elf(&c->modules, number, &of))
		return false;
	*out = (struct unwind_file){ words_at(&c->modules.words, of->path), of->fd, &of->head };
	return true;
}

static bool map_of(void *arg, uint64_t pc, struct map *out)
{
	struct reading *r = arg;
	struct memory_samples_code code = code_at(r, pc);

	*out = (struct map){
		.start = pc, .last = pc, .offset = code.offset, .module = code.module
	};
	return code.module != r->c->p->unknown_module;
}

/* The recorded words of the stack: those near the call, and those at frame pointers. */
static bool memory_at(void *arg, uint64_t at, uint64_t *out)
{
	const struct alloc_event *ev = ((struct reading *)arg)->ev;
	uint64_t offset = at - ev->stack;

	if (offset % 8 == 0 && offset / 8 < ALLOC_WORDS && ev->told >> offset / 8 & 1) {
		*out = ev->word[offset / 8];
		return true;
	}
	for (unsigned i = 1; i < ev->frames; i++)
		if (at - ev->frame[i - 1].pointer == 0 || at - ev->frame[i - 1].pointer == 8) {
			*out = at == ev->frame[i - 1].pointer ? ev->frame[i].pointer
							      : ev->frame[i].returns;
			return true;
		}
	return false;
}

static void begin_calls(struct reading *r, const struct alloc_event *ev)
{
	r->ev = ev;
	r->from = (struct unwind_call){
		r->machine, ev->frame->returns, ev->stack, ev->frame->pointer, map_of, memory_at, r
	};
	r->call[0] = code_at(r, ev->frame->returns - 1);
	r->calls = 1;
	r->all = !r->unwinder;
	if (r->unwinder)
		unwind_from(r->unwinder, &r->from);
}

/* The n-th call, from 0; NULL: not known. The stack is unwound only as far as asked. */
static const struct memory_samples_code *call_at(struct reading *r, unsigned n)
{
	uint64_t returns;

	while (r->calls <= n && !r->all) {
		struct return_place *p = NULL;

		r->all = r->calls == CALLS_MOST || !unwind_next(r->unwinder, &returns);
		if (r->all)
			break;
		r->call[r->calls] = code_at(r, returns - 1);
		p = return_place(r, &r->call[r->calls]);
		r->all = !p || !p->after_call;
		r->calls += !r->all;
	}
	return n < r->calls ? &r->call[n] : NULL;
}

static bool name_place(struct reading *r, uint32_t module, uint64_t offset,
		       struct memory_samples_name *name, uint64_t *start)
{
	struct memory_samples_code code = { .module = module, .offset = offset };
	bool library;

	if (!memory_samples_name_caller(r->c, &code, name, &library))
		return false;
	if (!name->file)
		name->line = 0;
	*start = name->function ? 0 : offset;
	return true;
}

/* The number of the object that represents all blocks allocated at one place. */
static uint32_t object_of(struct reading *r, const struct object *site)
{
	enum { KEY = offsetof(struct object, size) };
	struct known_site known = { .site = *site };
	uint32_t at = set_find(&r->sites, &known, sizeof(known), KEY);
	struct place place = { .object = SET_NONE };
	struct place *same;

	if (at != SET_NONE)
		return ((struct known_site *)r->sites.item)[at].object;
	if (!name_place(r, site->module, site->start, &place.in, &place.start) ||
	    (site->caller &&
	     !name_place(r, site->caller_module, site->caller, &place.caller, &place.caller_start)))
		return SET_NONE;
	at = set_add(&r->places, &place, sizeof(place), offsetof(struct place, object), NULL);
	if (at == SET_NONE)
		return SET_NONE;
	same = (struct place *)r->places.item + at;
	if (same->object == SET_NONE)
		same->object = set_add(&r->c->p->objects, site, sizeof(*site), KEY, NULL);
	known.object = same->object;
	return known.object == SET_NONE ||
			set_add(&r->sites, &known, sizeof(known), KEY, NULL) == SET_NONE
		? SET_NONE
		: known.object;
}

/*
 * The innermost call that was made neither by an allocator nor by C++ library code on behalf of the
 * program. If there is none, the innermost call from library code in the program, and then the
 * outermost that is known.
 */
static unsigned call_of(struct reading *r)
{
	const struct memory_samples_code *code;
	unsigned at = 0, i;
	bool library = false;

	for (i = 0; (code = call_at(r, i)); i++) {
		enum whose whose = takes_for_others(r->c, code->module) ? OPERATORS
									: whose_code(r, code);

		if (whose == PROGRAMS)
			return i;
		if (!library)
			at = i;
		library |= whose == LIBRARYS;
	}
	return at;
}

/* One function that allocates for the whole program, such as xmalloc(), is split by its caller. */
static uint32_t site_of(struct reading *r, const struct alloc_event *ev)
{
	struct object site = { .kind = OBJECT_BLOCK, .module = r->c->p->unknown_module };
	const struct memory_samples_code *code;
	unsigned at;

	if (!ev->frames)
		return object_of(r, &site);
	begin_calls(r, ev);
	at = call_of(r);
	site.module = r->call[at].module;
	site.start = r->call[at].offset;
	code = call_at(r, at + 1);
	if (code && !takes_for_others(r->c, code->module)) {
		site.caller_module = code->module;
		site.caller = code->offset;
	}
	return object_of(r, &site);
}

static struct live *live_block(struct reading *r, uint32_t pid, uint64_t address)
{
	for (int i = 0; i < GENERATIONS_MAX; i++) {
		struct live key = { pid, (uint32_t)address, (uint32_t)(address >> 32), 0 };
		struct parent child = { .pid = pid };
		uint32_t at = set_find(&r->live, &key, sizeof(key), 12);

		if (at != SET_NONE)
			return (struct live *)r->live.item + at;
		at = set_find(&r->parents, &child, sizeof(child),
			      sizeof(child.pid)); /* a block from before the fork */
		if (at == SET_NONE)
			return NULL;
		pid = ((struct parent *)r->parents.item)[at].parent;
	}
	return NULL;
}

static int cover(struct reading *r, const struct alloc_event *ev, uint64_t size, uint32_t site)
{
	struct map m = { .start = ev->address, .module = site };

	if (!size || __builtin_add_overflow(ev->address, size - 1, &m.last))
		return 0;
	r->facts++;
	return mapping_history_map(r->c->p->blocks, ev->pid, ev->time_ns, MAPPING_HISTORY_MAPPED,
				   &m, r->err);
}

static int take_event(struct reading *r, const struct alloc_event *ev)
{
	struct live block = { ev->pid, (uint32_t)ev->address, (uint32_t)(ev->address >> 32),
			      ev->size };
	struct parent parent = { ev->pid, (uint32_t)ev->address };
	struct live *known;
	uint32_t at, site;

	switch (ev->kind) {
	case ALLOC_TAKEN:
	case ALLOC_MAPPED:
		site = site_of(r, ev);
		at = set_add(&r->live, &block, sizeof(block), 12, NULL);
		if (site == SET_NONE || at == SET_NONE)
			return tare_fail_nomem(r->err);
		((struct live *)r->live.item)[at].size = ev->size;
		return cover(r, ev, ev->size, site);
	case ALLOC_FREED:
		known = live_block(r, ev->pid, ev->address);
		return known ? cover(r, ev, known->size, NO_BLOCK) : 0;
	case ALLOC_UNMAPPED:
		return cover(r, ev, ev->size, NO_BLOCK);
	case ALLOC_FORK:
		if (set_add(&r->parents, &parent, sizeof(parent), sizeof(parent.pid), NULL) ==
		    SET_NONE)
			return tare_fail_nomem(r->err);
		r->facts++;
		return mapping_history_fork(r->c->p->blocks, ev->pid, parent.parent, ev->time_ns,
					    r->err);
	case ALLOC_PROGRAM:
		r->facts++;
		return mapping_history_exec(r->c->p->blocks, ev->pid, ev->time_ns, r->err);
	}
	return 0;
}

/* For opts.block: blocks are not kept, so there is no limit. */
static int hand_over(struct reading *r, const struct alloc_event *ev)
{
	uint32_t site = ev->kind == ALLOC_TAKEN ? site_of(r, ev) : SET_NONE;

	if (ev->kind == ALLOC_TAKEN && site == SET_NONE)
		return tare_fail_nomem(r->err);
	return r->c->opts.block(r->c->opts.with, ev, site, r->err);
}

static bool by_monotonic_clock(const struct memory_samples *c)
{
	for (size_t i = 0; i < perfdata_event_count(c->file); i++) {
		const struct perfdata_attr *a = &perfdata_event_at(c->file, i)->attr;

		if (!(a->flags >> ATTR_CLOCKID_BIT & 1) || a->clockid != MONOTONIC)
			return false;
	}
	return true;
}

/* If nothing in the file matches this recording, it is left over from another one. */
static int of_this(const struct memory_samples *c, const char *file, bool *is,
		   struct tare_error *err)
{
	struct alloc_file *f = NULL;
	struct alloc_event ev;
	int ret = alloc_open(&f, file, err);

	*is = ret == 0 && !alloc_count(f);
	while (ret == 0 && !*is && alloc_next(f, &ev)) {
		struct memory_samples_task key = { .tid = ev.pid, .pid = ev.pid };

		*is = (ev.kind == ALLOC_PROGRAM || ev.kind == ALLOC_FORK) &&
			set_find(&c->p->tasks, &key, sizeof(key), 8) != SET_NONE;
	}
	alloc_close(f);
	return ret;
}

/* ELF machine number of the recording machine; 0: none of its files is here. */
static uint16_t machine_of(struct memory_samples *c)
{
	struct unwind_file file;

	for (uint32_t i = 0; i < c->modules.key.n; i++)
		if (elf_of(c, i, &file) && file.head->machine)
			return file.head->machine;
	return 0;
}

static void reading_free(struct reading *r)
{
	unwinder_free(r->unwinder);
	set_free(&r->live);
	set_free(&r->sites);
	set_free(&r->places);
	set_free(&r->returns);
	set_free(&r->parents);
}

static int note_damage(struct memory_samples *c, const char *file, const char *so,
		       struct tare_error *err)
{
	struct text what = { 0 };
	int ret;

	alloc_loss_text(&what, &c->blocks_lacking);
	ret = what.failed
		? tare_fail_nomem(err)
		: memory_samples_add_note(c, err, "%s is damaged: %s: %s", file, what.s, so);
	text_free(&what);
	return ret;
}

/* Callers that want only the blocks have nothing to show without them. */
static int read_all_blocks(struct memory_samples *c, const char *path, struct tare_error *err)
{
	struct reading r = { .c = c, .err = err };
	struct alloc_file *f = NULL;
	struct alloc_event ev;
	char file[4096];
	bool own = false;
	int ret;

	if (!alloc_path(file, sizeof(file), path) || access(file, F_OK) < 0) {
		tare_fail(err, ENOENT, "%.200s has no recorded allocations",
			  c->p->input >= 0 ? "standard input" : path);
		tare_hint(err, "tare record --alloc -- COMMAND writes them into FILE.alloc");
		return -ENOENT;
	}
	if (!by_monotonic_clock(c))
		return tare_fail(
			err, EINVAL,
			"%.200s: the recording's clock is not CLOCK_MONOTONIC, so its mappings and the allocations cannot be put in order",
			path);
	ret = of_this(c, file, &own, err);
	if (ret == 0 && !own)
		return tare_fail(
			err, EINVAL,
			"%.200s belongs to another recording: none of its processes is in %.100s",
			file, path);
	if (ret == 0)
		ret = alloc_open(&f, file, err);
	if (ret < 0)
		return ret;
	r.unwinder = unwinder_new(elf_of, c, NULL);
	r.machine = machine_of(c);
	while (ret == 0 && alloc_next(f, &ev))
		ret = hand_over(&r, &ev);
	c->blocks_lost = alloc_loss(f)->lost;
	c->blocks_lacking = *alloc_loss(f);
	c->blocks_damaged = alloc_loss(f)->damaged || alloc_loss(f)->missing;
	if (ret == 0 && c->blocks_lost)
		ret = memory_samples_add_note(
			c, err, "%s: %llu allocation records are missing: %s", file,
			(unsigned long long)c->blocks_lost,
			alloc_loss(f)->full
				? "the file was full"
				: "the file could not grow, or no file descriptor was free to open it");
	if (ret == 0 && c->blocks_damaged)
		ret = note_damage(c, file, "some allocations are missing", err);
	alloc_close(f);
	reading_free(&r);
	return ret;
}

int memory_samples_read_blocks(struct memory_samples *c, const char *path, struct tare_error *err)
{
	struct reading r = { .c = c, .err = err };
	struct tare_error why = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;
	struct alloc_event ev;
	char file[4096];
	uint64_t last = 0;
	bool own;
	int ret;

	if (c->opts.block)
		return read_all_blocks(c, path, err);
	if (!alloc_path(file, sizeof(file), path) || access(file, F_OK) < 0)
		return !c->p->whose
			? 0 /* the recorder was not there */
			: memory_samples_add_note(
				  c, err,
				  "heap blocks are not shown: libtare-alloc.so recorded them (tare record --alloc), but %s is missing",
				  c->p->input >= 0
					  ? "their file cannot be found for standard input, and so"
					  : file);
	if (!by_monotonic_clock(c))
		return memory_samples_add_note(
			c, err, "%s is ignored: the recording's clock is not CLOCK_MONOTONIC",
			file);
	c->blocks_damaged = of_this(c, file, &own, &why) < 0 ||
		(own && alloc_open(&f, file, &why) < 0);
	if (c->blocks_damaged)
		return memory_samples_add_note(c, err, "heap blocks are not shown: %s", why.what);
	if (!own)
		return memory_samples_add_note(
			c, err,
			"%s is ignored: it belongs to another recording, with processes that are not in this one",
			file);
	r.unwinder = unwinder_new(elf_of, c, NULL);
	r.machine = machine_of(c);
	c->p->blocks = mapping_history_new(err);
	ret = c->p->blocks ? 0 : -ENOMEM;
	while (ret == 0 && !r.cut && alloc_next(f, &ev)) {
		ret = take_event(&r, &ev);
		last = ev.time_ns;
		r.cut = r.facts >= FACTS_MOST;
	}
	if (ret == 0)
		ret = mapping_history_finish(c->p->blocks, err);
	c->p->blocks_until = r.cut ? last : UINT64_MAX;
	if (alloc_loss(f)->lost && alloc_loss(f)->since_ns < c->p->blocks_until)
		c->p->blocks_until = alloc_loss(f)->since_ns;
	if (ret == 0 && r.cut)
		ret = memory_samples_add_note(
			c, err,
			"%s: only the first %d allocations and frees are used; later blocks are shown as heap or memory",
			file, FACTS_MOST);
	if (ret == 0 && alloc_loss(f)->lost)
		ret = memory_samples_add_note(
			c, err,
			"%s: %llu allocations, frees or mappings were not recorded: %s; blocks after the first of these are shown as heap or memory",
			file, (unsigned long long)alloc_loss(f)->lost,
			alloc_loss(f)->full
				? "the file was full"
				: "the file could not grow, or no file descriptor was free to open it");
	c->blocks_lacking = *alloc_loss(f);
	c->blocks_damaged = alloc_loss(f)->damaged || alloc_loss(f)->missing;
	if (ret == 0 && c->blocks_damaged)
		ret = note_damage(c, file, "some blocks may be shown as heap or memory", err);
	alloc_close(f);
	reading_free(&r);
	return ret;
}

bool memory_samples_find_block(const struct memory_samples *c, uint32_t pid, uint64_t time_ns,
			       uint64_t address, struct mapping_history_place *out)
{
	if (!c->p->blocks)
		return false;
	if (time_ns >= c->p->blocks_until && c->p->blocks_until != UINT64_MAX) {
		*out = (struct mapping_history_place){ .high = UINT64_MAX,
						       .from = c->p->blocks_until,
						       .until = UINT64_MAX };
		return false;
	}
	mapping_history_find(c->p->blocks, pid, time_ns, MAPPING_HISTORY_MAPPED, address, out);
	if (out->until > c->p->blocks_until)
		out->until = c->p->blocks_until;
	return out->found && out->map.module != NO_BLOCK;
}
