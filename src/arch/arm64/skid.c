/* SPDX-License-Identifier: MIT */
#include "arch/skid.h"

#define PADDING 2000

#define STRING(x) #x
#define TEXT(x)   STRING(x)

/* clang-format off */
__asm__(".text\n"
	".balign 64\n"
	".hidden skid_loads, skid_branches, skid_loads_begin, skid_branches_begin\n"
	".globl skid_loads, skid_branches, skid_loads_begin, skid_branches_begin\n"
	".type skid_loads, %function\n"
	"skid_loads:\n"
	"skid_loads_begin:\n"
	"	ldr x3, [x1]\n"
	"	.rept " TEXT(PADDING) "\n"
	"	nop\n"
	"	.endr\n"
	"	add x1, x1, x2\n"
	"	subs x0, x0, #1\n"
	"	b.ne skid_loads_begin\n"
	"	ret\n"
	".size skid_loads, . - skid_loads\n"
	".balign 64\n"
	".type skid_branches, %function\n"
	"skid_branches:\n"
	"skid_branches_begin:\n"
	"	.rept " TEXT(PADDING) "\n"
	"	nop\n"
	"	.endr\n"
	"	subs x0, x0, #1\n"
	"	b.ne skid_branches_begin\n"
	"	ret\n"
	".size skid_branches, . - skid_branches\n");
/* clang-format on */

extern const unsigned char skid_loads_begin[], skid_branches_begin[];

const struct skid_loop *skid_loop(enum skid_which which)
{
	static const struct skid_loop loops[SKID_LOOPS] = {
		[SKID_LOADS] = { skid_loads_begin, 0, { { 1 + PADDING + 3, 4 } } },
		[SKID_BRANCHES] = { skid_branches_begin, PADDING + 1, { { PADDING + 2, 4 } } },
	};

	return &loops[which];
}
