/* SPDX-License-Identifier: MIT */
#include "bench/bench_object.h"
#include "bench/bench_snippet.h"
#include <elf.h>
#include "tap.h"

static const struct {
	int line;
	const char *code;
	bool att;
	const char *names; /* NULL: no alternating registers */
} rows[] = {
#if defined(__x86_64__)
	{ __LINE__, "imul rax, rbx", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "  imul  rax , rbx ", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "IMUL EAX, r9d, 5", false, "eax, r8d, r10d, r11d, r12d, r13d" },
	{ __LINE__, "add al, [r8+4*r9]", false, "al, r10b, r11b, r12b, r13b" },
	{ __LINE__, "imul %rbx, %rax", true, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "movl 4(%rsi,%r8), %r9d", true, "r9d, r10d, r11d, r12d, r13d" },
	{ __LINE__, "vaddps ymm1, ymm2, ymm9", false,
	  "ymm1, ymm8, ymm10, ymm11, ymm12, ymm13, ymm14, ymm15" },
	{ __LINE__, "pmulld xmm0, xmm0", false,
	  "xmm0, xmm8, xmm9, xmm10, xmm11, xmm12, xmm13, xmm14" },
	{ __LINE__, "mov rax, [rax]", false, NULL },
	{ __LINE__, "mov rax, [rbx+eax*2]", false, NULL },
	{ __LINE__, "mov (%rax), %rax", true, NULL },
	{ __LINE__, "mov [rbx], rax", false, NULL },
	{ __LINE__, "mov %rax, (%rbx)", true, NULL },
	{ __LINE__, "inc rax", false, NULL },
	{ __LINE__, "nop", false, NULL },
	{ __LINE__, "imul rax, rbx; nop", false, NULL },
	{ __LINE__, "imul rax, rbx\nnop", false, NULL },
	{ __LINE__, "1: imul rax, rbx", false, NULL },
	{ __LINE__, "vaddps zmm1{k1}, zmm2, zmm3", false, NULL },
	{ __LINE__, "mov raxx, rbx", false, NULL },
	{ __LINE__, "adc rax, rbx", false, NULL },
	{ __LINE__, "sbb rax, rbx", false, NULL },
	{ __LINE__, "adcx rax, rbx", false, NULL },
	{ __LINE__, "adox rax, rbx", false, NULL },
	{ __LINE__, "rcl rax, 1", false, NULL },
	{ __LINE__, "rcr rax, 3", false, NULL },
	{ __LINE__, "rol rax, 5", false, NULL },
	{ __LINE__, "ror rax, cl", false, NULL },
	{ __LINE__, "shl rax, cl", false, NULL },
	{ __LINE__, "shld rax, rbx, cl", false, NULL },
	{ __LINE__, "sar rax, cl", false, NULL },
	{ __LINE__, "xchg rax, rbx", false, NULL },
	{ __LINE__, "xadd rax, rbx", false, NULL },
	{ __LINE__, "cmpxchg rbx, rcx", false, NULL },
	{ __LINE__, "xchg rax, [rbx]", false, NULL },
	{ __LINE__, "cmp rax, rbx", false, NULL },
	{ __LINE__, "test rax, rbx", false, NULL },
	{ __LINE__, "bt rax, rbx", false, NULL },
	{ __LINE__, "enter 5, 3", false, NULL },
	{ __LINE__, "in al, dx", false, NULL },
	{ __LINE__, "lods al, byte ptr [rsi]", false, NULL },
	{ __LINE__, "pop rax", false, NULL },
	{ __LINE__, "mul rbx", false, NULL },
	{ __LINE__, "div rcx", false, NULL },
	{ __LINE__, "mulx rax, rax, rcx", false, NULL },
	{ __LINE__, "mulx rax, rdx, rcx", false, NULL },
	{ __LINE__, "mulx rdx, rax, rcx", false, NULL },
	{ __LINE__, "vpgatherdd xmm1, [r14+xmm2], xmm3", false, NULL },
	{ __LINE__, "vgatherdps ymm1, [r14+ymm2], ymm3", false, NULL },
	{ __LINE__, "pcmpistri xmm0, xmm1, 5", false, NULL },
	{ __LINE__, "pcmpestrm xmm1, xmm2, 5", false, NULL },
	{ __LINE__, "comisd xmm0, xmm1", false, NULL },
	{ __LINE__, "ptest xmm0, xmm1", false, NULL },
	{ __LINE__, "vtestps xmm0, xmm1", false, NULL },
	{ __LINE__, "maskmovdqu xmm0, xmm1", false, NULL },
	{ __LINE__, "blendvps xmm0, xmm1", false, NULL },
	{ __LINE__, "pblendvb xmm0, xmm1", false, NULL },
	{ __LINE__, "sha256rnds2 xmm0, xmm1", false, NULL },
	{ __LINE__, "lock xadd rax, rbx", false, NULL },
	{ __LINE__, "rep movsb", false, NULL },
	{ __LINE__, "kaddb k1, k2", false, NULL },
	{ __LINE__, "adc %rbx, %rax", true, NULL },
	{ __LINE__, "adcq %rbx, %rax", true, NULL },
	{ __LINE__, "sbbl $1, %eax", true, NULL },
	{ __LINE__, "shlq %cl, %rax", true, NULL },
	{ __LINE__, "xchg %rbx, %rax", true, NULL },
	{ __LINE__, "xaddq %rbx, %rax", true, NULL },
	{ __LINE__, "cmpq %rbx, %rax", true, NULL },
	{ __LINE__, "shl rax, 3", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "shld rax, rbx, 3", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "cmovc rax, rbx", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "mulx rax, rbx, rcx", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "popcnt rax, rax", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "cvttsd2si rax, xmm0", false, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "addq $3, %rax", true, "rax, r8, r9, r10, r11, r12, r13" },
	{ __LINE__, "movzbl %bl, %eax", true, "eax, r8d, r9d, r10d, r11d, r12d, r13d" },
	{ __LINE__, "sarl $3, %eax", true, "eax, r8d, r9d, r10d, r11d, r12d, r13d" },
	{ __LINE__, "blendvps xmm1, xmm2", false,
	  "xmm1, xmm8, xmm9, xmm10, xmm11, xmm12, xmm13, xmm14" },
	{ __LINE__, "sqrtsd xmm0, xmm1", false,
	  "xmm0, xmm8, xmm9, xmm10, xmm11, xmm12, xmm13, xmm14" },
#else
	{ __LINE__, "mul x0, x1, x2", false, "x0, x9, x10, x11, x12, x13, x14, x15" },
	{ __LINE__, "add w3, w9, #5", false, "w3, w10, w11, w12, w13, w14, w15" },
	{ __LINE__, "fadd d0, d1, d2", false, "d0, d16, d17, d18, d19, d20, d21, d22" },
	{ __LINE__, "add v0.4s, v0.4s, v1.4s", false, "v0, v16, v17, v18, v19, v20, v21, v22" },
	{ __LINE__, "ldr x0, [x1]", false, "x0, x9, x10, x11, x12, x13, x14, x15" },
	{ __LINE__, "ldr x0, [x0]", false, NULL },
	{ __LINE__, "adcs x0, x1, x2", false, NULL },
	{ __LINE__, "sbcs x0, x1, x2", false, NULL },
	{ __LINE__, "ngcs x0, x1", false, NULL },
	{ __LINE__, "ccmp x0, x1, #0, eq", false, NULL },
	{ __LINE__, "cmp x0, x1", false, NULL },
	{ __LINE__, "ldr x0, [x1], #8", false, NULL },
	{ __LINE__, "ldr x0, [x1, #8]!", false, NULL },
	{ __LINE__, "ldp x0, x2, [x2]", false, NULL },
	{ __LINE__, "swp x0, x1, [x2]", false, NULL },
	{ __LINE__, "cas x0, x1, [x2]", false, NULL },
	{ __LINE__, "ldadd x0, x1, [x2]", false, NULL },
	{ __LINE__, "str x0, [x1]", false, NULL },
	{ __LINE__, "rmif x0, #1, #2", false, NULL },
	{ __LINE__, "adc x0, x1, x2", false, "x0, x9, x10, x11, x12, x13, x14, x15" },
	{ __LINE__, "nop", false, NULL },
#endif
	{ __LINE__, "", false, NULL },
	{ __LINE__, ",", false, NULL },
	{ __LINE__, "x ,", false, NULL },
	{ __LINE__, "x [", true, NULL },
};

