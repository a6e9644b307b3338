/* SPDX-License-Identifier: MIT */
/* tare dump: prints any perf.data record by record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/num.h"
#include "cli/recordings.h"
#include "output/options/option.h"
#include "perfdata/dump/tell_partial.h"
#include "perfdata/perfdata_precise.h"
#include "output/escape.h"
#include "perfdata/dump/perfdata_view.h"
#include "perfdata/dump/precise_view.h"

enum {
	EXIT_PARTIAL = 1, /* the file is damaged: the part before the damage was printed */
	TYPES_MAX = 256,
	FLUSH_AT = 1 << 16,
	SPE_PIECE = 1 << 17, /* more than the longest packet, which is padding */
};

struct dump_options {
	bool raw, header, counts, by_time, some_types;
	bool type[TYPES_MAX];
};

static int type_of(const char *word, struct tare_error *err)
{
	const char *names[TYPES_MAX];
	struct text near = { 0 };
	uint64_t number;
	size_t n = 0;

	for (uint32_t type = 0; type < TYPES_MAX; type++) {
		const char *name = perfdata_type_name(type);

		if (name && !strcasecmp(name, word))
			return (int)type;
		if (name)
			names[n++] = name;
	}
	if (num_parse(word, &number, NULL) == 0 && number < TYPES_MAX)
		return (int)number;
	tare_fail(err, EINVAL, "there is no record type '%.40s'", word);
	text_nearest(&near, word, names, n, 1);
	if (near.len)
		tare_hint(err, "did you mean %s? A number below %d does too", near.s, TYPES_MAX);
	else
		tare_hint(err, "such as sample,mmap2,comm; a number below %d does too", TYPES_MAX);
	text_free(&near);
	return -EINVAL;
}

static int set_records(void *options, const char *arg, struct tare_error *err)
{
	struct dump_options *o = options;

	o->some_types = true;
	for (;; arg++) {
		size_t n = strcspn(arg, ",");
		char word[64];
		int type;

		snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1),
			 arg);
		type = type_of(word, err);
		if (type < 0)
			return type;
		o->type[type] = true;
		arg += n;
		if (!*arg)
			return 0;
	}
}

#define OPTIONS struct dump_options

static const struct option_row dump_opts[] = {
	{ 'r', "records", "TYPES", "only these, such as sample,mmap2,comm; or their numbers",
	  SPECIAL_ALL(set_records) },
	{ 0, "raw", NULL,
	  "show the bytes of each record too, and registers of IBS and packets of SPE", FLAG(raw) },
	{ 0, "header", NULL, "show the header and the features, no records", FLAG(header) },
	{ 0, "counts", NULL, "show how many records of each type and event, not the records",
	  FLAG(counts) },
	{ 0, "by-time", NULL, "in order of time; default: in file order", FLAG(by_time) },
	{ 0 },
};

/* The number of records per type and per event. */
struct tally {
	uint64_t type[TYPES_MAX], other;
	uint64_t *event; /* by index */
	size_t n_events;
};

static bool count(struct tally *t, const struct perfdata_record *rec)
{
	if (rec->type < TYPES_MAX)
		t->type[rec->type]++;
	else
		t->other++;
	if (rec->type != PD_RECORD_SAMPLE || !rec->event || rec->bad)
		return true;
	if (!array_reserve_zeroed(&t->event, &t->n_events, rec->event->index + 1,
				  sizeof(*t->event)))
		return false;
	t->event[rec->event->index]++;
	return true;
}

static void show_counts(struct text *out, const struct perfdata *r, const struct tally *t)
{
	for (uint32_t i = 0; i < TYPES_MAX; i++) {
		const char *name = perfdata_type_name(i);

		if (!t->type[i])
			continue;
		if (name)
			text_add(out, "%-20s %llu\n", name, (unsigned long long)t->type[i]);
		else
			text_add(out, "TYPE_%-15u %llu\n", i, (unsigned long long)t->type[i]);
	}
	if (t->other)
		text_add(out, "%-20s %llu\n", "other types", (unsigned long long)t->other);
	for (size_t i = 0; i < t->n_events; i++) {
		const struct perfdata_event *ev = perfdata_event_at(r, i);

		if (!ev || !t->event[i])
			continue;
		text_add(out, "samples of ");
		escape_quoted(out, ev->name);
		text_add(out, " %llu\n", (unsigned long long)t->event[i]);
	}
}

/* Writes the collected text and empties it. */
static int put_text(struct text *out, struct tare_error *err)
{
	if (out->failed)
		return tare_fail_nomem(err);
	if (out->len && fwrite(out->s, 1, out->len, stdout) != out->len)
		return tare_fail(err, errno, "cannot write: %s", strerror(errno));
	out->len = 0;
	return 0;
}

