/* SPDX-License-Identifier: MIT */
/*
 * The writer's output as the reader sees it: every byte of every record, whole, truncated, piped,
 * compressed.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "base/build_id.h"
#include "perfdata/perfdata.h"
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_mapped.h"
#include "sample/perfdata_write.h"
#include "tap.h"

static char dir[] = "/tmp/tare-write-XXXXXX";
static char path[64];
static char *words[] = { (char *)"tare", (char *)"record", (char *)"--", (char *)"a b", NULL };

static struct encoding cycles = { .name = "cycles:u" }, faults = { .name = "page-faults" };
static uint64_t cycles_ids[] = { 11, 12 }, faults_ids[] = { 21 };

enum {
	TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD
};

static struct sampled events[2];

static void prepare(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.sample_type = TYPE,
					.sample_period = 1000,
					.sample_id_all = 1,
					.exclude_kernel = 1,
					.read_format = PERF_FORMAT_ID };

	if (!path[0]) {
		if (!mkdtemp(dir))
			abort();
		snprintf(path, sizeof(path), "%s/perf.data", dir);
	}
	events[0] = (struct sampled){ &cycles, attr, 0, cycles_ids, 2 };
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	events[1] = (struct sampled){ &faults, attr, 0, faults_ids, 1 };
}

static void clean(void)
{
	char old[80];

	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	unlink(path);
	rmdir(dir);
}

struct sample {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t period;
};

static struct sample sample(uint64_t i)
{
	return (struct sample){ { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
				  sizeof(struct sample) },
				i % 3 ? cycles_ids[i % 2] : faults_ids[0],
				0x400000 + i * 0x9e37 % 65536,
				7,
				8,
				1000 + i,
				(uint32_t)i % 4,
				0,
				1000 + i };
}

struct made {
	struct tare_error err;
	struct perfdata_writer *w;
	struct sample_sink *sink;
	struct sample_outcome outcome;
};

static const char *root; /* root of the machine; NULL: this one */

static void begin_writer(struct made *m, int compress, const char *to)
{
	const struct perfdata_write_options o = { .path = to,
						  .argv = words,
						  .compress = compress,
						  .build_ids = true,
						  .clockid = 1,
						  .root = root };

	*m = (struct made){ .err = TARE_ERROR_INIT,
			    .outcome = { .first_ns = 1000, .last_ns = 2000 } };
	if (!CHECK(perfdata_writer_open(&m->w, &o, &m->err) == 0, "%s", m->err.what))
		_exit(TAP_FAILED);
	m->sink = perfdata_writer_sink(m->w);
	CHECK_EQ(m->sink->begin(m->sink, events, 2, &m->err), 0, "%s", m->err.what);
}

static void put_samples(struct made *m, uint64_t from, uint64_t to)
{
	static struct sample many[4096];

	for (uint64_t i = from; i < to;) {
		size_t n = 0;

		while (n < 4096 && i < to)
			many[n++] = sample(i++);
		CHECK_EQ(m->sink->records(m->sink, (unsigned char *)many, n * sizeof(many[0]),
					  &m->err),
			 0, "%s", m->err.what);
	}
	CHECK_EQ(m->sink->round(m->sink, &m->err), 0, "%s", m->err.what);
}

/* Every sample from 0 to n, in order, with all its fields. */
static void check_samples(struct perfdata *r, uint64_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata_record rec;
	uint64_t seen = 0;
	int ret;

	while ((ret = perfdata_next(r, &rec, &err)) == 1) {
		struct sample s = sample(seen);

		if (rec.type != PD_RECORD_SAMPLE)
			continue;
		bool same = rec.id == s.id && rec.sample.ip == s.ip && rec.pid == 7 &&
			rec.tid == 8 && rec.time == s.time && rec.cpu == s.cpu &&
			rec.sample.period == s.period && rec.event;
		const char *name = seen % 3 ? "cycles:u" : "page-faults";

		if (!CHECK(same, "sample %llu", (unsigned long long)seen))
			break;
		CHECK(!strcmp(rec.event->name, name), "%s", rec.event->name);
		seen++;
	}
	CHECK_EQ(ret, 0, "%s", err.what);
	CHECK_EQ(seen, n);
}

