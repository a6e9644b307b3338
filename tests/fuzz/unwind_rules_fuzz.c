/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as call frame information, and as expressions: rules within their tables, and values or
 * none. The first byte says how many bytes are operations.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "symbols/elf_sample.h"
#include "symbols/unwind_rules.h"
#include "fuzz.h"

enum { OPERATIONS = 24 };

static bool memory(void *arg, uint64_t at, uint64_t *out)
{
	(void)arg;
	*out = at * 3;
	return at % 5 != 0;
}

static void evaluate(const Dwarf_Op *op, size_t n)
{
	uint64_t reg[RULE_REGISTERS] = { 1, 2, 3, 4, 5, 6, 7, 0x7000 }, value;
	const struct rule_state s = {
		.reg = reg, .known = 0x101ff, .cfa = 0x8000, .memory = memory
	};
	bool is_place;

	rule_evaluate(op, n, &s, &value, &is_place);
}

static void check(const struct rule *r)
{
	must(r->kind == RULE_NONE || r->return_register < RULE_REGISTERS);
	must(r->saved <= RULE_REGISTERS);
	for (unsigned i = 0; i < r->saved; i++)
		must(r->saved_register[i] < RULE_REGISTERS);
	if (r->kind == RULE_FRAME) {
		Dwarf_Op *op, room[3];
		size_t n;

		must(r->frame);
		if (libdw.dwarf_frame_cfa(r->frame, &op, &n) == 0)
			evaluate(op, n);
		for (int i = 0; i < RULE_REGISTERS; i++)
			if (libdw.dwarf_frame_register(r->frame, i, room, &op, &n) == 0)
				evaluate(op, n);
	}
}

static void frames(const uint8_t *bytes, size_t n)
{
	uint8_t *file = calloc(1, SAMPLE_FRAMES + n);
	int fd = memfd_create("frames", MFD_CLOEXEC);
	struct rule_file f = { 0 };
	static struct rules rules; /* large; those of other inputs are of another module */
	static uint32_t module;

	must(file && fd >= 0);
	sample_elf(file, 0x90);
	sample_elf_frames(file, bytes, n);
	must(write(fd, file, SAMPLE_FRAMES + n) == (ssize_t)(SAMPLE_FRAMES + n));
	rule_file_open(&f, "frames", fd);
	module++;
	for (uint64_t at = SAMPLE_BASE + SAMPLE_CODE; at < SAMPLE_BASE + SAMPLE_STUBS; at += 16) {
		const struct rule *r = rules_find(&rules, &f, module, at, 7);

		must(r);
		check(r);
	}
	rule_file_close(&f);
	close(fd);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	Dwarf_Op op[OPERATIONS];
	size_t ops = 0, take = n ? bytes[0] : 0;

	if (!n || libdw_load(NULL) < 0)
		return 0;
	bytes++, n--;
	for (; ops < OPERATIONS && take >= 10 && n >= 10; bytes += 10, n -= 10, take -= 10, ops++) {
		op[ops] = (Dwarf_Op){ .atom = bytes[0], .number2 = bytes[1] };
		memcpy(&op[ops].number, bytes + 2, 8);
	}
	evaluate(op, ops);
	frames(bytes, n);
	return 0;
}
