/* SPDX-License-Identifier: MIT */
/*
 * Recordings of real machines against what two other readers found in them (perf 6.1 and a small
 * one in Python). They are not part of this repository: TARE_FIXTURES names the folder that holds
 * perfdata/.
 */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "perfdata/perfdata.h"
#include "perfdata/perfdata_features.h"
#include "tap.h"

enum { TYPES = 128, EVENTS = 64, TIDS = 4096, IPS = 1 << 16 };

struct facts {
	uint64_t records[TYPES], samples[EVENTS], n_samples;
	uint64_t period_sum, first, last, chain, branches, stack;
	uint64_t mispredicted, predicted, cycles, branch_types;
	uint64_t stack_sizes[64]; /* samples by the number of their branches, up to 63 */
	uint32_t tid[TIDS];
	size_t n_tids;
	struct {
		uint64_t ip, n;
	} ip[IPS]; /* open addressing; n 0: free */
	/* Who was running, as COMM and FORK tell in order of time; samples by name. */
	struct {
		uint32_t tid;
		char comm[17];
	} thread[TIDS];
	size_t n_threads;
	struct {
		char comm[17];
		uint64_t n;
	} comm[TIDS];
	size_t n_comms;
	uint64_t ordered_at, out_of_order;
	int ret;
	struct tare_error err;
};

static const char *folder(void)
{
	static char path[4096];
	const char *root = getenv("TARE_FIXTURES");
	struct stat st;

	snprintf(path, sizeof(path), "%s/perfdata",
		 root ? root : TARE_SOURCE "/../shared/fixtures");
	if (stat(path, &st) < 0)
		tap_skip("fixtures",
			 "%s is not there; TARE_FIXTURES names the folder that holds "
			 "perfdata/",
			 path);
	return path;
}

static void count_ip(struct facts *f, uint64_t ip)
{
	size_t i = (size_t)(ip * 0x9e3779b97f4a7c15ull >> 32);

	for (;; i++) {
		i %= IPS;
		if (f->ip[i].n && f->ip[i].ip != ip)
			continue;
		f->ip[i].ip = ip;
		f->ip[i].n++;
		return;
	}
}

static uint64_t samples_at(const struct facts *f, uint64_t ip)
{
	for (size_t i = 0; i < IPS; i++)
		if (f->ip[i].n && f->ip[i].ip == ip)
			return f->ip[i].n;
	return 0;
}

static void sample(struct facts *f, const struct perfdata_record *rec)
{
	const struct perfdata_sample *s = &rec->sample;
	size_t i;

	f->n_samples++;
	if (rec->event && rec->event->index < EVENTS)
		f->samples[rec->event->index]++;
	if (rec->has & PD_SAMPLE_PERIOD)
		f->period_sum += s->period;
	if (rec->has & PD_SAMPLE_TIME) {
		if (!f->first || rec->time < f->first)
			f->first = rec->time;
		if (rec->time > f->last)
			f->last = rec->time;
	}
	if (rec->has & PD_SAMPLE_CALLCHAIN)
		f->chain += s->n_chain;
	if (rec->has & PD_SAMPLE_BRANCH_STACK) {
		f->branches += s->n_branches;
		f->stack_sizes[s->n_branches & 63]++;
		for (uint64_t k = 0; k < s->n_branches; k++) {
			f->mispredicted += s->branches[k].flags & 1;
			f->predicted += s->branches[k].flags >> 1 & 1;
			f->cycles += s->branches[k].flags >> 4 & 0xffff;
			f->branch_types += s->branches[k].flags >> 20 & 15;
		}
	}
	if (rec->has & PD_SAMPLE_STACK_USER)
		f->stack += s->stack_size;
	if (rec->has & PD_SAMPLE_IP)
		count_ip(f, s->ip);
	for (i = 0; i < f->n_tids && f->tid[i] != rec->tid; i++)
		;
	if (i == f->n_tids && i < TIDS && rec->has & PD_SAMPLE_TID)
		f->tid[f->n_tids++] = rec->tid;
}

/* A thread that nothing names is called by its number. */
static const char *comm_of(struct facts *f, uint32_t tid)
{
	static char number[17];

	for (size_t i = 0; i < f->n_threads; i++)
		if (f->thread[i].tid == tid)
			return f->thread[i].comm;
	snprintf(number, sizeof(number), "%u", tid);
	return tid ? number : "swapper";
}

