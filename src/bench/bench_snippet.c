/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "bench/bench_snippet.h"

bool bench_snippet_is_att(const char *code)
{
	return strchr(code, '%') != NULL;
}

/* ---- registers in turn ---- */

/*
 * A family of registers: the format of their names, with '#' for the number. The first one matches
 * general registers by a list.
 */
#if defined(__x86_64__)
static const char *const general[4][16] = {
	{ "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
	  "r13", "r14", "r15" },
	{ "eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "r8d", "r9d", "r10d", "r11d",
	  "r12d", "r13d", "r14d", "r15d" },
	{ "ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "r8w", "r9w", "r10w", "r11w", "r12w",
	  "r13w", "r14w", "r15w" },
	{ "al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl", "r8b", "r9b", "r10b", "r11b", "r12b",
	  "r13b", "r14b", "r15b" },
};
static const char *const numbered[] = { "xmm", "ymm", "zmm" };
/* No instruction uses these as implicit operands. */
enum { TURN_FIRST = 8, TURN_VECTOR = 8, GENERAL_TURNS = 6 };
#else
static const char *const numbered[] = { "x", "w", "d", "s", "q", "v" };
enum { TURN_FIRST = 9, TURN_VECTOR = 16, GENERAL_TURNS = 7 };
#endif

struct reg {
	int family; /* -1: none; general registers first */
	int number;
	size_t length; /* of its name */
};

static bool word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct reg reg_at(const char *p)
{
	size_t n = 0;

	while (word(p[n]))
		n++;
#if defined(__x86_64__)
	for (int f = 0; f < 4; f++)
		for (int i = 0; i < 16; i++)
			if (strlen(general[f][i]) == n && !strncasecmp(p, general[f][i], n))
				return (struct reg){ f, i, n };
#endif
	for (size_t f = 0; f < ARRAY_SIZE(numbered); f++) {
		size_t head = strlen(numbered[f]), digits = n - head;
		int number = 0;

		if (n <= head || digits > 2 || strncasecmp(p, numbered[f], head))
			continue;
		for (size_t i = head; i < n; i++)
			number = isdigit((unsigned char)p[i]) ? 10 * number + p[i] - '0' : 1000;
		if (number < 32)
			return (struct reg){ 4 + (int)f, number, n };
	}
	return (struct reg){ .family = -1, .length = n };
}

static bool is_general(int family)
{
#if defined(__x86_64__)
	return family < 4;
#else
	return family < 6;
#endif
}

/* Are they the same hardware register under different names? */
static bool same(struct reg a, struct reg b)
{
	return a.family >= 0 && b.family >= 0 && a.number == b.number &&
		is_general(a.family) == is_general(b.family);
}

static void put_reg(struct text *out, int family, int number)
{
#if defined(__x86_64__)
	if (family < 4) {
		text_add(out, "%s", general[family][number]);
		return;
	}
#endif
	text_add(out, "%s%d", numbered[family - 4], number);
}

/* Iterates over the registers that the code names, in order. */
static struct reg next_reg(const char *code, size_t *at)
{
	size_t i = *at;

	while (code[i]) {
		struct reg r;

		if (!word(code[i]) || (i && (word(code[i - 1]) || code[i - 1] == '.'))) {
			i++;
			continue;
		}
		r = reg_at(code + i);
		if (r.family >= 0) {
			*at = i;
			return r;
		}
		i += r.length;
	}
	*at = i;
	return (struct reg){ .family = -1 };
}

/* ---- other dependencies of a copy ---- */

/*
 * Is that register the only dependency between copies of the instruction: is no flag, other
 * register or memory both read and written? For general registers, by a list of instructions known
 * to qualify; for vector registers, where flags are not involved and few instructions write two
 * results, by a list of exceptions. Sources: Intel SDM vol. 2, each instruction's "Operation" and
 * "Flags Affected"; Arm ARM, C6.
 */
