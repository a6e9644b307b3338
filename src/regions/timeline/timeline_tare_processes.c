/* SPDX-License-Identifier: MIT */
/*
 * The processes of a recording: their blocks, the numbers they are shown with, and the programs
 * that continue them after exec.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/timeline/timeline_tare.h"

struct tare_process *tare_process_at(struct tare_timeline *t, uint32_t serial)
{
	if (serial >= t->n_processes) {
		/* Each takes a page of the file at least. */
		if (serial > PROCESSES_MAX || serial > t->size / FILE_PAGE)
			return NULL;
		if (!array_reserve_zeroed(&t->process, &t->process_room, serial + 1ull,
					  sizeof(*t->process)))
			return NULL;
		t->n_processes = serial + 1ull;
	}
	return &t->process[serial];
}

static bool ended_text(const char *s, size_t room)
{
	return memchr(s, '\0', room) != NULL;
}

static bool sane_own(const struct file_own *o)
{
	const float x[] = { o->inside, o->outside, o->inside_off, o->outside_off };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (!(x[i] >= 0 && x[i] < 1e15f))
			return false;
	return true;
}

static bool sane_process(const struct file_process *p, uint32_t serial)
{
	if (p->n_counters > FILE_COUNTERS || p->shift >= 64 || p->parent > serial)
		return false;
	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct file_counter *c = &p->counter[i];

		if (!ended_text(c->name, sizeof(c->name)) ||
		    !ended_text(c->unit, sizeof(c->unit)) ||
		    !ended_text(c->note, sizeof(c->note)) || c->kind < COUNTER_CLOCK ||
		    c->kind > COUNTER_COUNT || c->quality > TARE_EXACT)
			return false;
	}
	for (unsigned path = 0; path < FILE_PATHS; path++)
		for (unsigned i = 0; i < FILE_COUNTERS; i++)
			if (!sane_own(&p->own[path][i]))
				return false;
	return true;
}

static bool same_counters(const struct file_process *a, const struct file_process *b)
{
	if (a->n_counters != b->n_counters)
		return false;
	for (uint32_t i = 0; i < a->n_counters; i++)
		if (strcmp(a->counter[i].name, b->counter[i].name) ||
		    a->counter[i].kind != b->counter[i].kind)
			return false;
	return true;
}

/*
 * The first process defines the counters. The overhead of other paths comes from the first process
 * that used each.
 */
static void add_measured(struct tare_timeline *t, const struct file_process *p)
{
	for (unsigned path = 0; path < FILE_PATHS; path++)
		if (p->measured & ~t->first.measured & 1u << path) {
			memcpy(t->first.own[path], p->own[path], sizeof(p->own[path]));
			t->first.measured |= 1u << path;
		}
}

