/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as call frame information of a program: functions that are where they are found, or
 * none.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "symbols/elf_sample.h"
#include "symbols/symbols.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *file = calloc(1, SAMPLE_FRAMES + n);
	struct tare_error err = TARE_ERROR_INIT;
	int fd = memfd_create("frames", MFD_CLOEXEC);
	struct symbols *s;

	must(file && fd >= 0);
	sample_elf(file, 0x90);
	sample_elf_frames(file, bytes, n);
	must(write(fd, file, SAMPLE_FRAMES + n) == (ssize_t)(SAMPLE_FRAMES + n));
	if (symbols_open(&s, "frames", fd, &err) == 0) {
		for (uint64_t at = SAMPLE_CODE; at < SAMPLE_STUBS; at += 4) {
			struct symbol found;

			if (symbols_find(s, at, &found))
				must(found.name[0] && found.start <= at && at < found.end);
		}
		symbols_close(s);
	}
	close(fd);
	free(file);
	return 0;
}
