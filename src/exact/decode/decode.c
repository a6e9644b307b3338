/* SPDX-License-Identifier: MIT */
/*
 * See decode.h. The facts about each encoding are rows (insn_table.h); this file walks the bytes:
 * prefixes, opcode, ModRM, SIB, displacement, immediate.
 * Source: Intel SDM vol. 2, 2.1 "Instruction Format for Protected Mode" to 2.7 "EVEX".
 */
#include "exact/decode/decode.h"
#include "exact/decode/insn_table.h"

/* First row of insn_cells, by encoding and map; 0xff: no such map. */
static const uint8_t vex_maps[4] = { 0xff, 4, 5, 6 };
static const uint8_t evex_maps[8] = { 0xff, 7, 8, 9, 0xff, 10, 11, 0xff };

enum { XOP_FIRST = 12, XOP_MAP_FIRST = 8, XOP_MAP_LAST = 10 };

/* The row of an opcode that has several. `prefixes`: W << 3 | mandatory prefix << 1. */
static uint16_t row_in(unsigned cell, unsigned prefixes, uint8_t modrm)
{
	return insn_forms[insn_blocks[cell & 0x7fff][prefixes | (modrm < 0xc0)]][modrm >> 3 & 7];
}

struct cursor {
	const uint8_t *b;
	size_t at, size;
	unsigned pp;     /* mandatory prefix: 0 none, 1 66, 2 F3, 3 F2 */
	unsigned length; /* vector length: 0 128, 1 256, 2 512 */
	unsigned cells;  /* row of insn_cells */
	bool rounding;   /* EVEX.b: with a register form the vector is 512 wide */
};

/* Is the byte a prefix, including REX? A bitmap, as most instructions have no prefix but REX. */
static bool is_prefix(uint8_t b)
{
	static const uint32_t bits[8] = {
		[0x26 / 32] = 1u << 0x06 | 1u << 0x0e | 1u << 0x16 | 1u << 0x1e,
		[0x40 / 32] = 0xffff,
		[0x64 / 32] = 1u << 0x04 | 1u << 0x05 | 1u << 0x06 | 1u << 0x07,
		[0xf0 / 32] = 1u << 0x10 | 1u << 0x12 | 1u << 0x13,
	};

	return bits[b >> 5] >> (b & 31) & 1;
}

static bool legacy_prefixes(struct insn *in, struct cursor *c)
{
	if ((c->b[0] & 0xf0) == 0x40 && c->size > 1 && !is_prefix(c->b[1])) {
		in->rex = c->b[0];
		c->at = 1;
		return true;
	}
	for (; c->at < c->size; c->at++) {
		if (!is_prefix(c->b[c->at]))
			return true;
		switch (c->b[c->at]) {
		case 0x66:
			in->prefix |= P_66;
			break;
		case 0x67:
			in->prefix |= P_67;
			break;
		case 0xf2:
			in->prefix = (uint8_t)((in->prefix & ~P_F3) | P_F2);
			break;
		case 0xf3:
			in->prefix = (uint8_t)((in->prefix & ~P_F2) | P_F3);
			break;
		case 0xf0:
			in->prefix |= P_LOCK;
			break;
		case 0x64:
			in->prefix = (uint8_t)((in->prefix & ~P_GS) | P_FS);
			break;
		case 0x65:
			in->prefix = (uint8_t)((in->prefix & ~P_FS) | P_GS);
			break;
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x26:
			break; /* no effect in 64-bit mode */
		default:
			/* A REX prefix has an effect only right before the opcode. */
			if ((c->b[c->at] & 0xf0) != 0x40)
				return true;
			in->rex = c->b[c->at];
			continue;
		}
		in->rex = 0;
	}
	return false;
}

/* VEX, EVEX and XOP store R, X, B inverted in the top bits of their first payload byte. */
static uint8_t rxb(uint8_t payload)
{
	return (uint8_t)((~payload >> 5) & 7);
}

static uint8_t as_rex(uint8_t r_x_b, unsigned w)
{
	/* rxb() returns R, X, B in bits 2, 1, 0, as in REX. */
	return (uint8_t)(0x40 | r_x_b | w << 3);
}

