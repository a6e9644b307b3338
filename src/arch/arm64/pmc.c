/* SPDX-License-Identifier: MIT */
/*
 * One routine per counter for tare_pmc_read(): 16 bytes each, so that the address is computed from
 * the number.
 */
#include "pmc.h"

__asm__(".pushsection .text\n"
	".balign 16\n"
	".hidden pmc_routines\n"
	".global pmc_routines\n"
	"pmc_routines:\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
#ifdef __ARM_FEATURE_BTI_DEFAULT
	"bti c\n"
#endif
	"mrs x0, pmevcntr\\n\\()_el0\n"
	"ret\n"
	".balign 16\n"
	".endr\n"
#ifdef __ARM_FEATURE_BTI_DEFAULT
	"bti c\n"
#endif
	"mrs x0, pmccntr_el0\n"
	"ret\n"
	".popsection\n");
