/* SPDX-License-Identifier: MIT */
/* Recordings of measureme: all points of all threads of whatever bytes. */
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "regions/timeline/timeline.h"

/* Begin and end nest, labels are there, values of what nests never fall. */
static void walk(struct timeline *t, size_t thread)
{
	const struct timeline_info *info = timeline_info(t);
	uint64_t depth = 0, last = 0;
	struct timeline_point p;
	struct cursor *c;

	must(timeline_thread(t, thread, &c, NULL) == 0);
	while (cursor_next(c, &p, NULL) == 1) {
		const struct timeline_label *l = p.label < info->n_labels
			? timeline_label(t, p.label)
			: NULL;

		must(l && l->name[0] && l->kind && l->arg && l->group < info->n_labels);
		must(p.kind != TIMELINE_END || depth > 0);
		if (p.kind == TIMELINE_BEGIN || p.kind == TIMELINE_END) {
			depth += p.kind == TIMELINE_BEGIN ? 1 : UINT64_MAX;
			must(p.value[0] >= last);
			last = p.value[0];
		}
	}
	must(depth == 0);
	cursor_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t = NULL;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (timeline_open(&t, path, &err) == 0) {
		for (size_t i = 0; i < timeline_info(t)->n_threads; i++)
			walk(t, i);
		timeline_close(t);
	} else {
		must(err.what[0]);
	}
	close(fd);
	return 0;
}
