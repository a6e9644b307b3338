/* SPDX-License-Identifier: MIT */
/* The head of a perf.data as text: its format, the recorded events, the machine. */
#include <inttypes.h>
#include <string.h>
#include "perfdata/perfdata_features.h"
#include "output/escape.h"
#include "perfdata/dump/perfdata_view.h"

static void line(struct text *out, const char *name, const char *value)
{
	if (!value)
		return;
	text_add(out, "%-16s ", name);
	escape(out, value, strlen(value));
	text_add(out, "\n");
}

static void word_list(struct text *out, const char *name, const struct perfdata_strings *list)
{
	if (!list->n)
		return;
	text_add(out, "%-16s", name);
	for (size_t i = 0; i < list->n; i++) {
		text_add(out, " ");
		escape_quoted(out, list->s[i]);
	}
	text_add(out, "\n");
}

static void pairs(struct text *out, const char *name, const struct perfdata_pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_add(out, "%-16s ", name);
		escape(out, p[i].name, strlen(p[i].name));
		text_add(out, "=");
		escape_quoted(out, p[i].value);
		text_add(out, "\n");
	}
}

static void layout(struct text *out, const struct perfdata *r)
{
	const struct perfdata_file *f = perfdata_file(r);

	line(out, "file", f->path);
	text_add(out, "%-16s %s layout, version %d, %s-endian%s\n", "format",
		 f->directory      ? "directory"
			 : f->pipe ? "pipe"
				   : "file",
		 f->version, f->swapped ? "big" : "little", f->unfinished ? ", unfinished" : "");
	if (f->directory)
		text_add(out, "%-16s %zu\n", "parts", f->n_files);
	if (!f->pipe)
		text_add(out,
			 "%-16s %" PRIu64 " bytes at 0x%" PRIx64 "; %" PRIu64
			 " bytes for each event\n",
			 "records", f->data_size, f->data_offset, f->attr_size);
	for (size_t i = 0; perfdata_note(r, i); i++)
		line(out, "note", perfdata_note(r, i));
}

static void events(struct text *out, const struct perfdata *r)
{
	for (size_t i = 0; i < perfdata_event_count(r); i++) {
		const struct perfdata_event *ev = perfdata_event_at(r, i);
		const struct perfdata_attr *a = &ev->attr;

		text_add(out, "%-16s %zu ", "event", i);
		escape_quoted(out, ev->name);
		text_add(out,
			 "%s type=%u config=0x%" PRIx64 " config1=0x%" PRIx64 " config2=0x%" PRIx64
			 " config3=0x%" PRIx64 " %s=%" PRIu64,
			 ev->named ? "" : " (name made from its type)", a->type, a->config,
			 a->config1, a->config2, a->config3,
			 a->flags & PD_ATTR_FREQ ? "frequency_hz" : "period", a->period);
		text_add(out,
			 " sample_type=0x%" PRIx64 " read_format=0x%" PRIx64 " flags=0x%" PRIx64
			 " size=%u",
			 a->sample_type, a->read_format, a->flags, a->size);
		if (a->branch_sample_type)
			text_add(out, " branch_sample_type=0x%" PRIx64, a->branch_sample_type);
		if (a->regs_user)
			text_add(out, " regs_user=0x%" PRIx64, a->regs_user);
		if (a->stack_user)
			text_add(out, " stack_user=%u", a->stack_user);
		if (a->regs_intr)
			text_add(out, " regs_intr=0x%" PRIx64, a->regs_intr);
		if (ev->unit) {
			text_add(out, " unit=");
			escape_quoted(out, ev->unit);
		}
		if (ev->scale != 1)
			text_add(out, " scale=%g", ev->scale);
		if (ev->cpus)
			text_add(out, " cpus=%s", ev->cpus);
		text_add(out, " ids=%zu", ev->n_ids);
		for (size_t k = 0; k < ev->n_ids && k < 8; k++)
			text_add(out, "%s%" PRIu64, k ? "," : ":", ev->ids[k]);
		text_add(out, ev->n_ids > 8 ? ",...\n" : "\n");
	}
}

static void machine(struct text *out, const struct perfdata_features *f)
{
	line(out, "host", f->hostname);
	line(out, "kernel", f->os_release);
	line(out, "recorded by", f->version);
	line(out, "architecture", f->arch);
	line(out, "processor", f->cpu_desc);
	line(out, "cpuid", f->cpuid);
	if (f->cpus_available)
		text_add(out, "%-16s %u available, %u online\n", "cpus", f->cpus_available,
			 f->cpus_online);
	if (f->total_mem_kb)
		text_add(out, "%-16s %" PRIu64 " kB\n", "memory", f->total_mem_kb);
	word_list(out, "command", &f->cmdline);
	word_list(out, "sibling cores", &f->core_siblings);
	word_list(out, "sibling threads", &f->thread_siblings);
	word_list(out, "sibling dies", &f->die_siblings);
	for (size_t i = 0; i < f->n_cpus; i++) {
		text_add(out, "%-16s %zu core=%u socket=%u", "cpu", i, f->cpus[i].core,
			 f->cpus[i].socket);
		if (f->has_dies)
			text_add(out, " die=%u", f->cpus[i].die);
		text_add(out, "\n");
	}
	for (size_t i = 0; i < f->n_nodes; i++) {
		text_add(out, "%-16s %u total_kb=%" PRIu64 " free_kb=%" PRIu64 " cpus=", "node",
			 f->nodes[i].node, f->nodes[i].total_kb, f->nodes[i].free_kb);
		escape_quoted(out, f->nodes[i].cpus);
		text_add(out, "\n");
	}
	for (size_t i = 0; i < f->n_caches; i++) {
		text_add(out, "%-16s L%u line=%u sets=%u ways=%u type=", "cache",
			 f->caches[i].level, f->caches[i].line_size, f->caches[i].sets,
			 f->caches[i].ways);
		escape_quoted(out, f->caches[i].type);
		text_add(out, " size=");
		escape_quoted(out, f->caches[i].size);
		text_add(out, " cpus=");
		escape_quoted(out, f->caches[i].cpus);
		text_add(out, "\n");
	}
	for (size_t i = 0; i < f->n_memory; i++) {
		uint64_t blocks = 0;

		for (uint64_t k = 0; k < f->memory[i].n_words; k++)
			blocks += (uint64_t)__builtin_popcountll(f->memory[i].blocks[k]);
		text_add(out, "%-16s %" PRIu64 " blocks=%" PRIu64 " of %" PRIu64 " bytes\n",
			 "memory node", f->memory[i].node, blocks, f->memory_block_size);
	}
}

