/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/library.h"

int library_missing(struct tare_error *err, int code, const char *what, const char *hint)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), none = errno;

	if (fd < 0 && (none == EMFILE || none == ENFILE)) {
		tare_fail(err, code, "%s, cannot be loaded: %s", what, strerror(none));
		tare_hint(err, "ulimit -n N allows more");
		return -code;
	}
	if (fd >= 0)
		close(fd);
	tare_fail(err, code, "%s, cannot be loaded", what);
	tare_hint(err, "%s", hint);
	return -code;
}
