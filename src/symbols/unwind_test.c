/* SPDX-License-Identifier: MIT */
/*
 * Expressions of call frame information; stacks of this program, of memory without files, and
 * invalid ones.
 */
#include <fcntl.h>
#include <link.h>
#include "symbols/unwind.h"
#include "symbols/unwind_rules.h"
#include "tap.h"

static bool word_at(void *arg, uint64_t at, uint64_t *out)
{
	(void)arg;
	*out = at + 1;
	return at < 0x1000;
}

static bool value(const Dwarf_Op *op, size_t n, uint64_t *out, bool *is_place)
{
	static const uint64_t reg[RULE_REGISTERS] = { [7] = 0x100, [16] = 0x40f };
	const struct rule_state s = { reg, 1 << 7 | 1 << 16, 0x500, word_at, NULL };

	return rule_evaluate(op, n, &s, out, is_place);
}

#define EVALUATE(...)                                                                              \
	value((const Dwarf_Op[]){ __VA_ARGS__ },                                                   \
	      sizeof((const Dwarf_Op[]){ __VA_ARGS__ }) / sizeof(Dwarf_Op), &v, &place)

TEST(expressions)
{
	uint64_t v;
	bool place;

	CHECK(EVALUATE({ .atom = DW_OP_breg7, .number = 8 }) && v == 0x108 && place,
	      "register and offset");
	CHECK(EVALUATE({ .atom = DW_OP_bregx, .number = 7, .number2 = (uint64_t)-8 }) && v == 0xf8,
	      "the same, far");
	CHECK(!EVALUATE({ .atom = DW_OP_breg3 }), "a register that is not known");
	CHECK(!EVALUATE({ .atom = DW_OP_bregx, .number = 1000 }), "one that there is not");
	CHECK(EVALUATE({ .atom = DW_OP_call_frame_cfa },
		       { .atom = DW_OP_plus_uconst, .number = 16 }) &&
		      v == 0x510,
	      "from the CFA");
	CHECK(EVALUATE({ .atom = DW_OP_lit9 }, { .atom = DW_OP_stack_value }) && v == 9 && !place,
	      "a value");
	CHECK(EVALUATE({ .atom = DW_OP_reg7 }) && v == 0x100 && !place, "in a register");
	CHECK(EVALUATE({ .atom = DW_OP_const1u, .number = 4 }, { .atom = DW_OP_deref }) && v == 5,
	      "from memory");
	CHECK(!EVALUATE({ .atom = DW_OP_const4u, .number = 0x2000 }, { .atom = DW_OP_deref }),
	      "from nowhere");
	/* The CFA within a procedure linkage table, as linkers write it: 8 more after the push. */
	const Dwarf_Op plt[] = { { .atom = DW_OP_breg7, .number = 8 },
				 { .atom = DW_OP_breg16 },
				 { .atom = DW_OP_lit15 },
				 { .atom = DW_OP_and },
				 { .atom = DW_OP_lit11 },
				 { .atom = DW_OP_ge },
				 { .atom = DW_OP_lit3 },
				 { .atom = DW_OP_shl },
				 { .atom = DW_OP_plus } };

	CHECK(value(plt, ARRAY_SIZE(plt), &v, &place) && v == 0x110, "0x40f & 15 >= 11: 16 more");
	CHECK(!EVALUATE({ .atom = DW_OP_plus }), "nothing to add");
	CHECK(!EVALUATE({ .atom = 0xff }), "no operation");
	CHECK(EVALUATE({ .atom = DW_OP_lit1 }, { .atom = DW_OP_lit2 }, { .atom = DW_OP_over },
		       { .atom = DW_OP_minus }) &&
		      v == 1,
	      "2 - 1");
	CHECK(EVALUATE({ .atom = DW_OP_lit1 }, { .atom = DW_OP_consts, .number = 70 },
		       { .atom = DW_OP_shl }) &&
		      v == 0,
	      "a shift beyond the word");
	Dwarf_Op many[100];

	for (size_t i = 0; i < 100; i++)
		many[i] = (Dwarf_Op){ .atom = DW_OP_lit1 };
	CHECK(!value(many, 100, &v, &place), "too deep");
}

#ifdef __x86_64__
/* A copy of this thread's stack with its registers, as in a sample. */
static uint64_t reg[24];
static struct perfdata_sample sample;
static unsigned char stack[16384];
static struct unwinder *unwinder;
static struct maps maps;
static struct map all_maps[256];
static struct unwind_file files[256];
static struct elf_head heads[256];
static size_t n_files;

static bool file_of(void *arg, uint32_t module, struct unwind_file *out)
{
	(void)arg;
	if (module >= n_files || files[module].fd < 0)
		return false;
	*out = files[module];
	return true;
}

static int take_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	uint32_t module = (uint32_t)n_files;

	(void)size, (void)arg;
	files[n_files] = (struct unwind_file){ path, open(path, O_RDONLY | O_CLOEXEC),
					       &heads[n_files] };
	if (files[n_files].fd < 0 || elf_head_read(&heads[n_files], files[n_files].fd, NULL) < 0)
		return 0;
	n_files++;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			all_maps[maps.n++] = (struct map){ start, start + p->p_memsz - 1,
							   p->p_offset, module, false };
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	return ((const struct map *)a)->start < ((const struct map *)b)->start ? -1 : 1;
}