TEST(snippet_turns)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bench_snippet s = { .code = rows[i].code,
					   .att = rows[i].att,
					   .unroll = 100 };
		struct text names = { 0 };

		CHECK_EQ(bench_snippet_turns(&s, &names), rows[i].names != NULL, "row at line %d",
			 rows[i].line);
		if (rows[i].names)
			CHECK_STR(names.s, rows[i].names, "row at line %d", rows[i].line);
		text_free(&names);
	}
}

static size_t count(const char *s, const char *word)
{
	size_t n = 0;

	for (const char *p = s; (p = strstr(p, word)); p++)
		n++;
	return n;
}

#if defined(__x86_64__)
TEST(snippet_every_copy_is_there)
{
	/* 7 registers, 14 rounds of them, and 2 more. */
	struct bench_snippet s = {
		.code = "imul rax, rbx", .init = "mov ebx, 7", .unroll = 100, .in_turn = true
	};
	struct text t = { 0 };

	bench_snippet_assembly(&t, &s);
	CHECK(strstr(t.s, "\t.rept 14\nimul rax, rbx\nimul r8, rbx\n"), "%s", t.s);
	CHECK(strstr(t.s, "imul r13, rbx\n\t.endr\nimul rax, rbx\nimul r8, rbx\n\t.att_syntax"),
	      "%s", t.s);
	CHECK(strstr(t.s, "mov ebx, 7"), "init");
	CHECK_EQ(count(t.s, "\tmov %rax, %r"), 6, "the others begin with what rax holds");
	text_free(&t);
	s.in_turn = false;
	s.att = true;
	bench_snippet_assembly(&t, &s);
	CHECK_EQ(count(t.s, "intel_syntax"), 0);
	CHECK_EQ(count(t.s, ".rept 100"), 1);
	text_free(&t);
}
#endif

