/* SPDX-License-Identifier: MIT */
/* External sort: runs that fit into memory are sorted one by one, then merged. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "profile/sample_log.h"
#include "base/file.h"

enum { AHEAD = 256 }; /* buffer of each run during the merge: 10 KiB */

struct run {
	struct logged_sample *next;
	size_t left;     /* of the moments in memory, including `next` */
	uint64_t at, to; /* of the moments in the file that were not read yet */
	struct logged_sample *room;
	const uint32_t *thread; /* of the run's moments */
};

static int fail_scratch(int code, struct tare_error *err)
{
	return tare_fail(err, code, "cannot keep the samples in a temporary file: %s",
			 strerror(code));
}

static int read_at(struct sample_log *m, struct logged_sample *to, size_t n, uint64_t at,
		   struct tare_error *err)
{
	ssize_t got = pread(m->fd, to, n * sizeof(*to), (off_t)(at * sizeof(*to)));

	return got == (ssize_t)(n * sizeof(*to)) ? 0 : fail_scratch(got < 0 ? errno : EIO, err);
}

static int write_at(struct sample_log *m, const struct logged_sample *from, size_t n, uint64_t at,
		    struct tare_error *err)
{
	int ret = lseek(m->fd, (off_t)(at * sizeof(*from)), SEEK_SET) < 0
		? -errno
		: file_write_all(m->fd, from, n * sizeof(*from));

	return ret < 0 ? fail_scratch(-ret, err) : 0;
}

int sample_log_add(struct sample_log *m, const struct logged_sample *one, struct tare_error *err)
{
	int ret = 0;

	if (!m->run)
		m->run = SAMPLE_LOG_HELD;
	if (m->n_held == m->run) {
		if (!m->put)
			ret = m->fd = file_scratch(err);
		if (ret >= 0)
			ret = write_at(m, m->held, m->n_held, m->put, err);
		if (ret < 0)
			return ret;
		m->put += m->n_held;
		m->n_held = 0;
	} else if (m->n_held == m->room) {
		size_t room = m->room  ? m->room * 2 < m->run ? m->room * 2 : m->run
			: m->run < 256 ? m->run
				       : 256;
		struct logged_sample *more = realloc(m->held, room * sizeof(*more));

		if (!more)
			return tare_fail_nomem(err);
		m->held = more;
		m->room = room;
	}
	m->held[m->n_held++] = *one;
	m->n++;
	return 0;
}

/* Calls `change` for each run in the file and for the moments in memory. */
static int change_all(struct sample_log *m,
		      int change(struct logged_sample *one, size_t n, const void *with),
		      const void *with, struct tare_error *err)
{
	struct logged_sample *run = m->put ? malloc(m->run * sizeof(*run)) : NULL;
	int ret = m->put && !run ? tare_fail_nomem(err) : 0;

	for (uint64_t at = 0; ret == 0 && at < m->put; at += m->run) {
		ret = read_at(m, run, m->run, at, err);
		if (ret < 0)
			break;
		ret = change(run, m->run, with) < 0 ? tare_fail_nomem(err)
						    : write_at(m, run, m->run, at, err);
	}
	if (ret == 0 && m->n_held && change(m->held, m->n_held, with) < 0)
		ret = tare_fail_nomem(err);
	free(run);
	return ret;
}

static int renumber(struct logged_sample *one, size_t n, const void *with)
{
	const uint32_t *const *now = with;

	for (size_t i = 0; i < n; i++) {
		one[i].node = now[0][one[i].node];
		one[i].task = now[1][one[i].task];
		one[i].column = now[2][one[i].column];
	}
	return 0;
}

int sample_log_renumber(struct sample_log *m, const uint32_t *nodes, const uint32_t *tasks,
			const uint32_t *columns, struct tare_error *err)
{
	const uint32_t *now[] = { nodes, tasks, columns };

	return change_all(m, renumber, now, err);
}

