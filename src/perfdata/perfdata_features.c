/* SPDX-License-Identifier: MIT */
/*
 * Feature sections. Integers are in the file's byte order. A string is u32 length (with padding),
 * then that many bytes with a 0 among them; a list is u32 count, then that many.
 *
 *   BUILD_ID       records {header; s32 pid; u8 id[20], size, 0[3]; char file[]} to the end
 *   HOSTNAME, OS_RELEASE, VERSION, ARCH, CPU_DESC, CPUID  string
 *   NR_CPUS        u32 available, online
 *   TOTAL_MEM      u64 kB
 *   CMDLINE        list of strings
 *   EVENT_DESC     u32 nr, attr_size; {attr; u32 nr_ids; string name; u64 ids[nr_ids]}[nr]
 *   CPU_TOPOLOGY   list core siblings; list thread siblings; {u32 core, socket}[cpus available];
 *                  newer: list die siblings; u32 die[cpus available]
 *   NUMA_TOPOLOGY  u32 nr; {u32 node; u64 total, free (kB); string cpus}[nr]
 *   PMU_MAPPINGS   u32 nr; {u32 type; string name}[nr]
 *   GROUP_DESC     u32 nr; {string name; u32 leader, members}[nr]
 *   AUXTRACE       u64 nr; {u64 offset, size}[nr]
 *   CACHE          u32 version, nr; {u32 level, line, sets, ways; string type, size, cpus}[nr]
 *   SAMPLE_TIME    u64 first, last
 *   MEM_TOPOLOGY   u64 version, block size, nr; {u64 node, size, bits; u64 word[]}[nr]
 *   CLOCKID        u64 resolution ns
 *   DIR_FORMAT     u64 version
 *   BPF_PROG_INFO, BPF_BTF  u32 nr; the rest is kept as bytes
 *   COMPRESSED     u32 version, type (1 zstd), level, ratio, mmap_len
 *   CPU_PMU_CAPS   u32 nr; {string name, value}[nr]
 *   CLOCK_DATA     u32 version, clockid; u64 wall ns, clock ns
 *   HYBRID_TOPOLOGY u32 nr; {string pmu, cpus}[nr]
 *   PMU_CAPS       u32 nr; {u32 n; {string name, value}[n]; string pmu}[nr]
 *   TARE_EXACT, TARE_PLACES, TARE_PARTIAL  see perfdata_format.h
 *   simpleperf META_INFO  pairs of terminated strings, name and value, to the end
 *
 * BRANCH_STACK and STAT are flags without bytes; TRACING_DATA is read by tracing_fields.c;
 * CPU_DOMAIN_INFO and the others are kept as bytes. Source: perf.data-file-format.txt, "Optional
 * feature sections", except NR_CPUS: its two numbers are in the opposite order in all files that
 * were examined.
 */
#include <stdio.h>
#include <stdlib.h>
#include "perfdata/perfdata_private.h"

struct block {
	struct block *next;
	uint64_t align;
	unsigned char bytes[];
};

void *features_keep(struct perfdata *r, size_t n, size_t each)
{
	struct block *b;
	size_t size;

	if (__builtin_mul_overflow(n, each, &size) ||
	    __builtin_add_overflow(size, sizeof(*b) + 8, &size))
		return NULL;
	b = calloc(1, size);
	if (!b)
		return NULL;
	b->next = r->features.blocks;
	r->features.blocks = b;
	return b->bytes;
}