TEST(snippet_may_loop)
{
#if defined(__x86_64__)
	static const char *const names[] = { "add r15, rax", "mov rax, [R15]", "inc r15d" };
	static const char *const others[] = { "add r14, rax", "imul rax, rbx" };
#else
	static const char *const names[] = { "add x28, x28, x0", "add W28, w1, w2",
					     "ldr x0, [x28]" };
	static const char *const others[] = { "add x2, x8, x0", "nop" };
#endif
	struct bench_snippet s = { .unroll = 100 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		s.code = names[i];
		s.init = NULL;
		CHECK(!bench_snippet_may_loop(&s), "%s", names[i]);
		s.code = "nop";
		s.init = names[i];
		CHECK(!bench_snippet_may_loop(&s), "%s before it", names[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		s.code = others[i];
		s.init = others[i];
		CHECK(bench_snippet_may_loop(&s), "%s", others[i]);
	}
}

TEST(snippet_loop_and_baseline)
{
	struct bench_snippet s = { .code = "nop", .unroll = 2, .loop = 5 };
	struct text t = { 0 };

	bench_snippet_assembly(&t, &s);
	CHECK_EQ(count(t.s, ".Lround0:"), 1, "%s", t.s);
	CHECK_EQ(count(t.s, ".Lround1:"), 1, "the same loop, empty, in the baseline");
	text_free(&t);
	s.bare_baseline = true;
	bench_snippet_assembly(&t, &s);
	CHECK_EQ(count(t.s, ".Lround0:"), 1, "%s", t.s);
	CHECK_EQ(count(t.s, ".Lround1"), 0, "no loop in the baseline");
	text_free(&t);
}

TEST(snippet_c)
{
	struct bench_snippet s = { .code = "f(x)", .init = "int x = 1", .unroll = 3 };
	struct text t = { 0 };

	bench_snippet_c(&t, &s, "#include <stdio.h>\n");
	CHECK_EQ(count(t.s, "keep(f(x)\n);"), 3);
	CHECK(strstr(t.s, "int x = 1\n;\n"), "%s", t.s);
	text_free(&t);
	s = (struct bench_snippet){ .code = "if (x) { f(x); }", .unroll = 1, .loop = 5 };
	bench_snippet_c(&t, &s, NULL);
	CHECK_EQ(count(t.s, "keep("), 1, "its definition alone");
	CHECK(strstr(t.s, "round_ < 5"), "%s", t.s);
	text_free(&t);
}

static enum bench_object self_kind(size_t most)
{
	static char bytes[1 << 20];
	FILE *f = fopen("/proc/self/exe", "rb");
	size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;

	if (f)
		fclose(f);
	return bench_object_kind(bytes, n < most ? n : most);
}

TEST(object_kinds)
{
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			 .e_type = ET_REL };

	CHECK_EQ(self_kind(SIZE_MAX), OBJECT_PROGRAM);
	CHECK_EQ(self_kind(63), OBJECT_NONE, "less than a head");
	CHECK_EQ(self_kind(0), OBJECT_NONE);
	CHECK_EQ(bench_object_kind("hello", 5), OBJECT_NONE);
	CHECK_EQ(bench_object_kind(&e, sizeof(e)), OBJECT_FOREIGN);
#if defined(__x86_64__)
	e.e_machine = EM_X86_64;
#else
	e.e_machine = EM_AARCH64;
#endif
	CHECK_EQ(bench_object_kind(&e, sizeof(e)), OBJECT_RELOCATABLE);
	e.e_type = ET_EXEC;
	CHECK_EQ(bench_object_kind(&e, sizeof(e)), OBJECT_PROGRAM);
	e.e_type = ET_DYN;
	e.e_phnum = 1;
	e.e_phentsize = sizeof(Elf64_Phdr);
	e.e_phoff = UINT64_MAX - 8;
	CHECK_EQ(bench_object_kind(&e, sizeof(e)), OBJECT_NONE,
		 "program heads outside of the file");
	e.e_type = ET_CORE;
	CHECK_EQ(bench_object_kind(&e, sizeof(e)), OBJECT_NONE);
}

TEST_MAIN()