static int order(const struct logged_sample *a, const struct logged_sample *b,
		 const uint32_t *thread)
{
	uint32_t x = thread ? thread[a->task] : a->task, y = thread ? thread[b->task] : b->task;

	if (x != y)
		return x < y ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static int order_places(const void *a, const void *b, void *thread)
{
	const struct logged_sample *const *x = a, *const *y = b;
	int by = order(*x, *y, thread);

	return by ? by : *x < *y ? -1 : *x > *y;
}

static int sort(struct logged_sample *one, size_t n, const void *with)
{
	struct logged_sample *copy = malloc(n * sizeof(*copy)), **at = malloc(n * sizeof(*at));
	bool enough = copy && at;

	for (size_t i = 0; enough && i < n; i++)
		at[i] = &copy[i];
	if (enough) {
		memcpy(copy, one, n * sizeof(*copy));
		qsort_r(at, n, sizeof(*at), order_places, (void *)with);
		for (size_t i = 0; i < n; i++)
			one[i] = *at[i];
	}
	free(copy);
	free(at);
	return enough ? 0 : -ENOMEM;
}

/* ---- merging ---- */

/* Of equal moments, the one from the earlier run comes first. */
static bool before(const struct run *a, const struct run *b)
{
	int by = order(a->next, b->next, a->thread);

	return by ? by < 0 : a < b;
}

static void sift(struct run **heap, size_t n, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		struct run *top = heap[at];

		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], top))
			return;
		heap[at] = heap[child];
		heap[child] = top;
	}
}

/* Loads the run's next moment; 0 at the end of the run. */
static int fill(struct sample_log *m, struct run *r, struct tare_error *err)
{
	int ret;

	if (!r->left && r->at < r->to) {
		r->left = r->to - r->at < AHEAD ? (size_t)(r->to - r->at) : AHEAD;
		r->next = r->room;
		ret = read_at(m, r->room, r->left, r->at, err);
		if (ret < 0)
			return ret;
		r->at += r->left;
	}
	return r->left > 0;
}

static int merge(struct sample_log *m, struct run **heap, size_t n,
		 int take(void *with, const struct logged_sample *one), void *with,
		 struct tare_error *err)
{
	int ret = 0;

	for (size_t i = n; i-- > 0;)
		sift(heap, n, i);
	while (n && ret == 0) {
		struct run *r = heap[0];

		ret = take(with, r->next);
		if (ret)
			return ret;
		r->next++;
		r->left--;
		ret = fill(m, r, err);
		if (ret == 0)
			heap[0] = heap[--n];
		if (ret >= 0) {
			sift(heap, n, 0);
			ret = 0;
		}
	}
	return ret;
}

int sample_log_each(struct sample_log *m, int take(void *with, const struct logged_sample *one),
		    void *with, struct tare_error *err)
{
	size_t n_runs = m->n ? (size_t)(m->put / m->run) + 1 : 0, n = 0;
	struct run *run = calloc(n_runs + 1, sizeof(*run)),
		   **heap = calloc(n_runs + 1, sizeof(*heap));
	struct logged_sample *room = malloc((n_runs + 1) * AHEAD * sizeof(*room));
	int ret = run && heap && room ? change_all(m, sort, m->thread, err) : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < n_runs; i++) {
		uint64_t at = i * m->run;

		run[i] = at < m->put
			? (struct run){ .at = at, .to = at + m->run, .room = room + i * AHEAD }
			: (struct run){ .next = m->held, .left = m->n_held };
		run[i].thread = m->thread;
		ret = fill(m, &run[i], err);
		if (ret > 0) {
			heap[n++] = &run[i];
			ret = 0;
		}
	}
	if (ret == 0)
		ret = merge(m, heap, n, take, with, err);
	free(room);
	free(heap);
	free(run);
	return ret;
}

void sample_log_free(struct sample_log *m)
{
	free(m->held);
	if (m->put)
		close(m->fd);
	*m = (struct sample_log){ 0 };
}
