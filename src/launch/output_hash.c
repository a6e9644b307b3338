/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/process.h"
#include "launch/output_hash.h"

/* FNV-1a, 64 bits. Runs until `stop` has been written to and no more data is there. */
static void *hash_all(void *with)
{
	struct output_hash *h = with;
	struct pollfd fds[2] = { { .fd = h->pipe[0], .events = POLLIN },
				 { .fd = h->stop, .events = POLLIN } };
	uint8_t some[65536];
	ssize_t n;

	h->hash = 0xcbf29ce484222325ull;
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		n = read(h->pipe[0], some, sizeof(some));
		if (n == 0 || (n < 0 && (fds[1].revents || (errno != EAGAIN && errno != EINTR))))
			return NULL;
		for (ssize_t i = 0; i < n; i++)
			h->hash = (h->hash ^ some[i]) * 0x100000001b3ull;
	}
}

/* Make `fd` standard output and error. */
static void redirect(struct output_hash *h, int fd)
{
	for (int i = 0; i < 2; i++) {
		h->to_close[i] = fcntl(i + 1, F_GETFD) & FD_CLOEXEC;
		dup2(fd, i + 1);
	}
}

static void redirect_back(struct output_hash *h)
{
	for (int i = 0; i < 2; i++) {
		dup3(h->before[i], i + 1, h->to_close[i] ? O_CLOEXEC : 0);
		close(h->before[i]);
	}
}

static int begin_reading(struct output_hash *h)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the caller's thread */
	code = pthread_create(&h->reader, NULL, hash_all, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

int output_hash_begin(struct output_hash *h, struct tare_error *err)
{
	int code = 0;

	h->pipe[0] = h->pipe[1] = -1;
	h->before[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	h->before[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	h->stop = eventfd(0, EFD_CLOEXEC);
	if (h->before[0] < 0 || h->before[1] < 0 || h->stop < 0 || pipe2(h->pipe, O_CLOEXEC) < 0 ||
	    fcntl(h->pipe[0], F_SETFL, O_NONBLOCK) < 0)
		code = errno;
	if (!code)
		code = begin_reading(h);
	if (!code) {
		redirect(h, h->pipe[1]);
		close(h->pipe[1]);
		return 0;
	}
	close(h->before[0]);
	close(h->before[1]);
	close(h->stop);
	close(h->pipe[0]);
	close(h->pipe[1]);
	tare_fail(err, code, "cannot create a pipe or thread for the command's output: %s",
		  strerror(code));
	process_limit_hint(err, code);
	return -code;
}

uint64_t output_hash_end(struct output_hash *h)
{
	uint64_t one = 1;

	redirect_back(h);
	if (write(h->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(h->reader, NULL);
	close(h->stop);
	close(h->pipe[0]);
	return h->hash;
}