static void name_thread(struct facts *f, uint32_t tid, const char *comm)
{
	size_t i = 0;

	while (i < f->n_threads && f->thread[i].tid != tid)
		i++;
	if (i == TIDS)
		return;
	f->n_threads += i == f->n_threads;
	f->thread[i].tid = tid;
	snprintf(f->thread[i].comm, sizeof(f->thread[i].comm), "%s", comm);
}

static void follow_comms(struct facts *f, const struct perfdata_record *rec)
{
	char comm[17];
	size_t i = 0;

	if (rec->type == PD_RECORD_COMM)
		name_thread(f, rec->comm.tid, rec->comm.comm);
	if (rec->type == PD_RECORD_FORK || rec->type == PD_RECORD_SAMPLE)
		snprintf(comm, sizeof(comm), "%s",
			 comm_of(f, rec->type == PD_RECORD_FORK ? rec->task.ptid : rec->tid));
	if (rec->type == PD_RECORD_FORK)
		name_thread(f, rec->task.tid, comm);
	if (rec->type != PD_RECORD_SAMPLE)
		return;
	while (i < f->n_comms && strcmp(f->comm[i].comm, comm))
		i++;
	if (i == TIDS)
		return;
	f->n_comms += i == f->n_comms;
	memcpy(f->comm[i].comm, comm, sizeof(comm));
	f->comm[i].n++;
}

static struct facts *walk(struct perfdata *r, bool ordered)
{
	struct facts *f = calloc(1, sizeof(*f));
	struct perfdata_record rec;

	if (!f)
		abort();
	while ((f->ret = ordered ? perfdata_next_ordered(r, &rec, &f->err)
				 : perfdata_next(r, &rec, &f->err)) == 1) {
		f->records[rec.type % TYPES]++;
		CHECK(!rec.bad, "record at %llu: %s", (unsigned long long)rec.offset, rec.bad);
		if (rec.type == PD_RECORD_SAMPLE && !rec.bad)
			sample(f, &rec);
		if (!rec.bad)
			follow_comms(f, &rec);
		if (ordered && rec.has & PD_SAMPLE_TIME && rec.time && rec.time != UINT64_MAX) {
			f->out_of_order += rec.time < f->ordered_at;
			f->ordered_at = rec.time;
		}
	}
	return f;
}

static uint64_t number(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static uint64_t hex(const json_t *v)
{
	return strtoull(json_string_value(v), NULL, 16);
}

static void check_attrs(struct perfdata *r, const json_t *want, const char *name)
{
	const json_t *list = json_object_get(want, "attr");

	CHECK_EQ(perfdata_event_count(r), number(want, "n_attr"), "%s", name);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *a = json_array_get(list, i);
		const struct perfdata_event *ev = perfdata_event_at(r, i);

		if (!CHECK(ev != NULL, "%s: event %zu", name, i))
			return;
		CHECK_EQ(ev->attr.type, number(a, "type"), "%s: event %zu", name, i);
		CHECK_EQ(ev->attr.config, hex(json_object_get(a, "config")), "%s: event %zu", name,
			 i);
		CHECK_EQ(ev->attr.sample_type, hex(json_object_get(a, "sample_type")),
			 "%s: event %zu", name, i);
		CHECK_EQ(ev->attr.read_format, hex(json_object_get(a, "read_format")),
			 "%s: event %zu", name, i);
		CHECK_EQ(ev->n_ids, number(a, "n_ids"), "%s: event %zu", name, i);
		CHECK_EQ(ev->attr.size, number(a, "size"), "%s: event %zu", name, i);
	}
}

