/* SPDX-License-Identifier: MIT */
/* Any bytes as an ELF file: refused, or a head whose addresses and offsets agree. */
#include <sys/mman.h>
#include <unistd.h>
#include "symbols/elf_head.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct elf_head h;
	uint64_t address;
	int fd = memfd_create("elf", 0);

	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	if (elf_head_read(&h, fd, &err) < 0) {
		must(err.what[0]);
	} else {
		must(h.build_id.size <= sizeof(h.build_id.bytes) && h.segments <= ELF_SEGMENTS_MAX);
		for (uint64_t at = 0; at < n + 64; at += 7)
			elf_offset_to_address(&h, at, &address);
	}
	close(fd);
	return 0;
}