static struct perfdata *reopen(const char *from)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r = perfdata_open(from, NULL, &err);

	if (!CHECK(r != NULL, "%s", err.what))
		_exit(TAP_FAILED);
	return r;
}

TEST(a_recording_comes_back_as_it_was_stated)
{
	static const int levels[] = { 0, 1, 19 };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		struct made m;
		struct perfdata *r;
		struct stat st;

		prepare();
		if (levels[i]) {
			const struct perfdata_write_options o = { .path = path, .compress = 1 };

			if (perfdata_writer_open(&m.w, &o, &m.err) == -ENOSYS)
				tap_skip("zstd", "this build has no zstd");
			perfdata_writer_close(m.w);
		}
		begin_writer(&m, levels[i], path);
		put_samples(&m, 0, 10000);
		put_samples(&m, 10000, 10001);
		CHECK_EQ(perfdata_writer_finish(m.w, &m.outcome, &m.err), 0, "%s", m.err.what);
		CHECK(stat(path, &st) == 0 && (uint64_t)st.st_size == perfdata_writer_size(m.w));
		CHECK_EQ(st.st_mode & 0777, 0600,
			 "a recording tells what a user did: it is his alone");
		perfdata_writer_close(m.w);
		r = reopen(path);
		CHECK(!perfdata_file(r)->unfinished && perfdata_file(r)->version == 2);
		CHECK_EQ(perfdata_event_count(r), 2);
		CHECK(perfdata_event_at(r, 0)->named && perfdata_event_at(r, 0)->n_ids == 2);
		check_samples(r, 10001);
		CHECK(!perfdata_note(r, 0), "%s", perfdata_note(r, 0));
		if (levels[i])
			CHECK((uint64_t)st.st_size < 10001 * sizeof(struct sample) / 2);
		perfdata_close(r);
	}
	clean();
}

/* A killed writer: the data up to the last header update is read without an error. */
TEST(without_its_end_it_is_whole_up_to_the_last_round)
{
	struct made m;
	struct perfdata *r;
	char part[80];

	prepare();
	begin_writer(&m, 0, path);
	put_samples(&m, 0, 500);
	struct sample late = sample(500);

	m.sink->records(m.sink, (unsigned char *)&late, sizeof(late), &m.err);
	perfdata_writer_close(m.w);
	r = reopen(path);
	CHECK(!perfdata_file(r)->unfinished, "the head says how far it goes");
	check_samples(r, 500);
	perfdata_close(r);

	/* Killed before the first round: the previous recording keeps the name */
	begin_writer(&m, 0, path);
	snprintf(part, sizeof(part), "%s.part", path);
	r = reopen(part);
	CHECK(perfdata_file(r)->unfinished);
	check_samples(r, 0);
	perfdata_close(r);
	perfdata_writer_close(m.w);
	CHECK(access(part, F_OK) < 0);
	r = reopen(path);
	check_samples(r, 500);
	perfdata_close(r);
	clean();
}

TEST(through_a_pipe_the_same_comes_as_records)
{
	struct made m;
	struct perfdata *r;
	char fifo[80];
	pid_t child;
	int status = 0;

	prepare();
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	child = fork();
	if (child == 0) {
		begin_writer(&m, 0, fifo);
		put_samples(&m, 0, 3000);
		CHECK_EQ(perfdata_writer_finish(m.w, &m.outcome, &m.err), 0);
		perfdata_writer_close(m.w);
		_exit(tap_failures ? 1 : 0);
	}
	r = reopen(fifo);
	CHECK(perfdata_file(r)->pipe);
	check_samples(r, 3000);
	CHECK_EQ(perfdata_event_count(r), 2);
	CHECK(perfdata_event_at(r, 1)->named);
	perfdata_close(r);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	unlink(fifo);
	clean();
}

TEST(the_recording_before_stays_as_old)
{
	struct made m;
	char old[80];
	struct stat st;

	prepare();
	snprintf(old, sizeof(old), "%s.old", path);
	begin_writer(&m, 0, path);
	put_samples(&m, 0, 10);
	perfdata_writer_close(m.w);
	/* Opened, and nothing recorded: an existing file is kept. */
	const struct perfdata_write_options o = { .path = path };

	CHECK_EQ(perfdata_writer_open(&m.w, &o, &m.err), 0);
	perfdata_writer_close(m.w);
	CHECK(stat(path, &st) == 0 && stat(old, &st) < 0);
	begin_writer(&m, 0, path);
	put_samples(&m, 0, 20);
	perfdata_writer_close(m.w);
	struct perfdata *r = reopen(old);

	check_samples(r, 10);
	perfdata_close(r);
	clean();
}

