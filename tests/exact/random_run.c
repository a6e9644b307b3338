/* SPDX-License-Identifier: MIT */
/*
 * Runs the random sequences of a file and writes one struct result for each run of each. No C
 * library and no threads: fs and gs belong to the sequences, and its own instruction count does not
 * depend on what they compute.
 *
 *	random_run FILE run|step|empty|dump [FROM TO]
 *
 * run: unchanged. step: with the trap flag, counting retired instructions. empty: each sequence is
 * replaced by the jump that ends it, so that count(run) - count(empty) is what the sequences
 * retired. dump: the final state of the last one, as text words of 16 digits, to find differences.
 */
#include "random.h"

#include <asm/prctl.h>
#include <linux/mman.h>
#include <asm/sigcontext.h>
#include <linux/signal.h>
#include <asm/ucontext.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { ROUNDS = 2, TF = 0x100, GREGS = 18 };

/* Fields with fixed offsets from STATE_AT, for the assembly below. */
struct state {
	uint64_t leave;            /* 0x000: target of CODE_AT's jump */
	uint64_t gpr[16];          /* 0x008: rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15 */
	uint64_t flags;            /* 0x088 */
	uint64_t target;           /* 0x090 */
	uint64_t home;             /* 0x098: the runner's own rsp */
	uint64_t level;            /* 0x0a0 */
	uint64_t pool;             /* 0x0a8: initial values of the vector registers */
	uint64_t k[8];             /* 0x0b0 */
	uint32_t mxcsr, pad;       /* 0x0f0 */
	uint64_t fault[GREGS + 3]; /* 0x0f8 */
	uint64_t pad2[8];
	uint64_t fx[64] __attribute__((aligned(64))); /* 0x200 */
	uint64_t vec[32 * 8];                         /* 0x400 */
};

_Static_assert(offsetof(struct state, k) == 0xb0, "the assembly below");
_Static_assert(offsetof(struct state, mxcsr) == 0xf0, "the assembly below");
_Static_assert(offsetof(struct state, fx) == 0x200, "the assembly below");
_Static_assert(offsetof(struct state, vec) == 0x400, "the assembly below");

#define S ((struct state *)STATE_AT)

void enter(void);
void leave(void);
void restorer(void);
void run_main(uint64_t *stack);

static uint64_t pool[1024] __attribute__((aligned(64)));
static uint8_t signal_stack[65536] __attribute__((aligned(64)));
static int stepping;
static uint64_t last_rip;
static unsigned retired, outcome;
static unsigned long code_end;

/* clang-format off */
#define ALL_ZMM(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define ALL_YMM(X)                                                                                 \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define ALL_K(X)  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define LOAD_Z(n) "vmovdqu64 " #n "*64(%rax), %zmm" #n "\n\t"
#define LOAD_Y(n) "vmovdqu " #n "*64(%rax), %ymm" #n "\n\t"
#define LOAD_X(n) "movdqu " #n "*64(%rax), %xmm" #n "\n\t"
#define LOAD_K(n) "kmovq 0x180100b0+" #n "*8, %k" #n "\n\t"
#define SAVE_Z(n) "vmovdqu64 %zmm" #n ", 0x18010400+" #n "*64\n\t"
#define SAVE_Y(n) "vmovdqu %ymm" #n ", 0x18010400+" #n "*64\n\t"
#define SAVE_X(n) "movdqu %xmm" #n ", 0x18010400+" #n "*64\n\t"
#define SAVE_K(n) "kmovq %k" #n ", 0x180100b0+" #n "*8\n\t"