static void check_head(struct perfdata *r, const json_t *want, const char *name)
{
	const struct perfdata_file *file = perfdata_file(r);
	const json_t *features = json_object_get(want, "features");
	size_t n = 0;

	CHECK_EQ(file->swapped, !strcmp(json_string_value(json_object_get(want, "endian")), "BE"),
		 "%s", name);
	CHECK_EQ(file->pipe, json_is_true(json_object_get(want, "pipe")), "%s", name);
	if (file->pipe)
		return;
	CHECK_EQ(file->attr_size, number(want, "attr_size"), "%s", name);
	for (unsigned bit = 0; bit < PD_FEAT_BITS; bit++)
		n += perfdata_has_feature(r, bit);
	for (size_t i = 0; i < json_array_size(features); i++) {
		unsigned bit = (unsigned)json_integer_value(json_array_get(features, i));

		CHECK(perfdata_has_feature(r, bit), "%s: feature %u", name, bit);
		CHECK_EQ(perfdata_features(r)->damaged[bit / 64] >> (bit & 63) & 1, 0,
			 "%s: feature %u", name, bit);
	}
	/* The facts stop at feature 31: what is beyond is simpleperf's. */
	if (strncmp(name, "simpleperf", 10))
		CHECK_EQ(n, json_array_size(features), "%s", name);
}

static void check_records(const struct facts *f, const json_t *want, const char *name)
{
	json_t *records = json_object_get(want, "records");
	uint64_t n = 0, all = 0;
	const char *key;
	json_t *v;

	for (uint32_t type = 0; type < TYPES; type++)
		all += f->records[type];
	json_object_foreach(records, key, v)
	{
		uint32_t type = 0;

		while (type < TYPES &&
		       !(perfdata_type_name(type) && !strcmp(perfdata_type_name(type), key)))
			type++;
		if (!CHECK(type < TYPES, "%s: no record type %s", name, key))
			continue;
		CHECK_EQ(f->records[type], json_integer_value(v), "%s: %s", name, key);
		n += (uint64_t)json_integer_value(v);
	}
	CHECK_EQ(all, n, "%s: records of other types", name);
}

static void check_samples(const struct facts *f, const json_t *want, const char *name)
{
	const json_t *top = json_object_get(want, "top_ip"), *time = json_object_get(want, "time");
	const json_t *per = json_object_get(want, "samples_per_attr");
	uint64_t told = 0, least = UINT64_MAX, above = 0;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)per, key, v)
	{
		CHECK_EQ(f->samples[atoi(key)], json_integer_value(v), "%s: event %s", name, key);
		told += (uint64_t)json_integer_value(v);
	}
	CHECK_EQ(f->n_samples, told, "%s", name);
	CHECK_EQ(f->n_tids, number(want, "tids"), "%s", name);
	CHECK_EQ(f->period_sum, number(want, "period_sum"), "%s", name);
	CHECK_EQ(f->chain, number(want, "cc_entries"), "%s", name);
	CHECK_EQ(f->branches, number(want, "br_entries"), "%s", name);
	CHECK_EQ(f->stack, number(want, "stk_bytes"), "%s", name);
	CHECK_EQ(f->first, (uint64_t)json_integer_value(json_array_get(time, 0)), "%s", name);
	CHECK_EQ(f->last, (uint64_t)json_integer_value(json_array_get(time, 1)), "%s", name);
	for (size_t i = 0; i < json_array_size(top); i++) {
		const json_t *row = json_array_get(top, i);
		uint64_t n = (uint64_t)json_integer_value(json_array_get(row, 1));

		CHECK_EQ(samples_at(f, hex(json_array_get(row, 0))), n, "%s: address %s", name,
			 json_string_value(json_array_get(row, 0)));
		least = n < least ? n : least;
	}
	for (size_t i = 0; i < IPS && json_array_size(top); i++)
		above += f->ip[i].n > least;
	CHECK(above < json_array_size(top) || !json_array_size(top),
	      "%s: more addresses are as frequent as the top ones", name);
}

/* Event names are facts only of perf 6.1; where the file names its events otherwise, it is right.
 */
static void check_names(struct perfdata *r, const struct facts *f, const json_t *want,
			const char *name)
{
	const json_t *per = json_object_get(json_object_get(want, "perf61"), "per_event");
	uint64_t group = perfdata_event_count(r) &&
		perfdata_event_at(r, 0)->attr.read_format & PD_READ_GROUP;
	const char *key;
	json_t *v;

	if (!per || !strncmp(name, "pipe-header-features", 20))
		return; /* there perf 6.1 shows cycles:uH, and the file's EVENT_UPDATE says cycles:u
			 */
	json_object_foreach((json_t *)per, key, v)
	{
		size_t i = 0;

		while (i < perfdata_event_count(r) && strcmp(perfdata_event_at(r, i)->name, key))
			i++;
		if (!CHECK(i < perfdata_event_count(r), "%s: no event is called %s", name, key))
			continue;
		/* perf counts a group's sample for each member. */
		CHECK_EQ(group ? f->n_samples : f->samples[i], json_integer_value(v), "%s: %s",
			 name, key);
	}
}