void features_free(struct perfdata *r)
{
	for (struct block *b = r->features.blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	r->features.blocks = NULL;
}

/*
 * Memory for n rows that take at least `least` bytes of the file each: bounded by the file's size.
 */
static void *rows(struct perfdata *r, struct bytes *b, uint64_t n, size_t least, size_t each)
{
	void *out = NULL;

	if (n <= bytes_left(b) / least)
		out = features_keep(r, (size_t)n, each);
	if (!out)
		b->bad = true;
	return out;
}

static void strings(struct perfdata *r, struct bytes *b, struct perfdata_strings *out)
{
	uint32_t n = bytes_u32(b);

	out->s = rows(r, b, n, 5, sizeof(*out->s));
	for (out->n = 0; !b->bad && out->n < n; out->n += !b->bad)
		out->s[out->n] = bytes_string(b);
}

static size_t pairs(struct perfdata *r, struct bytes *b, struct perfdata_pair **out)
{
	uint32_t n = bytes_u32(b), i;

	*out = rows(r, b, n, 10, sizeof(**out));
	for (i = 0; !b->bad && i < n; i += !b->bad) {
		(*out)[i].name = bytes_string(b);
		(*out)[i].value = bytes_string(b);
	}
	return i;
}

/* One row; `pid_size` is 0 in files of the first writers, which had no pid. */
static bool build_id_row(struct perfdata_build_id_row *row, struct bytes *b, size_t pid_size)
{
	const unsigned char *rec = b->p, *id;
	struct bytes in = *b;

	if (bytes_left(b) < RECORD_HEADER ||
	    load16(rec + 6, b->swap) < RECORD_HEADER + pid_size + 24 + 1 ||
	    !bytes_take(b, load16(rec + 6, b->swap)))
		return false;
	in.end = b->p;
	bytes_take(&in, RECORD_HEADER);
	row->misc = load16(rec + 4, b->swap);
	row->pid = pid_size ? (int32_t)bytes_u32(&in) : -1;
	id = bytes_take(&in, 24);
	row->id_size = row->misc & PD_MISC_BUILD_ID_SIZE && id[20] <= 20 ? id[20] : 20;
	memcpy(row->id, id, row->id_size);
	row->file = bytes_rest_string(&in);
	return !in.bad;
}

static void build_ids(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	struct bytes start = *b;
	size_t pid_size = 4;

	f->build_ids = rows(r, b, bytes_left(b) / (RECORD_HEADER + 24), RECORD_HEADER + 24,
			    sizeof(*f->build_ids));
	while (!b->bad && bytes_left(b)) {
		struct perfdata_build_id_row *row = &f->build_ids[f->n_build_ids];

		if (!build_id_row(row, b, pid_size)) {
			b->bad = true;
		} else if (pid_size && !f->n_build_ids && !strcmp(row->file, "nel.kallsyms]")) {
			*b = start; /* "[kernel.kallsyms]" with 4 bytes too many removed */
			pid_size = 0;
		} else {
			f->n_build_ids++;
		}
	}
}

static void event_desc(struct perfdata *r, struct bytes *b)
{
	uint32_t n = bytes_u32(b), attr_size = bytes_u32(b);

	for (uint32_t i = 0; !b->bad && i < n; i++) {
		struct bytes ids;
		struct perfdata_event *ev = NULL;
		struct perfdata_attr attr;
		const unsigned char *p = bytes_take(b, attr_size);
		uint32_t n_ids = bytes_u32(b);
		const char *name = bytes_string(b);

		ids = (struct bytes){ bytes_array(b, n_ids, 8), b->p, b->swap, false };
		if (b->bad || attr_size < 16) {
			b->bad = true;
			break;
		}
		attr_read(&attr, p, attr_size, b->swap);
		if (n_ids)
			ev = event_of(r, bytes_u64(&ids));
		/* By position if it has no ids: perf writes them in the order of the attrs. */
		else if (i < r->n_events && r->events[i]->attr.type == attr.type &&
			 r->events[i]->attr.config == attr.config)
			ev = r->events[i];
		if (ev && !ev->named && event_rename(ev, name, NULL) < 0)
			b->bad = true;
		r->features.n_event_desc++;
	}
}

static void cpu_topology(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t n = f->cpus_available;

	strings(r, b, &f->core_siblings);
	strings(r, b, &f->thread_siblings);
	if (b->bad || !bytes_left(b) || !n) /* an old writer; or their number is not known */
		return;
	f->cpus = rows(r, b, n, 8, sizeof(*f->cpus));
	for (uint32_t i = 0; !b->bad && i < n; i++) {
		f->cpus[i].core = bytes_u32(b);
		f->cpus[i].socket = bytes_u32(b);
	}
	f->n_cpus = b->bad ? 0 : n;
	if (b->bad || !bytes_left(b))
		return;
	strings(r, b, &f->die_siblings);
	for (uint32_t i = 0; !b->bad && i < n; i++)
		f->cpus[i].die = bytes_u32(b);
	f->has_dies = !b->bad;
}

static void numa(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t n = bytes_u32(b);

	f->nodes = rows(r, b, n, 25, sizeof(*f->nodes));
	while (!b->bad && f->n_nodes < n) {
		struct perfdata_node_row *row = &f->nodes[f->n_nodes];

		row->node = bytes_u32(b);
		row->total_kb = bytes_u64(b);
		row->free_kb = bytes_u64(b);
		row->cpus = bytes_string(b);
		f->n_nodes += !b->bad;
	}
}

static void pmus(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t n = bytes_u32(b);

	f->pmus = rows(r, b, n, 9, sizeof(*f->pmus));
	while (!b->bad && f->n_pmus < n) {
		f->pmus[f->n_pmus].type = bytes_u32(b);
		f->pmus[f->n_pmus].name = bytes_string(b);
		f->n_pmus += !b->bad;
	}
}

static void groups(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t n = bytes_u32(b);

	f->groups = rows(r, b, n, 13, sizeof(*f->groups));
	while (!b->bad && f->n_groups < n) {
		struct perfdata_group_row *row = &f->groups[f->n_groups];

		row->name = bytes_string(b);
		row->leader = bytes_u32(b);
		row->members = bytes_u32(b);
		f->n_groups += !b->bad;
	}
}

static void auxtrace(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint64_t n = bytes_u64(b);

	f->auxtrace = rows(r, b, n, 16, sizeof(*f->auxtrace));
	while (!b->bad && f->n_auxtrace < n) {
		f->auxtrace[f->n_auxtrace].offset = bytes_u64(b);
		f->auxtrace[f->n_auxtrace].size = bytes_u64(b);
		f->n_auxtrace += !b->bad;
	}
}

static void caches(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t version = bytes_u32(b), n = bytes_u32(b);

	if (version != 1)
		return; /* kept as bytes */
	f->caches = rows(r, b, n, 31, sizeof(*f->caches));
	while (!b->bad && f->n_caches < n) {
		struct perfdata_cache_row *row = &f->caches[f->n_caches];

		row->level = bytes_u32(b);
		row->line_size = bytes_u32(b);
		row->sets = bytes_u32(b);
		row->ways = bytes_u32(b);
		row->type = bytes_string(b);
		row->size = bytes_string(b);
		row->cpus = bytes_string(b);
		f->n_caches += !b->bad;
	}
}

static void memory(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint64_t version = bytes_u64(b), n;

	if (version != 1)
		return;
	f->memory_block_size = bytes_u64(b);
	n = bytes_u64(b);
	f->memory = rows(r, b, n, 24, sizeof(*f->memory));
	while (!b->bad && f->n_memory < n) {
		struct perfdata_memory_row *row = &f->memory[f->n_memory];
		uint64_t bits, *w;

		row->node = bytes_u64(b);
		row->size = bytes_u64(b);
		bits = bytes_u64(b);
		row->n_words = bits / 64 + !!(bits % 64);
		row->blocks = w = rows(r, b, row->n_words, 8, 8);
		for (uint64_t i = 0; !b->bad && i < row->n_words; i++)
			w[i] = bytes_u64(b);
		f->n_memory += !b->bad;
	}
}

static void pmu_caps(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t n = bytes_u32(b);

	f->pmu_caps = rows(r, b, n, 9, sizeof(*f->pmu_caps));
	while (!b->bad && f->n_pmu_caps < n) {
		struct perfdata_caps *row = &f->pmu_caps[f->n_pmu_caps];

		row->n = pairs(r, b, &row->cap);
		row->pmu = bytes_string(b);
		f->n_pmu_caps += !b->bad;
	}
}

static void meta_info(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;

	f->meta = rows(r, b, bytes_left(b) / 2, 2, sizeof(*f->meta));
	while (!b->bad && bytes_left(b)) {
		const char *word[2];

		for (int i = 0; i < 2; i++) {
			word[i] = (const char *)b->p;

			const unsigned char *end = memchr(b->p, 0, bytes_left(b));

			if (!end) {
				b->bad = true;
				return;
			}
			b->p = end + 1;
		}
		f->meta[f->n_meta++] = (struct perfdata_pair){ word[0], word[1] };
	}
}

static void exact(struct perfdata *r, struct bytes *b)
{
	struct perfdata_features *f = &r->features;
	uint32_t version = bytes_u32(b), n = bytes_u32(b);

	if (version != 1) /* of a newer tare */
		return;
	f->exact_total = rows(r, b, n, sizeof(uint64_t), sizeof(*f->exact_total));
	for (size_t i = 0; f->exact_total && i < n; i++)
		f->exact_total[f->n_exact_total++] = bytes_u64(b);
	f->n_exact_total = b->bad ? 0 : f->n_exact_total;
}

static void partial(struct perfdata *r, struct bytes *b)
{
	enum { PROCESS_LEAST = 20 };
	uint32_t version = bytes_u32(b), n = bytes_u32(b), listed = bytes_u32(b);
	struct exact_partial *p;

	if (version != 1) /* of a newer tare */
		return;
	/* If a list is shorter than the first ones, some rows would have no name. */
	if (!n || listed != (n < EXACT_UNCOUNTED_MAX ? n : EXACT_UNCOUNTED_MAX) ||
	    listed > bytes_left(b) / PROCESS_LEAST) {
		b->bad = true;
		return;
	}
	p = features_keep(r, 1, sizeof(*p));
	b->bad |= !p;
	for (uint32_t i = 0; !b->bad && i < listed; i++) {
		struct exact_missing *m = &p->process[i];
		const char *name, *reason;

		m->pid = (pid_t)bytes_u32(b);
		m->serial = bytes_u32(b);
		m->ended = bytes_u32(b) == 1;
		name = bytes_string(b);
		reason = bytes_string(b);
		if (b->bad)
			break;
		snprintf(m->name, sizeof(m->name), "%s", name);
		snprintf(m->reason, sizeof(m->reason), "%s", reason);
	}
	if (b->bad)
		return;
	p->n = n;
	r->features.partial = p;
}

static void small(struct perfdata_features *f, unsigned feature, struct bytes *b)
{
	switch (feature) {
	case PD_FEAT_NR_CPUS:
		f->cpus_available = bytes_u32(b);
		f->cpus_online = bytes_u32(b);
		break;
	case PD_FEAT_TOTAL_MEM:
		f->total_mem_kb = bytes_u64(b);
		break;
	case PD_FEAT_SAMPLE_TIME:
		f->first_sample_time = bytes_u64(b);
		f->last_sample_time = bytes_u64(b);
		break;
	case PD_FEAT_CLOCKID:
		f->clock_resolution_ns = bytes_u64(b);
		break;
	case PD_FEAT_DIR_FORMAT:
		f->dir_version = bytes_u64(b);
		break;
	case PD_FEAT_BPF_PROG_INFO:
		f->n_bpf_programs = bytes_u32(b);
		break;
	case PD_FEAT_BPF_BTF:
		f->n_btf = bytes_u32(b);
		break;
	case PD_FEAT_COMPRESSED:
		f->compression_version = bytes_u32(b);
		f->compression_type = bytes_u32(b);
		f->compression_level = bytes_u32(b);
		f->compression_ratio = bytes_u32(b);
		f->compression_mmap_len = bytes_u32(b);
		break;
	case PD_FEAT_CLOCK_DATA:
		bytes_u32(b);
		f->clockid = bytes_u32(b);
		f->clock_wall_ns = bytes_u64(b);
		f->clock_ns = bytes_u64(b);
		break;
	}
}

const struct tracing_event *perfdata_tracepoint(const struct perfdata *r,
						const struct perfdata_event *ev)
{
	enum { TRACEPOINT = 2 };

	return ev->attr.type == TRACEPOINT ? tracing_event_of(&r->tracing, ev->attr.config) : NULL;
}

int tracing_decode(struct perfdata *r, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	int ret = r->tracing.n ? 0 : tracing_fields_read(&r->tracing, bytes, n, err);

	if (ret < 0)
		tracing_fields_free(&r->tracing); /* the last name may be missing */
	for (size_t i = 0; ret == 0 && i < r->n_events; i++) {
		const struct tracing_event *of = perfdata_tracepoint(r, r->events[i]);
		bool named = r->events[i]->named;

		if (of && !named)
			ret = event_rename(r->events[i], of->name, err);
		/* the name from EVENT_DESC, with its modifiers, remains valid */
		r->events[i]->named = named;
	}
	return ret;
}

int feature_decode(struct perfdata *r, unsigned feature, const unsigned char *bytes, size_t n,
		   struct tare_error *err)
{
	struct perfdata_features *f = &r->features;
	struct bytes b = { bytes, bytes + n, r->swap, false };
	const struct {
		unsigned feature;
		void (*decode)(struct perfdata *, struct bytes *);
	} lists[] = {
		{ PD_FEAT_BUILD_ID, build_ids },
		{ PD_FEAT_EVENT_DESC, event_desc },
		{ PD_FEAT_CPU_TOPOLOGY, cpu_topology },
		{ PD_FEAT_NUMA_TOPOLOGY, numa },
		{ PD_FEAT_PMU_MAPPINGS, pmus },
		{ PD_FEAT_GROUP_DESC, groups },
		{ PD_FEAT_AUXTRACE, auxtrace },
		{ PD_FEAT_CACHE, caches },
		{ PD_FEAT_MEM_TOPOLOGY, memory },
		{ PD_FEAT_PMU_CAPS, pmu_caps },
		{ PD_FEAT_SIMPLEPERF_META_INFO, meta_info },
		{ PD_FEAT_TARE_EXACT, exact },
		{ PD_FEAT_TARE_PLACES, places_decode },
		{ PD_FEAT_TARE_PARTIAL, partial },
	};
	const struct {
		unsigned feature;
		const char **to;
	} texts[] = {
		{ PD_FEAT_HOSTNAME, &f->hostname }, { PD_FEAT_OS_RELEASE, &f->os_release },
		{ PD_FEAT_VERSION, &f->version },   { PD_FEAT_ARCH, &f->arch },
		{ PD_FEAT_CPU_DESC, &f->cpu_desc }, { PD_FEAT_CPUID, &f->cpuid },
	};

	if (f->decoded[feature / 64] >> feature % 64 & 1)
		return 0; /* a duplicate in a pipe: the first counts */
	f->decoded[feature / 64] |= 1ull << feature % 64;
	if (feature == PD_FEAT_TRACING_DATA)
		return tracing_decode(r, bytes, n, err);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].feature == feature) {
			const char *s = bytes_string(&b);

			*texts[i].to = b.bad ? NULL : s;
		}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i].feature == feature)
			lists[i].decode(r, &b);
	if (feature == PD_FEAT_CMDLINE)
		strings(r, &b, &f->cmdline);
	else if (feature == PD_FEAT_CPU_PMU_CAPS)
		f->n_cpu_caps = pairs(r, &b, &f->cpu_caps);
	else if (feature == PD_FEAT_HYBRID_TOPOLOGY)
		f->n_hybrid = pairs(r, &b, &f->hybrid);
	else
		small(f, feature, &b);
	if (!b.bad)
		return 0;
	f->damaged[feature / 64] |= 1ull << feature % 64;
	return tare_fail(err, EBADMSG, "its contents do not fit its %zu bytes", n);
}

