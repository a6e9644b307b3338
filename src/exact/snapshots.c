/* SPDX-License-Identifier: MIT */
/*
 * Which processes of the command share translated code: engine/snapshot.c. A program is known by
 * the versions of the files that it has mapped when it begins (executable and dynamic loader),
 * and where. Its first process in a run translates as if it were the only one. The second one is
 * asked to keep its code, and those that begin later use it. While they need much more code, a few
 * times one of them is asked to keep its code in place of that.
 *
 * This list is private to the supervisor. The code itself is in the shared state's file, which
 * every process of the command can write; tare only reads from it whether it is complete. Code is
 * shared only while every program of the command has the rights that the first one had.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exact/supervise.h"

enum {
	PROGRAMS_MAX = 256,
	SNAPSHOTS_EACH = 3,
	ASKS_EACH = 8,
	WAITS_MAX = 4, /* executions of the program, while a process that was asked still runs */
};

struct program {
	uint32_t n;
	struct exec_region regions[EXEC_REGIONS];
	uint64_t entry;
	uint32_t processes;  /* that executed it */
	uint32_t lineage;    /* of the code that is kept */
	uint32_t snapshot;   /* plus 1; 0: none */
	uint32_t made;       /* how many */
	uint32_t asked;      /* how often */
	uint32_t next;       /* the one that is being written, plus 1 */
	uint32_t by, serial; /* the process that writes it, and its number in the run */
	uint32_t next_lineage;
	uint32_t waits; /* for that process */
	uint32_t spare; /* a place, plus 1, where that failed */
};

struct snapshots {
	struct program program[PROGRAMS_MAX];
	unsigned n;
	uint32_t used; /* places for snapshots */
	struct rights rights;
	bool has_rights, off;
};

/* Its code can be that of other processes only if it is in files that are known. */
static bool read_program(const struct process *p, struct program *out)
{
	*out = (struct program){ .n = READ_ONCE(p->n_regions), .entry = p->entry };
	if (!out->n || out->n > EXEC_REGIONS)
		return false;
	memcpy(out->regions, p->regions, out->n * sizeof *out->regions);
	for (uint32_t i = 0; i < out->n; i++) {
		const struct exec_region *r = &out->regions[i];

		if (r->writable || r->shared || r->checked || (!r->version.inode && !r->kernel))
			return false;
	}
	return true;
}

static struct program *program_of(struct snapshots *all, const struct program *wanted)
{
	for (unsigned i = 0; i < all->n; i++) {
		struct program *k = &all->program[i];

		if (k->n == wanted->n && k->entry == wanted->entry &&
		    !memcmp(k->regions, wanted->regions, k->n * sizeof *k->regions))
			return k;
	}
	/* The first ones are more likely to be executed again than those of a long list. */
	if (all->n == PROGRAMS_MAX)
		return NULL;
	all->program[all->n] = *wanted;
	return &all->program[all->n++];
}

static off_t place_of(uint32_t snapshot)
{
	return (off_t)(SNAPSHOTS_AT + (snapshot - 1ull) * SNAPSHOT_SIZE);
}

static bool is_ready(const struct supervisor *s, uint32_t snapshot)
{
	uint32_t ready = 0;

	return pread(s->l->shared_fd, &ready, sizeof ready, place_of(snapshot)) == sizeof ready &&
		ready == SNAPSHOT_READY;
}

/* The process that was asked for its code, as long as it can still write it; else NULL. */
static struct process *writer(const struct supervisor *s, const struct program *k)
{
	struct process *p = shared_process(s->b, k->by);

	return READ_ONCE(p->state) == PROCESS_LIVE && READ_ONCE(p->serial) == k->serial &&
			READ_ONCE(p->save) == k->next
		? p
		: NULL;
}

/* The lineage is in use as long as the code may be. */
static void hold_lineage(struct supervisor *s, uint32_t lineage)
{
	__atomic_add_fetch(&s->b->lineage_users[lineage], 1, __ATOMIC_ACQ_REL);
}

/*
 * If the process that was asked for its code has ended: is its snapshot complete? If it runs for
 * long, another one is asked. Its place is not used again, as it may be writing there.
 */
static void look_at_next(struct supervisor *s, struct program *k)
{
	struct process *p = k->next ? writer(s, k) : NULL;

	if (!k->next || (p && ++k->waits < WAITS_MAX))
		return;
	if (p) {
		p->save = 0;
		leave_lineage(s, k->next_lineage);
	} else if (is_ready(s, k->next)) {
		if (k->snapshot)
			leave_lineage(s, k->lineage);
		k->snapshot = k->next;
		k->lineage = k->next_lineage;
		k->made++;
	} else {
		leave_lineage(s, k->next_lineage);
		k->spare = k->next;
	}
	k->next = k->waits = 0;
}

static void begin_with(struct supervisor *s, const struct program *k, struct process *p)
{
	leave_lineage(s, lineage_of(p));
	hold_lineage(s, k->lineage);
	p->lineage = k->lineage;
	p->snapshot = k->snapshot;
}

static void ask_for_code(struct supervisor *s, struct program *k, struct process *p)
{
	struct snapshots *all = s->snapshots;

	if (k->next || k->made == SNAPSHOTS_EACH || k->asked == ASKS_EACH ||
	    (!k->spare && all->used == SNAPSHOTS))
		return;
	k->next = k->spare ? k->spare : ++all->used;
	k->spare = 0;
	k->asked++;
	k->by = (uint32_t)(p - shared_process(s->b, 0));
	k->serial = p->serial;
	k->next_lineage = lineage_of(p);
	hold_lineage(s, k->next_lineage);
	p->save = k->next;
}

/* Has every program had the same rights so far? */
static bool same_rights(struct snapshots *all, pid_t pid)
{
	struct rights now;

	if (!rights_of(&now, pid))
		return false;
	if (!all->has_rights)
		all->rights = now;
	all->has_rights = true;
	return now.uid == all->rights.uid && now.gid == all->rights.gid &&
		now.permitted == all->rights.permitted;
}

/* The engine is in the program, which has not executed anything yet. */
void snapshots_choose(struct supervisor *s, struct process *p, pid_t pid)
{
	struct program wanted, *k;

	if (!(s->l->mode & KEEP_CODE))
		return;
	if (!s->snapshots)
		s->snapshots = calloc(1, sizeof *s->snapshots);
	if (!s->snapshots || s->snapshots->off)
		return;
	s->snapshots->off = !same_rights(s->snapshots, pid);
	if (s->snapshots->off || p->foreign || !read_program(p, &wanted))
		return;
	k = program_of(s->snapshots, &wanted);
	if (!k)
		return;
	k->processes++;
	look_at_next(s, k);
	if (k->snapshot)
		begin_with(s, k, p);
	if (k->snapshot || k->processes > 1)
		ask_for_code(s, k, p);
}