static bool is_one_of(const char *name, size_t n, const char *const *list, bool suffixed)
{
	for (; *list; list++) {
		size_t k = strlen(*list);
		bool open = (*list)[k - 1] == '*'; /* prefix match */

		k -= open;
		if (n >= k && !strncasecmp(name, *list, k) &&
		    (open || n == k || (suffixed && n == k + 1 && strchr("bwlqBWLQ", name[k]))))
			return true;
	}
	return false;
}

static const char *name_of(const char *code, size_t *n)
{
	code += strspn(code, " \t\n");
	for (*n = 0; word(code[*n]);)
		++*n;
	return code;
}

#if defined(__x86_64__)
/* How often the code names that hardware register. */
static unsigned mentions(const char *code, struct reg what)
{
	unsigned n = 0;
	struct reg r;

	for (size_t at = 0; (r = next_reg(code, &at)).family >= 0; at += r.length)
		n += same(r, what);
	return n;
}

static bool passes_on_nothing_else(const struct bench_snippet *s, struct reg written)
{
	static const char *const plain[] = {
		"mov",      "movabs",   "movzx",     "movsx",  "movsxd", "movzb*",  "movzw*",
		"movsb*",   "movsw*",   "movsl*",    "movbe",  "lea",    "add",     "sub",
		"and",      "or",       "xor",       "imul",   "cmov*",  "bsf",     "bsr",
		"lzcnt",    "tzcnt",    "popcnt",    "crc32*", "andn",   "bextr",   "blsi",
		"blsr",     "blsmsk",   "bzhi",      "pdep",   "pext",   "rorx",    "sarx",
		"shlx",     "shrx",     "btc",       "btr",    "bts",    "movd",    "movq",
		"vmovd",    "vmovq",    "cvt*",      "vcvt*",  "pextr*", "vpextr*", "movmsk*",
		"vmovmsk*", "pmovmskb", "vpmovmskb", NULL
	};
	/*
	 * With cl = 0 they do not change the flags. Rotates (rol) always preserve some flags, and
	 * are not in this list.
	 */
	static const char *const shifts[] = { "shl", "sal", "shr", "sar", "shld", "shrd", NULL };
	/* the second operand is a result, too */
	static const char *const twice[] = { "mulx", NULL };
	/*
	 * Gathers clear their mask; string comparisons and stores have their results elsewhere;
	 * scalar comparisons only set flags.
	 */
	static const char *const vector[] = { "vgather*",    "vpgather*",   "pcmpestr*",
					      "pcmpistr*",   "vpcmpestr*",  "vpcmpistr*",
					      "maskmov*",    "vmaskmovdqu", "comis*",
					      "ucomis*",     "vcomis*",     "vucomis*",
					      "ptest",       "vptest",      "vtestp*",
					      "encodekey*",  "aesenc128kl", "aesdec128kl",
					      "aesenc256kl", "aesdec256kl", NULL };
	static const char *const reads_xmm0[] = { "blendvp*", "pblendvb", "sha256rnds2", NULL };
	const struct reg cl = { 0, 2, 0 }, rdx = { 0, 3, 0 };
	size_t n;
	const char *name = name_of(s->code, &n);

	if (!is_general(written.family))
		return !is_one_of(name, n, vector, false) &&
			!(written.number == 0 && is_one_of(name, n, reads_xmm0, false));
	if (is_one_of(name, n, shifts, s->att))
		return !mentions(s->code, cl);
	if (is_one_of(name, n, twice, s->att)) {
		struct reg r;

		for (size_t at = 0; (r = next_reg(s->code, &at)).family >= 0; at += r.length)
			if (mentions(s->code, r) > 1 || same(r, rdx))
				return false;
		return true;
	}
	return is_one_of(name, n, plain, s->att);
}
#else
static bool passes_on_nothing_else(const struct bench_snippet *s, struct reg written)
{
	/*
	 * Instructions that read and set the carry or all flags; stores, exchanges, and
	 * instructions that only set flags.
	 */
	static const char *const others[] = { "adcs", "sbcs", "ngcs",  "ccmp",  "ccmn", "fccmp*",
					      "cmp",  "cmn",  "tst",   "fcmp*", "st*",  "cas*",
					      "swp*", "rmif", "setf*", "ld*",   "cb*",  "tb*",
					      "prf*", "msr",  "sys*",  NULL };
	static const char *const loads[] = { "ldr",   "ldrb",  "ldrh",  "ldrsb",
					     "ldrsh", "ldrsw", "ldur*", NULL };
	const char *bracket = strchr(s->code, ']');
	size_t n;
	const char *name = name_of(s->code, &n);

	(void)written;
	/* [x1, #8]! and [x1], #8 change x1. */
	if (strchr(s->code, '!') || (bracket && strchr(bracket, ',')))
		return false;
	return is_one_of(name, n, loads, false) || !is_one_of(name, n, others, false);
}
#endif

