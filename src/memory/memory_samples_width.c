/* SPDX-License-Identifier: MIT */
/* The size of an access from its instruction, where the recording does not have it. */
#include <stddef.h>
#include "memory/memory_samples_private.h"
#include "symbols/disasm.h"

enum { INSN_MOST = 16 };

struct width_cached {
	struct memory_samples_code code;
	struct access_width is;
};

static struct disasm *disassembler(struct memory_samples *c, uint16_t machine)
{
	struct memory_samples_private *p = c->p;

	if (machine != p->disasm_of) {
		disasm_close(p->disasm);
		p->disasm = NULL;
		p->disasm_of = machine;
		disasm_open(&p->disasm, machine, true, NULL);
	}
	return p->disasm;
}

static struct access_width decode(struct memory_samples *c, const struct memory_samples_code *code)
{
	uint8_t bytes[INSN_MOST];
	const struct module *of = &c->modules.module[code->module];
	size_t n = of->kind == MODULE_FILE || of->kind == MODULE_VDSO
		? modules_bytes(&c->modules, code->module, code->offset, bytes, sizeof(bytes))
		: 0;
	struct disasm *d = n ? disassembler(c, of->head.machine) : NULL;

	return d ? disasm_width(d, bytes, n, code->offset) : (struct access_width){ 0 };
}

uint32_t memory_samples_width(struct memory_samples *c, const struct tare_access *a)
{
	struct width_cached w = { .code = memory_samples_code(c, a) };
	bool fresh,
		accesses = a->kind == TARE_ACCESS_LOAD || a->kind == TARE_ACCESS_STORE ||
		a->kind == TARE_ACCESS_UPDATE;
	const struct access_width *is;
	uint32_t at;

	if (!a->exact_ip || w.code.kernel || !accesses)
		return 0;
	at = set_add(&c->p->widths, &w, sizeof(w), sizeof(w.code), &fresh);
	if (at == SET_NONE)
		return 0;
	if (fresh)
		((struct width_cached *)c->p->widths.item)[at].is = decode(c, &w.code);
	is = &((struct width_cached *)c->p->widths.item)[at].is;
	if (is->repeats && a->origin != TARE_FROM_EXACT)
		return 0;
	return is->bytes;
}

void memory_samples_widths_free(struct memory_samples *c)
{
	disasm_close(c->p->disasm);
	set_free(&c->p->widths);
}
