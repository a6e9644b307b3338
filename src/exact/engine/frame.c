/* SPDX-License-Identifier: MIT */
/*
 * The return address of the function that a thread executes, even if the function has no frame: a
 * leaf, or a function before its frame pointer is set up or after it is restored. The code from pc
 * to a `ret` gives the place on the stack: each push, pop and the like encodes how far it moves the
 * stack pointer. tare accepts the word there only if it is the address after a call instruction.
 * Stack values are the current ones. A push on the way is not executed: struct way keeps its value
 * instead of memory.
 */
#include "exact/engine/engine.h"

enum { STEPS = 600, WAYS = 8, PUTS = 16, JUMPS = 16, CALL_MOST = 8 };

/* One way through the code. */
struct way {
	uint64_t pc, sp, bp;
	bool sp_known, bp_known;
	unsigned n_put;
	struct {
		uint64_t at, value;
		bool known;
	} put[PUTS]; /* pushes by instructions that are not executed yet */
};

struct search {
	uint64_t from; /* the current stack pointer: memory below it is not written yet */
	struct way way[WAYS];
	unsigned ways, steps, jumps;
	uint64_t jumped[JUMPS];
};

static bool load(const struct search *s, const struct way *w, uint64_t at, uint64_t *out)
{
	for (unsigned i = w->n_put; i-- > 0;)
		if (w->put[i].at == at) {
			*out = w->put[i].value;
			return w->put[i].known;
		}
	return at >= s->from && copy_bytes(out, (const void *)at, 8) == 8;
}

static void store(struct way *w, uint64_t at, uint64_t value, bool known)
{
	if (w->n_put == PUTS) /* no room: the state is unknown from here on */
		w->sp_known = w->bp_known = false;
	else
		w->put[w->n_put++] = (typeof(w->put[0])){ at, value, known };
}

static void push(struct way *w, uint64_t value, bool known)
{
	w->sp -= 8;
	if (w->sp_known)
		store(w, w->sp, value, known);
}

static void pop(const struct search *s, struct way *w, bool to_bp)
{
	if (to_bp)
		w->bp_known = w->sp_known && load(s, w, w->sp, &w->bp);
	w->sp += 8;
}

/* ---- instructions ---- */

static unsigned reg_of(const struct insn *in)
{
	return (in->modrm >> 3 & 7) | (in->rex & 4) << 1;
}

static unsigned rm_of(const struct insn *in)
{
	return (in->modrm & 7) | (in->rex & 1) << 3;
}

/* A memory operand at an offset from rsp or rbp; false: another one, or unknown. */
static bool stack_address(const struct way *w, const struct insn *in, const uint8_t *code,
			  uint64_t *out)
{
	unsigned mod = in->modrm >> 6, rm = in->modrm & 7;
	int64_t disp = 0;

	if (mod == 3 || in->rex & 3 || in->prefix & (P_67 | P_FS | P_GS))
		return false;
	if (in->disp_size == 1)
		disp = (int8_t)code[in->disp_at];
	else if (in->disp_size == 4)
		disp = (int32_t)(code[in->disp_at] | code[in->disp_at + 1] << 8 |
				 code[in->disp_at + 2] << 16 |
				 (uint32_t)code[in->disp_at + 3] << 24);
	if (rm == RSP && (code[in->modrm_at + 1] & 0x3f) == 0x24 &&
	    w->sp_known) /* base rsp, no index */
		*out = w->sp + (uint64_t)disp;
	else if (rm == RBP && mod && w->bp_known)
		*out = w->bp + (uint64_t)disp;
	else
		return false;
	return true;
}

static void moves(const struct search *s, struct way *w, const struct insn *in, const uint8_t *code,
		  bool to_reg)
{
	unsigned to = to_reg ? reg_of(in) : rm_of(in), from = to_reg ? rm_of(in) : reg_of(in);
	uint64_t at;

	if (in->modrm >= 0xc0 && to == RSP) {
		w->sp_known = from == RBP && w->bp_known;
		w->sp = w->bp;
	} else if (in->modrm >= 0xc0 && to == RBP) {
		w->bp_known = from == RSP && w->sp_known;
		w->bp = w->sp;
	} else if (in->modrm < 0xc0 && to_reg && to == RBP) {
		w->bp_known = stack_address(w, in, code, &at) && load(s, w, at, &w->bp);
	} else if (in->modrm < 0xc0 && !to_reg && stack_address(w, in, code, &at)) {
		store(w, at, w->bp, from == RBP && w->bp_known);
	}
}

static void leas(struct way *w, const struct insn *in, const uint8_t *code)
{
	uint64_t at = 0;
	bool known = stack_address(w, in, code, &at);

	if (reg_of(in) == RSP) {
		w->sp = at;
		w->sp_known = known;
	} else if (reg_of(in) == RBP) {
		w->bp = at;
		w->bp_known = known;
	}
}

static void computes(struct way *w, const struct insn *in)
{
	if (in->modrm == 0xec) /* sub rsp, imm */
		w->sp -= (uint64_t)in->imm;
	else if (in->modrm == 0xc4) /* add rsp, imm */
		w->sp += (uint64_t)in->imm;
	else if (in->modrm == 0xe4) /* and rsp, imm */
		w->sp &= (uint64_t)in->imm;
}

static bool computes_rsp(const struct insn *in)
{
	return (in->opcode < 0x40 && (in->opcode & 7) < 4 && (in->opcode & 0x38) != 0x38 &&
		in->modrm >= 0xc0 && (in->opcode & 2 ? reg_of(in) : rm_of(in)) == RSP);
}

