/* SPDX-License-Identifier: MIT */
/* Threads of a run: which are the same in both runs, by descent, and which ran at the same time. */
#include "diverge/diverge.h"

const struct diverge_thread *diverge_thread_of(const struct diverge_thread *thread, size_t n,
					       uint64_t stable_id)
{
	for (size_t i = 0; i < n; i++)
		if (thread[i].stable_id == stable_id)
			return &thread[i];
	return NULL;
}

/* For the process's first thread, which continues after exec. */
static bool same_thread(const struct diverge_thread *a, const struct diverge_thread *b)
{
	return a->serial == b->serial && a->tid == b->tid && a->tid == a->pid;
}

uint32_t diverge_number(const struct diverge_thread *thread, size_t n, uint64_t stable_id,
			bool *since_exec)
{
	const struct diverge_thread *it = diverge_thread_of(thread, n, stable_id);
	uint32_t first, number = 1;

	*since_exec = false;
	if (!it)
		return 0;
	first = it->born;
	for (size_t i = 0; i < n; i++)
		if (same_thread(&thread[i], it) && thread[i].born < first)
			first = thread[i].born;
	*since_exec = first != it->born;
	for (size_t i = 0; i < n; i++) {
		bool anew = false;

		for (size_t k = 0; k < n && !anew && thread[i].tid == thread[i].pid; k++)
			anew = same_thread(&thread[k], &thread[i]) &&
				thread[k].born < thread[i].born;
		number += thread[i].born <= first && thread[i].born && !anew;
	}
	return number;
}

/* The process's first thread when thread `born` was created: exec gives it a new one. */
static uint32_t program_of(const struct diverge_thread *thread, size_t n,
			   const struct diverge_thread *of)
{
	uint32_t born = 0;

	for (size_t i = 0; i < n; i++)
		if (thread[i].serial == of->serial && thread[i].tid == thread[i].pid &&
		    thread[i].born <= of->born && thread[i].born > born)
			born = thread[i].born;
	return born;
}

bool diverge_same_program(const struct diverge_thread *thread, size_t n, uint64_t a, uint64_t b)
{
	const struct diverge_thread *x = diverge_thread_of(thread, n, a),
				    *y = diverge_thread_of(thread, n, b);

	return x && y && x->serial == y->serial &&
		program_of(thread, n, x) == program_of(thread, n, y);
}
