/* SPDX-License-Identifier: MIT */
/* The size of an access from its instruction, where the recording does not have it. */
#include <stddef.h>
#include "memory/accessed_private.h"
#include "symbols/disasm.h"

enum { INSN_MOST = 16 };

struct width_cached {
	struct accessed_code code;
	struct access_width is;
};

static struct disasm *disassembler(struct accessed *c, uint16_t machine)
{
	struct accessed_private *p = c->p;

	if (machine != p->disasm_of) {
		disasm_close(p->disasm);
		p->disasm = NULL;
		p->disasm_of = machine;
		disasm_open(&p->disasm, machine, true, NULL);
	}
	return p->disasm;
}

static struct access_width decode(struct accessed *c, const struct accessed_code *code)
{
	uint8_t bytes[INSN_MOST];
	const struct module *of = &c->modules.module[code->module];
	size_t n = of->kind == MODULE_FILE || of->kind == MODULE_VDSO
		? modules_bytes(&c->modules, code->module, code->offset, bytes, sizeof(bytes))
		: 0;
	struct disasm *d = n ? disassembler(c, of->head.machine) : NULL;

	return d ? disasm_width(d, bytes, n, code->offset) : (struct access_width){ 0 };
}

uint32_t accessed_width(struct accessed *c, const struct tare_access *a)
{
	struct width_cached w = { .code = accessed_code(c, a) };
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

void accessed_widths_free(struct accessed *c)
{
	disasm_close(c->p->disasm);
	set_free(&c->p->widths);
}