struct turns {
	struct reg written;
	int number[BENCH_TURNS];
	size_t n;
};

/* The position of the written operand; NULL: not a single instruction with two or more operands. */
static const char *written_operand(const char *code, bool att)
{
	const char *p = code, *operand, *comma;
	int depth = 0;

	while (isspace((unsigned char)*p))
		p++;
	while (word(*p) || *p == '.')
		p++;
	if (strpbrk(p, ";\n{:"))
		return NULL;
	while (isspace((unsigned char)*p))
		p++;
	operand = p;
	comma = NULL;
	for (; *p; p++) {
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		if (*p == ',' && !depth && (att || !comma))
			comma = p;
	}
	if (!comma)
		return NULL;
	if (att)
		for (operand = comma + 1; isspace((unsigned char)*operand);)
			operand++;
	return operand + (*operand == '%');
}

static bool find_turns(const struct bench_snippet *s, struct turns *t)
{
	const char *operand = written_operand(s->code, s->att), *end;
	bool inside = false;

	*t = (struct turns){ 0 };
	if (!operand)
		return false;
	t->written = reg_at(operand);
	if (!passes_on_nothing_else(s, t->written))
		return false;
	end = operand + t->written.length;
	if (t->written.family < 0 ||
	    (*end && *end != ',' && *end != '.' && !isspace((unsigned char)*end)))
		return false;
	t->number[t->n++] = t->written.number;
	for (const char *p = s->code; *p; p++) {
		inside |= *p == '(' || *p == '[';
		inside &= *p != ')' && *p != ']';
		if (inside && word(*p) && !word(p[-1]) && same(reg_at(p), t->written))
			return false; /* another register would not contain an address */
	}
	for (int i = 0; i < 8 && t->n < BENCH_TURNS; i++) {
		struct reg other = t->written, r;
		bool named = false;

		other.number = is_general(t->written.family) ? TURN_FIRST + i : TURN_VECTOR + i;
		if (is_general(t->written.family) && i >= GENERAL_TURNS)
			break;
		for (size_t at = 0; (r = next_reg(s->code, &at)).family >= 0; at += r.length)
			named |= same(r, other);
		if (!named)
			t->number[t->n++] = other.number;
	}
	return t->n > 2;
}

bool bench_snippet_turns(const struct bench_snippet *s, struct text *names)
{
	struct turns t;

	if (!find_turns(s, &t))
		return false;
	for (size_t i = 0; names && i < t.n; i++) {
		text_add(names, "%s", i ? ", " : "");
		put_reg(names, t.written.family, t.number[i]);
	}
	return true;
}

/* The code with another register instead of the written one. */
static void put_turn(struct text *out, const struct bench_snippet *s, const struct turns *t,
		     int number)
{
	size_t from = 0, at = 0;
	struct reg r;

	for (; (r = next_reg(s->code, &at)).family >= 0; at += r.length) {
		if (!same(r, t->written))
			continue;
		text_put(out, s->code + from, at - from);
		put_reg(out, r.family, number);
		from = at + r.length;
	}
	text_add(out, "%s\n", s->code + from);
}

