/* SPDX-License-Identifier: MIT */
/*
 * The marks leave every register as it was: general ones, flags, x87, SSE, AVX, AVX-512, MXCSR; and
 * cost what is promised. The ones that read registers of counters are here made of rdtsc, which
 * every machine allows; else they are the same lines. Run under the exact engine
 * (tests/bench/meson.build) it counts them, too.
 */
#include <cpuid.h>
#include <sys/syscall.h>
#include "arch/mark.h"
#include "tare/exact.h"
#include "tap.h"

enum { AREA = 8192, X87 = 1, SSE = 2 };

struct state {
	uint64_t in[16], out[16];
	unsigned char vector_in[AREA] __attribute__((aligned(64)));
	unsigned char vector_out[AREA] __attribute__((aligned(64)));
};

void probe(void (*call)(void), struct state *s);

#define MARKS(n) void tsc_start_##n(void), tsc_stop_##n(void);
MARKS(1)
MARKS(2)
MARKS(3)
MARKS(4)
MARKS(5)
MARKS(6)
MARKS(7)
MARKS(8)
#define PAIR(n)                                                                                    \
	{                                                                                          \
		tsc_start_##n, tsc_stop_##n                                                        \
	}
static const struct marks tsc[] = { { 0 },   PAIR(1), PAIR(2), PAIR(3), PAIR(4),
				    PAIR(5), PAIR(6), PAIR(7), PAIR(8) };

static uint64_t room[4096];
static struct state state;
static uint64_t components; /* that this machine and its kernel have, of those that are looked at */

