/* SPDX-License-Identifier: MIT */
/* See unwind_rules.h. Source: DWARF 5, 6.4, "Call Frame Information"; elfutils' libdw.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "symbols/debug_file.h"
#include "symbols/unwind_rules.h"

enum { RULE_BITS = 13, DEPTH_MAX = 64, STEPS_MAX = 4096 };

void rule_file_open(struct rule_file *f, const char *path, int fd)
{
	Dwfl_Module *module = NULL;
	GElf_Addr bias;

	f->opened = true;
	f->dwfl = libdw.dwfl_begin(debug_file_calls());
	fd = dup(fd);
	if (f->dwfl && fd >= 0)
		module = libdw.dwfl_report_offline(f->dwfl, "", path, fd);
	if (!module && fd >= 0)
		close(fd);
	if (!module)
		return;
	libdw.dwfl_report_end(f->dwfl, NULL, NULL);
	f->eh = libdw.dwfl_module_eh_cfi(module, &bias);
	/* Debug information (.debug_frame) is used only if there is nothing else. */
	if (!f->eh)
		f->debug = libdw.dwfl_module_dwarf_cfi(module, &bias);
}

void rule_file_close(struct rule_file *f)
{
	if (f->dwfl)
		libdw.dwfl_end(f->dwfl);
	*f = (struct rule_file){ 0 };
}

static bool is_breg(const Dwarf_Op *op, uint8_t *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = (uint8_t)(op->atom - DW_OP_breg0);
		*offset = (int64_t)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx && op->number < RULE_REGISTERS) {
		*reg = (uint8_t)op->number;
		*offset = (int64_t)op->number2;
		return true;
	}
	return false;
}

static bool is_saved_at(const Dwarf_Op *op, size_t n, int64_t *offset)
{
	if (n == 0 || op[0].atom != DW_OP_call_frame_cfa)
		return false;
	*offset = 0;
	if (n == 1)
		return true;
	*offset = (int64_t)op[1].number;
	return n == 2 && op[1].atom == DW_OP_plus_uconst;
}

/* Simplifies to a fixed rule, or keeps libdw's frame. */
static void describe(struct rule *r, Dwarf_Frame *frame, unsigned sp)
{
	Dwarf_Op *op, room[3];
	size_t n = 0;
	int ra = libdw.dwarf_frame_info(frame, NULL, NULL, &r->signal);
	bool simple;

	r->kind = RULE_NONE;
	if (ra < 0 || ra >= RULE_REGISTERS || libdw.dwarf_frame_cfa(frame, &op, &n) || n == 0)
		return;
	r->return_register = (uint8_t)ra;
	r->saved = 0;
	r->outermost = false;
	simple = n == 1 && is_breg(op, &r->cfa_register, &r->cfa_offset);
	for (unsigned i = 0; i < RULE_REGISTERS; i++) {
		int64_t offset;

		if (libdw.dwarf_frame_register(frame, (int)i, room, &op, &n))
			continue;
		if (n == 0 && op == room && i == (unsigned)ra)
			r->outermost = true;
		if (n == 0 || i == sp) /* unchanged, or unknown; the stack pointer is the CFA */
			continue;
		if (is_saved_at(op, n, &offset) && offset >= INT32_MIN && offset <= INT32_MAX) {
			r->saved_register[r->saved] = (uint8_t)i;
			r->saved_offset[r->saved++] = (int32_t)offset;
		} else {
			simple = false;
		}
	}
	r->kind = simple ? RULE_SIMPLE : RULE_FRAME;
}

const struct rule *rules_find(struct rules *rules, struct rule_file *f, uint32_t module,
			      uint64_t address, unsigned sp)
{
	uint64_t hash = (address ^ (uint64_t)module << 40) * 0x9e3779b97f4a7c15ull;
	Dwarf_Frame *frame = NULL;
	struct rule *r;

	if (!rules->rule && !(rules->rule = calloc(1 << RULE_BITS, sizeof(*rules->rule))))
		return NULL;
	r = &rules->rule[hash >> (64 - RULE_BITS)];
	if (r->address == address && r->module == module && address)
		return r;
	free(r->frame);
	*r = (struct rule){ .module = module, .address = address };
	if (!(f->eh && libdw.dwarf_cfi_addrframe(f->eh, address, &frame) == 0) &&
	    !(f->debug && libdw.dwarf_cfi_addrframe(f->debug, address, &frame) == 0))
		return r;
	describe(r, frame, sp);
	if (r->kind == RULE_FRAME)
		r->frame = frame;
	else
		free(frame);
	return r;
}

void rules_free(struct rules *rules)
{
	for (size_t i = 0; rules->rule && i < 1 << RULE_BITS; i++)
		free(rules->rule[i].frame);
	free(rules->rule);
	rules->rule = NULL;
}

