/* SPDX-License-Identifier: MIT */
/*
 * The build id that a linker wrote into a program or library: a note that identifies its exact
 * contents. Takes ELF bytes, which are untrusted.
 */
#ifndef BASE_BUILD_ID_H
#define BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id {
	uint8_t bytes[20]; /* at most what fits into a perf.data file */
	uint8_t size;
};

/* Of an open ELF file in this machine's byte order. false: it has none, or is no such file. */
bool build_id_of_file(int fd, struct build_id *out);
/* Of an ELF image in memory, of n bytes at most. */
bool build_id_of_image(const void *image, size_t n, struct build_id *out);
/* From a sequence of notes, such as /sys/kernel/notes; aligned to 4. */
bool build_id_of_notes(const unsigned char *notes, size_t n, struct build_id *out);

#endif
