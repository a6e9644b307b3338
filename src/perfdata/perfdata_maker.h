/* SPDX-License-Identifier: MIT */
/* Builds small recordings for tests, in either byte order. */
#ifndef PERFDATA_PERFDATA_MAKER_H
#define PERFDATA_PERFDATA_MAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perfdata/perfdata.h"
#include "tap.h"

struct maker {
	unsigned char b[1 << 20];
	size_t n, record; /* start of the open record */
	bool big;
};

static inline void put(struct maker *m, uint64_t v, size_t size)
{
	if (m->n + size > sizeof(m->b))
		abort();
	for (size_t i = 0; i < size; i++)
		m->b[m->n + (m->big ? size - 1 - i : i)] = (unsigned char)(v >> 8 * i);
	m->n += size;
}

static inline void put16(struct maker *m, uint64_t v)
{
	put(m, v, 2);
}

static inline void put32(struct maker *m, uint64_t v)
{
	put(m, v, 4);
}

static inline void put64(struct maker *m, uint64_t v)
{
	put(m, v, 8);
}

static inline void put_bytes(struct maker *m, const void *p, size_t n)
{
	if (m->n + n > sizeof(m->b))
		abort();
	memcpy(m->b + m->n, p, n);
	m->n += n;
}

/* A NUL-terminated string, padded to a multiple of 8. */
static inline void put_name(struct maker *m, const char *s)
{
	static const char zeros[8];

	put_bytes(m, s, strlen(s) + 1);
	put_bytes(m, zeros, -(strlen(s) + 1) & 7);
}

/* A feature's string, preceded by its length including padding. */
static inline void put_string(struct maker *m, const char *s)
{
	char room[64] = { 0 };

	snprintf(room, sizeof(room), "%s", s);
	put32(m, sizeof(room));
	put_bytes(m, room, sizeof(room));
}

static inline void begin_record(struct maker *m, uint32_t type, uint16_t misc)
{
	m->record = m->n;
	put32(m, type);
	put16(m, misc);
	put16(m, 0);
}

static inline void patch(struct maker *m, size_t at, uint64_t v, size_t size)
{
	size_t n = m->n;

	m->n = at;
	put(m, v, size);
	m->n = n;
}

static inline void end_record(struct maker *m)
{
	patch(m, m->record + 6, m->n - m->record, 2);
}

/* The 64 bits of an attr's flags, as a machine of that byte order stores bit fields. */
static inline uint64_t flags_word(const struct maker *m, uint64_t flags)
{
	uint64_t out = 0, precise = flags >> 15 & 3;

	if (!m->big)
		return flags;
	for (int i = 0; i < 64; i++)
		out |= (flags >> i & 1) << (63 - i);
	out &= ~(3ull << 47); /* precise_ip: two bits that keep their order */
	return out | precise << 47;
}

/* `size` bytes of a perf_event_attr; fields not in `a` are 0. */
static inline void put_attr(struct maker *m, const struct perfdata_attr *a, size_t size)
{
	size_t start = m->n;

	put32(m, a->type);
	put32(m, a->size);
	put64(m, a->config);
	put64(m, a->period);
	put64(m, a->sample_type);
	put64(m, a->read_format);
	put64(m, flags_word(m, a->flags));
	put32(m, a->wakeup);
	put32(m, a->bp_type);
	put64(m, a->config1);
	put64(m, a->config2);
	put64(m, a->branch_sample_type);
	put64(m, a->regs_user);
	put32(m, a->stack_user);
	put32(m, (uint32_t)a->clockid);
	put64(m, a->regs_intr);
	put32(m, a->aux_watermark);
	put16(m, a->max_stack);
	put16(m, 0);
	put32(m, a->aux_sample_size);
	put32(m, 0);
	put64(m, a->sig_data);
	put64(m, a->config3);
	while (m->n < start + size)
		put64(m, 0xbad);
	m->n = start + size;
}

static inline void put_magic(struct maker *m, uint64_t head)
{
	put_bytes(m, m->big ? "2ELIFREP" : "PERFILE2", 8);
	put64(m, head);
}

/* An ATTR record with one id for the event, or none for 0. */
static inline void put_event(struct maker *m, const struct perfdata_attr *a, uint64_t id)
{
	begin_record(m, PD_RECORD_ATTR, 0);
	put_attr(m, a, a->size ? a->size : 64);
	if (id)
		put64(m, id);
	end_record(m);
}

static inline void write_file(const char *path, const struct maker *m)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(m->b, 1, m->n, f) != m->n || fclose(f))
		abort();
}

/* Opens the recording. */
static inline struct perfdata *open_made(const struct maker *m, const struct perfdata_opts *opts,
					 struct tare_error *err)
{
	char path[] = "/tmp/tare-perfdata-XXXXXX";
	int fd = mkstemp(path);
	struct perfdata *r;

	if (fd < 0)
		abort();
	close(fd);
	write_file(path, m);
	r = perfdata_open(path, opts, err);
	unlink(path);
	return r;
}

static inline struct perfdata *must_open(const struct maker *m)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r = open_made(m, NULL, &err);

	if (!CHECK(r != NULL, "%s", err.what)) {
		fflush(stdout);
		_exit(TAP_FAILED);
	}
	return r;
}

#endif
