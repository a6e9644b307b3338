/* SPDX-License-Identifier: MIT */
/* Finds the object in memory that an address belongs to. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/path.h"
#include "memory/memory_samples_private.h"

enum {
	STACK_ROOM = 128
		/*
		 * the gap that the kernel keeps below a stack. Source: Linux, mm/util.c,
		 * mmap_base()
		 */
		<< 20
};

/* ---- files ---- */

struct image *memory_samples_image(struct memory_samples *c, uint32_t module)
{
	struct memory_samples_private *p = c->p;
	struct module *of;
	struct image *in;

	if (!array_reserve_zeroed(&p->image, &p->images, module + 1ull, sizeof(*p->image)))
		return NULL;
	if (!p->image[module])
		p->image[module] = calloc(1, sizeof(struct image));
	in = p->image[module];
	if (!in || in->state)
		return in;
	in->state = -1;
	if (!modules_elf(&c->modules, module, &of))
		return in;
	in->head = of->head;
	in->low = UINT64_MAX;
	for (size_t i = 0; i < in->head.segments; i++) {
		const struct elf_segment *s = &in->head.segment[i];
		uint64_t end;

		if (__builtin_add_overflow(s->address, s->memory_size - 1, &end) || !s->memory_size)
			continue;
		in->low = s->address < in->low ? s->address : in->low;
		in->high = end > in->high ? end : in->high;
		in->state = 1;
	}
	modules_close(&c->modules, module);
	return in;
}

static bool in_segment(const struct image *in, uint64_t address)
{
	for (size_t i = 0; i < in->head.segments; i++)
		if (address - in->head.segment[i].address < in->head.segment[i].memory_size)
			return true;
	return false;
}

static void read_data(struct memory_samples *c, uint32_t module, struct image *in)
{
	struct module *of;
	struct symbols *symbols = NULL;

	in->data_read = true;
	if (!modules_elf(&c->modules, module, &of) ||
	    symbols_open(&symbols, words_at(&c->modules.words, of->path), of->fd, NULL) < 0)
		goto out;
	if (symbols_data(symbols, &in->data, &in->n, NULL) < 0)
		goto out;
	in->name = calloc(in->n ? in->n : 1, sizeof(*in->name));
	for (size_t i = 0; in->name && i < in->n; i++)
		in->name[i] = words_add(&c->modules.words, in->data[i].name,
					strlen(in->data[i].name));
	if (!in->name)
		in->n = 0;
out:
	symbols_close(symbols);
	modules_close(&c->modules, module);
}

/* ---- objects ---- */

struct found {
	struct object object;
	uint64_t base; /* address of its first byte */
	uint64_t low, high, from, until;
};

static void narrow(struct found *f, uint64_t low, uint64_t high, uint64_t from, uint64_t until)
{
	f->low = low > f->low ? low : f->low;
	f->high = high < f->high ? high : f->high;
	f->from = from > f->from ? from : f->from;
	f->until = until < f->until ? until : f->until;
}

static void find_in_image(struct memory_samples *c, const struct map *m, uint64_t address,
			  struct image *in, struct found *f)
{
	uint64_t bias = m->start - m->offset, at = address - bias;
	size_t k;

	if (!in->data_read)
		read_data(c, m->module, in);
	k = ARRAY_UPTO(in->data, in->n, start, at);
	f->object = (struct object){ .kind = OBJECT_FILE, .module = m->module };
	f->base = m->start;
	if (k < in->n)
		narrow(f, 0, bias + in->data[k].start - 1, 0, UINT64_MAX);
	if (!k)
		return;
	if (at >= in->data[k - 1].end) {
		narrow(f, bias + in->data[k - 1].end, UINT64_MAX, 0, UINT64_MAX);
		return;
	}
	narrow(f, bias + in->data[k - 1].start, bias + in->data[k - 1].end - 1, 0, UINT64_MAX);
	f->object = (struct object){ .kind = OBJECT_SYMBOL,
				     .module = m->module,
				     .name = in->name[k - 1],
				     .start = in->data[k - 1].start,
				     .size = in->data[k - 1].end - in->data[k - 1].start };
	f->base = bias + in->data[k - 1].start;
}