static void needs_zstd(void)
{
	const struct perfdata_write_options o = { .path = path, .compress = 1 };
	struct perfdata_writer *w = NULL;

	if (perfdata_writer_open(&w, &o, NULL) == -ENOSYS)
		tap_skip("zstd", "this build has no zstd");
	perfdata_writer_close(w);
}

/*
 * The records that were accepted: no part of those that did not fit, and none after them, which
 * cannot be decompressed without them.
 */
TEST(a_full_disk_leaves_of_a_compressed_recording_what_was_taken)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	static struct sample many[4096];
	struct perfdata *r;
	struct made m;

	prepare();
	needs_zstd();
	begin_writer(&m, 1, path);
	put_samples(&m, 0, 4096);
	for (uint64_t i = 0; i < 4096; i++)
		many[i] = sample(4096 + i);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = perfdata_writer_size(m.w) * 3 / 2;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_EQ(m.sink->records(m.sink, (unsigned char *)many, sizeof(many), &m.err), -EFBIG);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_EQ(m.sink->records(m.sink, (unsigned char *)many, sizeof(many[0]), &m.err), -EFBIG,
		 "the stream ended there");
	CHECK_EQ(perfdata_writer_finish(m.w, &m.outcome, &m.err), 0, "%s", m.err.what);
	perfdata_writer_close(m.w);
	r = reopen(path);
	check_samples(r, 4096);
	CHECK(!perfdata_note(r, 0), "%s", perfdata_note(r, 0));
	perfdata_close(r);
	clean();
}

/* A killed writer wrote no features, and perf can only decompress if an earlier record says how. */
TEST(a_compressed_recording_begins_with_how_it_is_compressed)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata_record rec;
	struct perfdata *r;
	struct made m;
	char part[80];
	uint64_t told = 0;
	int ret;

	prepare();
	needs_zstd();
	snprintf(part, sizeof(part), "%s.part", path);
	begin_writer(&m, 1, path);
	put_samples(&m, 0, 100);
	r = reopen(part);
	while ((ret = perfdata_next(r, &rec, &err)) == 1 && rec.type != PD_RECORD_SAMPLE)
		told += rec.type == PD_RECORD_FEATURE && rec.feature.id == PD_FEAT_COMPRESSED;
	CHECK_EQ(ret, 1, "%s", err.what);
	CHECK_EQ(told, 1);
	perfdata_close(r);
	perfdata_writer_close(m.w);
	clean();
}

TEST(a_full_disk_leaves_whole_records)
{
	struct made m;

	prepare();
	if (access("/dev/full", W_OK))
		tap_skip("full", "no /dev/full");
	const struct perfdata_write_options o = { .path = "/dev/full" };

	m.err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(perfdata_writer_open(&m.w, &o, &m.err), 0);
	m.sink = perfdata_writer_sink(m.w);
	CHECK_EQ(m.sink->begin(m.sink, events, 2, &m.err), -ENOSPC);
	CHECK(strstr(m.err.what, "/dev/full"), "%s", m.err.what);
	perfdata_writer_close(m.w);
	clean();
}

