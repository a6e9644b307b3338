/* SPDX-License-Identifier: MIT */
/*
 * Random bytes that are the same in every run: a sequence for each thread, seeded by its descent.
 * Constant bytes would not do: a program that looks for an unused temporary name needs the next
 * ones to differ.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/random.h>
#include "exact/engine/engine.h"

enum {
	CHUNK = 256,
	GETRANDOM_MAX = 33554431,
	FILE_BYTES = 1 << 20,
	FLAGS_KNOWN = GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE,
	FLAGS_EITHER = GRND_RANDOM | GRND_INSECURE
};

static void fill(struct thread *t, uint8_t chunk[CHUNK])
{
	uint64_t state = stable_id_of(t->stable_id, STABLE_ID_RANDOM | t->randoms++);

	for (unsigned i = 0; i < CHUNK; i += 8) {
		uint64_t word = scatter(state += SPLITMIX);

		memcpy(chunk + i, &word, 8);
	}
}

static long get_random(struct thread *t, uint64_t to, uint64_t n)
{
	uint8_t chunk[CHUNK];
	uint64_t done = 0;

	if (n > GETRANDOM_MAX)
		n = GETRANDOM_MAX;
	while (done < n) {
		uint64_t some = n - done < CHUNK ? n - done : CHUNK, got;

		fill(t, chunk);
		got = copy_bytes((void *)(to + done), chunk, some);
		done += got;
		if (got < some)
			return done ? (long)done : -EFAULT;
	}
	return (long)done;
}

/* Is it the file of this name, which is shorter than 16 bytes? */
bool is_path(uint64_t path, const char *want)
{
	char name[16] = "";
	unsigned n = 0;

	copy_bytes(name, (const void *)path, sizeof name);
	while (want[n] && name[n] == want[n])
		n++;
	return !want[n] && !name[n];
}

static bool is_random(uint64_t path)
{
	return is_path(path, "/dev/urandom") || is_path(path, "/dev/random");
}

/* A memory file in its place; it ends after 1 MiB. */
static long open_random(struct thread *t, uint64_t flags)
{
	static const char name[] = "random";
	uint8_t chunk[CHUNK];
	long fd = sys(__NR_memfd_create, name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

	for (unsigned at = 0; fd >= 0 && at < FILE_BYTES; at += CHUNK) {
		fill(t, chunk);
		if (sys(__NR_write, fd, chunk, CHUNK) != CHUNK)
			break;
	}
	if (fd >= 0)
		sys(__NR_lseek, fd, 0, 0);
	return fd;
}

/* Answer a call that returns random bytes; false: another call. */
bool random_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t path = r[RAX] == __NR_open ? r[RDI] : r[RSI],
		 flags = r[RAX] == __NR_open ? r[RSI] : r[RDX];

	if (!(eng.mode & SAME_RANDOM))
		return false;
	if (r[RAX] == __NR_getrandom) {
		/*
		 * the kernel looks at no more bits. Source: linux, drivers/char/random.c,
		 * getrandom()
		 */
		unsigned asked = (unsigned)r[RDX];

		if (asked & ~(unsigned)FLAGS_KNOWN || (asked & FLAGS_EITHER) == FLAGS_EITHER)
			return false; /* the kernel reports the error */
		finish(t, get_random(t, r[RDI], r[RSI]));
		return true;
	}
	if ((flags & O_ACCMODE) != O_RDONLY || !is_random(path))
		return false;
	finish(t, open_random(t, flags));
	return true;
}
