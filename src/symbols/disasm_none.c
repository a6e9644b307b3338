/* SPDX-License-Identifier: MIT */
/* A build without Capstone cannot disassemble. */
#include "symbols/disasm.h"

int disasm_open(struct disasm **out, uint16_t machine, bool intel_syntax, struct tare_error *err)
{
	(void)machine, (void)intel_syntax;
	*out = NULL;
	tare_fail(err, ENOENT, "this tare was built without Capstone, which disassembles");
	tare_hint(err, "install libcapstone-dev and build tare again, not as a static program");
	return -ENOENT;
}

void disasm_next(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		 struct disasm_insn *out)
{
	(void)d, (void)bytes, (void)n, (void)address;
	*out = (struct disasm_insn){ .size = 1 };
}

void disasm_close(struct disasm *d)
{
	(void)d;
}

bool disasm_effects(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		    struct disasm_effects *out)
{
	(void)d, (void)bytes, (void)n, (void)address;
	*out = (struct disasm_effects){ 0 };
	return false;
}

struct access_width disasm_width(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address)
{
	(void)d, (void)bytes, (void)n, (void)address;
	return (struct access_width){ 0 };
}