/* By time, each sample belongs to the program that perf 6.1 shows for it. */
static void check_comms(struct perfdata *r, const struct facts *f, const json_t *want,
			const char *name)
{
	const json_t *list = json_object_get(json_object_get(want, "perf61"), "comms");
	uint64_t each = perfdata_event_count(r) &&
			perfdata_event_at(r, 0)->attr.read_format & PD_READ_GROUP
		? perfdata_event_count(r)
		: 1;

	if (!strncmp(name, "aux-intel-pt", 12))
		return; /* there perf 6.1 adds samples that it decodes from the trace */
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *comm = json_string_value(json_array_get(json_array_get(list, i), 0));
		size_t k = 0;

		while (k < f->n_comms && strcmp(f->comm[k].comm, comm))
			k++;
		if (CHECK(k < f->n_comms, "%s: no sample of %s", name, comm))
			CHECK_EQ(f->comm[k].n * each,
				 json_integer_value(json_array_get(json_array_get(list, i), 1)),
				 "%s: %s", name, comm);
	}
}

static void check_file(const char *dir, const char *name, bool ordered)
{
	char path[8192];
	struct tare_error err = TARE_ERROR_INIT;
	json_t *want;
	struct perfdata *r;
	struct facts *f;

	snprintf(path, sizeof(path), "%s/expected/%s.json", dir, name);
	want = json_load_file(path, 0, NULL);
	if (!CHECK(want != NULL, "%s", path))
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = perfdata_open(path, NULL, &err);
	if (!CHECK(r != NULL, "%s", err.what))
		return;
	f = walk(r, ordered);
	check_head(r, want, name);
	check_attrs(r, want, name);
	check_records(f, want, name);
	check_samples(f, want, name);
	check_names(r, f, want, name);
	if (ordered)
		check_comms(r, f, want, name);
	CHECK_EQ(perfdata_loss(r)->lost, number(want, "lost"), "%s", name);
	CHECK_EQ(perfdata_loss(r)->lost_samples, number(want, "lost_samples"), "%s", name);
	CHECK_EQ(perfdata_loss(r)->undecodable, 0, "%s", name);
	CHECK_EQ(perfdata_loss(r)->unattributed, 0, "%s", name);
	CHECK(perfdata_note(r, 0) == NULL, "%s: %s", name, perfdata_note(r, 0));
	if (json_is_null(json_object_get(want, "err"))) {
		CHECK_EQ(perfdata_loss(r)->unread, number(want, "tail"), "%s", name);
		CHECK_EQ(f->ret, number(want, "tail") ? -EBADMSG : 0, "%s: %s", name, f->err.what);
	} else {
		CHECK_EQ(f->ret, -EBADMSG, "%s", name);
		CHECK(strstr(f->err.what, "byte 49104") != NULL, "%s: %s", name, f->err.what);
	}
	CHECK_EQ(f->out_of_order, 0, "%s", name);
	CHECK_EQ(perfdata_loss(r)->disordered, 0, "%s", name);
	perfdata_close(r);
	json_decref(want);
	free(f);
}

static void check_all(bool ordered)
{
	const char *dir = folder();
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 5, ".data"))
			continue;
		check_file(dir, e->d_name, ordered);
		n++;
	}
	if (d)
		closedir(d);
	CHECK(n >= 20, "only %d recordings", n);
}

TEST(every_recording_in_file_order)
{
	check_all(false);
}

TEST(every_recording_by_time)
{
	check_all(true);
}

static struct perfdata *fixture(const char *name)
{
	char path[8192];
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r;

	snprintf(path, sizeof(path), "%s/%s", folder(), name);
	r = perfdata_open(path, NULL, &err);
	if (!CHECK(r != NULL, "%s", err.what))
		exit(TAP_FAILED);
	return r;
}