/*
 * A stack grows without a record: memory below it, within the gap reserved for it, belongs to it.
 */
static bool below_stack(struct memory_samples *c, uint32_t pid, uint64_t time,
			const struct mapping_history_place *gap, struct found *f)
{
	struct mapping_history_place above;

	if (gap->high == UINT64_MAX)
		return false;
	mapping_history_find(c->p->history, pid, time, MAPPING_HISTORY_MAPPED, gap->high + 1,
			     &above);
	if (!above.found ||
	    strcmp(words_at(&c->modules.words, c->modules.module[above.map.module].path),
		   "[stack]"))
		return false;
	f->object = (struct object){ .kind = OBJECT_STACK, .pid = pid };
	narrow(f, gap->high >= STACK_ROOM ? gap->high - STACK_ROOM : 0, UINT64_MAX, above.from,
	       above.until);
	return f->low <= gap->high;
}

static void find_user(struct memory_samples *c, uint32_t pid, uint64_t time, uint64_t address,
		      struct found *f)
{
	struct mapping_history_place mapped, whole,
		block = { .high = UINT64_MAX, .until = UINT64_MAX };
	bool in_block = memory_samples_find_block(c, pid, time, address, &block), file;
	const struct module *of;
	const char *path;

	narrow(f, block.low, block.high, block.from, block.until);
	if (in_block) {
		f->object = *memory_samples_object_at(c, block.map.module);
		f->base = block.map.start;
		return;
	}
	mapping_history_find(c->p->history, pid, time, MAPPING_HISTORY_MAPPED, address, &mapped);
	mapping_history_find(c->p->history, pid, time, MAPPING_HISTORY_IMAGE, address, &whole);
	narrow(f, mapped.low, mapped.high, mapped.from, mapped.until);
	narrow(f, whole.low, whole.high, whole.from, whole.until);
	of = mapped.found ? &c->modules.module[mapped.map.module] : NULL;
	path = of ? words_at(&c->modules.words, of->path) : "";
	file = of && of->kind == MODULE_FILE;
	if (whole.found && (!file || mapped.map.module == whole.map.module)) {
		struct image *in = c->p->image[whole.map.module];

		if (in_segment(in, address - whole.map.start + whole.map.offset)) {
			find_in_image(c, &whole.map, address, in, f);
			return;
		}
		/* A hole in it: the answer is valid for this address only */
		narrow(f, address, address, 0, UINT64_MAX);
	}
	f->base = of ? mapped.map.start : 0;
	if (!of && !below_stack(c, pid, time, &mapped, f))
		f->object = (struct object){ .kind = OBJECT_UNKNOWN, .pid = pid };
	else if (!of)
		f->base = 0;
	else if (!strncmp(path, "[stack", 6))
		f->object = (struct object){ .kind = OBJECT_STACK,
					     .pid = pid,
					     .start = path[6] == ':' ? strtoul(path + 7, NULL, 10)
								     : 0 };
	else if (!strcmp(path, "[heap]"))
		f->object = (struct object){ .kind = OBJECT_HEAP, .pid = pid };
	else if (of->kind == MODULE_MEMORY)
		f->object = (struct object){ .kind = OBJECT_MEMORY,
					     .pid = pid,
					     .module = mapped.map.module,
					     .start = mapped.map.start,
					     .size = mapped.map.last - mapped.map.start + 1 };
	else
		f->object = (struct object){ .kind = OBJECT_FILE, .module = mapped.map.module };
}

uint32_t memory_samples_object(struct memory_samples *c, uint32_t pid, uint64_t time_ns,
			       uint64_t address, uint64_t *offset)
{
	struct data_cached
		*k = &c->p->data[(address >> 12 ^ (uint64_t)pid << 32) * 0x9e3779b97f4a7c15ull >>
				 (64 - DATA_BITS)];

	if (!k->set || k->pid != pid || address < k->low || address > k->high ||
	    !during(k->from, k->until, time_ns)) {
		struct found f = { .high = UINT64_MAX, .until = UINT64_MAX };

		/* On both architectures programs use the lower half. */
		if (address >> 63)
			f.object = (struct object){ .kind = OBJECT_KERNEL }, f.low = 1ull << 63;
		else
			find_user(c, pid, time_ns, address, &f);
		*k = (struct data_cached){ f.low,
					   f.high,
					   f.from,
					   f.until,
					   f.base,
					   pid,
					   set_add(&c->p->objects, &f.object, sizeof(f.object),
						   offsetof(struct object, size), NULL),
					   true };
	}
	if (offset)
		*offset = address - k->base;
	k->set = k->object != SET_NONE;
	return k->object;
}

