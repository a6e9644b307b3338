/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as /proc/PID/maps, read as they come: lines that end within the text, whatever the file
 * is cut into.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "base/proc_maps.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct proc_maps *m = calloc(1, sizeof(*m));
	struct proc_map map;
	size_t lines = 0;

	must(m);
	m->fd = memfd_create("maps", MFD_CLOEXEC);
	must(m->fd >= 0 && write(m->fd, bytes, n) == (ssize_t)n && lseek(m->fd, 0, SEEK_SET) == 0);
	for (; proc_maps_next(m, &map); lines++) {
		must(map.name >= m->text && map.name < m->text + sizeof(m->text));
		must(strlen(map.name) < sizeof(m->text) - (size_t)(map.name - m->text));
	}
	must(lines <= n / 2 + 1);
	proc_maps_close(m);
	free(m);
	return 0;
}
