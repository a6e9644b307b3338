/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/path.h"
#include "symbols/mapped.h"
#include "perfdata/perfdata_features.h"

#define KERNEL_NAME "[kernel.kallsyms]"

static bool is_kernel_path(const char *path)
{
	return !strncmp(path, KERNEL_NAME, 17) || !strncmp(path, "[kernel.vmlinux", 15) ||
		!strcmp(path, "[kernel]") || !strncmp(path_base(path), "vmlinux", 7) ||
		!strcmp(path, "/proc/kcore");
}

/* One name, whatever name the recorder used. */
static const char *path_of(const char *path, unsigned misc)
{
	return (misc & PD_MISC_CPUMODE) == 1 && is_kernel_path(path) ? KERNEL_NAME : path;
}

uint32_t mapped_kernel(struct modules *m)
{
	return modules_add(m, MODULE_KERNEL, KERNEL_NAME, NULL, 0, 0);
}

static int read_mmap(struct modules *m, const struct perfdata_record *rec, struct mapped *out,
		     struct tare_error *err)
{
	const struct perfdata_mmap *mm = &rec->mmap;
	unsigned mode = rec->misc & PD_MISC_CPUMODE;
	bool kernel = mode == 1 || mm->pid == UINT32_MAX;
	enum module_kind kind = kernel ? MODULE_KERNEL : modules_kind(mm->file);

	if (mm->len == 0 || mode > 2)
		return 0;
	*out = (struct mapped){
		.map = { .start = mm->addr, .offset = mm->pgoff, .data = rec->misc & PD_MISC_13 },
		.pid = mm->pid,
		.kernel = kernel
	};
	if (__builtin_add_overflow(mm->addr, mm->len - 1, &out->map.last))
		out->map.last = UINT64_MAX;
	if (kernel && is_kernel_path(mm->file) && !m->kernel_text && mm->pgoff)
		m->kernel_text = mm->pgoff;
	/* Symbols of the kernel and of memory are by address. */
	if (kind == MODULE_KERNEL || kind == MODULE_MEMORY)
		out->map.offset = mm->addr;
	out->map.module = modules_add(
		m, kind, kernel && is_kernel_path(mm->file) ? KERNEL_NAME : mm->file,
		mm->build_id_size ? mm->build_id : NULL, mm->build_id_size, mm->pid);
	if (out->map.module == SET_NONE)
		return tare_fail_nomem(err);
	if (kind == MODULE_FILE && rec->type == PD_RECORD_MMAP2 && !mm->build_id_size)
		modules_inode(m, out->map.module, mm->inode);
	return 1;
}

static int read_ksymbol(struct modules *m, const struct perfdata_record *rec, struct mapped *out,
			struct tare_error *err)
{
	*out = (struct mapped){ .map = { .start = rec->ksymbol.addr }, .kernel = true };
	if (!rec->ksymbol.len ||
	    __builtin_add_overflow(out->map.start, rec->ksymbol.len - 1, &out->map.last))
		return 0;
	/* After an unregistered symbol the kernel's mapping is visible again. */
	out->map.module = rec->ksymbol.flags & 1
		? mapped_kernel(m)
		: modules_add(m, MODULE_SYMBOL, rec->ksymbol.name, NULL, 0, 0);
	out->map.offset = rec->ksymbol.flags & 1 ? out->map.start : 0;
	return out->map.module == SET_NONE ? tare_fail_nomem(err) : 1;
}

int mapped_read(struct modules *m, const struct perfdata_record *rec, struct mapped *out,
		struct tare_error *err)
{
	if (rec->bad)
		return 0;
	switch (rec->type) {
	case PD_RECORD_MMAP:
	case PD_RECORD_MMAP2:
		return read_mmap(m, rec, out, err);
	case PD_RECORD_KSYMBOL:
		return read_ksymbol(m, rec, out, err);
	default:
		return 0;
	}
}

int mapped_build_id(struct modules *m, const struct perfdata_record *rec, struct tare_error *err)
{
	return modules_build_id(m, path_of(rec->build_id.file, rec->misc), rec->build_id.id,
				rec->build_id.id_size, err);
}

int mapped_build_ids(struct modules *m, const struct perfdata *file, struct tare_error *err)
{
	const struct perfdata_features *f = perfdata_features(file);
	int ret = 0;

	m->ids_cut |= f->damaged[0] >> PD_FEAT_BUILD_ID & 1;
	m->release = words_add(&m->words, f->os_release ? f->os_release : "",
			       f->os_release ? strlen(f->os_release) : 0);
	m->host = words_add(&m->words, f->hostname ? f->hostname : "",
			    f->hostname ? strlen(f->hostname) : 0);
	if (m->release == WORDS_NONE || m->host == WORDS_NONE)
		return tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < f->n_build_ids; i++)
		ret = modules_build_id(m, path_of(f->build_ids[i].file, f->build_ids[i].misc),
				       f->build_ids[i].id, f->build_ids[i].id_size, err);
	return ret;
}