/* The build id of a mapped file is recorded with it, unless the path now has another file. */
TEST(build_ids_are_of_the_files_that_were_mapped)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
		char name[64];
		uint64_t id[4];
	} map = { .h = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(map) },
		  .pid = 7,
		  .tid = 7,
		  .addr = 4096,
		  .len = 4096,
		  .prot = 5 };
	struct stat st;

	for (int wrong = 0; wrong < 2; wrong++) {
		struct made m;
		struct perfdata *r;

		prepare();
		begin_writer(&m, 0, path);
		/* This program itself: gcc gives every program a build id here. */
		ssize_t n = readlink("/proc/self/exe", map.name, sizeof(map.name) - 1);

		if (n <= 0 || n >= (ssize_t)sizeof(map.name) - 1 || stat(map.name, &st) < 0)
			tap_skip("exe", "the path of this program is too long");
		map.inode = st.st_ino + (uint64_t)wrong;
		m.sink->records(m.sink, (unsigned char *)&map, sizeof(map), &m.err);
		m.sink->round(m.sink, &m.err);
		CHECK_EQ(perfdata_writer_finish(m.w, &m.outcome, &m.err), 0, "%s", m.err.what);
		perfdata_writer_close(m.w);
		r = reopen(path);
		const struct perfdata_features *f = perfdata_features(r);

		CHECK_EQ(f->n_build_ids, wrong ? 0 : 1);
		if (f->n_build_ids) {
			struct build_id id;
			int fd = open("/proc/self/exe", O_RDONLY);

			CHECK(build_id_of_file(fd, &id) && id.size == 20);
			CHECK(!strcmp(f->build_ids[0].file, map.name) &&
			      f->build_ids[0].id_size == 20 &&
			      !memcmp(f->build_ids[0].id, id.bytes, 20));
			close(fd);
		}
		CHECK(f->cmdline.n == 4 && !strcmp(f->cmdline.s[3], "a b"));
		CHECK(f->arch && f->os_release && f->hostname && f->n_pmus && f->total_mem_kb &&
		      f->cpus_online);
		CHECK(f->first_sample_time == 1000 && f->last_sample_time == 2000 &&
		      f->clockid == 1 && f->clock_wall_ns);
		for (size_t i = 0; i < PD_FEAT_BITS / 64; i++)
			CHECK_EQ(f->damaged[i], 0);
		perfdata_close(r);
	}
	clean();
}

/*
 * Deleted after its record, or before: then it is read through a process that maps it. If that
 * process is gone, the build id is unknown.
 */
TEST(build_ids_of_deleted_files)
{
	enum { AFTER, BEFORE, GONE, WAYS };
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
		char name[64];
	} map = { .h = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(map) },
		  .len = 4096,
		  .prot = 5 };
	static char bytes[1 << 16];

	for (int way = 0; way < WAYS; way++) {
		int from = open("/proc/self/exe", O_RDONLY), fd;
		struct mapped m = { 0 };
		struct text out = { 0 };
		char name[] = "/tmp/tare-mapped-XXXXXX", link[80];
		struct build_id own;
		struct stat st;
		void *at;

		fd = mkstemp(name);
		CHECK(fd >= 0 && from >= 0);
		for (ssize_t n; (n = read(from, bytes, sizeof(bytes))) > 0;)
			CHECK_EQ(write(fd, bytes, (size_t)n), n);
		CHECK(build_id_of_file(from, &own) && fstat(fd, &st) == 0);
		at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		map.pid = map.tid = way == GONE ? INT32_MAX : (uint32_t)getpid();
		map.addr = (uint64_t)(uintptr_t)at;
		map.inode = st.st_ino;
		snprintf(map.name, sizeof(map.name), "%s", name);
		if (way != AFTER)
			unlink(name);
		snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx",
			 (unsigned long)map.addr, (unsigned long)map.addr + 4096);

		int there = open(link, O_RDONLY);

		CHECK_EQ(mapped_add(&m, (unsigned char *)&map, sizeof(map), NULL), 0);
		if (way == AFTER)
			unlink(name);
		mapped_write(&out, &m, "");
		if (way == GONE || (way == BEFORE && there < 0)) /* needs privileges */
			CHECK_EQ(out.len, 0, "way %d", way);
		else
			CHECK(out.len > 32 && !memcmp(out.s + 12, own.bytes, own.size),
			      "way %d: %zu bytes", way, out.len);
		text_free(&out);
		mapped_free(&m);
		munmap(at, 4096);
		close(fd);
		close(from);
		if (there >= 0)
			close(there);
	}
}

/* ---- memory, caches and PMUs of the machine ---- */