static bool vex_prefix(struct insn *in, struct cursor *c, uint8_t first)
{
	const uint8_t *b = c->b + c->at;
	size_t left = c->size - c->at;

	if (first == 0xc5) {
		if (left < 3)
			return false;
		in->encoding = E_VEX;
		in->map = 1;
		in->rex = as_rex((uint8_t)((~b[1] >> 5) & 4), 0);
		c->pp = b[1] & 3;
		c->length = b[1] >> 2 & 1;
		c->at += 2;
	} else {
		if (left < 4)
			return false;
		in->encoding = first == 0xc4 ? E_VEX : E_XOP;
		in->map = b[1] & 31;
		in->rex = as_rex(rxb(b[1]), b[2] >> 7);
		c->pp = b[2] & 3;
		c->length = b[2] >> 2 & 1;
		c->at += 3;
	}
	if (in->encoding == E_XOP)
		c->cells = in->map >= XOP_MAP_FIRST && in->map <= XOP_MAP_LAST
			? XOP_FIRST + in->map - XOP_MAP_FIRST
			: 0xff;
	else
		c->cells = in->map < 4 ? vex_maps[in->map] : 0xff;
	return true;
}

static bool evex_prefix(struct insn *in, struct cursor *c)
{
	const uint8_t *b = c->b + c->at;

	if (c->size - c->at < 5)
		return false;
	in->encoding = E_EVEX;
	in->map = b[1] & 7;
	in->rex = as_rex(rxb(b[1]), b[2] >> 7);
	c->pp = b[2] & 3;
	c->length = b[3] >> 5 & 3;
	c->rounding = b[3] & 0x10;
	c->at += 4;
	c->cells = evex_maps[in->map];
	return true;
}

/* Everything before the opcode byte. */
static bool opcode_prefix(struct insn *in, struct cursor *c)
{
	uint8_t first = c->b[c->at];

	c->pp = in->prefix & P_F2 ? 3 : in->prefix & P_F3 ? 2 : in->prefix & P_66 ? 1 : 0;
	if (first == 0xc4 || first == 0xc5)
		return vex_prefix(in, c, first);
	if (first == 0x62)
		return evex_prefix(in, c);
	if (first == 0x8f && c->at + 1 < c->size && (c->b[c->at + 1] & 31) >= XOP_MAP_FIRST)
		return vex_prefix(in, c, first);
	if (first != 0x0f)
		return true;
	in->map = 1;
	c->cells = 1;
	if (++c->at >= c->size)
		return false;
	if (c->b[c->at] == 0x38 || c->b[c->at] == 0x3a) {
		in->map = c->b[c->at] == 0x38 ? 2 : 3;
		c->cells = in->map;
		c->at++;
	}
	return c->at < c->size;
}

static bool memory_operand(struct insn *in, struct cursor *c)
{
	unsigned mod = in->modrm >> 6, rm = in->modrm & 7;
	unsigned size = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	/* mov to and from control and debug registers treats every mod as 3. SDM vol. 2, "MOV". */
	if (in->map == 1 && in->opcode >= 0x20 && in->opcode <= 0x23)
		in->modrm |= 0xc0;
	if (in->modrm >= 0xc0)
		return true;
	if (rm == 4) {
		if (c->at >= c->size)
			return false;
		if (mod == 0 && (c->b[c->at] & 7) == 5)
			size = 4;
		c->at++;
	} else if (mod == 0 && rm == 5) {
		size = 4;
	}
	in->disp_at = (uint8_t)c->at;
	in->disp_size = (uint8_t)size;
	c->at += size;
	return true;
}

static unsigned imm_bytes(const struct insn *in, unsigned imm)
{
	bool w = in->rex & 8;

	switch (imm) {
	case I_8:
		return 1;
	case I_16:
		return 2;
	case I_24:
		return 3;
	case I_V:
		if (w)
			return 8;
		/* fall through */
	case I_Z:
		return (in->prefix & P_66) && !w ? 2 : 4;
	case I_A:
		return in->prefix & P_67 ? 4 : 8;
	default:
		return 0;
	}
}

static int64_t imm_value(const uint8_t *b, unsigned size)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < size && i < 8; i++)
		v |= (uint64_t)b[i] << (8 * i);
	if (size == 0 || size >= 8)
		return (int64_t)v;
	return (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size);
}

static unsigned vector_width(unsigned vec, const struct cursor *c, bool memory)
{
	unsigned length = c->length > 2 || (c->rounding && !memory) ? 2 : c->length;

	if (vec == V_BY_LENGTH)
		return V_128 + length;
	return vec == V_BY_HALF ? V_128 + length / 2 : vec;
}