asm(".text\n"
    ".globl _start\n_start:\n\t"
    "mov %rsp, %rdi\n\tand $-64, %rsp\n\tcall run_main\n"
    ".globl restorer\nrestorer:\n\tmov $15, %eax\n\tsyscall\n"
    ".globl enter\nenter:\n\t"
    "push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
    "mov %rsp, 0x18010098\n\t"
    "mov 0x180100a8, %rax\n\t"
    "cmpq $1, 0x180100a0\n\tja 2f\n\tje 1f\n\t" ALL_YMM(
	LOAD_X) "jmp 3f\n"
		"1:\t" ALL_YMM(
		    LOAD_Y) "jmp 3f\n"
			    "2:\t" ALL_ZMM(LOAD_Z) ALL_K(
				LOAD_K) "3:\t"
					"fninit\n\tfldl 8(%rax)\n\tfildq "
					"16(%rax)\n\tfldpi\n\tldmxcsr 0x180100f0\n\t"
					"mov 0x18010008, %rax\n\tmov 0x18010010, %rcx\n\tmov "
					"0x18010018, %rdx\n\t"
					"mov 0x18010020, %rbx\n\tmov 0x18010030, %rbp\n\tmov "
					"$0x18010088, %rsp\n\t"
					"mov 0x18010038, %rsi\n\tmov 0x18010040, %rdi\n\tmov "
					"0x18010048, %r8\n\t"
					"mov 0x18010050, %r9\n\tmov 0x18010058, %r10\n\tmov "
					"0x18010060, %r11\n\t"
					"mov 0x18010068, %r12\n\tmov 0x18010070, %r13\n\tmov "
					"0x18010078, %r14\n\t"
					"mov 0x18010080, %r15\n\t"
					"popfq\n\tmov 0x18010028, %rsp\n\tjmp *0x18010090\n"
					".globl leave\nleave:\n\t"
					"mov %rax, 0x18010008\n\tmov %rcx, 0x18010010\n\tmov %rdx, "
					"0x18010018\n\t"
					"mov %rbx, 0x18010020\n\tmov %rsp, 0x18010028\n\tmov %rbp, "
					"0x18010030\n\t"
					"mov %rsi, 0x18010038\n\tmov %rdi, 0x18010040\n\tmov %r8, "
					"0x18010048\n\t"
					"mov %r9, 0x18010050\n\tmov %r10, 0x18010058\n\tmov %r11, "
					"0x18010060\n\t"
					"mov %r12, 0x18010068\n\tmov %r13, 0x18010070\n\tmov %r14, "
					"0x18010078\n\t"
					"mov %r15, 0x18010080\n\t"
					"mov 0x18010098, %rsp\n\tpushfq\n\tpopq "
					"0x18010088\n\tpushq $2\n\tpopfq\n\t"
					"stmxcsr 0x180100f0\n\tfxsave64 0x18010200\n\tfninit\n\t"
					"cmpq $1, 0x180100a0\n\tja 2f\n\tje 1f\n\t" ALL_YMM(
					    SAVE_X) "jmp 3f\n"
						    "1:\t" ALL_YMM(
							SAVE_Y) "jmp 3f\n"
								"2:\t" ALL_ZMM(SAVE_Z)
								    ALL_K(SAVE_K) "3:\t"
										  "pop %r15\n\tpop "
										  "%r14\n\tpop "
										  "%r13\n\tpop "
										  "%r12\n\tpop "
										  "%rbp\n\tpop "
										  "%rbx\n\tret\n");
/* clang-format on */

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}

static __attribute__((noreturn)) void die(const char *what)
{
	size_t n = 0;

	while (what[n])
		n++;
	call(SYS_write, 2, (long)what, (long)n, 0, 0, 0);
	call(SYS_exit_group, 125, 0, 0, 0, 0, 0);
	__builtin_unreachable();
}