#define NODE "/sys/devices/system/node/"
#define CPU  "/sys/devices/system/cpu/"
#define DEV  "/sys/bus/event_source/devices/"
#define CACHE(cpu, index, level, sets, type, size, cpus)                                           \
	{ CPU "cpu" cpu "/cache/index" index "/level", level },                                    \
		{ CPU "cpu" cpu "/cache/index" index "/coherency_line_size", "64" },               \
		{ CPU "cpu" cpu "/cache/index" index "/number_of_sets", sets },                    \
		{ CPU "cpu" cpu "/cache/index" index "/ways_of_associativity", "8" },              \
		{ CPU "cpu" cpu "/cache/index" index "/type", type },                              \
		{ CPU "cpu" cpu "/cache/index" index "/size", size },                              \
	{                                                                                          \
		CPU "cpu" cpu "/cache/index" index "/shared_cpu_list", cpus                        \
	}

/* Two nodes with CPUs; one with only memory, at a much higher address; one offline. */
static const struct {
	const char *path, *text;
} machine[] = {
	{ CPU "online", "0-2" },
	{ NODE "online", "0-1,7" },
	{ NODE "node0/cpulist", "0,2" },
	{ NODE "node0/meminfo", "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:        300 kB\n" },
	{ NODE "node1/cpulist", "1" },
	{ NODE "node1/meminfo", "Node 1 MemTotal:       2000 kB\nNode 1 MemFree:        400 kB\n" },
	{ NODE "node7/cpulist", "" },
	{ NODE "node7/meminfo", "Node 7 MemTotal:       3000 kB\nNode 7 MemFree:        500 kB\n" },
	{ NODE "node3/cpulist", "3" },
	{ NODE "node3/meminfo", "Node 3 MemTotal:       9 kB\n" },
	{ "/sys/devices/system/memory/block_size_bytes", "8000000" },
	{ NODE "node0/memory0/state", "online" },
	{ NODE "node0/memory2/state", "online" },
	{ NODE "node0/memory63/state", "online" },
	{ NODE "node1/memory64/state", "online" },
	{ NODE "node1/memory_x", "" },
	{ NODE "node1/memory1x", "" },
	{ NODE "node7/memory5000/state", "online" },
	CACHE("0", "0", "1", "32", "Data", "32K", "0"),
	CACHE("0", "1", "3", "4096", "Unified", "2048K", "0-2"),
	CACHE("1", "0", "1", "64", "Data", "64K", "1"),
	CACHE("1", "1", "3", "4096", "Unified", "2048K", "0-2"),
	{ DEV "cpu/type", "4" },
	{ DEV "cpu/caps/max_precise", "3" },
	{ DEV "cpu/caps/pmu_name", "skylake" },
	{ DEV "ibs_op/type", "11" },
	{ DEV "ibs_op/caps/zen4_ibs_extensions", "1" },
	{ DEV "msr/type", "9" },
};

static void make_machine(char *at)
{
	char full[400];

	CHECK(mkdtemp(at) != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(machine); i++) {
		snprintf(full, sizeof(full), "%s%s", at, machine[i].path);
		for (char *slash = strchr(full + strlen(at) + 1, '/'); slash;
		     slash = strchr(slash + 1, '/')) {
			*slash = '\0';
			mkdir(full, 0700);
			*slash = '/';
		}

		FILE *f = fopen(full, "we");

		CHECK(f != NULL, "%s", full);
		fprintf(f, "%s\n", machine[i].text);
		CHECK_EQ(fclose(f), 0);
	}
}

static void check_bits(const struct perfdata_memory_row *m, uint64_t node, uint64_t bits,
		       const uint64_t *set, size_t n)
{
	size_t k = 0;

	CHECK_EQ(m->node, node);
	CHECK_EQ(m->size, bits);
	CHECK_EQ(m->n_words, (bits + 63) / 64);
	for (uint64_t i = 0; i < m->n_words * 64; i++) {
		bool wanted = k < n && set[k] == i;

		CHECK_EQ(m->blocks[i / 64] >> i % 64 & 1, wanted, "block %llu",
			 (unsigned long long)i);
		k += wanted;
	}
}