static uint64_t xcr0(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static void need_xsave(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		tap_skip("xsave", "this processor or kernel has no xsave");
	components = xcr0() & 0xe7;
}

/*
 * Where component i lies in the area. Source: Intel SDM vol. 1, "Standard Format of XSAVE Area";
 * CPUID leaf 0DH.
 */
static void place_of(int i, unsigned *offset, unsigned *size)
{
	unsigned c, d;

	if (i < 2) {
		*offset = i ? 160 : 32;
		*size = i ? 256 : 128;
		return;
	}
	__cpuid_count(0xd, i, *size, *offset, c, d);
}

/* Every bit of every register another way than in the last round. */
static void fill(unsigned round)
{
	uint16_t control = round % 2 ? 0x0f7f : 0x037f;
	uint32_t mxcsr = round % 2 ? 0x7f80 : 0x9f80;

	for (int i = 0; i < 15; i++)
		state.in[i] = 0x9e3779b97f4a7c15ull * (i + 1 + 100 * round);
	/*
	 * Carry, parity, adjust, zero, sign, direction, overflow; bit 1 and interrupts are always
	 * on.
	 */
	state.in[15] = (round % 2 ? 0xcd5 : 0x400) | 0x202;
	memset(state.vector_in, 0, AREA);
	memcpy(state.vector_in, &control, 2);
	state.vector_in[4] = 0xff; /* all eight x87 registers in use */
	memcpy(state.vector_in + 24, &mxcsr, 4);
	memcpy(state.vector_in + 512, &components, 8);
	for (int i = 0; i < 8; i++) {
		unsigned offset, size;

		if (!(components >> i & 1))
			continue;
		place_of(i, &offset, &size);
		for (unsigned k = 0; k < size; k++)
			if (i || k % 16 < 10) /* x87 registers are of ten bytes */
				state.vector_in[offset + k] = (unsigned char)(37 * k +
									      11 * (unsigned)i +
									      round + 1);
	}
}

static void check(const char *what, void (*mark)(void))
{
	static const char *const names[] = { "rax", "rbx", "rcx", "rdx",  "rsi", "rdi",
					     "rbp", "r8",  "r9",  "r10",  "r11", "r12",
					     "r13", "r14", "r15", "flags" };

	for (unsigned round = 0; round < 4; round++) {
		mark_state.cursor = (unsigned char *)room;
		fill(round);
		probe(mark, &state);
		for (int i = 0; i < 16; i++)
			CHECK_EQ(state.out[i], state.in[i], "%s: %s, round %u", what, names[i],
				 round);
		CHECK(!memcmp(state.vector_in, state.vector_out, 2), "%s: the x87 control word",
		      what);
		CHECK(!memcmp(state.vector_in + 24, state.vector_out + 24, 4), "%s: MXCSR", what);
		for (int i = 0; i < 8; i++) {
			unsigned offset, size;

			if (!(components >> i & 1))
				continue;
			place_of(i, &offset, &size);
			for (unsigned k = 0; k < size; k++)
				if (state.vector_in[offset + k] != state.vector_out[offset + k]) {
					CHECK(false,
					      "%s: component %d of the vector state, byte %u", what,
					      i, k);
					break;
				}
		}
	}
}

/* The probe itself must see a register that changes. */
__attribute__((naked)) static void change_all(void)
{
	__asm__("not %rax; not %rbx; not %rcx; not %rdx; not %rsi; not %rdi; not %rbp; not %r8; not %r9; not %r10; not %r11; not %r12; not %r13; "
		"not %r14; not %r15; cld; xorps %xmm7, %xmm7; fstp %st(0); cmc; ret");
}

TEST(mark_probe_sees_changes)
{
	need_xsave();
	fill(0);
	probe(change_all, &state);
	for (int i = 0; i < 15; i++)
		CHECK_EQ(state.out[i], ~state.in[i], "register %d", i);
	CHECK_EQ((state.in[15] ^ state.out[15]) & 0x401, 0x401, "flags");
	CHECK(memcmp(state.vector_in + 160 + 7 * 16, state.vector_out + 160 + 7 * 16, 16), "xmm7");
	CHECK(state.vector_out[4] != 0xff, "x87 tags");
}

/* All that a function may change, and more: flags, x87, all 16 bytes and 32 of vector registers. */
static int changes_much(uint64_t *counters)
{
	*counters = 12345;
	__asm__ volatile(
		"fninit; fldz; pcmpeqd %%xmm0, %%xmm0; pxor %%xmm5, %%xmm5; pxor %%xmm15, %%xmm15; stc"
		:
		:
		: "cc", "memory", "st", "xmm0", "xmm5", "xmm15", "rax", "rcx", "rdx", "rsi", "rdi",
		  "r8", "r9", "r10", "r11");
	if (components & 4)
		__asm__ volatile("vzeroall" : : : "memory");
	return -7;
}

TEST(mark_registers_are_kept)
{
	need_xsave();
	for (int n = 1; n <= MARK_COUNTERS; n++) {
		check("start of counters", tsc[n].start);
		check("stop of counters", tsc[n].stop);
	}
	check("start of the clock", mark_clock.start);
	check("stop of the clock", mark_clock.stop);
	mark_state.stride = 16;
	mark_state.call.number = SYS_getppid;
	check("start by a system call", mark_call.start);
	check("stop by a system call", mark_call.stop);
	mark_state.function = changes_much;
	check("start by a function", mark_function.start);
	check("stop by a function", mark_function.stop);
	CHECK_EQ((int32_t)(room[0] >> 32), -7, "its answer");
	CHECK_EQ(room[1], 12345, "its counter");
}

TEST(mark_entries)
{
	const uint64_t *e = room;

	for (int n = 1; n <= MARK_COUNTERS; n++) {
		memset(room, 0xee, sizeof(room));
		memset(room, 0, 2 * (8 + 8 * (size_t)n));
		mark_state.cursor = (unsigned char *)room;
		tsc[n].start();
		tsc[n].stop();
		CHECK_EQ(mark_state.cursor - (unsigned char *)room, 2 * (8 + 8 * n), "%d counters",
			 n);
		CHECK_EQ((uint32_t)e[0], MARK_START);
		CHECK_EQ((uint32_t)e[1 + n], MARK_STOP);
		for (int i = 1; i < n; i++)
			CHECK(e[1 + i] > e[i] && e[2 + n + i] > e[1 + n + i],
			      "reads in their order: %d of %d", i, n);
		CHECK(e[2 + n] > e[n], "stop behind start");
		CHECK_EQ(e[2 + 2 * n], 0xeeeeeeeeeeeeeeeeull, "nothing behind");
	}
	memset(room, 0, sizeof(room));
	mark_state.cursor = (unsigned char *)room;
	mark_state.stride = 24;
	mark_state.call.number = SYS_uname; /* one argument; fails, as its pointer is none */
	mark_state.call.first = 1;
	mark_call.start();
	mark_call.stop();
	CHECK_EQ(mark_state.cursor - (unsigned char *)room, 48);
	CHECK_EQ((uint32_t)e[3], MARK_STOP);
	CHECK_EQ((int32_t)(e[0] >> 32), -14, "EFAULT");
}

/* Of a pair with four counters: 60 instructions, and the two calls. */
static int64_t cost_of(int pairs)
{
	int64_t before[1], after[1];

	if (tare_exact_read(before, 1, NULL) < 0)
		tap_skip("exact", "not under the exact engine");
	for (int i = 0; i < 2; i++) {
		mark_state.cursor = (unsigned char *)room;
		tare_exact_read(before, 1, NULL);
		if (pairs == 1)
			__asm__ volatile("call *%0\n\tcall *%1"
					 :
					 : "r"(tsc[4].start), "r"(tsc[4].stop)
					 : "memory");
		else
			__asm__ volatile(".rept 101\n\tcall *%0\n\tcall *%1\n\t.endr"
					 :
					 : "r"(tsc[4].start), "r"(tsc[4].stop)
					 : "memory");
		tare_exact_read(after, 1, NULL);
	}
	return after[0] - before[0];
}

TEST(mark_cost)
{
	int64_t hundred = cost_of(101) - cost_of(1);

	/* The two ways through cost_of() differ by one jump at most. */
	CHECK(hundred >= 6199 && hundred <= 6201, "100 pairs are %d instructions", (int)hundred);
}

TEST_MAIN()