const struct object *memory_samples_object_at(const struct memory_samples *c, uint32_t number)
{
	return (struct object *)c->p->objects.item + number;
}

/* "FUNCTION  FILE:LINE" after `in`, or "0xOFFSET in FILE" after `at`. */
static void add_code(struct memory_samples *c, struct memory_samples_code code, const char *in,
		     const char *at, struct text *out)
{
	struct memory_samples_name name;
	bool library;

	if (!memory_samples_name_caller(c, &code, &name, &library)) {
		out->failed = true;
		return;
	}
	if (name.function)
		text_add(out, "%s%s", in, words_at(&c->modules.words, name.function));
	else
		text_add(out, "%s0x%" PRIx64 " in %s", at, code.offset,
			 path_base(words_at(&c->modules.words, name.module)));
	if (name.file)
		text_add(out, "  %s:%u", path_base(words_at(&c->modules.words, name.file)),
			 name.line);
}

static void name_block(struct memory_samples *c, const struct object *o, struct text *out)
{
	struct memory_samples_code block = { .module = o->module, .offset = o->start },
				   caller = { .module = o->caller_module, .offset = o->caller };

	add_code(c, block, "block allocated in ", "block allocated at ", out);
	if (o->caller)
		add_code(c, caller, ", for ", ", for ", out);
}

/* The name of a process, if recorded. */
static void add_process(struct memory_samples *c, uint32_t pid, struct text *out)
{
	const char *comm = memory_samples_comm(c, pid, pid);

	text_add(out, *comm ? " of %s (%u)" : " of %sprocess %u", comm, pid);
}

/* Memory-only files are in no directory, so the kernel's "(deleted)" means nothing for them. */
static void put_memory(const char *module, struct text *out)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(module), end = strlen(gone);

	if (!strncmp(module, "//anon", 6))
		text_add(out, "memory");
	else
		text_add(out, "%.*s",
			 (int)(n > end && !strcmp(module + n - end, gone) ? n - end : n), module);
}

void memory_samples_object_name(struct memory_samples *c, const struct object *o, struct text *out)
{
	const char *module = words_at(&c->modules.words, c->modules.module[o->module].path);

	switch ((enum object_kind)o->kind) {
	case OBJECT_NONE:
		text_add(out, "[no address]");
		break;
	case OBJECT_SYMBOL:
		text_add(out, "%s", words_at(&c->modules.words, o->name));
		break;
	case OBJECT_FILE:
		text_add(out, "%s", module);
		break;
	case OBJECT_STACK:
		if (o->start && o->start != o->pid)
			text_add(out, "stack of thread %" PRIu64, o->start);
		else
			text_add(out, "stack");
		add_process(c, o->pid, out);
		break;
	case OBJECT_HEAP:
		text_add(out, "heap");
		add_process(c, o->pid, out);
		break;
	case OBJECT_MEMORY:
		put_memory(module, out);
		text_add(out, " at 0x%" PRIx64, o->start);
		add_process(c, o->pid, out);
		break;
	case OBJECT_BLOCK:
		name_block(c, o, out);
		break;
	case OBJECT_KERNEL:
		text_add(out, "[kernel]");
		break;
	case OBJECT_UNKNOWN:
		text_add(out, "[unrecorded memory]");
		add_process(c, o->pid, out);
		break;
	}
}

void memory_samples_objects_free(struct memory_samples *c)
{
	for (size_t i = 0; i < c->p->images; i++)
		if (c->p->image[i]) {
			free(c->p->image[i]->data);
			free(c->p->image[i]->name);
			free(c->p->image[i]);
		}
	free(c->p->image);
	set_free(&c->p->objects);
}