static void check_machine(const struct perfdata_features *f)
{
	static const struct perfdata_node_row node[] = { { 0, 1000, 300, "0,2" },
							 { 1, 2000, 400, "1" },
							 { 7, 3000, 500, "" } };
	static const struct perfdata_cache_row cache[] = { { 1, 64, 32, 8, "Data", "32K", "0" },
							   { 1, 64, 64, 8, "Data", "64K", "1" },
							   { 3, 64, 4096, 8, "Unified", "2048K",
							     "0-2" } };

	CHECK_EQ(f->n_nodes, ARRAY_SIZE(node));
	for (size_t i = 0; i < f->n_nodes && i < ARRAY_SIZE(node); i++)
		CHECK(f->nodes[i].node == node[i].node &&
			      f->nodes[i].total_kb == node[i].total_kb &&
			      f->nodes[i].free_kb == node[i].free_kb &&
			      !strcmp(f->nodes[i].cpus, node[i].cpus),
		      "node %u: %s", f->nodes[i].node, f->nodes[i].cpus);
	CHECK_EQ(f->n_caches, ARRAY_SIZE(cache));
	for (size_t i = 0; i < f->n_caches && i < ARRAY_SIZE(cache); i++) {
		const struct perfdata_cache_row *c = &f->caches[i], *w = &cache[i];

		CHECK(c->level == w->level && c->line_size == w->line_size && c->sets == w->sets &&
			      c->ways == w->ways && !strcmp(c->type, w->type) &&
			      !strcmp(c->size, w->size) && !strcmp(c->cpus, w->cpus),
		      "cache %zu: level %u of %s", i, c->level, c->cpus);
	}
	CHECK_EQ(f->memory_block_size, 0x8000000);
	if (CHECK(f->n_memory == 3)) {
		check_bits(&f->memory[0], 0, 64, (uint64_t[]){ 0, 2, 63 }, 3);
		check_bits(&f->memory[1], 1, 65, (uint64_t[]){ 64 }, 1);
		check_bits(&f->memory[2], 7, 5001, (uint64_t[]){ 5000 }, 1);
	}
	if (CHECK(f->n_cpu_caps == 2)) {
		bool first = !strcmp(f->cpu_caps[1].name, "max_precise"); /* in directory order */

		CHECK(!strcmp(f->cpu_caps[first].name, "max_precise") &&
		      !strcmp(f->cpu_caps[first].value, "3"));
		CHECK(!strcmp(f->cpu_caps[!first].name, "pmu_name") &&
		      !strcmp(f->cpu_caps[!first].value, "skylake"));
	}
	if (CHECK(f->n_pmu_caps == 1))
		CHECK(!strcmp(f->pmu_caps[0].pmu, "ibs_op") && f->pmu_caps[0].n == 1 &&
		      !strcmp(f->pmu_caps[0].cap[0].name, "zen4_ibs_extensions") &&
		      !strcmp(f->pmu_caps[0].cap[0].value, "1"));
	for (size_t i = 0; i < PD_FEAT_BITS / 64; i++)
		CHECK_EQ(f->damaged[i], 0);
}

TEST(nodes_caches_and_abilities_are_what_sysfs_says)
{
	char at[] = "/tmp/tare-machine-XXXXXX", command[80];
	struct made m;
	struct perfdata *r;

	make_machine(at);
	prepare();
	root = at;
	begin_writer(&m, 0, path);
	put_samples(&m, 0, 10);
	CHECK_EQ(perfdata_writer_finish(m.w, &m.outcome, &m.err), 0, "%s", m.err.what);
	perfdata_writer_close(m.w);
	r = reopen(path);
	check_machine(perfdata_features(r));
	perfdata_close(r);
	snprintf(command, sizeof(command), "rm -rf %s/sys", at);
	CHECK_EQ(system(command), 0);
	begin_writer(&m, 0, path); /* a machine without this information: the file has none */
	put_samples(&m, 0, 10);
	CHECK_EQ(perfdata_writer_finish(m.w, &m.outcome, &m.err), 0, "%s", m.err.what);
	perfdata_writer_close(m.w);
	r = reopen(path);
	static const unsigned none[] = { PD_FEAT_NUMA_TOPOLOGY, PD_FEAT_MEM_TOPOLOGY, PD_FEAT_CACHE,
					 PD_FEAT_CPU_PMU_CAPS, PD_FEAT_PMU_CAPS };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		CHECK(!perfdata_has_feature(r, none[i]), "%s", perfdata_feature_name(none[i]));
	perfdata_close(r);
	root = NULL;
	rmdir(at);
	clean();
}

TEST_MAIN()
