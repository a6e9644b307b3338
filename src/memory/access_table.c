/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include "memory/access_table.h"
#include "output/parquet.h"

/* The content of a column. A column without a bit in `has` is in every record. */
enum source { WORDS, NUMBER, SIGNED, ADDRESS, BOOLEAN };

struct column {
	const char *name;
	enum source source;
	uint32_t has;
	int latency; /* a bit of has_latency instead; -1: none */
	uint64_t (*number)(const struct tare_access *a);
	const char *(*words)(const struct tare_access *a);
};

#define NUMBER_OF(member)                                                                          \
	static uint64_t get_##member(const struct tare_access *a)                                  \
	{                                                                                          \
		return (uint64_t)a->member;                                                        \
	}
#define WORDS_OF(member)                                                                           \
	static const char *get_##member(const struct tare_access *a)                               \
	{                                                                                          \
		return tare_access_##member##_name(a->member);                                     \
	}

NUMBER_OF(time_ns)
NUMBER_OF(cpu)
NUMBER_OF(pid)
NUMBER_OF(tid)
NUMBER_OF(ip)
NUMBER_OF(exact_ip)
NUMBER_OF(kernel)
NUMBER_OF(address)
NUMBER_OF(physical)
NUMBER_OF(size)
NUMBER_OF(page_size)
NUMBER_OF(locked)
NUMBER_OF(taken)
NUMBER_OF(mispredicted)
NUMBER_OF(retired)
NUMBER_OF(target)
NUMBER_OF(period)
WORDS_OF(origin)
WORDS_OF(kind)
WORDS_OF(place)
WORDS_OF(distance)
WORDS_OF(snoop)
WORDS_OF(tlb)

#define LATENCY(name, which)                                                                       \
	{                                                                                          \
		"latency_" name, NUMBER, 0, which, NULL, NULL                                      \
	}

static const struct column columns[] = {
	{ "time_ns", NUMBER, TARE_ACCESS_TIME, -1, get_time_ns, NULL },
	{ "cpu", SIGNED, TARE_ACCESS_CPU, -1, get_cpu, NULL },
	{ "pid", NUMBER, TARE_ACCESS_TASK, -1, get_pid, NULL },
	{ "tid", NUMBER, TARE_ACCESS_TASK, -1, get_tid, NULL },
	{ "origin", WORDS, 0, -1, NULL, get_origin },
	{ "kind", WORDS, 0, -1, NULL, get_kind },
	{ "ip", ADDRESS, 0, -1, get_ip, NULL },
	{ "exact_ip", BOOLEAN, 0, -1, get_exact_ip, NULL },
	{ "kernel", BOOLEAN, 0, -1, get_kernel, NULL },
	{ "address", ADDRESS, TARE_ACCESS_ADDRESS, -1, get_address, NULL },
	{ "physical", ADDRESS, TARE_ACCESS_PHYSICAL, -1, get_physical, NULL },
	{ "size", NUMBER, TARE_ACCESS_SIZE, -1, get_size, NULL },
	{ "page_size", NUMBER, TARE_ACCESS_PAGE_SIZE, -1, get_page_size, NULL },
	{ "place", WORDS, TARE_ACCESS_PLACE, -1, NULL, get_place },
	{ "distance", WORDS, TARE_ACCESS_DISTANCE, -1, NULL, get_distance },
	{ "snoop", WORDS, TARE_ACCESS_SNOOP, -1, NULL, get_snoop },
	{ "tlb", WORDS, TARE_ACCESS_TLB, -1, NULL, get_tlb },
	{ "locked", BOOLEAN, TARE_ACCESS_LOCKED, -1, get_locked, NULL },
	{ "taken", BOOLEAN, TARE_ACCESS_TAKEN, -1, get_taken, NULL },
	{ "mispredicted", BOOLEAN, TARE_ACCESS_MISPREDICTED, -1, get_mispredicted, NULL },
	{ "retired", BOOLEAN, TARE_ACCESS_RETIRED, -1, get_retired, NULL },
	{ "target", ADDRESS, TARE_ACCESS_TARGET, -1, get_target, NULL },
	{ "period", NUMBER, TARE_ACCESS_PERIOD, -1, get_period, NULL },
	LATENCY("total", TARE_LATENCY_TOTAL),
	LATENCY("issue", TARE_LATENCY_ISSUE),
	LATENCY("translation", TARE_LATENCY_TRANSLATION),
	LATENCY("use", TARE_LATENCY_USE),
	LATENCY("instruction", TARE_LATENCY_INSTRUCTION),
	LATENCY("retire", TARE_LATENCY_RETIRE),
	LATENCY("miss", TARE_LATENCY_MISS),
	LATENCY("tag_to_retire", TARE_LATENCY_TAG_TO_RETIRE),
	LATENCY("complete_to_retire", TARE_LATENCY_COMPLETE_TO_RETIRE),
	LATENCY("fetch", TARE_LATENCY_FETCH),
	LATENCY("store", TARE_LATENCY_STORE),
};

