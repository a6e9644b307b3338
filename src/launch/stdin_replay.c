/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "launch/stdin_replay.h"

enum { TELL_MS = 1000 };

static int64_t now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}

/* Wait until there is input, or its end. `tell` becomes NULL once it was called. */
static int wait_for_more(int64_t began, int64_t most_ms, stdin_replay_tell **tell, void *with,
			 struct tare_error *err)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	for (;;) {
		int64_t gone = now_ms() - began, next;
		int n;

		if (*tell && gone >= TELL_MS) {
			(*tell)(with);
			*tell = NULL;
		}
		if (most_ms && gone >= most_ms) {
			tare_fail(
				err, ETIMEDOUT,
				"standard input, which each run reads completely, did not end within --timeout");
			tare_hint(err, "where the command needs none: </dev/null");
			return -ETIMEDOUT;
		}
		next = !*tell || (most_ms && most_ms < TELL_MS) ? most_ms : TELL_MS;
		n = poll(&in, 1, next ? (int)(next - gone < INT_MAX ? next - gone : INT_MAX) : -1);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return tare_fail(err, errno, "cannot read standard input: %s",
					 strerror(errno));
	}
}

/* Read all of standard input into the memory file. */
static int read_all(int to, uint64_t timeout_ns, stdin_replay_tell *tell, void *with,
		    struct tare_error *err)
{
	const int64_t began = now_ms(),
		      most_ms = (int64_t)(timeout_ns / 1000000 + (timeout_ns % 1000000 != 0));
	char some[65536];
	int64_t all = 0;
	ssize_t n;

	for (;;) {
		int ret = wait_for_more(began, most_ms, &tell, with, err);

		if (ret < 0)
			return ret;
		n = read(STDIN_FILENO, some, sizeof(some));
		if (n == 0)
			return 0;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return tare_fail(err, errno, "cannot read standard input: %s",
					 strerror(errno));
		all += n;
		if (all > STDIN_REPLAY_MOST) {
			tare_fail(
				err, EFBIG,
				"standard input is a pipe of more than %d MiB, which each run would have to read",
				STDIN_REPLAY_MOST >> 20);
			tare_hint(err, "give it as a file: < FILE");
			return -EFBIG;
		}
		for (ssize_t done = 0, got; done < n; done += got) {
			got = write(to, some + done, (size_t)(n - done));
			if (got < 0)
				return tare_fail(err, errno, "no memory for standard input: %s",
						 strerror(errno));
		}
	}
}

int stdin_replay_begin(struct stdin_replay *in, uint64_t timeout_ns, stdin_replay_tell *tell,
		       void *with, struct tare_error *err)
{
	struct stat st;
	int ret;

	*in = (struct stdin_replay){ .file = -1, .before = -1, .from = -1 };
	if (fstat(STDIN_FILENO, &st) < 0)
		return 0; /* closed, and it stays closed */
	in->from = S_ISREG(st.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return 0;
	in->file = memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (in->file < 0)
		return tare_fail(err, errno, "no memory for standard input: %s", strerror(errno));
	ret = read_all(in->file, timeout_ns, tell, with, err);
	if (ret < 0)
		return ret;
	/* a run does not change the input of later ones */
	if (fcntl(in->file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return tare_fail(err, errno, "cannot seal standard input: %s", strerror(errno));
	in->before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	in->from = 0;
	if (in->before < 0 || dup2(in->file, STDIN_FILENO) < 0)
		return tare_fail(err, errno, "cannot replace standard input: %s", strerror(errno));
	return 0;
}

int stdin_replay_again(struct stdin_replay *in, struct tare_error *err)
{
	if (in->from >= 0 && lseek(STDIN_FILENO, in->from, SEEK_SET) < 0)
		return tare_fail(err, errno, "cannot read standard input once more: %s",
				 strerror(errno));
	return 0;
}

void stdin_replay_end(struct stdin_replay *in)
{
	if (in->before >= 0) {
		dup2(in->before, STDIN_FILENO);
		close(in->before);
	}
	if (in->file >= 0)
		close(in->file);
}