TEST(taken_branches)
{
	struct perfdata *r = fixture("x86-lbr-any.perf.data");
	struct facts *f = walk(r, false);

	CHECK_EQ(f->stack_sizes[32], 13);
	CHECK_EQ(f->mispredicted, 21);
	CHECK_EQ(f->predicted, 395);
	CHECK_EQ(f->cycles, 50938);
	CHECK_EQ(f->branch_types, 0);
	perfdata_close(r);
	free(f);

	struct perfdata_record rec;

	r = fixture("x86-lbr-any.perf.data");
	while (perfdata_next(r, &rec, NULL) == 1 && rec.type != PD_RECORD_SAMPLE)
		;
	CHECK_EQ(rec.sample.branches[0].from, 0xffffffffb4208e16);
	CHECK_EQ(rec.sample.branches[0].to, 0xffffffffb42071e3);
	CHECK_EQ(rec.sample.branches[0].flags, 2 | 4 << 4);
	CHECK_EQ(rec.sample.branches[31].from, 0);
	perfdata_close(r);

	r = fixture("x86-lbr-callstack.perf.data");
	f = walk(r, false);
	CHECK_EQ(f->stack_sizes[0], 8);
	CHECK_EQ(f->stack_sizes[2], 3);
	CHECK_EQ(f->stack_sizes[3], 9);
	CHECK_EQ(f->stack_sizes[4], 9);
	CHECK_EQ(f->predicted + f->mispredicted + f->cycles, 0);
	perfdata_close(r);
	free(f);
}

TEST(memory_loads)
{
	static const struct {
		uint64_t time, ip, addr, weight, data_src;
	} rows[] = {
		{ 572699320213005, 0xffffffff814041a3, 0xffff881817d63e02, 7, 0x68100142 },
		{ 572699320239288, 0xffffffff81037e14, 0xffff88101efd42e0, 7, 0x68100142 },
		{ 572699320246746, 0xffffffff813ffcc7, 0xffff88101efc5e38, 12, 0x68100142 },
		{ 572699320252621, 0xffffffff814cb6cc, 0xffff88101efc5db8, 7, 0x68100142 },
		{ 572699320259852, 0xffffffff8117d636, 0xffff8816fb9b7c98, 7, 0x68100142 },
		{ 572699320295357, 0xffffffff811ca2e9, 0xffff8800b65e27e8, 519, 0x6a100142 },
		{ 572699320442330, 0xffffffff81190028, 0xffff881d5cc894d8, 7, 0x68100142 },
		{ 572699320646075, 0xffffffff811c191b, 0xffff8816fb9b7d80, 8, 0x68100142 },
		{ 572699320826902, 0x7f56ff584f80, 0x7ffe7a3307d8, 7, 0x68100142 },
		{ 572699320969995, 0xffffffff8117d630, 0xffff8816fb9b7d50, 12, 0x68100142 },
		{ 572699321145494, 0x7f56ff0be24b, 0x7f56ff78bcb8, 7, 0x68100142 },
		{ 572699321425880, 0xffffffff811f0002, 0xffff8816fb9b7c28, 7, 0x68100142 },
		{ 572699321570365, 0xffffffff81187607, 0xffff88181ab64900, 7, 0x68100142 },
		{ 572699321759226, 0xffffffff811c07b2, 0xffff8816fb9b7d10, 7, 0x68100142 },
	};
	struct perfdata *r = fixture("x86-pebs-memload.perf.data");
	struct perfdata_record rec;
	size_t n = 0;

	while (perfdata_next_ordered(r, &rec, NULL) == 1) {
		if (rec.type != PD_RECORD_SAMPLE || n == ARRAY_SIZE(rows))
			continue;
		CHECK_EQ(rec.time, rows[n].time, "row %zu", n);
		CHECK_EQ(rec.sample.ip, rows[n].ip, "row %zu", n);
		CHECK_EQ(rec.sample.addr, rows[n].addr, "row %zu", n);
		CHECK_EQ(rec.sample.weight, rows[n].weight, "row %zu", n);
		CHECK_EQ(rec.sample.data_src, rows[n].data_src, "row %zu", n);
		n++;
	}
	CHECK_EQ(n, ARRAY_SIZE(rows));
	perfdata_close(r);
}