int tare_process_add(struct tare_timeline *t, const struct block_head *h, uint64_t offset,
		     uint64_t last[2])
{
	struct file_process p;
	struct tare_process *process;

	process = tare_process_at(t, h->process);
	if (!process) {
		tare_damage(t, "offset %llu: process number %u cannot be",
			    (unsigned long long)offset, h->process);
		return 0;
	}
	if (!tare_read(t, &p, sizeof(p), offset + sizeof(*h)) || !sane_process(&p, h->process)) {
		process->left_out = !process->known;
		tare_damage(t, "the block of process %u (offset %llu) is invalid", h->pid,
			    (unsigned long long)offset);
		return 0;
	}
	if (process->known) {
		tare_damage(t, "offset %llu: process number %u occurs twice",
			    (unsigned long long)offset, h->process);
		return 0;
	}
	if (!t->first.n_counters && !t->zero_ns) {
		t->first = p;
		t->zero_ticks = p.start_ticks;
		t->zero_ns = p.start_clock_ns;
	} else if (!same_counters(&p, &t->first)) {
		process->left_out = true;
		tare_damage(t, "process %u has other counters than the first one and is left out",
			    h->pid);
		return 0;
	}
	add_measured(t, &p);
	process->known = true;
	process->pid = h->pid;
	process->pid_namespace = p.pid_namespace;
	process->born = p.born;
	process->threads = p.threads;
	if (!p.command[sizeof(p.command) - 1]) {
		process->labels = p.labels;
		process->lost_labels = p.lost_labels;
	}
	process->parent = p.parent;
	process->inherited = p.inherited;
	process->ended = p.ended != 0;
	process->offset = offset;
	tare_note_pair(h->ticks, h->clock_ns, last);
	tare_note_pair(p.end_ticks, p.end_clock_ns, last);
	if (p.lost_errno)
		t->lost_errno = p.lost_errno;
	if (p.lost || p.lost_threads) {
		char threads[60] = "";

		if (p.lost_threads)
			snprintf(threads, sizeof(threads), ", and nothing of %u thread%s",
				 p.lost_threads, p.lost_threads > 1 ? "s" : "");
		t->base.info.lost += p.lost;
		if (!p.lost_errno && !p.lost_threads) {
			t->base.info.lost_handlers += p.lost;
			process->handlers = p.lost;
			memcpy(process->lost_label, p.lost_label, sizeof(p.lost_label));
		}
		if (!p.lost_errno && !p.lost_threads && t->lost_in_handlers++ < TARE_SHOWN)
			tare_damage(
				t,
				"process %u lost %llu points of signal handlers that interrupted the recording of others",
				h->pid, (unsigned long long)p.lost);
		else if (p.lost_errno || p.lost_threads)
			tare_damage(t, "process %u could not write %llu points%s: %s", h->pid,
				    (unsigned long long)p.lost, threads,
				    p.lost_errno < 4096 ? strerror((int)p.lost_errno) : "?");
	}
	if (process->lost_labels)
		tare_damage(t, "process %u could not write the name%s of %u label%s: %s", h->pid,
			    process->lost_labels > 1 ? "s" : "", process->lost_labels,
			    process->lost_labels > 1 ? "s" : "",
			    format_why_lost(p.lost_labels_errno));
	return 0;
}

static int by_pid(const void *x, const void *y)
{
	const struct tare_process *a = *(struct tare_process *const *)x,
				  *b = *(struct tare_process *const *)y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a > b) - (a < b);
}

static int by_namespace(const void *x, const void *y)
{
	const struct tare_process *a = *(struct tare_process *const *)x,
				  *b = *(struct tare_process *const *)y;

	if (a->pid_namespace != b->pid_namespace)
		return a->pid_namespace < b->pid_namespace ? -1 : 1;
	if (a->born != b->born)
		return a->born < b->born ? -1 : 1;
	return by_pid(x, y);
}

int tare_processes_number_apart(struct tare_timeline *t, uint64_t recorder)
{
	struct tare_process **order = recorder ? malloc((t->n_processes + 1) * sizeof(*order))
					       : NULL;
	size_t n = 0, numbers = 0;

	if (!recorder)
		return 0;
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_processes; i++)
		if (t->process[i].known && t->process[i].pid_namespace != recorder)
			order[n++] = &t->process[i];
	qsort(order, n, sizeof(*order), by_namespace);
	for (size_t i = 0, first = 0; i < n; i++) {
		const struct tare_process *before = i ? order[i - 1] : NULL;

		if (!before || !order[i]->pid_namespace ||
		    before->pid_namespace != order[i]->pid_namespace ||
		    before->born != order[i]->born || order[first]->seen_pid != order[i]->pid ||
		    before->ended) {
			first = i;
			numbers++;
		}
		order[i]->seen_pid = order[i]->pid;
		order[i]->pid = APART_PID + (uint32_t)(order[first] - t->process);
		order[i]->apart = true;
	}
	free(order);
	if (numbers)
		text_add(
			&t->remark,
			"%zu process%s of other pid namespaces (containers) %s numbered here: from %d on, their other threads from %d",
			numbers, numbers > 1 ? "es" : "", numbers > 1 ? "are" : "is", APART_PID,
			APART_TID);
	return t->remark.failed ? -ENOMEM : 0;
}

int tare_processes_note_execs(struct tare_timeline *t)
{
	struct tare_process **order = malloc((t->n_processes + 1) * sizeof(*order));
	bool replaced = false;
	size_t n = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_processes; i++)
		if (t->process[i].known)
			order[n++] = &t->process[i];
	qsort(order, n, sizeof(*order), by_pid);
	for (size_t i = n; i-- > 0;) {
		replaced &= i + 1 < n && order[i]->pid == order[i + 1]->pid;
		order[i]->ended |= replaced;
		replaced |= order[i]->parent == (uint32_t)(order[i] - t->process);
	}
	free(order);
	return 0;
}
