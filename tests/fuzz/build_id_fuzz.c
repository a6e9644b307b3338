/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an ELF image in memory, as an ELF file, and as notes: the same build id from both,
 * or none.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "base/build_id.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct build_id image = { 0 }, file = { 0 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	bool in_image, in_file;

	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	in_image = build_id_of_image(bytes, n, &image);
	in_file = build_id_of_file(fd, &file);
	close(fd);
	must(in_image == in_file);
	must(!in_image ||
	     (image.size && image.size <= sizeof(image.bytes) &&
	      !memcmp(&image, &file, sizeof(image))));
	build_id_of_notes(bytes, n, &image);
	return 0;
}
