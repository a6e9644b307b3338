/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "perfdata/perfdata_mapped.h"

enum { FILES_MOST = 1 << 17, NAME_ALIGN = 64, VDSO_MOST = 1 << 14 };

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static size_t slot_of(const struct mapped *m, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t at;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	at = (size_t)(h ^ h >> 32) & (m->slots - 1);
	while (m->slot[at] && strcmp(m->file[m->slot[at] - 1].name, name))
		at = (at + 1) & (m->slots - 1);
	return at;
}

static int make_room(struct mapped *m, struct tare_error *err)
{
	size_t slots = m->slots ? 2 * m->slots : 256, *slot;

	if (!array_reserve(&m->file, &m->room, m->n + 1, sizeof(*m->file)))
		return tare_fail_nomem(err);
	if (2 * (m->n + 1) <= m->slots)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return tare_fail_nomem(err);
	free(m->slot);
	m->slot = slot;
	m->slots = slots;
	for (size_t i = 0; i < m->n; i++)
		m->slot[slot_of(m, m->file[i].name)] = i + 1;
	return 0;
}

/* A FIFO or a device in place of a library must not block: only regular files are read. */
static bool of_path(const struct mapped_file *f, const char *path, struct build_id *id)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool found;

	if (fd < 0)
		return false;
	/*
	 * Stacked file systems may have different devices in stat and maps, so only the inode is
	 * compared.
	 */
	found = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		(!f->inode || st.st_ino == f->inode) && build_id_of_file(fd, id);
	close(fd);
	return found;
}

/*
 * Opens the file by its name; if it was deleted or replaced, through the process: pid, tid, start
 * and length follow the record's header.
 */
static bool of_file(const struct mapped_file *f, const unsigned char *record, struct build_id *id)
{
	unsigned pid = u32(record + 8);
	uint64_t start = u64(record + 16);
	char path[80];

	if (of_path(f, f->name, id))
		return true;
	if (!f->inode || (int)pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, start,
		 start + u64(record + 24));
	if (of_path(f, path, id))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return of_path(f, path, id);
}

int mapped_add(struct mapped *m, const unsigned char *record, size_t n, struct tare_error *err)
{
	struct perf_event_header h;
	struct mapped_file f = { 0 };
	size_t name;
	int ret;

	memcpy(&h, record, sizeof(h));
	name = h.type == PERF_RECORD_MMAP2 ? 72 : 40;
	if ((h.type != PERF_RECORD_MMAP && h.type != PERF_RECORD_MMAP2) || n <= name ||
	    !memchr(record + name, '\0', n - name) || h.misc & PERF_RECORD_MISC_MMAP_DATA ||
	    m->n == FILES_MOST)
		return 0;
	f.name = (char *)record + name;
	f.mode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (h.type == PERF_RECORD_MMAP2) {
		f.major = u32(record + 40);
		f.minor = u32(record + 44);
		f.inode = u64(record + 48);
	}
	if (f.name[0] != '/' && f.name[0] != '[')
		return 0;
	ret = make_room(m, err);
	if (ret < 0 || m->slot[slot_of(m, f.name)])
		return ret;
	f.name = strdup(f.name);
	if (!f.name)
		return tare_fail_nomem(err);
	f.known = f.name[0] == '/' && of_file(&f, record, &f.id);
	m->slot[slot_of(m, f.name)] = m->n + 1;
	m->file[m->n++] = f;
	return 0;
}

static bool of_notes_file(const char *root, const char *path, struct build_id *id)
{
	char *notes;
	size_t n;
	bool found;

	if (file_read(root, path, 1 << 20, &notes, &n, NULL) < 0)
		return false;
	found = build_id_of_notes((unsigned char *)notes, n, id);
	free(notes);
	return found;
}

/* "[kernel.kallsyms]_text", "[ext4]", "[vdso]" */
static bool of_no_file(const struct mapped_file *f, const char *root, struct build_id *id)
{
	char path[200];

	if (!strncmp(f->name, "[kernel.kallsyms]", 17))
		return of_notes_file(root, "/sys/kernel/notes", id);
	if (f->mode == PERF_RECORD_MISC_KERNEL) {
		snprintf(path, sizeof(path), "/sys/module/%.*s/notes/.note.gnu.build-id",
			 (int)strcspn(f->name + 1, "]"), f->name + 1);
		return !strchr(f->name, '/') && of_notes_file(root, path, id);
	}
	if (!strcmp(f->name, "[vdso]") && getauxval(AT_SYSINFO_EHDR))
		return build_id_of_image((const void *)getauxval(AT_SYSINFO_EHDR),
					 (size_t)sysconf(_SC_PAGESIZE), id);
	return false;
}

/* Source: perf.data-file-format.txt, HEADER_BUILD_ID; byte 20 of the id is its size. */
static void put_row(struct text *out, const struct mapped_file *f, const struct build_id *id)
{
	const char *name = f->name;
	size_t n = strlen(name);
	char room[NAME_ALIGN] = { 0 };

	if (!strncmp(name, "[kernel.kallsyms]", 17))
		n = 17; /* the symbol after it is not part of the name here */

	size_t padded = (n + 1 + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;
	struct perf_event_header h = { .misc = f->mode | 1 << 15,
				       .size = (uint16_t)(8 + 4 + 24 + padded) };
	int32_t pid = -1;
	uint8_t bytes[24] = { 0 };

	if (padded > 4096)
		return;
	memcpy(bytes, id->bytes, id->size);
	bytes[20] = id->size;
	text_put(out, (char *)&h, sizeof(h));
	text_put(out, (char *)&pid, sizeof(pid));
	text_put(out, (char *)bytes, sizeof(bytes));
	text_put(out, name, n);
	text_put(out, room, padded - n);
}

void mapped_write(struct text *out, const struct mapped *m, const char *root)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct mapped_file *f = &m->file[i];
		struct build_id id = f->id;

		if (f->known || (f->name[0] == '[' && of_no_file(f, root, &id)))
			put_row(out, f, &id);
	}
}

void mapped_free(struct mapped *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->file[i].name);
	free(m->file);
	free(m->slot);
	*m = (struct mapped){ 0 };
}