const struct perfdata_features *perfdata_features(const struct perfdata *r)
{
	return &r->features;
}

bool perfdata_whole(const struct perfdata *r, struct tare_error *why)
{
	char list[192] = "";
	size_t len = 0;
	bool any = false;

	for (unsigned i = 0; i < PD_FEAT_BITS; i++) {
		const char *name = perfdata_feature_name(i);

		if (!(r->features.damaged[i / 64] >> i % 64 & 1))
			continue;
		if (len < sizeof(list) && name)
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
						any ? ", " : "", name);
		else if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%u",
						any ? ", " : "", i);
		any = true;
	}
	if (!any)
		return true;
	tare_fail(why, EBADMSG, "%.128s: features are truncated or damaged: %s%s", r->file.path,
		  list, len >= sizeof(list) ? "..." : "");
	return false;
}

bool perfdata_has_feature(const struct perfdata *r, unsigned feature)
{
	return feature < PD_FEAT_BITS && r->features.present[feature / 64] >> feature % 64 & 1;
}

const char *perfdata_feature_name(unsigned feature)
{
	static const char *const names[PD_FEAT_BITS] = {
		[PD_FEAT_TRACING_DATA] = "TRACING_DATA",
		[PD_FEAT_BUILD_ID] = "BUILD_ID",
		[PD_FEAT_HOSTNAME] = "HOSTNAME",
		[PD_FEAT_OS_RELEASE] = "OS_RELEASE",
		[PD_FEAT_VERSION] = "VERSION",
		[PD_FEAT_ARCH] = "ARCH",
		[PD_FEAT_NR_CPUS] = "NR_CPUS",
		[PD_FEAT_CPU_DESC] = "CPU_DESC",
		[PD_FEAT_CPUID] = "CPUID",
		[PD_FEAT_TOTAL_MEM] = "TOTAL_MEM",
		[PD_FEAT_CMDLINE] = "CMDLINE",
		[PD_FEAT_EVENT_DESC] = "EVENT_DESC",
		[PD_FEAT_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
		[PD_FEAT_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
		[PD_FEAT_BRANCH_STACK] = "BRANCH_STACK",
		[PD_FEAT_PMU_MAPPINGS] = "PMU_MAPPINGS",
		[PD_FEAT_GROUP_DESC] = "GROUP_DESC",
		[PD_FEAT_AUXTRACE] = "AUXTRACE",
		[PD_FEAT_STAT] = "STAT",
		[PD_FEAT_CACHE] = "CACHE",
		[PD_FEAT_SAMPLE_TIME] = "SAMPLE_TIME",
		[PD_FEAT_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
		[PD_FEAT_CLOCKID] = "CLOCKID",
		[PD_FEAT_DIR_FORMAT] = "DIR_FORMAT",
		[PD_FEAT_BPF_PROG_INFO] = "BPF_PROG_INFO",
		[PD_FEAT_BPF_BTF] = "BPF_BTF",
		[PD_FEAT_COMPRESSED] = "COMPRESSED",
		[PD_FEAT_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
		[PD_FEAT_CLOCK_DATA] = "CLOCK_DATA",
		[PD_FEAT_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
		[PD_FEAT_PMU_CAPS] = "PMU_CAPS",
		[PD_FEAT_CPU_DOMAIN_INFO] = "CPU_DOMAIN_INFO",
		[PD_FEAT_SIMPLEPERF_FILE] = "SIMPLEPERF_FILE",
		[PD_FEAT_SIMPLEPERF_META_INFO] = "SIMPLEPERF_META_INFO",
		[PD_FEAT_TARE_EXACT] = "TARE_EXACT",
		[PD_FEAT_TARE_PLACES] = "TARE_PLACES",
		[PD_FEAT_TARE_PARTIAL] = "TARE_PARTIAL",
	};

	return feature < PD_FEAT_BITS ? names[feature] : NULL;
}
