/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recording of allocations: read to the end, in order of time, with every frame
 * inside the file. Where the first byte is even, the rest stands behind a good head: else few bytes
 * would ever be blocks.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "perfdata/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;
	struct alloc_event e;
	uint64_t last = 0, events = 0, sum = 0;
	char path[64];
	int fd = memfd_create("alloc", 0);

	must(fd >= 0);
	if (n && bytes[0] % 2 == 0) {
		const struct alloc_head head = { .magic = ALLOC_MAGIC,
						 .version = ALLOC_VERSION,
						 .block = ALLOC_BLOCK,
						 .blocks = 3,
						 .clock = 1,
						 .most = 9 };

		must(write(fd, &head, sizeof(head)) == sizeof(head) &&
		     lseek(fd, ALLOC_PAGE, SEEK_SET) == ALLOC_PAGE);
		bytes++;
		n--;
	}
	must(write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (alloc_open(&f, path, &err) == 0) {
		while (alloc_next(f, &e) > 0) {
			must(e.time_ns >= last && e.frames <= ALLOC_FRAMES);
			last = e.time_ns;
			for (unsigned i = 0; i < e.frames; i++)
				sum += e.frame[i].returns + e.frame[i].pointer;
			for (unsigned i = 0; i < ALLOC_WORDS; i++)
				sum += e.told >> i & 1 ? e.word[i] : 0;
			events++;
		}
		must(events == alloc_count(f) && events <= n / sizeof(struct alloc_record));
	} else
		must(err.what[0]);
	alloc_close(f);
	close(fd);
	(void)sum;
	return 0;
}
