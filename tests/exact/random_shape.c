/* SPDX-License-Identifier: MIT */
/*
 * Stack, system calls, gathers, far bit offsets, rounding and faults: patterns that random bytes do
 * not produce.
 */
#include "random_maker.h"

void stack(struct maker *m)
{
	unsigned r = free_register(m), s = below(m, 16);

	switch (below(m, 8)) {
	case 0:
	case 1: /* push, something, pop */
		if (s & 8)
			put1(m, 0x41);
		put1(m, 0x50 | (s & 7));
		m->depth++;
		element(m);
		m->depth--;
		if (r & 8)
			put1(m, 0x41);
		put1(m, 0x58 | (r & 7));
		return;
	case 2:
		PUT(m, 0x6a, below(m, 256), 0x66, 0x68, below(m, 256), 7);
		PUT(m, 0x66, 0x8f, 0x04, 0x25);
		put4(m, place(m));
		PUT(m, 0x8f, 0x04, 0x25);
		put4(m, place(m));
		return;
	case 3:
		PUT(m, 0xff, 0x34, 0x25);
		put4(m, place(m));
		PUT(m, 0x8f, 0x05);
		rel32(m, place(m));
		return;
	case 4: /* flags through the stack; without the trap flag */
		if (m->undefined)
			define_flags(m);
		PUT(m, 0x9c, 0x48, 0x81, 0x24, 0x24);
		put4(m, 0xcd5);
		PUT(m, 0x48, 0x81, 0x34, 0x24);
		put4(m, next(m) & 0x8d5);
		put1(m, 0x9d);
		m->undefined = 0;
		return;
	case 5:
		if (m->keep & 1 << 5)
			return;
		PUT(m, 0xc8, 8 * below(m, 4), 0, below(m, 2));
		m->keep |= 1 << 5;
		m->depth++;
		element(m);
		m->depth--;
		m->keep &= ~(1u << 5);
		put1(m, 0xc9);
		return;
	case 6: /* the red zone and above: [rsp - 8 .. ] */
		PUT(m, 0x48, 0x89, 0x44 | (s & 7) << 3, 0x24,
		    (0x100 - 8 * (1 + below(m, 16))) & 0xff);
		return;
	default:
		PUT(m, 0x48, 0x8d, 0x64, 0x24, 0xf8, 0x48, 0x87, 0x44 | (r & 7) << 3, 0x24, 0x00);
		if ((r & 7) == 4 || m->keep >> (r & 7) & 1)
			m->p -= 5;
		PUT(m, 0x48, 0x8d, 0x64, 0x24, 0x08);
	}
}

/*
 * rsp is used as an ordinary register for a while. It is below 4 GiB: some hypervisors cannot
 * deliver a trap or an interrupt to a program with a non-canonical rsp.
 */
void rsp_play(struct maker *m)
{
	if (m->in_rsp_play || m->depth > 2)
		return;
	PUT(m, 0x48, 0x89, 0x24, 0x25); /* mov %rsp, SCRATCH + 8 */
	put4(m, SCRATCH + 8);
	switch (below(m, 3)) {
	case 0:
		PUT(m, 0x89, 0xc4 | below(m, 4) << 3); /* mov r, %esp */
		break;
	case 1:
		put1(m, 0xbc); /* mov $imm, %esp */
		put4(m, next(m));
		break;
	default:
		PUT(m, 0x8d, 0x64, 0x04, below(m, 128)); /* lea d(%rsp, %rax), %esp */
	}
	m->in_rsp_play = true;
	for (unsigned n = 1 + below(m, 3); n; n--)
		any_instruction(m);
	if (chance(m, 50)) {
		if (m->undefined)
			define_flags(m);
		PUT(m, 0x70 | below(m, 16), 0x00);
	}
	PUT(m, 0x48, 0x01, 0x24, 0x25); /* add %rsp, a word of the data */
	put4(m, place(m));
	m->undefined = 0;
	m->in_rsp_play = false;
	PUT(m, 0x48, 0x8b, 0x24, 0x25);
	put4(m, SCRATCH + 8);
}

/* A system call without effect: getuid, or an invalid one. r11 gets the flags: cleared. */
void system_call(struct maker *m)
{
	if (m->keep & (1 << 0 | 1 << 1 | 1 << 11))
		return;
	set_register(m, 0, chance(m, 50) ? 102 : 5000);
	PUT(m, 0x0f, 0x05);
	set_register(m, 11, 0);
}

