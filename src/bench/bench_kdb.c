/* SPDX-License-Identifier: MIT */
/*
 * The runs as a splayed table of kdb+. q maps such files directly:
 *
 *	a list of numbers     offset  size
 *	                           0     2  fe 20
 *	                           2     1  type: 6 int (4 bytes), 7 long, 9 float (8 bytes)
 *	                           3     1  attribute: 0, none
 *	                           4     4  0
 *	                           8     8  their number
 *	                          16        the numbers, little endian
 *
 *	a list of symbols          0     2  ff 01
 *	                           2     1  type: 11
 *	                           3     1  attribute: 0
 *	                           4     4  their number
 *	                           8        the symbols, each NUL-terminated
 *
 * Variants and events are numbers in the table, which index two separate lists of symbols. So no
 * column is an enumeration, as the layout of enumerations depends on the version of kdb+. Source:
 * code.kx.com, "Splayed tables", "Serialization" (types, symbols); offsets from the public reader
 * of kdb+ files in Jaskirat Rajasansir's kdb-common (file.kdb.q).
 */
#include <string.h>
#include "bench/bench_view.h"

enum { KDB_INT = 6, KDB_LONG = 7, KDB_FLOAT = 9, KDB_SYMBOL = 11 };
enum column { VARIANT, RUN, EVENT, PAIRS, RAW, NET, PEROP, COLUMNS };

static const struct {
	const char *name;
	int type;
} columns[COLUMNS] = {
	[VARIANT] = { "variant", KDB_INT }, [RUN] = { "run", KDB_INT },
	[EVENT] = { "event", KDB_INT },     [PAIRS] = { "pairs", KDB_INT },
	[RAW] = { "raw", KDB_LONG },        [NET] = { "net", KDB_FLOAT },
	[PEROP] = { "perop", KDB_FLOAT },
};

static const char loader[] =
	"/ Runs of tare bench: q tare.q in this folder, or \\l tare.q\n"
	"/ variant, run (from 1), event, pairs (of start and stop), raw (as counted), net (less the baseline), perop (net per operation)\n"
	"variants:get`:variants\n"
	"events:get`:events\n"
	"runs:update variant:variants variant,event:events event from select from get`:runs/\n"
	"medians:select med perop by variant,event from runs\n";

enum { FILE_D = COLUMNS, FILE_VARIANTS, FILE_EVENTS, FILE_LOADER, FILES };

_Static_assert((int)BENCH_KDB_FILES == (int)FILES, "");

const char *bench_kdb_name(unsigned file)
{
	static const char *const names[FILES] = { "runs/variant", "runs/run", "runs/event",
						  "runs/pairs",   "runs/raw", "runs/net",
						  "runs/perop",   "runs/.d",  "variants",
						  "events",       "tare.q" };

	return file < FILES ? names[file] : NULL;
}

static void put_u32(struct text *out, uint32_t v)
{
	char b[4] = { (char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24) };

	text_put(out, b, 4);
}

static void put_u64(struct text *out, uint64_t v)
{
	put_u32(out, (uint32_t)v);
	put_u32(out, (uint32_t)(v >> 32));
}

static void put_float(struct text *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_u64(out, bits);
}

static void begin_symbols(struct text *out, size_t n)
{
	text_put(out, (const char[]){ (char)0xff, 1, KDB_SYMBOL, 0 }, 4);
	put_u32(out, (uint32_t)n);
}

static void put_symbol(struct text *out, const char *s)
{
	text_put(out, s, strlen(s) + 1);
}

static void put_cell(struct text *out, const struct bench_about *b, enum column c, size_t v,
		     uint32_t run, size_t k)
{
	const struct bench_stat *s = bench_stat_of(b->stats, v, k);
	uint32_t pairs = b->result->pairs[v * b->plan->runs + run];
	int64_t raw = b->result->series[v * b->result->n_counters + k].value[run];

	switch (c) {
	case VARIANT:
		put_u32(out, (uint32_t)v);
		break;
	case RUN:
		put_u32(out, run + 1);
		break;
	case EVENT:
		put_u32(out, (uint32_t)k);
		break;
	case PAIRS:
		put_u32(out, pairs);
		break;
	case RAW:
		put_u64(out, (uint64_t)raw);
		break;
	case NET:
		put_float(out, (double)raw - pairs * s->base);
		break;
	default:
		put_float(out, s->run[run]);
	}
}

static void put_column(struct text *out, const struct bench_about *b, enum column c)
{
	const struct bench_result *r = b->result;
	size_t available = 0;

	for (size_t k = 0; k < r->n_counters; k++)
		available += r->counter[k].quality != TARE_UNAVAILABLE;
	text_put(out, (const char[]){ (char)0xfe, 0x20, (char)columns[c].type, 0, 0, 0, 0, 0 }, 8);
	put_u64(out, b->plan->n_variants * b->plan->runs * available);
	for (size_t v = 0; v < b->plan->n_variants; v++)
		for (uint32_t i = 0; i < b->plan->runs; i++)
			for (size_t k = 0; k < r->n_counters; k++)
				if (r->counter[k].quality != TARE_UNAVAILABLE)
					put_cell(out, b, c, v, i, k);
}

/* The table has no column for the quality. */
static const char *name_of(const struct bench_counter *c)
{
	return c->how == BENCH_CHAIN ? "cycles_estimated" : c->name;
}

void bench_kdb(struct text *out, unsigned file, const struct bench_about *b)
{
	if (file < COLUMNS) {
		put_column(out, b, (enum column)file);
	} else if (file == FILE_D) {
		begin_symbols(out, COLUMNS);
		for (int c = 0; c < COLUMNS; c++)
			put_symbol(out, columns[c].name);
	} else if (file == FILE_VARIANTS) {
		begin_symbols(out, b->plan->n_variants);
		for (size_t v = 0; v < b->plan->n_variants; v++)
			put_symbol(out, b->plan->variant[v].name);
	} else if (file == FILE_EVENTS) {
		begin_symbols(out, b->result->n_counters);
		for (size_t k = 0; k < b->result->n_counters; k++)
			put_symbol(out, name_of(&b->result->counter[k]));
	} else {
		text_add(out, "%s", loader);
	}
}
