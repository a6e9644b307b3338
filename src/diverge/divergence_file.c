/* SPDX-License-Identifier: MIT */
/*
 * The file of a system call: the path that it gets, or, if it gets a descriptor, the path of the
 * call that opened it, if this is among the recorded steps. The steps have only registers, so the
 * path is read from memory in two further runs that execute the same instructions up to the call.
 */
#include <stdio.h>
#include <string.h>
#include "diverge/divergence_file.h"
#include "diverge/divergence_memory.h"

enum { RAX, RSI = 6, RDI = 7, NO = 255, TRIES = 2 };

/* Where a call has the path of a file, or the descriptor of one. Source: syscalls(2). */
static const struct {
	int nr;
	uint8_t path, descriptor;
	bool opens;
} rows[] = {
	{ 0, NO, RDI, false },   /* read */
	{ 2, RDI, NO, true },    /* open */
	{ 4, RDI, NO, false },   /* stat */
	{ 5, NO, RDI, false },   /* fstat */
	{ 6, RDI, NO, false },   /* lstat */
	{ 8, NO, RDI, false },   /* lseek */
	{ 17, NO, RDI, false },  /* pread64 */
	{ 19, NO, RDI, false },  /* readv */
	{ 21, RDI, NO, false },  /* access */
	{ 85, RDI, NO, true },   /* creat */
	{ 89, RDI, NO, false },  /* readlink */
	{ 137, RDI, NO, false }, /* statfs */
	{ 138, NO, RDI, false }, /* fstatfs */
	{ 217, NO, RDI, false }, /* getdents64 */
	{ 257, RSI, NO, true },  /* openat */
	{ 262, RSI, NO, false }, /* newfstatat */
	{ 267, RSI, NO, false }, /* readlinkat */
	{ 269, RSI, NO, false }, /* faccessat */
	{ 295, NO, RDI, false }, /* preadv */
	{ 327, NO, RDI, false }, /* preadv2 */
	{ 332, RSI, NO, false }, /* statx */
	{ 437, RSI, NO, true },  /* openat2 */
	{ 439, RSI, NO, false }, /* faccessat2 */
};

static size_t row_of(uint64_t nr)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(rows) && (uint64_t)rows[i].nr != nr)
		i++;
	return i;
}

/* The bytes of a `syscall` instruction. */
static bool is_call(const struct diverge_step *step, code_at_fn *code, void *with)
{
	uint8_t bytes[2];

	return code(with, step->pc, bytes, 2) == 2 && bytes[0] == 0x0f && bytes[1] == 0x05;
}

/* The descriptor that this call duplicated to `descriptor`; -1: it is another call. */
static int64_t copied_from(const uint64_t *regs, uint64_t descriptor)
{
	enum { DUP = 32, DUP2 = 33, FCNTL = 72, DUP3 = 292, F_DUPFD = 0, F_DUPFD_CLOEXEC = 1030 };

	switch (regs[RAX]) {
	case DUP2:
	case DUP3:
		return regs[RSI] == descriptor ? (int64_t)regs[RDI] : -1;
	case FCNTL:
		if (regs[RSI] != F_DUPFD && regs[RSI] != F_DUPFD_CLOEXEC)
			return -1;
		return (int64_t)regs[RDI];
	default:
		return regs[RAX] == DUP ? (int64_t)regs[RDI] : -1;
	}
}

static bool closes(const uint64_t *regs, uint64_t descriptor)
{
	enum { CLOSE = 3, CLOSE_RANGE = 436 };

	return (regs[RAX] == CLOSE && regs[RDI] == descriptor) ||
		(regs[RAX] == CLOSE_RANGE && descriptor >= regs[RDI] && descriptor <= regs[RSI]);
}

enum opened { OPENED_BY, OPENED_BEFORE, OPENED_OTHERWISE };

/*
 * The call before step `before` that opened this descriptor. A call that closes it, found on the
 * way back, shows that it was opened after that, in a way that is not known here.
 */
static enum opened opened_by(const struct diverge_run *run, size_t before, uint64_t *descriptor,
			     code_at_fn *code, void *with, size_t *out)
{
	for (size_t i = before; i-- > 0;) {
		const uint64_t *regs = run->step[i].regs, result = run->step[i + 1].regs[RAX];
		size_t row = row_of(regs[RAX]);
		bool opens = row < ARRAY_SIZE(rows) && rows[row].opens && result == *descriptor;
		int64_t from = result == *descriptor ? copied_from(regs, *descriptor) : -1;
		bool closed = closes(regs, *descriptor);

		if ((!opens && from < 0 && !closed) || !is_call(&run->step[i], code, with))
			continue;
		*out = i;
		if (from < 0)
			return opens ? OPENED_BY : OPENED_OTHERWISE;
		*descriptor = (uint64_t)from;
	}
	return OPENED_BEFORE;
}

/* Before the call at `step`, whose path is at `address`. */
static int read_path(struct divergence *d, const struct diverge_step *step, uint64_t address,
		     struct diverge_plan *plan, char out[FILE_NAME_MAX], struct tare_error *err)
{
	struct diverge_place place[DIVERGE_PLACES_MAX];
	struct divergence e = { 0 };
	int ret;

	for (unsigned i = 0; i < DIVERGE_PLACES_MAX; i++)
		place[i] = (struct diverge_place){ address + 8 * i, false };
	ret = diverge_earlier(plan, d, step->number, place, DIVERGE_PLACES_MAX, TRIES, &e, err);
	if (ret > 0) {
		const uint64_t *held = &e.run[0].held[e.at * e.n_watched];
		char path[8 * DIVERGE_PLACES_MAX + 1] = "";

		memcpy(path, held, sizeof(path) - 1);
		snprintf(out, FILE_NAME_MAX, "%s%s", path,
			 strlen(path) == sizeof(path) - 1 ? "..." : "");
	}
	diverge_free(&e);
	return ret < 0 ? ret : 0;
}

int divergence_file(struct divergence *d, size_t step, struct diverge_plan *plan, code_at_fn *code,
		    void *with, char out[FILE_NAME_MAX], struct tare_error *err)
{
	const struct diverge_run *run = &d->run[0];
	size_t row = row_of(run->step[step].regs[RAX]), by = step;

	out[0] = '\0';
	if (row == ARRAY_SIZE(rows))
		return 0;
	if (rows[row].path == NO) {
		uint64_t descriptor = run->step[step].regs[rows[row].descriptor];
		enum opened how = has_threads(d)
			? OPENED_OTHERWISE
			: opened_by(run, step, &descriptor, code, with, &by);

		if (how == OPENED_BEFORE && !descriptor && d->first == 1)
			snprintf(out, FILE_NAME_MAX, "its standard input");
		if (how != OPENED_BY)
			return 0;
		row = row_of(run->step[by].regs[RAX]);
	}
	return read_path(d, &run->step[by], run->step[by].regs[rows[row].path], plan, out, err);
}