enum { COLUMNS = ARRAY_SIZE(columns) };

static bool present(const struct column *c, const struct tare_access *a)
{
	return c->latency >= 0 ? a->has_latency >> c->latency & 1 : !c->has || a->has & c->has;
}

static uint64_t column_value(const struct column *c, const struct tare_access *a)
{
	return c->latency >= 0 ? a->latency[c->latency] : c->number(a);
}

/* ---- CSV ---- */

static void csv_field(struct out *out, const struct column *c, const struct tare_access *a)
{
	switch (c->source) {
	case WORDS:
		out_text(out, c->words(a));
		break;
	case NUMBER:
		out_u64(out, column_value(c, a));
		break;
	case SIGNED:
		out_add(out, "%" PRId64, (int64_t)column_value(c, a));
		break;
	case ADDRESS:
		out_add(out, "0x%" PRIx64, column_value(c, a));
		break;
	case BOOLEAN:
		out_text(out, column_value(c, a) ? "true" : "false");
		break;
	}
}

static int csv(struct out *out, struct tare_accesses *from, uint64_t *rows, struct tare_error *err)
{
	struct tare_access a;
	int more = 0;

	for (size_t i = 0; i < COLUMNS; i++)
		out_add(out, "%s%s", i ? "," : "", columns[i].name);
	out_text(out, "\n");
	while (!out->error && (more = tare_accesses_next(from, &a, err)) == 1) {
		for (size_t i = 0; i < COLUMNS; i++) {
			if (i)
				out_put(out, ",", 1);
			if (present(&columns[i], &a))
				csv_field(out, &columns[i], &a);
		}
		out_put(out, "\n", 1);
		++*rows;
	}
	return more < 0 ? more : 0;
}

/* ---- Parquet ---- */

static int parquet(struct out *out, struct tare_accesses *from, uint64_t *rows,
		   struct tare_error *err)
{
	static const enum parquet_type types[] = { [WORDS] = PARQUET_STRING,
						   [NUMBER] = PARQUET_U64,
						   [SIGNED] = PARQUET_I64,
						   [ADDRESS] = PARQUET_U64,
						   [BOOLEAN] = PARQUET_BOOL };
	struct parquet_column as[COLUMNS];
	struct tare_access a;
	struct parquet *p;
	int ret, more = 0;

	for (size_t i = 0; i < COLUMNS; i++)
		as[i] = (struct parquet_column){ columns[i].name, types[columns[i].source],
						 columns[i].has || columns[i].latency >= 0 };
	p = parquet_open(out, as, COLUMNS, err);
	if (!p)
		return err && err->code ? -err->code : -ENOMEM;
	ret = parquet_note(p, "schema", "tare/accesses/1", err);
	while (ret == 0 && !out->error && (more = tare_accesses_next(from, &a, err)) == 1) {
		for (size_t i = 0; i < COLUMNS; i++) {
			if (!present(&columns[i], &a))
				continue;
			if (columns[i].source == WORDS)
				parquet_string(p, i, columns[i].words(&a));
			else
				parquet_number(p, i, column_value(&columns[i], &a));
		}
		++*rows;
		ret = parquet_end_row(p, err);
	}
	if (ret < 0) {
		parquet_free(p);
		return ret;
	}
	ret = parquet_close(p, more < 0 ? NULL : err);
	return ret < 0 ? ret : more < 0 ? more : 0;
}

int access_table_write(struct out *out, enum access_format format, struct tare_accesses *a,
		       uint64_t *rows, struct tare_error *err)
{
	*rows = 0;
	return format == ACCESS_CSV ? csv(out, a, rows, err) : parquet(out, a, rows, err);
}
