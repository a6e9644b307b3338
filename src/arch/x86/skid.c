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
	".type skid_loads, @function\n"
	"skid_loads:\n"
	"skid_loads_begin:\n"
	"	mov (%rsi), %rax\n"
	"	.fill " TEXT(PADDING) ", 1, 0x90\n"
	"	add %rdx, %rsi\n"
	"	sub $1, %rdi\n"
	"	jnz skid_loads_begin\n"
	"	ret\n"
	".size skid_loads, . - skid_loads\n"
	".balign 64\n"
	".type skid_branches, @function\n"
	"skid_branches:\n"
	"skid_branches_begin:\n"
	"	.fill " TEXT(PADDING) ", 1, 0x90\n"
	"	sub $1, %rdi\n"
	"	jnz skid_branches_begin\n"
	"	ret\n"
	".size skid_branches, . - skid_branches\n");
/* clang-format on */

extern const unsigned char skid_loads_begin[], skid_branches_begin[];

const struct skid_loop *skid_loop(enum skid_which which)
{
	static const struct skid_loop loops[SKID_LOOPS] = {
		[SKID_LOADS] = { skid_loads_begin,
				 0,
				 { { 1, 3 }, { PADDING, 1 }, { 1, 3 }, { 1, 4 }, { 1, 6 } } },
		[SKID_BRANCHES] = { skid_branches_begin,
				    PADDING + 1,
				    { { PADDING, 1 }, { 1, 4 }, { 1, 6 } } },
	};

	return &loops[which];
}
