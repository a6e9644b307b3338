/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_kept.h"
#include <errno.h>
#include "base/pages.h"
#include "regions/runtime/region_private.h"

/* Handlers that come while another one takes a place may each take one more than there is. */
enum { ROOM = KEPT_POINTS + 64 };

/* A ring. Child processes find it empty: its points are the parent's. */
struct list {
	uint32_t head;    /* points that handlers put in, so far */
	uint32_t tail;    /* that the thread took out */
	uint32_t open;    /* begins without an end: there is room for it */
	uint32_t dropped; /* begins that had no room: their ends are not kept either */
	struct kept_point point[ROOM];
};

__thread bool region_kept_waits __attribute__((tls_model("initial-exec")));
static __thread struct list *mine __attribute__((tls_model("initial-exec")));

static struct list *list(void)
{
	struct list *none = NULL, *made;
	int kept = errno;

	if (mine)
		return mine;
	made = pages_new_wiped(sizeof(*made));
	if (made &&
	    !__atomic_compare_exchange_n(&mine, &none, made, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		pages_free(made, sizeof(*made)); /* a handler came between */
	errno = kept;
	return mine;
}

/* Is there room, for a begin with its end? A handler that comes between two of these steps leaves
 * the numbers balanced. */
static bool has_room(struct list *l, const struct kept_point *p)
{
	bool nests = p->op == OP_BEGIN || p->op == OP_END,
	     ends = nests && (p->op == OP_END || p->label & TARE_LABEL_END);
	bool begins = nests && !ends;

	if (ends && l->dropped) {
		__atomic_sub_fetch(&l->dropped, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (ends && l->open) {
		__atomic_sub_fetch(&l->open, 1, __ATOMIC_RELAXED);
		return true;
	}
	if (l->head - l->tail + l->open + (begins ? 2 : 1) > KEPT_POINTS) {
		__atomic_add_fetch(&l->dropped, begins, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_add_fetch(&l->open, begins, __ATOMIC_RELAXED);
	return true;
}

/* Clocks and the exact engine's count can be read anywhere, events of the PMU by an open
 * thread_counters only. */
static void read_values(struct kept_point *p, const struct region_counters *c,
			struct thread_counters *pmu)
{
	struct thread_counters none = { .pinned = NULL };

	p->missing = c ? 0 : (1u << FILE_COUNTERS) - 1;
	if (!c)
		return;
	if (!pmu)
		pmu = &none;
	thread_counters_read(pmu, c, 0, p->value);
	p->missing = pmu->missing;
}

bool region_kept_add(const struct kept_point *p, const struct region_counters *c,
		     struct thread_counters *pmu)
{
	struct list *l = list();
	struct kept_point *to;
	uint32_t at;

	if (!l || !has_room(l, p))
		return false;
	at = __atomic_fetch_add(&l->head, 1, __ATOMIC_RELAXED);
	if (at - l->tail >= ROOM)
		return false;
	to = &l->point[at % ROOM];
	*to = *p;
	read_values(to, c, pmu);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	to->whole = true;
	__atomic_store_n(&region_kept_waits, true, __ATOMIC_RELAXED);
	return true;
}

/* The point at that index, or NULL: a parent's, or one that a handler did not finish. */
static struct kept_point *at(uint32_t place)
{
	struct kept_point *p = &mine->point[place % ROOM];

	return p->whole && p->process == region_process() ? p : NULL;
}

/* value[i] is set back to `by`, where that is earlier. */
static void set_back(const struct region_stream *s, uint64_t *value, uint32_t missing,
		     const uint64_t *by)
{
	for (unsigned i = 0; i < s->of->counters.n; i++)
		if (!(missing >> i & 1) &&
		    ((value[i] - by[i]) & s->counters.mask[i]) <= s->counters.mask[i] >> 1)
			value[i] = by[i];
}

/*
 * A handler interrupted another one that had reserved an entry but had no values yet. Its own
 * values are valid for that point, too.
 */
static void sort(const struct region_stream *s, uint32_t tail, uint32_t head)
{
	const struct kept_point *next = NULL;

	while (head-- != tail) {
		struct kept_point *p = at(head);

		if (p && next)
			set_back(s, p->value, p->missing | next->missing, next->value);
		next = p ? p : next;
	}
}

static void write_one(struct region_stream *s, const struct kept_point *p, tare_label label)
{
	if (s->block) {
		region_stream_kept(s, label, p->op, p->number, p->value, p->missing);
		if (p->counted)
			region_recording_found(s->of, 1);
	} else if (!p->counted) {
		region_recording_lose(s->of, 1, 0);
	}
}

/* False: it cannot be written to this stream yet. */
static bool give(struct region_stream *s, const struct kept_point *p)
{
	int later = (int)(p->generation - s->of->generation);
	tare_label label = p->label;

	if (later < 0)
		return true;
	if (later > 0)
		return false;
	if ((label & ~TARE_LABEL_END) != TARE_LABEL_UNKNOWN) {
		write_one(s, p, label);
	} else if (!region_is_recording(s->of)) {
		region_recording_lose_of(s->of, LOST_UNNAMED); /* a name cannot be given any more */
		region_recording_lose(s->of, 1, 0);
	} else {
		if (!region_name(p->region, &label))
			return false;
		if (label)
			write_one(s, p, label | (p->label & TARE_LABEL_END));
	}
	return true;
}

bool region_kept_write(struct region_stream *s)
{
	struct region_before before;
	bool written = true;
	uint32_t head;

	if (!s->page)
		return false;
	__atomic_store_n(&region_kept_waits, false, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!region_kept_number())
		return true;
	head = __atomic_load_n(&mine->head, __ATOMIC_RELAXED);
	mine->open = mine->dropped = 0; /* regions that are open now end outside handlers */
	sort(s, mine->tail, head);
	region_stream_before_kept(s, &before);
	for (; written && mine->tail != head; mine->tail += written) {
		struct kept_point *p = at(mine->tail);

		written = !p || give(s, p);
		if (written)
			mine->point[mine->tail % ROOM].whole = false;
	}
	region_stream_behind_kept(s, &before);
	if (!written)
		__atomic_store_n(&region_kept_waits, true, __ATOMIC_RELAXED);
	return written;
}

void region_kept_set_back(const struct region_stream *s, uint64_t *value)
{
	for (uint32_t i = mine ? mine->tail : 0, n = region_kept_number(); n; n--, i++) {
		const struct kept_point *p = at(i);

		if (p && p->generation == s->of->generation)
			set_back(s, value, p->missing, p->value);
	}
}

uint32_t region_kept_number(void)
{
	return mine ? __atomic_load_n(&mine->head, __ATOMIC_RELAXED) - mine->tail : 0;
}

uint32_t region_kept_drop(void)
{
	uint32_t dropped = 0;

	region_kept_waits = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (uint32_t n = region_kept_number(); n; n--) {
		struct kept_point *p = at(mine->tail);

		dropped += p && !p->counted;
		mine->point[mine->tail++ % ROOM].whole = false;
	}
	return dropped;
}

void region_kept_free(void)
{
	struct list *l = mine;

	if (!l || region_kept_number())
		return;
	mine = NULL; /* a handler makes a new one */
	pages_free(l, sizeof(*l));
}
