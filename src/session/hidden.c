/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "session/hidden.h"

/* FNV-1a, 64 bits. */
static uint64_t hash_of(int fd)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	uint8_t some[65536];
	ssize_t n;
	off_t at = 0;

	while ((n = pread(fd, some, sizeof(some), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			hash = (hash ^ some[i]) * 0x100000001b3ull;
		at += n;
	}
	return hash;
}

/* Standard output and error become `fd`; `before` keeps what they were. */
static void redirect(int fd, int before[2])
{
	for (int i = 0; i < 2; i++) {
		before[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
		dup2(fd, i + 1);
	}
}

static void redirect_back(const int before[2])
{
	for (int i = 0; i < 2; i++) {
		if (before[i] >= 0)
			dup2(before[i], i + 1);
		else
			close(i + 1);
		if (before[i] >= 0)
			close(before[i]);
	}
}

int hidden_begin(struct hidden *h, struct tare_error *err)
{
	h->fd = memfd_create("output", MFD_CLOEXEC);
	if (h->fd < 0)
		return tare_fail(err, errno, "no memory for the command's output: %s", strerror(errno));
	redirect(h->fd, h->before);
	return 0;
}

uint64_t hidden_end(struct hidden *h)
{
	uint64_t hash;

	redirect_back(h->before);
	hash = hash_of(h->fd);
	close(h->fd);
	return hash;
}