/* Source: Intel SDM vol. 2, 2.7.5, "Compressed Displacement (disp8*N) Support in EVEX". */
static unsigned disp_shift(unsigned scale, const struct insn *in, const struct cursor *c)
{
	if (in->encoding != E_EVEX)
		return 0;
	if (c->rounding) /* of memory: one element for all */
		return scale & S_ELEMENT ? (scale & S_ELEMENT) >> S_ELEMENT_AT : S_UNKNOWN;
	if ((scale & S_LEAST) == S_UNKNOWN)
		return S_UNKNOWN;
	return (scale & S_LEAST) + (scale & S_DOUBLES && c->length < 3 ? c->length : 0);
}

/*
 * ---- most instructions: no prefix or one of 66, F2, F3; REX or none; one byte of opcode, or 0F
 * and one ----
 */

enum first { OPCODE, REX, MANDATORY, OTHER };

/* How the decoder classifies the byte in front of an opcode. */
static const uint8_t firsts[256] = {
	[0x26] = OTHER,        [0x2e] = OTHER, [0x36] = OTHER,     [0x3e] = OTHER,
	[0x40 ... 0x4f] = REX, [0x62] = OTHER, [0x64] = OTHER,     [0x65] = OTHER,
	[0x66] = MANDATORY,    [0x67] = OTHER, [0x8f] = OTHER,     [0xc4] = OTHER,
	[0xc5] = OTHER,        [0xf0] = OTHER, [0xf2] = MANDATORY, [0xf3] = MANDATORY,
};

enum { SIB = 8, DISPLACEMENT = 7 };

/* Bytes that follow ModRM, by its mod and rm. */
static const uint8_t behind_modrm[32] = {
	0, 0, 0, 0, SIB, 4, 0, 0, 1, 1, 1, 1, SIB | 1, 1, 1, 1, 4, 4, 4, 4, SIB | 4, 4, 4, 4,
};

/* [enum insn_imm][prefix 66 | REX.W << 1] */
static const uint8_t imm_sizes[][4] = {
	[I_8] = { 1, 1, 1, 1 }, [I_16] = { 2, 2, 2, 2 }, [I_24] = { 3, 3, 3, 3 },
	[I_Z] = { 4, 2, 4, 4 }, [I_V] = { 4, 2, 8, 8 },  [I_A] = { 8, 8, 8, 8 },
};

enum { ROW_BYTES = 8 }; /* fields that are the same in both structs */