TEST(group_values)
{
	static const struct {
		uint64_t id, last;
	} rows[] = { { 23125151, 2443468 }, { 23125199, 3068585 }, { 23125167, 1817338 },
		     { 23125215, 1136235 }, { 23125181, 1256627 }, { 23125229, 720639 } };
	uint64_t last[ARRAY_SIZE(rows)] = { 0 };
	struct perfdata *r = fixture("group-read-lost.perf.data");
	struct perfdata_record rec;
	bool first = true;

	while (perfdata_next(r, &rec, NULL) == 1) {
		if (rec.type != PD_RECORD_SAMPLE)
			continue;
		CHECK_EQ(rec.sample.read.n, 2);
		for (uint64_t i = 0; i < rec.sample.read.n; i++) {
			struct perfdata_value v = perfdata_read_at(&rec.sample.read, i);

			CHECK_EQ(v.lost, 0);
			for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
				if (rows[k].id == v.id)
					last[k] = v.value;
		}
		if (first) {
			CHECK_EQ(perfdata_read_at(&rec.sample.read, 0).value, 5660);
			CHECK_EQ(perfdata_read_at(&rec.sample.read, 1).value, 5455);
			CHECK_EQ(perfdata_read_at(&rec.sample.read, 1).id, 23125199);
			CHECK_EQ(rec.sample.period, 1);
			CHECK_EQ(rec.sample.n_chain, 7);
			CHECK_EQ(rec.sample.regs_user.n, 20);
			CHECK_EQ(rec.sample.regs_user.mask, 0xff0fff);
			CHECK_EQ(rec.sample.regs_user.abi, 2);
			CHECK_EQ(rec.sample.stack_size, 8192);
			CHECK_EQ(rec.sample.stack_dyn_size, 8192);
		}
		first = false;
	}
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
		CHECK_EQ(last[k], rows[k].last, "id %llu", (unsigned long long)rows[k].id);
	perfdata_close(r);
}

/* AUX data reaches the caller whole: sizes as the AUX records say, bytes as the file holds them. */
TEST(aux_payloads)
{
	static const uint64_t sizes[] = { 0x80, 0x38, 0x40, 0x40 };
	struct perfdata *r = fixture("arm-spe.reconstructed.data");
	unsigned char buf[4096], first[128];
	struct perfdata_record rec;
	size_t n = 0;

	while (perfdata_next(r, &rec, NULL) == 1) {
		if (rec.type != PD_RECORD_AUXTRACE)
			continue;
		if (!CHECK(n < ARRAY_SIZE(sizes)))
			break;
		CHECK_EQ(rec.payload, sizes[n]);
		CHECK_EQ(perfdata_payload(r, buf, sizeof(buf), NULL), sizes[n]);
		CHECK_EQ(perfdata_payload(r, buf, sizeof(buf), NULL), 0);
		if (n++ == 0)
			memcpy(first, buf, sizeof(first));
	}
	CHECK_EQ(n, ARRAY_SIZE(sizes));
	perfdata_close(r);

	char path[8192];
	FILE *raw;

	snprintf(path, sizeof(path), "%s/arm-spe-2records.bin", folder());
	raw = fopen(path, "rb");
	if (CHECK(raw != NULL, "%s", path)) {
		CHECK_EQ(fread(buf, 1, sizeof(buf), raw), 128);
		CHECK(!memcmp(buf, first, 128));
		fclose(raw);
	}
}

/* Forged files end in an error or a partial result, in little memory. */
TEST(corpus)
{
	char path[8192];
	struct dirent *e;
	DIR *d;
	int n = 0;

	snprintf(path, sizeof(path), "%s/corpus", folder());
	d = opendir(path);
	while (d && (e = readdir(d))) {
		struct tare_error err = TARE_ERROR_INIT;
		struct perfdata_record rec;
		struct perfdata *r;
		int ret;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/corpus/%s", folder(), e->d_name);
		for (int ordered = 0; ordered < 2; ordered++) {
			r = perfdata_open(path, NULL, &err);
			if (!r) {
				CHECK(err.code && strstr(err.what, path), "%s", err.what);
				continue;
			}
			while ((ret = ordered ? perfdata_next_ordered(r, &rec, &err)
					      : perfdata_next(r, &rec, &err)) == 1)
				;
			if (ret < 0)
				CHECK(strstr(err.what, path) && strstr(err.what, "byte "), "%s",
				      err.what);
			perfdata_close(r);
		}
		n++;
	}
	if (d)
		closedir(d);
	CHECK_EQ(n, 18);

	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	CHECK(used.ru_maxrss < 256 * 1024, "%ld kB", used.ru_maxrss);
}

TEST_MAIN()