void gather_scatter(struct maker *m)
{
	unsigned r = free_register(m) & 7;

	if (!m->wide[1] || r == 4 || r == 5 || m->keep >> r & 1)
		return;
	lea(m, r, DATA_AT + 640);
	if (m->wide[2] && chance(m, 60)) {
		PUT(m, 0x62, 0xf1, 0x75, 0x48, 0x72, 0xd2, 26);     /* vpsrld $26, %zmm2, %zmm1 */
		PUT(m, 0xc5, 0xfc, 0x46, 0xc8 | (1 + below(m, 2))); /* kxnorw %k, %k0, %k1 */
		if (chance(m, 50))
			PUT(m, 0x62, 0xf2, 0x7d, 0x49, 0x90, 0x1c,
			    0x80 | 1 << 3 | r); /* vpgatherdd */
		else
			PUT(m, 0x62, 0xf2, 0x7d, 0x49, 0xa0, 0x1c,
			    0x80 | 1 << 3 | r); /* vpscatterdd */
		return;
	}
	PUT(m, 0xc5, 0xf5, 0x72, 0xd2, 26); /* vpsrld $26, %ymm2, %ymm1 */
	PUT(m, 0xc5, 0xdd, 0x76, 0xe4);     /* vpcmpeqd %ymm4, %ymm4, %ymm4 */
	PUT(m, 0xc4, 0xe2, 0x5d, 0x90, 0x1c,
	    0x80 | 1 << 3 | r); /* vpgatherdd %ymm4, (r, %ymm1, 4), %ymm3 */
}

void bit_string(struct maker *m)
{
	unsigned r = free_register(m);

	set_register(m, r, below(m, 2048));
	if (chance(m, 30))
		put1(m, 0xf0);
	PUT(m, 0x48 | (r & 8) >> 1, 0x0f, 0xab | below(m, 3) * 8, 0x05 | (r & 7) << 3);
	rel32(m, DATA_AT + 640);
	/* CF is set, ZF unchanged, the others undefined: SDM vol. 2, "BTS" */
	m->undefined |= ARITH & ~0x41u;
	m->undefined &= ~1u;
}

void rounding(struct maker *m)
{
	static const uint32_t modes[] = { 0x1f80, 0x3f80, 0x5f80, 0x7f80, 0x9fc0 };

	PUT(m, 0xc7, 0x04, 0x25);
	put4(m, SCRATCH + 16);
	put4(m, modes[below(m, 5)]);
	PUT(m, 0x0f, 0xae, 0x14, 0x25);
	put4(m, SCRATCH + 16);
}

/* The sequence ends here, by a fault of one of several kinds. Returns the flags to compare. */
unsigned fault(struct maker *m)
{
	unsigned r = free_register(m) & 7;

	if (r == 4 || r == 5)
		r = 0;
	switch (below(m, 9)) {
	case 0:
		PUT(m, 0x0f, 0x0b);
		break;
	case 1: /* load from an unmapped address */
		PUT(m, 0x48, 0x8b, 0x04, 0x25);
		put4(m, 0x1000 + below(m, 4096));
		break;
	case 2: /* adc there: it reads CF and overwrites the other flags */
		PUT(m, 0x11, 0x04, 0x25);
		put4(m, 0x2000);
		return 0x401;
	case 3: /* non-canonical address */
		PUT(m, 0x48, 0xb8 | r);
		put4(m, next(m));
		put4(m, 0x12345678);
		PUT(m, 0x48, 0x8b, r);
		break;
	case 4:
		set_register(m, 1, 0);
		PUT(m, 0xf7, 0xf1);
		break;
	case 5:
		put1(m, 0xcc);
		break;
	case 6: /* a jump to an unmapped address */
		set_register(m, r, 0x3000 + below(m, 4096));
		PUT(m, 0xff, 0xe0 | r);
		break;
	case 7:
		put1(m, 0xf4); /* hlt */
		break;
	default: /* a misaligned load by an instruction that requires alignment */
		PUT(m, 0x0f, 0x28, 0x04, 0x25);
		put4(m, DATA_AT + 641);
	}
	return 0xcd5;
}