bool bench_snippet_may_loop(const struct bench_snippet *s)
{
#if defined(__x86_64__)
	static const char *const names[] = { "r15" };
#else
	static const char *const names[] = { "x28", "w28" };
#endif
	bool may = true;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		may &= !strcasestr(s->code, names[i]) &&
			!(s->init && strcasestr(s->init, names[i]));
	return may;
}

/* ---- the file ---- */

/* Makes the assembler report errors in the user's own line. */
static void put_copies(struct text *out, const struct bench_snippet *s)
{
	struct turns t;

	if (s->in_turn && find_turns(s, &t)) {
		uint32_t whole = s->unroll / (uint32_t)t.n;

		text_add(out, "\t.rept %u\n", whole);
		for (size_t i = 0; i < t.n; i++)
			put_turn(out, s, &t, t.number[i]);
		text_add(out, "\t.endr\n");
		for (size_t i = 0; i < s->unroll % t.n; i++)
			put_turn(out, s, &t, t.number[i]);
		return;
	}
	if (s->unroll == 1)
		text_add(out, "# 1 \"--asm\"\n%s\n", s->code);
	else
		text_add(out, "\t.rept %u\n%s\n\t.endr\n", s->unroll, s->code);
}

#if defined(__x86_64__)
static void syntax(struct text *out, const struct bench_snippet *s, bool begin)
{
	if (!s->att)
		text_add(out, begin ? "\t.intel_syntax noprefix\n" : "\t.att_syntax prefix\n");
}

/* Initialise the alternating registers with the value of the first. */
static void spread(struct text *out, const struct bench_snippet *s)
{
	static const char *const vector[] = { "movaps", "vmovaps", "vmovaps" };
	struct turns t;

	if (!s->in_turn || !find_turns(s, &t))
		return;
	for (size_t i = 1; i < t.n; i++) {
		int family = is_general(t.written.family) ? 0 : t.written.family;

		text_add(out, "\t%s %%", family ? vector[family - 4] : "mov");
		put_reg(out, family, t.written.number);
		text_add(out, ", %%");
		put_reg(out, family, t.number[i]);
		text_add(out, "\n");
	}
}

/* Align the first instruction after the call to a cache line. */
static void marked(struct text *out, const struct bench_snippet *s, bool empty)
{
	bool loop = s->loop && !(empty && s->bare_baseline);

	text_add(out, "\t.balign 64\n\t.skip %d, 0x90\n\tcall *tare_start(%%rip)\n",
		 loop ? 64 - 6 - 7 : 64 - 6);
	if (loop)
		text_add(out, "\tmov $%u, %%r15\n.Lround%d:\n", s->loop, empty);
	if (!empty) {
		syntax(out, s, true);
		put_copies(out, s);
		syntax(out, s, false);
	}
	if (loop)
		text_add(out, "\tdec %%r15\n\tjnz .Lround%d\n", empty);
	text_add(out, "\tcall *tare_stop(%%rip)\n");
}

static const char enter[] =
	"\tpush %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\tsub $8, %rsp\n"
	"\tstmxcsr tare_mxcsr(%rip)\n\tfnstcw tare_fcw(%rip)\n";
static const char leave[] =
	"\tmov tare_rsp(%rip), %rsp\n\tcld\n\temms\n\tldmxcsr tare_mxcsr(%rip)\n\tfldcw tare_fcw(%rip)\n"
	"\tadd $8, %rsp\n\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\tret\n";
/* As in nanoBench: these point to the middle of separate memory areas. */
static const char memory[] =
	"\tlea tare_memory+0x08000(%rip), %r14\n\tlea tare_memory+0x18000(%rip), %rdi\n"
	"\tlea tare_memory+0x28000(%rip), %rsi\n\tlea tare_memory+0x38000(%rip), %rbp\n";