/* Reads other functions' frames, which a sanitizer would report. */
__attribute__((no_sanitize("address"))) static void take_sample(uint64_t sp, uint64_t bp,
								uint64_t ip)
{
	extern char **environ; /* higher than all frames */
	size_t n = (size_t)((uint64_t)(uintptr_t)environ - sp);

	n = n < sizeof(stack) ? n : sizeof(stack);
	for (size_t i = 0; i < n; i++)
		stack[i] = ((const volatile unsigned char *)(uintptr_t)sp)[i];
	reg[6] = bp, reg[7] = sp, reg[8] = ip;
	sample = (struct perfdata_sample){ .regs_user = { 2, 0xff0fff & ~0xffe00ull, reg, 0 },
					   .stack = stack,
					   .stack_size = sizeof(stack),
					   .stack_dyn_size = n };
	sample.regs_user.mask = 0x1ff;
}

static uint64_t return_to[3];

__attribute__((noinline)) static void innermost(void)
{
	return_to[0] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	uint64_t sp, bp, ip;
	__asm__ volatile("mov %%rsp, %0; mov %%rbp, %1; lea 0(%%rip), %2"
			 : "=r"(sp), "=r"(bp), "=r"(ip));
	take_sample(sp, bp, ip);
}

__attribute__((noinline)) static void middle(volatile int depth)
{
	return_to[1] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	innermost();
	depth++;
}

__attribute__((noinline)) static void outer(volatile int depth)
{
	return_to[2] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	middle(depth + 1);
	depth++;
}

static unsigned walk(uint64_t *at, unsigned max, bool *whole)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (!unwinder && !(unwinder = unwinder_new(file_of, NULL, &err)))
		tap_skip("libdw", "%s", err.what);
	return unwind(unwinder, &maps, &sample, at, max, whole);
}

TEST(its_own_stack)
{
	uint64_t at[64];
	bool whole;
	unsigned n;

	maps.map = all_maps;
	dl_iterate_phdr(take_module, NULL);
	qsort(all_maps, maps.n, sizeof(*all_maps), by_start);
	outer(1);
	n = walk(at, 64, &whole);
	CHECK(n > 5, "%u frames", n);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(at[i + 1], return_to[i] - 1, "the call before where frame %u returns to",
			 i);
	CHECK(whole, "up to the first function of the program");
	n = walk(at, 2, &whole);
	CHECK_EQ(n, 2u, "at most as many as requested");
	CHECK(!whole, "which is not all");
	CHECK(!unwinder_ran_out(unwinder), "of stack");
	sample.stack_dyn_size = 8;
	n = walk(at, 64, &whole);
	CHECK(!whole && !unwinder_ran_out(unwinder),
	      "less was copied than was asked for: there is no more");
	sample.stack_size = 8;
	n = walk(at, 64, &whole);
	CHECK(!whole && unwinder_ran_out(unwinder), "as much as was asked for was not enough");
	sample.stack_size = sizeof(stack);
	CHECK(n >= 1 && n < 4 && !whole, "a stack that was not recorded whole: %u", n);
	sample.regs_user.abi = 0;
	CHECK_EQ(walk(at, 64, &whole), 0u, "without registers");
	sample.regs_user.abi = 2;
	sample.regs_user.mask = 0x7f;
	CHECK_EQ(walk(at, 64, &whole), 0u, "without the instruction's address");
	unwinder_free(unwinder);
	unwinder = NULL;
}

TEST(code_without_a_file_keeps_a_frame_pointer)
{
	static const uint64_t words[] = {
		1, 0x7000 + 48, 0x1010, 3, 4, 5, 0x7000 + 64, 0x1020, 0, 0
	};
	struct map jit = { 0x1000, 0x1fff, 0x1000, 9, false };
	uint64_t at[64];
	bool whole;

	maps = (struct maps){ &jit, 1, 1, 1, 1 };
	n_files = 0;
	reg[6] = 0x7008, reg[7] = 0x7000, reg[8] = 0x1500;
	sample = (struct perfdata_sample){ .regs_user = { 2, 0x1ff, reg, 9 },
					   .stack = words,
					   .stack_size = sizeof(words),
					   .stack_dyn_size = sizeof(words) };
	CHECK_EQ(walk(at, 64, &whole), 3u, "frames");
	CHECK_EQ(at[0], 0x1500u, "itself");
	CHECK_EQ(at[1], 0x100fu, "its caller");
	CHECK_EQ(at[2], 0x101fu, "and that one's");
	reg[6] = 0x6000;
	CHECK_EQ(walk(at, 64, &whole), 1u, "a frame pointer below the stack is none");
	maps = (struct maps){ 0 };
	CHECK_EQ(walk(at, 64, &whole), 1u, "in a process that nothing is known of");
	unwinder_free(unwinder);
	unwinder_free(NULL);
	unwinder = NULL;
}

TEST(registers_of_arm64)
{
	static const uint64_t words[] = { 0x7000 + 32, 0x1010, 3, 4, 0, 0x0ab0000000001020, 7, 8 };
	static uint64_t arm[33];
	struct map jit = { 0x1000, 0x1fff, 0x1000, 9, false };
	uint64_t at[64];
	bool whole;

	maps = (struct maps){ &jit, 1, 1, 1, 1 };
	n_files = 0;
	arm[29] = 0x7000, arm[30] = 0x1999, arm[31] = 0x7000, arm[32] = 0x1500;
	sample = (struct perfdata_sample){ .regs_user = { 2, (1ull << 33) - 1, arm, 33 },
					   .stack = words,
					   .stack_size = sizeof(words),
					   .stack_dyn_size = sizeof(words) };
	CHECK_EQ(walk(at, 64, &whole), 3u, "frames by x29");
	CHECK_EQ(at[0], 0x1500u, "pc");
	CHECK_EQ(at[1], 0x100fu, "its caller");
	CHECK_EQ(at[2], 0x101fu, "a signed return address");
	unwinder_free(unwinder);
	unwinder = NULL;
}
#endif

TEST_MAIN()