static void pmus(struct text *out, const struct perfdata_features *f)
{
	for (size_t i = 0; i < f->n_pmus; i++) {
		text_add(out, "%-16s %u ", "pmu", f->pmus[i].type);
		escape_quoted(out, f->pmus[i].name);
		text_add(out, "\n");
	}
	pairs(out, "cpu capability", f->cpu_caps, f->n_cpu_caps);
	pairs(out, "hybrid pmu", f->hybrid, f->n_hybrid);
	for (size_t i = 0; i < f->n_pmu_caps; i++)
		for (size_t k = 0; k < f->pmu_caps[i].n; k++) {
			text_add(out, "%-16s ", "capability");
			escape(out, f->pmu_caps[i].pmu, strlen(f->pmu_caps[i].pmu));
			text_add(out, " ");
			escape(out, f->pmu_caps[i].cap[k].name, strlen(f->pmu_caps[i].cap[k].name));
			text_add(out, "=");
			escape_quoted(out, f->pmu_caps[i].cap[k].value);
			text_add(out, "\n");
		}
	for (size_t i = 0; i < f->n_groups; i++) {
		text_add(out, "%-16s ", "group");
		escape_quoted(out, f->groups[i].name);
		text_add(out, " leader=%u members=%u\n", f->groups[i].leader, f->groups[i].members);
	}
}

static void recording(struct text *out, const struct perfdata *r, const struct perfdata_features *f)
{
	if (f->last_sample_time)
		text_add(out, "%-16s %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 " s\n",
			 "sample times", f->first_sample_time / 1000000000,
			 f->first_sample_time % 1000000000, f->last_sample_time / 1000000000,
			 f->last_sample_time % 1000000000);
	if (f->clock_resolution_ns)
		text_add(out, "%-16s resolution %" PRIu64 " ns\n", "clock", f->clock_resolution_ns);
	if (perfdata_has_feature(r, PD_FEAT_CLOCK_DATA))
		text_add(out, "%-16s %u: %" PRIu64 " ns was %" PRIu64 " ns since 1970\n", "clockid",
			 f->clockid, f->clock_ns, f->clock_wall_ns);
	if (perfdata_has_feature(r, PD_FEAT_DIR_FORMAT))
		text_add(out, "%-16s version %" PRIu64 "\n", "directory", f->dir_version);
	if (perfdata_has_feature(r, PD_FEAT_COMPRESSED))
		text_add(out, "%-16s type %u, level %u, ratio %u, buffers of %u bytes\n",
			 "compression", f->compression_type, f->compression_level,
			 f->compression_ratio, f->compression_mmap_len);
	if (perfdata_has_feature(r, PD_FEAT_BPF_PROG_INFO))
		text_add(out, "%-16s %u\n", "bpf programs", f->n_bpf_programs);
	if (perfdata_has_feature(r, PD_FEAT_BPF_BTF))
		text_add(out, "%-16s %u\n", "bpf types", f->n_btf);
	for (size_t i = 0; i < f->n_auxtrace; i++)
		text_add(out, "%-16s at 0x%" PRIx64 ", %" PRIu64 " bytes\n", "aux data",
			 f->auxtrace[i].offset, f->auxtrace[i].size);
	pairs(out, "simpleperf", f->meta, f->n_meta);
	for (size_t i = 0; i < f->n_build_ids; i++) {
		const struct perfdata_build_id_row *b = &f->build_ids[i];

		text_add(out, "%-16s ", "build id");
		for (size_t k = 0; k < b->id_size; k++)
			text_add(out, "%02x", b->id[k]);
		text_add(out, " pid=%d ", b->pid);
		escape_quoted(out, b->file);
		text_add(out, "\n");
	}
}

void perfdata_view_header(struct text *out, const struct perfdata *r)
{
	const struct perfdata_features *f = perfdata_features(r);

	layout(out, r);
	events(out, r);
	machine(out, f);
	pmus(out, f);
	recording(out, r, f);
	text_add(out, "%-16s", "features");
	for (unsigned i = 0; i < PD_FEAT_BITS; i++) {
		const char *name = perfdata_feature_name(i);

		if (!perfdata_has_feature(r, i))
			continue;
		if (name)
			text_add(out, " %u %s", i, name);
		else
			text_add(out, " %u", i);
		if (f->damaged[i / 64] >> i % 64 & 1)
			text_add(out, " (damaged)");
	}
	text_add(out, "\n");
}
