/* SPDX-License-Identifier: MIT */
/*
 * Defined register values before a snippet: times of floating-point instructions depend on them (a
 * subnormal number or a NaN costs an assist on some CPUs), and those of divisions and shifts, too.
 * Text -> text.
 */
#include <ctype.h>
#include <string.h>
#include "bench/bench_snippet.h"

/*
 * The size in bytes of the floating-point numbers that the instruction reads; 0: none, or any size.
 */
#if defined(__x86_64__)
static unsigned number_size(const char *name, size_t n)
{
	static const char *const any[] = { "mov",   "and",   "or",   "xor",       "shuf",
					   "unpck", "blend", "perm", "broadcast", NULL };
	const char *two = memchr(name, '2', n);
	bool vex = n && tolower((unsigned char)*name) == 'v';

	name += vex;
	n -= vex;
	for (size_t i = 0; any[i]; i++)
		if (!strncasecmp(name, any[i], strlen(any[i])))
			return 0;
	if (n > 3 && !strncasecmp(name, "cvt", 3) && two) /* cvtss2sd reads ss */
		n = (size_t)(two - name);
	if (n < 4)
		return 0;
	name += n - 2;
	if (!strchr("sSpP", name[0]))
		return 0;
	switch (tolower((unsigned char)name[1])) {
	case 'd':
		return 8;
	case 's':
		return 4;
	case 'h':
		return vex ? 2 : 0; /* push */
	}
	return 0;
}
#else
static unsigned number_size(const char *name, size_t n)
{
	static const char sizes[] = "hsd";
	const char *at;
	size_t digits = strspn(name + 1, "0123456789");

	if (!n)
		return 0;
	if (digits && digits + 1 == n &&
	    (at = strchr(sizes, tolower((unsigned char)*name)))) /* s0 */
		return 2u << (at - sizes);
	digits = strspn(name, "0123456789");
	if (digits && digits + 1 == n &&
	    (at = strchr(sizes, tolower((unsigned char)name[digits])))) /* .4s */
		return 2u << (at - sizes);
	return 0;
}
#endif

struct kinds {
	/* of the largest floating-point number that the code reads; 8 if it names none */
	unsigned size;
	bool vex; /* a name starts with v: use all registers, at any width */
	bool mmx;
};

static void look_at(struct kinds *k, const char *code)
{
	for (size_t n; code && *code; code += n) {
		unsigned size;

		for (n = 0; isalnum((unsigned char)code[n]) || code[n] == '_';)
			n++;
		if (!n) {
			n = 1;
			continue;
		}
		size = number_size(code, n);
		k->size = size > k->size ? size : k->size;
		k->vex |= tolower((unsigned char)*code) == 'v';
		k->mmx |= n == 3 && !strncasecmp(code, "mm", 2) && isdigit((unsigned char)code[2]);
	}
}

static struct kinds kinds_of(const struct bench_snippet *s)
{
	struct kinds k = { 0 };

	look_at(&k, s->code);
	look_at(&k, s->init);
	k.size = k.size ? k.size : 8;
	return k;
}

#if defined(__x86_64__)
unsigned bench_vector_bytes(void)
{
	/* The operating system must enable it, too (XGETBV), which both functions check. */
	return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") ? 64
		: __builtin_cpu_supports("avx")                                         ? 32
											: 16;
}

/*
 * Non-zero upper halves slow down instructions without VEX: those write only the lower half, so
 * they depend on the register's previous value. A snippet without a v instruction does not use the
 * upper halves. Source: Intel Optimization Reference Manual, "Mixing AVX Code with SSE Code".
 */
void bench_snippet_registers(struct text *out, const struct bench_snippet *s)
{
	static const char *const ones[] = { "rax", "rbx", "rcx", "r8",  "r9",
					    "r10", "r11", "r12", "r13", "r15" };
	struct kinds k = kinds_of(s);
	unsigned width = k.vex ? s->vector : 16;
	char letter = width == 64 ? 'z' : width == 32 ? 'y' : 'x';

	text_add(
		out,
		"\t.section .rodata\n\t.balign 64\n.Lone:\t.rept 8\n\t.quad %s\n\t.endr\n\t.text\n",
		k.size == 8           ? "0x3ff0000000000000"
			: k.size == 4 ? "0x3f8000003f800000"
				      : "0x3c003c003c003c00");
	if (s->vector >= 32)
		text_add(out, "\tvzeroupper\n");
	for (int i = 0; i < (width == 64 ? 32 : 16); i++)
		text_add(out, "\t%s .Lone(%%rip), %%%cmm%d\n",
			 width == 64           ? "vmovaps"
				 : width == 32 ? "vmovaps"
					       : "movaps",
			 letter, i);
	for (int i = 0; s->vector == 64 && i < 8; i++)
		text_add(out, "\tkxnorq %%k%d, %%k%d, %%k%d\n", i, i, i);
	text_add(out, "\tfninit\n");
	for (int i = 0; i < (k.mmx ? 8 : 4); i++)
		text_add(out, k.mmx ? "\tmovq .Lone(%%rip), %%mm%d\n" : "\tfld1\n", i);
	for (size_t i = 0; i < ARRAY_SIZE(ones); i++)
		text_add(out, "\tmov $1, %%%s\n", ones[i]);
	text_add(out, "\txor %%edx, %%edx\n");
}
#else
unsigned bench_vector_bytes(void)
{
	return 16;
}

void bench_snippet_registers(struct text *out, const struct bench_snippet *s)
{
	struct kinds k = kinds_of(s);

	for (int i = 0; i < 32; i++)
		text_add(out,
			 k.size == 8           ? "\tfmov v%d.2d, #1.0\n"
				 : k.size == 4 ? "\tfmov v%d.4s, #1.0\n"
					       : "\tmovi v%d.8h, #0x3c, lsl #8\n",
			 i);
	for (int i = 0; i < 28; i++)
		if (i != 14 && i != 18) /* memory operands; reserved by the platform */
			text_add(out, "\tmov x%d, #1\n", i);
}
#endif