#define SAME(f)                                                                                    \
	_Static_assert(offsetof(struct insn, f) == offsetof(struct insn_row, f),                   \
		       "a row is copied whole: " #f)
SAME(kind);
SAME(reads);
SAME(writes);
SAME(loads);
SAME(stores);
SAME(vec);
SAME(bits);
#undef SAME
_Static_assert(offsetof(struct insn, imm_kind) == offsetof(struct insn_row, imm) &&
		       offsetof(struct insn_row, scale) == ROW_BYTES,
	       "a row is copied whole");

/*
 * `b` has INSN_ROOM bytes. False: not a common form, or an instruction with special rules. The
 * result equals that of decode_any().
 */
static inline bool decode_common(struct insn *in, const uint8_t *b)
{
	unsigned at = 0, prefix = 0, pp = 0, rex = 0, map = 0, modrm_at = 0, disp_at = 0, disp = 0,
		 imm = 0, first = firsts[b[0]], cell;
	const struct insn_row *row;
	int64_t value = 0;
	uint8_t opcode, modrm;

	if (first == MANDATORY) {
		pp = b[0] == 0x66 ? 1 : b[0] == 0xf3 ? 2 : 3;
		prefix = b[0] == 0x66 ? P_66 : b[0] == 0xf3 ? P_F3 : P_F2;
		first = firsts[b[++at]];
	}
	if (first == REX) {
		rex = b[at++];
		first = firsts[b[at]];
	}
	if (first != OPCODE)
		return false;
	opcode = b[at];
	if (opcode == 0x0f) {
		map = 1;
		opcode = b[++at];
		if (opcode == 0x38 || opcode == 0x3a || (opcode & 0xfc) == 0x20)
			return false;
	}
	modrm = b[at + 1];
	cell = insn_cells[map][opcode];
	if (cell & 0x8000)
		cell = row_in(cell, (rex & 8) | pp << 1, modrm);
	row = &insn_rows[cell];
	if (row->kind == K_INVALID || (row->kind != K_PLAIN && prefix == P_66))
		return false;
	in->opcode_at = (uint8_t)at++;
	if (row->bits & R_MODRM) {
		modrm_at = at++;
		if (modrm < 0xc0) {
			disp = behind_modrm[(modrm >> 3 & 0x18) | (modrm & 7)];
			if (disp & SIB)
				disp = (b[at++] & 7) == 5 && modrm < 0x40 ? 4 : disp & DISPLACEMENT;
			disp_at = at;
			at += disp;
		}
	} else {
		modrm = 0;
	}
	in->imm_at = (uint8_t)at;
	if (row->imm) {
		imm = imm_sizes[row->imm][(prefix & P_66) | (rex & 8) >> 2];
		__builtin_memcpy(&value, b + at, 8);
		value = (int64_t)((uint64_t)value << (64 - 8 * imm)) >> (64 - 8 * imm);
		at += imm;
	}
	__builtin_memcpy(in, row, ROW_BYTES);
	in->len = (uint8_t)at;
	in->prefix = (uint8_t)prefix;
	in->rex = (uint8_t)rex;
	in->encoding = E_LEGACY;
	in->map = (uint8_t)map;
	in->opcode = opcode;
	in->modrm_at = (uint8_t)modrm_at;
	in->modrm = modrm;
	in->disp_at = (uint8_t)disp_at;
	in->disp_size = (uint8_t)disp;
	in->isa = row->isa;
	in->disp_shift = 0;
	in->imm_size = (uint8_t)imm;
	in->imm = value;
	return true;
}

/* Any instruction, of at most `size` bytes, prefix by prefix. */
__attribute__((noinline)) static bool decode_any(struct insn *in, const uint8_t *bytes, size_t size)
{
	struct cursor c = { .b = bytes, .size = size > 15 ? 15 : size };

	*in = (struct insn){ 0 };
	if (!legacy_prefixes(in, &c) || !opcode_prefix(in, &c) || c.cells == 0xff || c.at >= c.size)
		return false;
	in->opcode_at = (uint8_t)c.at;
	in->opcode = c.b[c.at++];

	uint16_t cell = insn_cells[c.cells][in->opcode];
	uint8_t modrm = c.at < c.size ? c.b[c.at] : 0;

	if (cell & 0x8000)
		cell = row_in(cell, (in->rex & 8) | c.pp << 1, modrm);

	const struct insn_row *row = &insn_rows[cell];

	if (row->kind == K_INVALID)
		return false;
	if (row->bits & R_MODRM) {
		in->modrm_at = (uint8_t)c.at++;
		in->modrm = modrm;
		if (!memory_operand(in, &c))
			return false;
	}

	unsigned imm = imm_bytes(in, row->imm);

	in->imm_at = (uint8_t)c.at;
	in->imm_size = (uint8_t)imm;
	c.at += imm;
	if (c.at > c.size)
		return false;
	in->imm = imm_value(bytes + in->imm_at, imm);
	in->len = (uint8_t)c.at;
	in->kind = row->kind;
	in->imm_kind = row->imm;
	in->reads = row->reads;
	in->writes = row->writes;
	in->loads = row->loads;
	in->stores = row->stores;
	in->bits = row->bits;
	in->isa = row->isa;
	/* A branch or system call with a lock prefix raises #UD: the processor reports it. */
	if ((in->prefix & P_LOCK) && in->kind != K_PLAIN)
		return false;
	in->disp_shift = (uint8_t)disp_shift(row->scale, in, &c);
	in->vec = (uint8_t)vector_width(row->vec, &c, insn_has_memory(in));
	/*
	 * A near branch with operand size 66 and no REX.W: Intel keeps the 32-bit displacement, AMD
	 * truncates RIP to 16 bits. No compiler emits it, so it is refused rather than guessed.
	 */
	if ((in->prefix & P_66) && !(in->rex & 8) && in->kind >= K_JCC && in->kind <= K_RET)
		in->kind = K_REFUSED;
	if ((in->kind == K_JCC || in->kind == K_JMP || in->kind == K_CALL) && imm == 2)
		in->kind = K_REFUSED;
	if (in->kind == K_REFUSED || (in->prefix & P_GS))
		in->bits |= R_SPECIAL;
	return true;
}

bool insn_decode(struct insn *in, const uint8_t *bytes, size_t size)
{
	return (size >= INSN_ROOM && decode_common(in, bytes)) || decode_any(in, bytes, size);
}
