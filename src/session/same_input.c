/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "session/same_input.h"

/* All of standard input into the file of memory. */
static int read_all(int to, struct tare_error *err)
{
	char some[65536];
	int64_t all = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, some, sizeof(some))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tare_fail(err, errno, "cannot read standard input: %s", strerror(errno));
		all += n;
		if (all > SAME_INPUT_MOST) {
			tare_fail(err, EFBIG, "standard input is a pipe of more than %d MiB, which each run would have to read", SAME_INPUT_MOST >> 20);
			tare_hint(err, "give it as a file: < FILE");
			return -EFBIG;
		}
		for (ssize_t done = 0, got; done < n; done += got) {
			got = write(to, some + done, (size_t)(n - done));
			if (got < 0)
				return tare_fail(err, errno, "no memory for standard input: %s", strerror(errno));
		}
	}
	return 0;
}

int same_input_begin(struct same_input *in, struct tare_error *err)
{
	struct stat st;
	int ret;

	*in = (struct same_input){ .file = -1, .before = -1, .from = -1 };
	if (fstat(STDIN_FILENO, &st) < 0)
		return 0; /* closed, and stays it */
	in->from = S_ISREG(st.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return 0;
	in->file = memfd_create("input", MFD_CLOEXEC);
	if (in->file < 0)
		return tare_fail(err, errno, "no memory for standard input: %s", strerror(errno));
	ret = read_all(in->file, err);
	if (ret < 0)
		return ret;
	in->before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	in->from = 0;
	if (in->before < 0 || dup2(in->file, STDIN_FILENO) < 0)
		return tare_fail(err, errno, "cannot replace standard input: %s", strerror(errno));
	return 0;
}

int same_input_again(struct same_input *in, struct tare_error *err)
{
	if (in->from >= 0 && lseek(STDIN_FILENO, in->from, SEEK_SET) < 0)
		return tare_fail(err, errno, "cannot read standard input once more: %s", strerror(errno));
	return 0;
}

void same_input_end(struct same_input *in)
{
	if (in->before >= 0) {
		dup2(in->before, STDIN_FILENO);
		close(in->before);
	}
	if (in->file >= 0)
		close(in->file);
}