static uint64_t mix(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Two checksums over whole words, in one instruction per word. */
static uint64_t hash(uint64_t h, const void *at, size_t words)
{
	const uint64_t *p = at;
	uint64_t a = (uint32_t)h, b = h >> 32;

	for (size_t i = 0; i < words; i += 2) {
		asm("crc32q %1, %0" : "+r"(a) : "m"(p[i]));
		asm("crc32q %1, %0" : "+r"(b) : "m"(p[i + 1]));
	}
	return (a ^ b << 7) | b << 32;
}

static int is_rep_string(const uint8_t *p)
{
	int rep = 0;

	for (;; p++) {
		rep |= *p == 0xf2 || *p == 0xf3;
		if (*p != 0xf2 && *p != 0xf3 && *p != 0x66 && *p != 0x67 && *p != 0x2e &&
		    *p != 0x3e && *p != 0x26 && *p != 0x36 && *p != 0x64 && *p != 0x65 &&
		    (*p & 0xf0) != 0x40)
			break;
	}
	return rep && ((*p >= 0xa4 && *p <= 0xa7) || (*p >= 0xaa && *p <= 0xaf));
}

static int in_code(uint64_t rip)
{
	return rip >= CODE_AT && rip < code_end;
}

static void one_step(struct sigcontext *c)
{
	const uint8_t *did = (const uint8_t *)last_rip;

	if (in_code(last_rip) && !(last_rip == c->rip && is_rep_string(did)))
		/* in the process itself, a system call swallows its own trap */
		retired += did[0] == 0x0f && did[1] == 0x05 ? 2 : 1;
	if (in_code(last_rip) && !in_code(c->rip))
		c->eflags &= ~(uint64_t)TF; /* it has ended */
	else
		c->eflags |= TF; /* whatever the sequence does to it */
	last_rip = c->rip;
}

/* The place of a fault is part of the result; the runner continues after the sequence. */
static void on_signal(int sig, siginfo_t *si, void *arg)
{
	struct ucontext *uc = arg;
	struct sigcontext *c = &uc->uc_mcontext;
	const uint64_t *from = (const uint64_t *)c;

	if (stepping && sig == SIGTRAP && si->si_code != SI_KERNEL) {
		one_step(c);
		return;
	}
	if (stepping && sig == SIGTRAP)
		retired++; /* int3 retires */
	outcome = (unsigned)sig;
	if (!stepping)
		retired = (unsigned)(c->rip - CODE_AT);
	for (int i = 0; i < GREGS; i++)
		S->fault[i] = from[i];
	S->fault[GREGS] = c->trapno;
	S->fault[GREGS + 1] = c->err;
	S->fault[GREGS + 2] = c->cr2 & -(uint64_t)(c->trapno == 14);
	c->rip = (uint64_t)leave;
	c->eflags &= ~(uint64_t)TF;
}

static void handle(int sig)
{
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} sa = { on_signal, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000, restorer, 0 };

	call(SYS_rt_sigaction, sig, (long)&sa, 0, 8, 0, 0);
}

static void map(long at, long size, long prot, long flags, long fd, long offset)
{
	if (call(SYS_mmap, at, size, prot, flags | MAP_FIXED | MAP_PRIVATE, fd, offset) != at)
		die("random_run: cannot map what the sequences need\n");
}

static void prepare(const struct entry *e, uint64_t seed, int empty)
{
	uint64_t *data = (uint64_t *)DATA_AT;
	uint64_t *stack = (uint64_t *)(STACK_AT - STACK_SEEN);

	for (int i = 0; i < 16; i++)
		S->gpr[i] = mix(&seed);
	S->gpr[4] = STACK_AT;
	for (unsigned i = 0; i < DATA_SIZE / 8; i++)
		data[i] = pool[(seed + i) % 1024];
	for (unsigned i = 0; i < STACK_SEEN * 2 / 8; i++)
		stack[i] = i;
	S->flags = (mix(&seed) & 0xcd5) | 2 | (stepping ? TF : 0);
	for (int i = 0; i < 8; i++)
		S->k[i] = mix(&seed) >> 8 * i;
	S->pool = (uint64_t)(pool + mix(&seed) % 64 * 8);
	S->mxcsr = 0x1f80;
	S->target = CODE_AT + (e->offset & (unsigned)(empty - 1));
	for (int i = 0; i < GREGS + 3; i++)
		S->fault[i] = 0;
	for (int i = 0; i < 32 * 8; i++)
		S->vec[i] = 0;
	retired = outcome = 0;
	last_rip = 0;
}

static struct result conclude(const struct entry *e)
{
	uint64_t h = 1;

	/*
	 * For an instruction that faults by chance the arithmetic flags are not compared if the
	 * program would overwrite them unread, as the engine does not preserve those.
	 */
	uint64_t rip = S->fault[GREGS - 2];
	uint64_t on_purpose = (e->fault_at != 0) &
		((rip >= CODE_AT + e->fault_at) | (rip < CODE_AT));
	uint64_t failed = outcome != 0;
	/* no branches: the same number of instructions, however it ended */
	uint64_t flags = (e->end_flags & (failed - 1)) |
		(((e->fault_flags & -on_purpose) | 0x400) & -failed);

	S->flags &= flags;
	S->fault[GREGS - 1] &= flags;
	S->fx[0] &= 0x0000ffffffffffff; /* the last x87 opcode, */
	S->fx[1] = S->fx[2] = 0;        /* instruction and data pointers */
	h = hash(h, S->gpr, 16 + 2);    /* and the flags, and the address of its start */
	h = hash(h, S->k, 8 + 1 + GREGS + 3);
	h = hash(h, S->fx, 20);
	h = hash(h, S->vec, 32 * 8);
	h = hash(h, (void *)DATA_AT, DATA_SIZE / 8);
	h = hash(h, (void *)(STACK_AT - STACK_SEEN), STACK_SEEN * 2 / 8);
	return (struct result){ h, retired, outcome };
}

