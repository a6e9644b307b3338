/* SPDX-License-Identifier: MIT */
/*
 * The files that list the machine's CPUs, as the program sees them when it opens them by their
 * absolute paths. Shared with the engine.
 */
#ifndef EXACT_CPU_FILES_H
#define EXACT_CPU_FILES_H

#include <stdint.h>

/* A CPU mask fits into a register. */
enum { CPUS_MAX = 64, CPU_FILES_MAX = 8, CPU_FILE_PATH = 48, CPU_FILES_BYTES = 192 << 10 };

struct cpu_files {
	uint32_t cpus; /* their number */
	uint32_t n;
	struct cpu_file {
		char path[CPU_FILE_PATH];
		uint32_t at, bytes; /* in `text` */
	} file[CPU_FILES_MAX];
	char text[CPU_FILES_BYTES];
};

#endif