/* The instruction's effect on rsp and rbp; false: not supported here. */
static bool executes(const struct search *s, struct way *w, const struct insn *in,
		     const uint8_t *code)
{
	unsigned op = in->opcode, low = (op & 7) | (in->rex & 1) << 3;

	if (in->encoding != E_LEGACY || in->map > 1)
		return true;
	if (in->map == 1) {
		if (op == 0xa0 || op == 0xa8) /* push fs, gs */
			push(w, 0, false);
		return op != 0x0b && op != 0xa1 && op != 0xa9 && op != 0xb9 &&
			op != 0xff; /* ud2, ud1, ud0 */
	}
	if ((op >= 0x50 && op <= 0x5f && in->prefix & P_66) || op == 0xc8 || op == 0x94 ||
	    op == 0xf4 || op == 0xcc)
		return false; /* 16 bits; enter; xchg rsp; hlt; int3 */
	if (op >= 0x50 && op <= 0x57)
		push(w, w->bp, low == RBP && w->bp_known);
	else if (op >= 0x58 && op <= 0x5f && low == RSP)
		return false;
	else if (op >= 0x58 && op <= 0x5f)
		pop(s, w, low == RBP);
	else if (op == 0x68 || op == 0x6a || op == 0x9c ||
		 (op == 0xff && (in->modrm >> 3 & 7) == 6))
		push(w, 0, false);
	else if (op == 0x9d || op == 0x8f)
		pop(s, w, false);
	else if (op == 0xc9) {
		w->sp = w->bp;
		w->sp_known = w->bp_known;
		pop(s, w, true);
	} else if ((op == 0x81 || op == 0x83) && in->modrm >= 0xc0 && rm_of(in) == RSP)
		computes(w, in);
	else if (op == 0x89 || op == 0x8b)
		moves(s, w, in, code, op == 0x8b);
	else if (op == 0x8d)
		leas(w, in, code);
	else if (computes_rsp(in))
		w->sp_known = false; /* a dynamic amount: the frame pointer restores it */
	return true;
}

/* ---- return addresses ---- */

static bool decode_at(uint64_t pc, struct insn *in)
{
	size_t room = code_room(pc);

	return room && insn_decode(in, (const uint8_t *)pc, room);
}

/* The return of a signal handler: mov $15, %rax; syscall. Source: glibc and musl, __restore_rt. */
static bool is_restorer(uint64_t pc)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

	return code_room(pc) >= sizeof code && !memcmp((const void *)pc, code, sizeof code);
}

static bool follows_call(uint64_t pc)
{
	struct insn in;

	if (!region_of(pc))
		return false;
	for (unsigned n = 2; n <= CALL_MOST; n++)
		if (region_of(pc - n) && decode_at(pc - n, &in) && in.len == n &&
		    (in.kind == K_CALL || in.kind == K_CALL_IND))
			return true;
	return is_restorer(pc);
}

/* ---- the search ---- */

static bool jumped_before(struct search *s, uint64_t to)
{
	for (unsigned i = 0; i < s->jumps; i++)
		if (s->jumped[i] == to)
			return true;
	if (s->jumps < JUMPS)
		s->jumped[s->jumps++] = to;
	return s->jumps == JUMPS;
}

static void also(struct search *s, const struct way *w, uint64_t pc)
{
	if (s->ways == WAYS || jumped_before(s, pc))
		return;
	s->way[s->ways] = *w;
	s->way[s->ways++].pc = pc;
}

static bool is_slot(const struct search *s, const struct way *w)
{
	uint64_t to;

	return w->sp_known && w->bp_known && w->sp >= s->from && !(w->sp & 7) &&
		load(s, w, w->sp, &to) && follows_call(to);
}

/* Follow this path to its end: is there a return address? */
static bool follow(struct search *s, struct way *w)
{
	struct insn in;

	while (s->steps++ < STEPS && decode_at(w->pc, &in)) {
		const uint8_t *code = (const uint8_t *)w->pc;
		uint64_t next = w->pc + in.len;

		switch (in.kind) {
		case K_RET:
		case K_JMP_IND: /* a tail call, if the return address is on top */
			return is_slot(s, w);
		case K_JMP:
			next += (uint64_t)in.imm;
			if (jumped_before(s, next))
				return false;
			break;
		case K_JCC:
		case K_LOOP:
			also(s, w, next + (uint64_t)in.imm);
			break;
		case K_INVALID:
		case K_REFUSED:
			return false;
		case K_PLAIN:
			if (!executes(s, w, &in, code))
				return false;
			break;
		default:
			break; /* calls return with the stack unchanged */
		}
		w->pc = next;
	}
	return false;
}

/* The stack slot of the return address of the function at `pc`, and rbp after its return. */
bool frame_find(uint64_t pc, uint64_t sp, uint64_t bp, struct call_frame *out)
{
	struct search s = { .from = sp, .ways = 1 };
	struct way w;

	s.way[0] = (struct way){ .pc = pc, .sp = sp, .bp = bp, .sp_known = true, .bp_known = true };
	while (s.ways && s.steps < STEPS) {
		w = s.way[--s.ways];
		if (!follow(&s, &w))
			continue;
		*out = (struct call_frame){ .slot = w.sp, .bp = w.bp };
		return copy_bytes(&out->to, (const void *)w.sp, 8) == 8;
	}
	return false;
}
