/* SPDX-License-Identifier: MIT */
/* A few instructions, executed twice with known registers: finds the source of the value that
 * decided. */
#include <stdlib.h>
#include <string.h>
#include "diverge/divergence_made.h"
#include "tap.h"

static const struct way ways[] = {
	/* syscall; mov rbx, rax; cmp rbx, 5; jne */
	{ __LINE__,
	  { "0f05", "4889c3", "4883fb05", "7502" },
	  { { AX, 1 }, { BX, 2 } },
	  39,
	  CAUSE_CALL,
	  0,
	  0,
	  5 },
	/* rdtsc; and eax, 7; test eax, eax; je */
	{ __LINE__, { "0f31", "83e007", "85c0", "7402" }, { { AX, 1 } }, 0, CAUSE_TICKS, 0, 0, 5 },
	/* rdrand rax; cmp; jne */
	{ __LINE__, { "480fc7f0", "4883f805", "7502" }, { { AX, 1 } }, 0, CAUSE_RANDOM, 0, 0, 3 },
	/* cpuid; cmp ebx, 5; jne */
	{ __LINE__, { "0fa2", "83fb05", "7502" }, { { BX, 1 } }, 0, CAUSE_CPUID, 0, 0, 3 },
	/* read into 0x5000; mov rcx, [0x5000]; cmp rcx, 5; jne */
	{ __LINE__,
	  { "0f05", "488b0c2500500000", "4883f905", "7502" },
	  { { CX, 2 } },
	  0,
	  CAUSE_WRITTEN,
	  0,
	  0x5000,
	  4 },
	/* the same, compared in memory: not in any register */
	{ __LINE__,
	  { "0f05", "48833c250050000005", "7502" },
	  { { -1, 0 } },
	  0,
	  CAUSE_WRITTEN,
	  0,
	  0x5000,
	  4 },
	/*
	 * the same through a vector register: movq xmm0, [0x5000]; pxor xmm1, xmm1; movq rcx, xmm0
	 */
	{ __LINE__,
	  { "0f05", "f30f7e042500500000", "660fefc9", "66480f7ec1", "4883f905", "7502" },
	  { { CX, 4 } },
	  0,
	  CAUSE_WRITTEN,
	  0,
	  0x5000,
	  6 },
	/* rdtsc; mov [rsp-8], rax; xor eax, eax; mov rcx, [rsp-8]; cmp rcx, 5; jne */
	{ __LINE__,
	  { "0f31", "48894424f8", "31c0", "488b4c24f8", "4883f905", "7502" },
	  { { AX, 1 }, { CX, 4 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* rdtsc; push rax; pop rdx; cmp rdx, 5; jne */
	{ __LINE__,
	  { "0f31", "50", "5a", "4883fa05", "7502" },
	  { { AX, 1 }, { DX, 3 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* mov rcx, [0x9000]: no recorded step wrote it */
	{ __LINE__,
	  { "488b0c2500900000", "4883f905", "7502" },
	  { { CX, 1 } },
	  0,
	  CAUSE_BEFORE,
	  -1,
	  0x9000,
	  4 },
	/* rdtsc with the same value in both runs is no cause: mov rcx, [rax + 0x9000] */
	{ __LINE__,
	  { "0f31", "488b8800900000", "4883f905", "7502" },
	  { { CX, 2 } },
	  0,
	  CAUSE_BEFORE,
	  -1,
	  0x9000,
	  4 },
	/* a register set before: cmp rbp, 5; jne */
	{ __LINE__, { "90", "4883fd05", "7502" }, { { BP, 0 } }, 0, CAUSE_BEFORE, -1, 0, 4 },
	/* rdtsc; mov [0x5000], eax; lock cmpxchg [0x5000], ecx; jne: its flags depend on memory */
	{ __LINE__,
	  { "0f31", "89042500500000", "31c0", "f00fb10c2500500000", "7502" },
	  { { AX, 1 }, { AX, 2 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* the same by lock xadd; by lock dec; by lock bts; by cmpxchg16b */
	{ __LINE__,
	  { "0f31", "89042500400000", "f00fc10c2500400000", "7502" },
	  { { AX, 1 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	{ __LINE__,
	  { "0f31", "89042500400000", "f0ff0c2500400000", "7502" },
	  { { AX, 1 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	{ __LINE__,
	  { "0f31", "89042500400000", "f00fba2c250040000003", "7202" },
	  { { AX, 1 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	{ __LINE__,
	  { "0f31", "89042500400000", "f0480fc70c2500400000", "7502" },
	  { { AX, 1 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* rdtsc; mov [0x4000], eax; xchg ecx, [0x4000]; cmp ecx, 5; jne: ecx gets the value in
	 * memory */
	{ __LINE__,
	  { "0f31", "89042500400000", "870c2500400000", "83f905", "7502" },
	  { { AX, 1 }, { CX, 3 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* rdtsc; rep stosq; mov rcx, [0x4000]: stored by a string instruction */
	{ __LINE__,
	  { "0f31", "48c7c700400000", "f348ab", "488b1c2500400000", "4883fb05", "7502" },
	  { { AX, 1 }, { BX, 4 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* rdtsc; movnti [0x4000], rax; vmovq ... as read by mov rbx, [0x4000] */
	{ __LINE__,
	  { "0f31", "480fc3042500400000", "488b1c2500400000", "4883fb05", "7502" },
	  { { AX, 1 }, { BX, 3 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* rdtsc; vmovq xmm0, rax; vmovdqu [0x4000], ymm0; mov rbx, [0x4008] */
	{ __LINE__,
	  { "0f31", "c4e1f96ec0", "c5fe7f042500400000", "488b1c2508400000", "4883fb05", "7502" },
	  { { AX, 1 }, { BX, 4 } },
	  0,
	  CAUSE_TICKS,
	  0,
	  0,
	  6 },
	/* rdpid rax is not a random number */
	{ __LINE__, { "f30fc7f8", "4883f805", "7502" }, { { AX, 1 } }, 0, CAUSE_CPU, 0, 0, 3 },
	/* rdtscp: the CPU's number, and the time-stamp counter */
	{ __LINE__, { "0f01f9", "4883f905", "7502" }, { { CX, 1 } }, 0, CAUSE_CPU, 0, 0, 3 },
	{ __LINE__, { "0f01f9", "4883f805", "7502" }, { { AX, 1 } }, 0, CAUSE_TICKS, 0, 0, 3 },
	/* no branch at all */
	{ __LINE__, { "90", "4889c3" }, { { -1, 0 } }, 0, CAUSE_SIGNAL, -1, 0, 0 },
	/* in a call that is no source */
	{ __LINE__, { "90", "0f05" }, { { -1, 0 } }, 202, CAUSE_SIGNAL, 1, 0, 0 },
};

TEST(each_way_leads_to_where_it_came_in)
{
	struct disasm *d;

	if (disasm_open(&d, 62, false, NULL) < 0)
		tap_skip("capstone", "Capstone is not installed");
	disasm_close(d);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct way *w = &ways[i];
		struct diverge_step a[STEPS_MOST], b[STEPS_MOST];
		struct code code = { .n = 0 };
		size_t n = lay_out(w, &code, a, b);
		const struct divergence d2 = { .at = n - 1,
					       .run = { { .step = a, .n = n, .threads = 1 },
							{ .step = b, .n = n, .threads = 1 } } };
		struct cause c;

		CHECK_EQ(cause_find(&c, &d2, NULL, code_at, &code, NULL), 0, "row at line %d",
			 w->line);
		CHECK_EQ(c.kind, w->kind, "row at line %d", w->line);
		CHECK_EQ(c.has_step ? (int)c.step : -1, w->step, "row at line %d", w->line);
		CHECK_EQ(c.address, w->address, "row at line %d", w->line);
		CHECK(c.hops <= (unsigned)w->hops_most, "row at line %d: %u hops", w->line, c.hops);
		if (w->kind == CAUSE_CALL || w->kind == CAUSE_WRITTEN)
			CHECK_EQ(c.call, (int)w->rax, "row at line %d", w->line);
	}
}

/* A branch that reaches one of its targets is followed further; if execution continues
 * elsewhere, a signal interrupted it. */
TEST(a_branch_that_a_signal_stopped)
{
	static const struct {
		int line;
		const char *branch;
		uint64_t behind, target;
	} rows[] = { { __LINE__, "7502", 2, 4 },
		     { __LINE__, "75fe", 2, 0 },
		     { __LINE__, "0f8510000000", 6, 0x16 } };
	struct disasm *d;

	if (disasm_open(&d, 62, false, NULL) < 0)
		tap_skip("capstone", "Capstone is not installed");
	disasm_close(d);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int stopped = 0; stopped < 2; stopped++) {
			/* rdtsc; cmp rax, 5; the branch */
			const struct way w = { 0,
					       { "0f31", "4883f805", rows[i].branch },
					       { { AX, 1 } },
					       0,
					       0,
					       0,
					       0,
					       0 };
			struct diverge_step a[STEPS_MOST + 1], b[STEPS_MOST + 1];
			struct code code = { .n = 0 };
			size_t n = lay_out(&w, &code, a, b);
			uint64_t pc = a[n - 1].pc;
			const struct divergence d2 = {
				.at = n - 1,
				.run = { { .step = a, .n = n + 1, .threads = 1 },
					 { .step = b, .n = n + 1, .threads = 1 } }
			};
			struct cause c;

			a[n] = (struct diverge_step){ .pc = pc + rows[i].behind };
			b[n] = (struct diverge_step){ .pc = stopped ? CODE + 0x1000
								    : pc + rows[i].target };
			CHECK_EQ(cause_find(&c, &d2, NULL, code_at, &code, NULL), 0,
				 "row at line %d", rows[i].line);
			CHECK_EQ(c.kind, stopped ? CAUSE_SIGNAL : CAUSE_TICKS,
				 "row at line %d, stopped %d", rows[i].line, stopped);
		}
}

/* A register has its old value again after a signal handler, whatever the handler did with it. */
TEST(a_value_is_followed_past_a_handler)
{
	static const struct {
		int line;
		const char *code[STEPS_MOST];
		unsigned order[STEPS_MOST],
			left; /* in order of execution; the step after which the handler starts */
		int differs;
		uint64_t call;
		enum cause_kind kind;
	} rows[] = {
		/* syscall; cmp rax, 5; jne. The handler: mov eax, 15; syscall */
		{ __LINE__,
		  { "0f05", "4883f805", "7502", "b80f000000", "0f05" },
		  { 0, 3, 4, 1, 2 },
		  0,
		  AX,
		  61,
		  CAUSE_CALL },
		/* rdtsc; nop; cmp rdx, 5; jne. The handler: mov edx, 0; mov eax, 15; syscall */
		{ __LINE__,
		  { "0f31", "90", "4883fa05", "7502", "ba00000000", "b80f000000", "0f05" },
		  { 0, 1, 4, 5, 6, 2, 3 },
		  1,
		  DX,
		  0,
		  CAUSE_TICKS },
	};
	struct disasm *d;

	if (disasm_open(&d, 62, false, NULL) < 0)
		tap_skip("capstone", "Capstone is not installed");
	disasm_close(d);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct way w = { .rax = 15, .differ = { { -1, 0 } } };
		struct diverge_step laid[STEPS_MOST], none[STEPS_MOST], a[STEPS_MOST],
			b[STEPS_MOST];
		struct code code = { .n = 0 };
		struct cause c;
		size_t n;

		memcpy(w.code, rows[i].code, sizeof(w.code));
		n = lay_out(&w, &code, laid, none);
		for (size_t k = 0; k < n; k++) {
			a[k] = laid[rows[i].order[k]];
			if (k > rows[i].left && k < n - 2)
				a[k].regs[SP] -= 0x400;
			b[k] = a[k];
		}
		a[0].regs[AX] = b[0].regs[AX] = rows[i].call;
		for (size_t k = n - 2; k < n; k++)
			b[k].regs[rows[i].differs] += 77;
		if (rows[i].left) /* it already had the value before the handler */
			b[1].regs[rows[i].differs] += 77;

		const struct divergence d2 = { .at = n - 1,
					       .run = { { .step = a, .n = n, .threads = 1 },
							{ .step = b, .n = n, .threads = 1 } } };

		CHECK_EQ(cause_find(&c, &d2, NULL, code_at, &code, NULL), 0, "row at line %d",
			 rows[i].line);
		CHECK(c.kind == rows[i].kind && c.has_step && c.step == 0,
		      "row at line %d: kind %d, step %zu", rows[i].line, c.kind, c.step);
		if (c.kind == CAUSE_CALL)
			CHECK(c.call == 61 && c.value_in == AX && c.value_at == n - 2,
			      "row at line %d: call %d, its value before step %zu", rows[i].line,
			      c.call, c.value_at);
	}
}

TEST(memory_that_this_thread_wrote_alike_was_written_by_another)
{
	/* mov [0x5000], rbx; cmp [0x5000], 5; jne: rbx is the same in both */
	static const struct way w = { __LINE__,
				      { "48891c2500500000", "48833c250050000005", "7502" },
				      { { -1, 0 } },
				      0,
				      0,
				      0,
				      0,
				      0 };
	struct diverge_step a[STEPS_MOST], b[STEPS_MOST];
	struct code code = { .n = 0 };
	size_t n = lay_out(&w, &code, a, b);
	struct divergence d = { .at = n - 1,
				.run = { { .step = a, .n = n, .threads = 2 },
					 { .step = b, .n = n, .threads = 2 } } };
	struct disasm *disasm;
	struct cause c;

	if (disasm_open(&disasm, 62, false, NULL) < 0)
		tap_skip("capstone", "Capstone is not installed");
	disasm_close(disasm);
	CHECK_EQ(cause_find(&c, &d, NULL, code_at, &code, NULL), 0, "found");
	CHECK_EQ(c.kind, CAUSE_THREADS, "with two threads");
	CHECK_EQ(c.address, (uint64_t)0x5000, "where");
	CHECK_EQ(c.places, 1u, "one place to look at");
	CHECK(c.place[0].address == 0x5000 && c.place[0].size == 8 && c.place[0].at == 1 &&
		      !c.place[0].fs,
	      "it is that, where it is read");
	d.run[0].threads = 1;
	CHECK_EQ(cause_find(&c, &d, NULL, code_at, &code, NULL), 0, "found");
	CHECK_EQ(c.kind, CAUSE_UNKNOWN, "with one");
}

/* Two runs read different values: mov eax, [0x5000], after `before`. */
static const struct {
	int line;
	const char *before[3];
	int64_t first;
	uint64_t rax;
	bool somebody_else, from_start;
} elsewhere[] = {
	{ __LINE__, { "90" }, 1, 0, true, true },  /* it never wrote there */
	{ __LINE__, { "90" }, 2, 0, false, true }, /* but may have before */
	{ __LINE__,
	  { "48891c2500500000" },
	  2,
	  0,
	  true,
	  false }, /* it wrote the same value in both */
	{ __LINE__,
	  { "48891c2500500000", "f048ff0c2500500000" },
	  2,
	  0,
	  true,
	  false }, /* and changed it */
	{ __LINE__, { "f048ff0c2500500000" }, 1, 0, true, true },
	{ __LINE__, { "f048ff0c2500500000" }, 2, 0, false, true },
	{ __LINE__, { "c604250050000000" }, 2, 0, false, true }, /* one byte of it */
	{ __LINE__,
	  { "48891c2500500000", "0f05" },
	  2,
	  19,
	  false,
	  false }, /* readv may have, or ... */
	{ __LINE__, { "48891c2500500000", "0f05" }, 2, 4000, false, false }, /* an unknown call */
	{ __LINE__, { "48891c2500500000", "0f05" }, 2, 202, true, false },   /* futex does not */
	{ __LINE__,
	  { "48891c2500500000", "0f05" },
	  2,
	  15,
	  false,
	  false }, /* the end of a signal handler */
	{ __LINE__, { "48891c2500500000", "62f17dc874c1" }, 2, 0, false, false }, /* an unknown
										   * instruction:
										   * vpcmpeqb k0,
										   * zmm0, zmm1 */
};

TEST(what_the_thread_did_not_write_somebody_else_did)
{
	struct disasm *disasm;

	if (disasm_open(&disasm, 62, false, NULL) < 0)
		tap_skip("capstone", "Capstone is not installed");
	disasm_close(disasm);
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		struct way w = { .rax = elsewhere[i].rax,
				 .differ = { { -1, 0 }, { -1, 0 }, { -1, 0 } } };
		struct diverge_step a[STEPS_MOST], b[STEPS_MOST];
		struct code code = { .n = 0 };
		size_t n = 0;

		for (; n < ARRAY_SIZE(elsewhere[i].before) && elsewhere[i].before[n]; n++)
			w.code[n] = elsewhere[i].before[n];
		w.code[n] = "8b042500500000";
		w.code[n + 1] = "85c0";
		w.code[n + 2] = "7502";
		lay_out(&w, &code, a, b);
		b[n + 1].regs[AX] += 77;
		const struct divergence d = { .at = n + 2,
					      .first = elsewhere[i].first,
					      .run = { { .step = a, .n = n + 3, .threads = 2 },
						       { .step = b, .n = n + 3, .threads = 2 } } };
		struct cause c;

		CHECK_EQ(cause_find(&c, &d, NULL, code_at, &code, NULL), 0, "row at line %d",
			 elsewhere[i].line);
		CHECK_EQ(c.somebody_else, elsewhere[i].somebody_else, "row at line %d",
			 elsewhere[i].line);
		CHECK_EQ(c.from_start, elsewhere[i].from_start, "row at line %d",
			 elsewhere[i].line);
		CHECK_EQ(c.places, 1u, "row at line %d", elsewhere[i].line);
		CHECK(c.place[0].at == n && c.place[0].differs, "row at line %d: at %zu",
		      elsewhere[i].line, c.place[0].at);
		CHECK_EQ(c.place[0].value[1] - c.place[0].value[0], (uint64_t)77, "row at line %d",
			 elsewhere[i].line);
	}
}

TEST(what_calls_write)
{
	const uint64_t read_regs[EXACT_REGISTERS] = { [AX] = 0, [SI] = 0x5000, [DX] = 8 };
	const uint64_t write_regs[EXACT_REGISTERS] = { [AX] = 1, [SI] = 0x5000, [DX] = 8 };
	char name[32];

	CHECK(call_writes(read_regs, 0x5000) && call_writes(read_regs, 0x5007), "inside");
	CHECK(!call_writes(read_regs, 0x4fff) && !call_writes(read_regs, 0x5008), "outside");
	CHECK(!call_writes(write_regs, 0x5000), "write only reads");
	CHECK(call_may_write(19) && call_may_write(4000), "by a list, and unknown ones");
	CHECK(!call_may_write(0) && !call_may_write(202), "the known ones");
	CHECK(call_has_row(202) && !call_has_row(4000), "rows");
	call_name(name, 318);
	CHECK(!strcmp(name, "getrandom"), "%s", name);
	call_name(name, 4000);
	CHECK(!strcmp(name, "system call 4000"), "%s", name);
}

TEST(who_writes_to_a_place)
{
	/* mov [0x5000], rbx; syscall; nop; mov fs:[0x28], rbx */
	static const struct way w = { __LINE__,
				      { "48891c2500500000", "0f05", "90", "6448891c2528000000" },
				      { { -1, 0 } },
				      0,
				      0,
				      0,
				      0,
				      0 };
	static const enum cause_writer expected[] = { WRITER_STORE, WRITER_CALL, WRITER_NONE,
						      WRITER_NONE };
	const struct cause_place place = { .address = 0x5004, .size = 4 },
				 behind = { .address = 0x5008, .size = 8 };
	const struct cause_place own = { .address = 0x28, .fs = true, .size = 8 };
	struct diverge_step a[STEPS_MOST], b[STEPS_MOST];
	struct code code = { .n = 0 };
	size_t n = lay_out(&w, &code, a, b);
	struct disasm *disasm;

	if (disasm_open(&disasm, 62, false, NULL) < 0)
		tap_skip("capstone", "Capstone is not installed");
	disasm_close(disasm);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(cause_writer(&a[i], &place, 0x5004, code_at, &code), expected[i],
			 "step %zu", i);
	CHECK_EQ(cause_writer(&a[0], &behind, 0x5008, code_at, &code), WRITER_NONE, "after it");
	CHECK_EQ(cause_writer(&a[3], &own, 0x7f0000000028, code_at, &code), WRITER_STORE,
		 "the thread's own memory");
}

TEST_MAIN()
