/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recording of accesses to memory: added up by everything, and its lines judged.
 * What the rows of a table have together is what all have.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "memory/memory_view.h"
#include "memory/sharing/sharing_view.h"

static void check_sums(const struct memory *m, const struct memory_table *t)
{
	struct memory_row sum = { 0 };
	uint64_t latency = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct memory_row *r = &t->row[i];

		sum.samples += r->samples;
		sum.weight += r->weight;
		sum.placed += r->placed;
		sum.translated += r->translated;
		must(r->loads + r->stores + r->updates + r->prefetches == r->samples);
		if (m->latency >= 0 && r->latency[m->latency])
			latency += r->latency[m->latency]->sum;
	}
	must(sum.samples == m->total.samples && sum.weight == m->total.weight &&
	     sum.placed == m->total.placed && sum.translated == m->total.translated);
	must(m->latency < 0 || latency == m->total.latency[m->latency]->sum);
}

static void add_up(const char *path, uint32_t rows_max)
{
	const struct memory_samples_options from = { .modules = { .symfs = "/nowhere" },
						     .filter = SAMPLES_ALL };
	const struct memory_options opts = { .rows_max = rows_max };
	struct tare_error err = TARE_ERROR_INIT;
	struct style style = { .width = 100 };
	enum memory_by by[MEMORY_BYS];
	struct memory m = { 0 };
	struct text out = { 0 };
	struct memory_samples c;

	for (int i = 0; i < MEMORY_BYS; i++)
		by[i] = (enum memory_by)i;
	if (memory_samples_open(&c, path, &from, &err) == 0 &&
	    memory_read(&m, &c, by, MEMORY_BYS, &opts, &err) == 0) {
		struct memory_shown shown = { .path = path, .memory = &m };

		for (size_t i = 0; i < m.tables; i++) {
			check_sums(&m, &m.table[i]);
			memory_document(&out, FORMAT_JSON, &shown, &m.table[i]);
			memory_document(&out, FORMAT_CSV, &shown, &m.table[i]);
		}
		memory_text(&out, &shown, &style);
	} else {
		must(err.what[0]);
	}
	text_free(&out);
	memory_free(&m);
	memory_samples_close(&c);
}

static void judge(const char *path)
{
	const struct memory_samples_options from = { .modules = { .symfs = "/nowhere" },
						     .filter = SAMPLES_ALL };
	const struct sharing_options opts = { .line_size = 64, .least = 2 };
	struct tare_error err = TARE_ERROR_INIT;
	struct style style = { .width = 100 };
	struct sharing_named n = { 0 };
	struct text out = { 0 };
	struct memory_samples c;

	if (memory_samples_open(&c, path, &from, &err) == 0 &&
	    sharing_named_read(&n, &c, &opts, &err) == 0) {
		struct sharing_shown shown = {
			.path = path, .named = &n, .line_size = 64, .all = true
		};

		for (size_t i = 0; i < n.n; i++)
			must(n.line[i].line->confidence >= 0 && n.line[i].line->confidence <= 1);
		sharing_document(&out, FORMAT_JSON, &shown);
		sharing_document(&out, FORMAT_CSV, &shown);
		sharing_text(&out, &shown, &style);
	} else {
		must(err.what[0]);
	}
	text_free(&out);
	sharing_named_free(&n);
	memory_samples_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("accesses", MFD_CLOEXEC);
	must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	add_up(path, 3);
	judge(path);
	return 0;
}