/* The SPE payload after the last record, packet by packet. */
static int show_spe(struct perfdata *r, struct text *out, struct tare_error *err)
{
	uint8_t *buf = malloc(SPE_PIECE);
	size_t held = 0, used;
	uint64_t base = 0;
	ssize_t got;
	int ret = buf ? 0 : tare_fail_nomem(err);

	while (ret == 0 && (got = perfdata_payload(r, buf + held, SPE_PIECE - held, err)) != 0) {
		if (got < 0) {
			ret = (int)got;
			break;
		}
		held += (size_t)got;
		used = spe_view(out, buf, held, base);
		if (!used && held == SPE_PIECE)
			used = held; /* endless padding */
		memmove(buf, buf + used, held - used);
		held -= used;
		base += used;
		ret = put_text(out, err);
	}
	if (ret == 0 && held)
		text_add(out, "    %08llx  %zu bytes of a packet that is truncated\n",
			 (unsigned long long)base, held);
	free(buf);
	return ret;
}

/* Decoded hardware trace: `aux` is the data type that AUXTRACE_INFO announced. */
static int show_precise(struct perfdata *r, const struct perfdata_record *rec, uint32_t aux,
			struct text *out, struct tare_error *err)
{
	struct tare_error why = TARE_ERROR_INIT;
	struct ibs ibs;
	int ret;

	if (rec->type == PD_RECORD_AUXTRACE && aux == PD_AUXTRACE_ARM_SPE && !rec->bad)
		return show_spe(r, out, err);
	ret = perfdata_ibs(r, rec, &ibs, &why);
	if (ret > 0)
		ibs_view(out, &ibs);
	else if (ret < 0)
		text_add(out, "    undecodable: %s\n", why.what);
	return 0;
}

static int records(struct perfdata *r, const struct dump_options *o, struct text *out,
		   struct tally *tally, struct tare_error *err, struct tare_error *damage)
{
	struct perfdata_record rec;
	uint32_t aux = 0;
	int ret, put_ret;

	while ((ret = o->by_time ? perfdata_next_ordered(r, &rec, damage)
				 : perfdata_next(r, &rec, damage)) == 1) {
		if (!count(tally, &rec))
			return tare_fail_nomem(err);
		if (rec.type == PD_RECORD_AUXTRACE_INFO && !rec.bad)
			aux = rec.auxtrace_info.type;
		if (o->header || o->counts ||
		    (o->some_types && !(rec.type < TYPES_MAX && o->type[rec.type])))
			continue;
		perfdata_view_record(out, r, &rec);
		if (o->raw) {
			perfdata_view_bytes(out, rec.bytes, rec.size);
			if ((put_ret = show_precise(r, &rec, aux, out, err)) < 0)
				return put_ret;
		}
		if (out->len >= FLUSH_AT && (put_ret = put_text(out, err)) < 0)
			return put_ret;
	}
	return 0;
}

static int dump(const struct command *self, const char *path, const struct dump_options *o,
		struct tare_error *err)
{
	struct tare_error damage = TARE_ERROR_INIT;
	struct perfdata *r = perfdata_open(path, NULL, err);
	struct tally tally = { 0 };
	struct text out = { 0 };
	bool pipe;
	int ret;

	if (!r)
		return -1;
	pipe = perfdata_file(r)->pipe;
	/* In pipe mode events and features are records, so the header is complete only at the
	 * end. */
	if (!pipe && !o->counts && !o->some_types)
		perfdata_view_header(&out, r);
	ret = 0;
	if (pipe || !o->header)
		ret = records(r, o, &out, &tally, err, &damage);
	if (ret == 0) {
		if (pipe && !o->counts && !o->some_types)
			perfdata_view_header(&out, r);
		if (o->counts)
			show_counts(&out, r, &tally);
		if (!o->header)
			perfdata_view_loss(&out, r);
		ret = put_text(&out, err);
	}
	if (ret == 0 && fflush(stdout))
		ret = tare_fail(err, errno, "cannot write: %s", strerror(errno));
	if (ret == 0)
		input_tell_broke_off(self->name, path, perfdata_file(r)->broke_off);
	if (ret == 0 && !damage.code)
		perfdata_whole(r, &damage);
	if (ret == 0 && tell_partial(self->name, path, r, damage.what, false))
		ret = EXIT_PARTIAL;
	text_free(&out);
	free(tally.event);
	perfdata_close(r);
	return ret;
}

static int dump_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct dump_options o = { 0 };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;

	if (rest < 0)
		return status;
	if (argc - rest > 1) {
		tare_fail(&err, EINVAL, "'%.64s' is one file too many", argv[rest + 1]);
		tare_hint(&err, "dump takes one file");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	input_note_recording(self->name, rest < argc ? argv[rest] : "perf.data");
	ret = dump(self, rest < argc ? argv[rest] : "perf.data", &o, &err);
	if (ret < 0)
		complain(self, &err, NULL);
	return ret < 0 ? EXIT_CANNOT_MEASURE : ret;
}

const struct command cmd_dump = {
	.name = "dump",
	.about = "print any perf.data: header, features, records, raw and decoded",
	.args = "[FILE]",
	.example = "  tare dump perf.data\n"
		   "  tare dump --records sample,lost --raw perf.data\n"
		   "  perf record -o - -- true | tare dump --counts -",
	.topic = TOPIC_WHERE,
	.words = WORDS_ANYWHERE,
	.options = dump_opts,
	.run = dump_run,
};