static void dump(const char *name, uint64_t at, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		char line[] = "        0000 0000000000000000\n";
		uint64_t value = ((uint64_t *)at)[i];

		for (int c = 0; name[c]; c++)
			line[c] = name[c];
		for (int c = 0; c < 4; c++)
			line[8 + c] = "0123456789abcdef"[i * 8 >> (12 - 4 * c) & 15];
		for (int c = 0; c < 16; c++)
			line[13 + c] = "0123456789abcdef"[value >> (60 - 4 * c) & 15];
		call(SYS_write, 1, (long)line, sizeof(line) - 1, 0, 0, 0);
	}
}

static long number(const char *s)
{
	long n = 0;

	while (*s >= '0' && *s <= '9')
		n = n * 10 + *s++ - '0';
	return n;
}

void run_main(uint64_t *stack)
{
	char **argv = (char **)(stack + 1);
	long argc = (long)stack[0], fd, size, from = 0, to;
	int empty = argc > 2 && argv[2][0] == 'e';
	struct {
		void *sp;
		int flags;
		size_t size;
	} alt = { signal_stack, 0, sizeof(signal_stack) };
	struct header h;
	struct entry *entries;
	struct result *results;
	uint64_t seed;

	if (argc < 3 || (fd = call(SYS_open, (long)argv[1], 0, 0, 0, 0, 0)) < 0)
		die("usage: random_run FILE run|step|empty [FROM TO]\n");
	if (call(SYS_read, fd, (long)&h, sizeof(h), 0, 0, 0) != sizeof(h) || h.magic != MAGIC)
		die("random_run: not a file of random_make\n");
	stepping = argv[2][0] == 's';
	to = h.count;
	if (argc > 4) {
		from = number(argv[3]);
		to = number(argv[4]) < to ? number(argv[4]) : to;
	}

	map(DATA_AT, 0x20000, 3, MAP_ANONYMOUS, -1, 0);
	map(CODE_AT, (long)h.code_size, 5, 0, fd, (long)h.code_offset);
	code_end = CODE_AT + h.code_size;
	map(0x20000000, (long)h.entries_size, 1, 0, fd, 0);
	entries = (struct entry *)(0x20000000 + sizeof(h));
	size = (to - from) * ROUNDS * (long)sizeof(struct result);
	map(0x30000000, size + PAGE, 3, MAP_ANONYMOUS, -1, 0);
	results = (struct result *)0x30000000;

	S->leave = (uint64_t)leave;
	S->level = h.level;
	seed = h.seed;
	for (int i = 0; i < 1024; i++) {
		pool[i] = mix(&seed);
		if (i & 1) /* numbers of moderate size, as floats or doubles */
			pool[i] = (pool[i] & (i & 2 ? 0xc7ffffffc7ffffff : 0xc03fffffffffffff)) |
				(i & 2 ? 0x3800000038000000 : 0x3f80000000000000);
	}
	for (int sig = 1; sig < 32; sig++)
		if (1u << sig &
		    (1u << SIGILL | 1u << SIGTRAP | 1u << SIGBUS | 1u << SIGFPE | 1u << SIGSEGV))
			handle(sig);
	call(SYS_sigaltstack, (long)&alt, 0, 0, 0, 0, 0);
	call(SYS_arch_prctl, ARCH_SET_FS, DATA_AT, 0, 0, 0, 0);
	call(SYS_arch_prctl, ARCH_SET_GS, DATA_AT, 0, 0, 0, 0);

	for (int round = 0; round < ROUNDS; round++)
		for (long i = from; i < to; i++) {
			prepare(&entries[i], h.seed + (uint64_t)i * ROUNDS + (uint64_t)round,
				empty);
			enter();
			*results++ = conclude(&entries[i]);
		}
	if (argv[2][0] == 'd') {
		dump("state", STATE_AT, sizeof(struct state) / 8);
		dump("data", DATA_AT, DATA_SIZE / 8);
		dump("stack", STACK_AT - STACK_SEEN, STACK_SEEN * 2 / 8);
		size = 0;
	}
	for (long done = 0, n; done < size; done += n)
		if ((n = call(SYS_write, 1, 0x30000000 + done, size - done, 0, 0, 0)) <= 0)
			die("random_run: cannot write the results\n");
	call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}