/* ---- expressions ---- */

struct stack {
	uint64_t v[DEPTH_MAX];
	size_t n;
	bool failed;
};

static void push(struct stack *s, uint64_t v)
{
	if (s->n == DEPTH_MAX)
		s->failed = true;
	else
		s->v[s->n++] = v;
}

static uint64_t pop(struct stack *s)
{
	if (s->n == 0) {
		s->failed = true;
		return 0;
	}
	return s->v[--s->n];
}

static uint64_t pick(struct stack *s, uint64_t at)
{
	if (at >= s->n) {
		s->failed = true;
		return 0;
	}
	return s->v[s->n - 1 - at];
}

static uint64_t register_value(struct stack *st, const struct rule_state *s, uint64_t number)
{
	if (number >= RULE_REGISTERS || !(s->known >> number & 1)) {
		st->failed = true;
		return 0;
	}
	return s->reg[number];
}

static bool binary(struct stack *s, unsigned atom)
{
	uint64_t b, a;

	switch (atom) {
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_eq:
	case DW_OP_ne:
	case DW_OP_lt:
	case DW_OP_le:
	case DW_OP_gt:
	case DW_OP_ge:
		break;
	default:
		return false;
	}
	b = pop(s);
	a = pop(s);
	switch (atom) {
	case DW_OP_and:
		push(s, a & b);
		break;
	case DW_OP_or:
		push(s, a | b);
		break;
	case DW_OP_xor:
		push(s, a ^ b);
		break;
	case DW_OP_plus:
		push(s, a + b);
		break;
	case DW_OP_minus:
		push(s, a - b);
		break;
	case DW_OP_mul:
		push(s, a * b);
		break;
	case DW_OP_shl:
		push(s, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(s, b < 64 ? a >> b : 0);
		break;
	case DW_OP_shra:
		push(s, (uint64_t)((int64_t)a >> (b < 63 ? b : 63)));
		break;
	case DW_OP_eq:
		push(s, a == b);
		break;
	case DW_OP_ne:
		push(s, a != b);
		break;
	case DW_OP_lt:
		push(s, (int64_t)a < (int64_t)b);
		break;
	case DW_OP_le:
		push(s, (int64_t)a <= (int64_t)b);
		break;
	case DW_OP_gt:
		push(s, (int64_t)a > (int64_t)b);
		break;
	case DW_OP_ge:
		push(s, (int64_t)a >= (int64_t)b);
		break;
	}
	return true;
}

static void step(struct stack *st, const Dwarf_Op *op, const struct rule_state *s)
{
	uint64_t a = 0;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(st, op->atom - DW_OP_lit0);
		return;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push(st, register_value(st, s, op->atom - DW_OP_breg0) + op->number);
		return;
	}
	if (binary(st, op->atom))
		return;
	switch (op->atom) {
	case DW_OP_bregx:
		push(st, register_value(st, s, op->number) + op->number2);
		break;
	case DW_OP_addr:
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		push(st, op->number);
		break;
	case DW_OP_plus_uconst:
		push(st, pop(st) + op->number);
		break;
	case DW_OP_call_frame_cfa:
		push(st, s->cfa);
		break;
	case DW_OP_deref:
		if (!s->memory(s->arg, pop(st), &a))
			st->failed = true;
		push(st, a);
		break;
	case DW_OP_dup:
		push(st, pick(st, 0));
		break;
	case DW_OP_over:
		push(st, pick(st, 1));
		break;
	case DW_OP_pick:
		push(st, pick(st, op->number));
		break;
	case DW_OP_drop:
		pop(st);
		break;
	case DW_OP_neg:
		push(st, -pop(st));
		break;
	case DW_OP_not:
		push(st, ~pop(st));
		break;
	case DW_OP_nop:
		break;
	default:
		st->failed = true;
	}
}

bool rule_evaluate(const Dwarf_Op *op, size_t n, const struct rule_state *s, uint64_t *out,
		   bool *is_place)
{
	struct stack st = { .n = 0 };

	*is_place = true;
	for (size_t i = 0; i < n && i < STEPS_MAX && !st.failed; i++) {
		if (op[i].atom >= DW_OP_reg0 && op[i].atom <= DW_OP_reg31) {
			push(&st, register_value(&st, s, op[i].atom - DW_OP_reg0));
			*is_place = false;
		} else if (op[i].atom == DW_OP_regx) {
			push(&st, register_value(&st, s, op[i].number));
			*is_place = false;
		} else if (op[i].atom == DW_OP_stack_value) {
			*is_place = false;
		} else {
			step(&st, &op[i], s);
		}
	}
	*out = pop(&st);
	return !st.failed;
}