void bench_snippet_assembly(struct text *out, const struct bench_snippet *s)
{
	text_add(
		out,
		"\t.text\n\t.globl execute_test\n\t.type execute_test, @function\nexecute_test:\n%s",
		enter);
	text_add(
		out,
		"\tmov %%rdi, tare_start(%%rip)\n\tmov %%rsi, tare_stop(%%rip)\n\tmov %%rsp, tare_rsp(%%rip)\n%s",
		memory);
	bench_snippet_registers(out, s);
	if (s->init) {
		syntax(out, s, true);
		text_add(out, "# 1 \"--init\"\n%s\n", s->init);
		syntax(out, s, false);
	}
	spread(out, s);
	marked(out, s, false);
	text_add(out, "# 1000 \"tare\"\n%s", leave);
	text_add(
		out,
		"\t.globl execute_baseline\n\t.type execute_baseline, @function\nexecute_baseline:\n%s",
		enter);
	text_add(
		out,
		"\tmov %%edi, tare_times(%%rip)\n\tmov %%rsi, tare_start(%%rip)\n\tmov %%rdx, tare_stop(%%rip)\n"
		"\tmov %%rsp, tare_rsp(%%rip)\n.Ltimes:\n");
	marked(out, s, true);
	text_add(out, "\tdecl tare_times(%%rip)\n\tjnz .Ltimes\n%s", leave);
	text_add(
		out,
		"\t.globl buffers\n\t.type buffers, @function\nbuffers:\n\tlea tare_memory(%%rip), %%rax\n"
		"\tmov %%rax, (%%rdi)\n\tmovq $0x40000, 8(%%rdi)\n\tmov $1, %%eax\n\tret\n");
	text_add(
		out,
		"\t.local tare_memory\n\t.comm tare_memory, 0x40000, 4096\n\t.bss\n\t.balign 64\ntare_start:\t.skip 8\ntare_stop:\t.skip 8\n"
		"tare_rsp:\t.skip 8\ntare_times:\t.skip 4\ntare_mxcsr:\t.skip 4\ntare_fcw:\t.skip 4\n"
		"\t.section .note.GNU-stack, \"\", @progbits\n");
}
#else
static void spread(struct text *out, const struct bench_snippet *s)
{
	struct turns t;

	if (!s->in_turn || !find_turns(s, &t))
		return;
	for (size_t i = 1; i < t.n; i++) {
		if (t.written.family < 6)
			text_add(out, "\tmov x%d, x%d\n", t.number[i], t.written.number);
		else
			text_add(out, "\tmov v%d.16b, v%d.16b\n", t.number[i], t.written.number);
	}
}

static void marked(struct text *out, const struct bench_snippet *s, bool empty)
{
	bool loop = s->loop && !(empty && s->bare_baseline);

	text_add(
		out,
		"\t.balign 64\n\tadrp x30, tare_start\n\tldr x30, [x30, #:lo12:tare_start]\n\tblr x30\n");
	if (loop)
		text_add(out, "\tmov x28, #%u\n\tmovk x28, #%u, lsl #16\n.Lround%d:\n",
			 s->loop & 0xffff, s->loop >> 16, empty);
	if (!empty)
		put_copies(out, s);
	if (loop)
		text_add(out, "\tsub x28, x28, #1\n\tcbnz x28, .Lround%d\n", empty);
	text_add(out, "\tadrp x30, tare_stop\n\tldr x30, [x30, #:lo12:tare_stop]\n\tblr x30\n");
}

static const char enter[] =
	"\tstp x29, x30, [sp, #-160]!\n\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\tstp x23, x24, [sp, #48]\n"
	"\tstp x25, x26, [sp, #64]\n\tstp x27, x28, [sp, #80]\n\tstp d8, d9, [sp, #96]\n\tstp d10, d11, [sp, #112]\n"
	"\tstp d12, d13, [sp, #128]\n\tstp d14, d15, [sp, #144]\n"
	"\tadrp x9, tare_start\n\tadd x9, x9, #:lo12:tare_start\n\tmov x10, sp\n\tstr x10, [x9, #16]\n";
static const char leave[] =
	"\tadrp x9, tare_start\n\tadd x9, x9, #:lo12:tare_start\n\tldr x10, [x9, #16]\n\tmov sp, x10\n"
	"\tldp d14, d15, [sp, #144]\n\tldp d12, d13, [sp, #128]\n\tldp d10, d11, [sp, #112]\n\tldp d8, d9, [sp, #96]\n"
	"\tldp x27, x28, [sp, #80]\n\tldp x25, x26, [sp, #64]\n\tldp x23, x24, [sp, #48]\n\tldp x21, x22, [sp, #32]\n"
	"\tldp x19, x20, [sp, #16]\n\tldp x29, x30, [sp], #160\n\tret\n";

void bench_snippet_assembly(struct text *out, const struct bench_snippet *s)
{
	text_add(
		out,
		"\t.text\n\t.globl execute_test\n\t.type execute_test, %%function\nexecute_test:\n%s",
		enter);
	text_add(
		out,
		"\tstp x0, x1, [x9]\n\tadrp x14, tare_memory\n\tadd x14, x14, #:lo12:tare_memory\n\tadd x14, x14, #8, lsl #12\n");
	bench_snippet_registers(out, s);
	if (s->init)
		text_add(out, "# 1 \"--init\"\n%s\n", s->init);
	spread(out, s);
	marked(out, s, false);
	text_add(out, "# 1000 \"tare\"\n%s", leave);
	text_add(
		out,
		"\t.globl execute_baseline\n\t.type execute_baseline, %%function\nexecute_baseline:\n%s",
		enter);
	text_add(out, "\tstp x1, x2, [x9]\n\tmov w19, w0\n.Ltimes:\n");
	marked(out, s, true);
	text_add(out, "\tsub w19, w19, #1\n\tcbnz w19, .Ltimes\n%s", leave);
	text_add(
		out,
		"\t.globl buffers\n\t.type buffers, %%function\nbuffers:\n\tadrp x1, tare_memory\n\tadd x1, x1, #:lo12:tare_memory\n"
		"\tmov x2, #0x10000\n\tstp x1, x2, [x0]\n\tmov x0, #1\n\tret\n");
	text_add(
		out,
		"\t.local tare_memory\n\t.comm tare_memory, 0x10000, 4096\n\t.bss\n\t.balign 64\ntare_start:\t.skip 8\ntare_stop:\t.skip 8\n"
		"tare_sp:\t.skip 8\n\t.section .note.GNU-stack, \"\", %%progbits\n");
}
#endif

void bench_snippet_c(struct text *out, const struct bench_snippet *s, const char *before)
{
#if defined(__x86_64__)
	static const char where[] = "rx";
#else
	static const char where[] = "rw";
#endif
	/*
	 * A statement is followed by our semicolon: an additional one is an empty statement, and a
	 * newline ends a comment.
	 */
	bool expression = !strpbrk(s->code, ";{}");

	text_add(
		out,
		"#define keep(x) do { __auto_type kept_ = (x); __asm__ volatile(\"\" : : \"%s\"(kept_) : \"memory\"); } while (0)\n",
		where);
	text_add(out, "#define hide(x) __asm__ volatile(\"\" : \"+r\"(x) : : \"memory\")\n");
	text_add(out, "#line 1 \"--include\"\n%s\n#line 1 \"tare\"\n", before ? before : "");
	text_add(out,
		 "void execute_test(void (*start)(void), void (*stop)(void));\n"
		 "void execute_test(void (*start)(void), void (*stop)(void))\n{\n");
	if (s->init)
		text_add(out, "#line 1 \"--init\"\n%s\n;\n", s->init);
	text_add(out, "#line 1 \"tare\"\n\tstart();\n");
	if (s->loop)
		text_add(out, "\tfor (unsigned round_ = 0; round_ < %u; round_++) {\n", s->loop);
	for (uint32_t i = 0; i < s->unroll; i++)
		text_add(out,
			 "#line 1 \"--c\"\n%s%s\n%s;\n\t__asm__ volatile(\"\" : : : \"memory\");\n",
			 expression ? "keep(" : "", s->code, expression ? ")" : "");
	text_add(out, "#line 100 \"tare\"\n\t%sstop();\n}\n", s->loop ? "}\n\t" : "");
}
