/* SPDX-License-Identifier: MIT */
/*
 * See symbols.h. Source: elfutils' libdwfl.h, gelf.h; System V ABI, "Symbol Table", "Program
 * Header".
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "symbols/rust_name.h"
#include "symbols/debug_file.h"
#include "symbols/symbols_private.h"

enum {
	MANGLED_MAX = 2048, /* libstdc++'s demangler may take far more than linear time */
	SYMBOLS_MAX = 1 << 24,
	LOOK_BACK = 64, /* nested symbols */
	UNITS_MAX = 1 << 24,
};

/* ---- one file ---- */

int symbols_probe(struct tare_error *err)
{
	return libdw_load(err);
}

static bool to_offset(const struct symbols *s, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < s->segments; i++)
		if (address - s->segment[i].address < s->segment[i].size) {
			*offset = address - s->segment[i].address + s->segment[i].offset;
			return true;
		}
	return false;
}

bool symbols_address(const struct symbols *s, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < s->segments; i++)
		if (offset - s->segment[i].offset < s->segment[i].size) {
			*address = offset - s->segment[i].offset + s->segment[i].address;
			return true;
		}
	return false;
}

static void read_segments(struct symbols *s, Elf *elf)
{
	size_t n = 0;
	GElf_Phdr p;

	if (libdw.elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n && s->segments < SEGMENTS_MAX; i++)
		if (libdw.gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD &&
		    (p.p_flags & PF_X))
			s->segment[s->segments++] = (struct segment){ p.p_vaddr, p.p_offset,
								      p.p_filesz };
}

bool symbols_own(struct symbols *s, char *name)
{
	if (!array_reserve(&s->demangled, &s->demangled_room, s->n_demangled + 1,
			   sizeof(*s->demangled)))
		return false;
	s->demangled[s->n_demangled++] = name;
	return true;
}

static int read_sections(struct symbols *s, Elf *elf, struct tare_error *err)
{
	size_t names = 0, room = 0;
	GElf_Shdr h;

	if (libdw.elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	for (Elf_Scn *scn = NULL; (scn = libdw.elf_nextscn(elf, scn));) {
		const char *name;
		char *shown;
		uint64_t offset;

		if (!libdw.gelf_getshdr(scn, &h))
			continue;
		name = libdw.elf_strptr(elf, names, h.sh_name);
		s->complete |= h.sh_type == SHT_SYMTAB || (name && !strcmp(name, ".gnu_debugdata"));
		if (!(h.sh_flags & SHF_EXECINSTR) || !name || !strcmp(name, ".text") ||
		    !to_offset(s, h.sh_addr, &offset))
			continue;
		if (!array_reserve(&s->section, &room, s->sections + 1, sizeof(*s->section)))
			return tare_fail_nomem(err);
		if (asprintf(&shown, "[%.64s]", name) < 0)
			return tare_fail_nomem(err);
		if (!symbols_own(s, shown)) {
			free(shown);
			return tare_fail_nomem(err);
		}
		s->section[s->sections++] = (struct entry){ offset, offset + h.sh_size, shown, 0,
							    true };
	}
	return 0;
}

/* The best of several names at one address: typed, sized, global, without underscores. */
static uint8_t rank_of(const GElf_Sym *sym, const char *name)
{
	unsigned bind = GELF_ST_BIND(sym->st_info);

	return (uint8_t)((GELF_ST_TYPE(sym->st_info) != STT_NOTYPE) << 5 | (sym->st_size > 0) << 4 |
			 (bind == STB_GLOBAL         ? 2
				  : bind == STB_WEAK ? 1
						     : 0)
				 << 1 |
			 (name[0] != '_'));
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Keeps one name per address; labels within a function are dropped. */
static void tidy(struct symbols *s)
{
	uint64_t covered = 0;
	size_t n = 0;

	qsort(s->entry, s->n, sizeof(*s->entry), by_start);
	for (size_t i = 0; i < s->n; i++) {
		const struct entry *e = &s->entry[i];

		if ((n && s->entry[n - 1].start == e->start) || (e->is_label && e->start < covered))
			continue;
		if (!e->is_label && e->end > covered)
			covered = e->end;
		s->entry[n++] = *e;
	}
	s->n = n;
}

/* Linkers append a symbol's version: f@@GLIBC_2.34, f@GLIBC_2.2.5. NULL: out of memory. */
static const char *without_version(struct symbols *s, const char *name)
{
	const char *at = strchr(name + 1, '@');
	char *plain = at ? strndup(name, (size_t)(at - name)) : NULL;

	if (!at || (plain && symbols_own(s, plain)))
		return at ? plain : name;
	free(plain);
	return NULL;
}

static int read_symbols(struct symbols *s, struct tare_error *err)
{
	int n = libdw.dwfl_module_getsymtab(s->module);

	if (n <= 1)
		return 0;
	if (n > SYMBOLS_MAX)
		n = SYMBOLS_MAX;
	s->entry = calloc((size_t)n, sizeof(*s->entry));
	if (!s->entry)
		return tare_fail_nomem(err);
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr address = 0;
		uint64_t offset;
		const char *name = libdw.dwfl_module_getsym_info(s->module, i, &sym, &address, NULL,
								 NULL, NULL);
		unsigned type = name ? GELF_ST_TYPE(sym.st_info) : STT_SECTION;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
		    !to_offset(s, address - s->bias, &offset))
			continue;
		name = without_version(s, name);
		if (!name)
			return tare_fail_nomem(err);
		s->entry[s->n++] = (struct entry){ .start = offset,
						   .end = sym.st_size ? offset + sym.st_size : 0,
						   .name = name,
						   .rank = rank_of(&sym, name),
						   .is_label = type == STT_NOTYPE };
	}
	tidy(s);
	return 0;
}

int symbols_data(struct symbols *s, struct symbol_data **out, size_t *n, struct tare_error *err)
{
	int all = libdw.dwfl_module_getsymtab(s->module);
	struct entry *found;
	size_t k = 0;

	*out = NULL;
	*n = 0;
	if (all <= 1)
		return 0;
	if (all > SYMBOLS_MAX)
		all = SYMBOLS_MAX;
	found = calloc((size_t)all, sizeof(*found));
	for (int i = 1; found && i < all; i++) {
		GElf_Sym sym;
		GElf_Addr address = 0;
		const char *name = libdw.dwfl_module_getsym_info(s->module, i, &sym, &address, NULL,
								 NULL, NULL);

		if (!name || !*name || sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS ||
		    !sym.st_size ||
		    (GELF_ST_TYPE(sym.st_info) != STT_OBJECT &&
		     GELF_ST_TYPE(sym.st_info) != STT_COMMON))
			continue;
		address -= s->bias;
		name = without_version(s, name);
		if (!name) {
			free(found);
			return tare_fail_nomem(err);
		}
		found[k++] = (struct entry){ .start = address,
					     .end = address + sym.st_size,
					     .name = name,
					     .rank = rank_of(&sym, name) };
	}
	if (found && k)
		qsort(found, k, sizeof(*found), by_start);
	if (found)
		*out = calloc(k ? k : 1, sizeof(**out));
	for (size_t i = 0; *out && i < k; i++)
		if (!*n || (*out)[*n - 1].start != found[i].start)
			(*out)[(*n)++] = (struct symbol_data){ symbols_demangled(s, found[i].name),
							       found[i].start, found[i].end };
	free(found);
	return *out ? 0 : tare_fail_nomem(err);
}

/* The folder of an open file, as libdw determines it. */
static char *folder_of(int fd)
{
	char link[40], name[PATH_MAX];
	ssize_t n;
	char *slash;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = '\0';
	slash = strrchr(name, '/');
	if (!slash)
		return NULL;
	slash[1] = '\0';
	return strdup(name);
}

bool symbols_may_split(struct symbols *s, Dwarf_Die *die)
{
	const char *debug_file = NULL, *folders[3] = { s->folder };
	char real[PATH_MAX];

	libdw.dwfl_module_info(s->module, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	if (debug_file && realpath(debug_file, real) && strrchr(real, '/')) {
		strrchr(real, '/')[1] = '\0';
		folders[s->folder ? 1 : 0] = real;
	}
	return folders[0] && debug_file_split_is_safe(die, folders);
}

int symbols_open(struct symbols **out, const char *path, int fd, struct tare_error *err)
{
	struct symbols *s;
	const char *debug_file = NULL;
	GElf_Addr bias = 0;
	Elf *elf;
	int ret = libdw_load(err);

	*out = NULL;
	if (ret < 0)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return tare_fail_nomem(err);
	s->dwfl = libdw.dwfl_begin(debug_file_calls());
	s->folder = folder_of(fd);
	fd = dup(fd); /* libdw closes the one it is given */
	s->module = s->dwfl && fd >= 0 ? libdw.dwfl_report_offline(s->dwfl, "", path, fd) : NULL;
	if (!s->module && fd >= 0)
		close(fd);
	if (s->module)
		libdw.dwfl_report_end(s->dwfl, NULL, NULL);
	elf = s->module ? libdw.dwfl_module_getelf(s->module, &bias) : NULL;
	if (!elf) {
		ret = tare_fail(err, ENOEXEC, "%.180s: %s", path, libdw.dwfl_errmsg(-1));
		goto out;
	}
	s->bias = bias;
	read_segments(s, elf);
	ret = read_sections(s, elf, err);
	if (ret == 0)
		ret = read_symbols(s, err);
	libdw.dwfl_module_info(s->module, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	s->complete |= debug_file != NULL;
out:
	if (ret < 0) {
		symbols_close(s);
		s = NULL;
	}
	*out = s;
	return ret;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	if (s->dwfl)
		libdw.dwfl_end(s->dwfl);
	for (size_t i = 0; i < s->n_demangled; i++)
		free(s->demangled[i]);
	free(s->demangled);
	free(s->folder);
	free(s->entry);
	free(s->section);
	free(s->nameless);
	free(s->unit);
	inlines_free(s->inlines);
	member_names_free(s->fields);
	free(s);
}

bool symbols_complete(const struct symbols *s)
{
	return s->complete;
}

const char *symbols_demangled(struct symbols *s, const char *name)
{
	char *plain = rust_name(name);

	if (!plain && !strncmp(name, "_Z", 2) && strnlen(name, MANGLED_MAX) < MANGLED_MAX)
		plain = libdw_demangled(name);
	if (plain && symbols_own(s, plain))
		return plain;
	free(plain);
	return name;
}

static uint64_t segment_end(const struct symbols *s, uint64_t offset)
{
	for (size_t i = 0; i < s->segments; i++)
		if (offset - s->segment[i].offset < s->segment[i].size)
			return s->segment[i].offset + s->segment[i].size;
	return offset;
}

static const struct entry *section_at(const struct symbols *s, uint64_t offset)
{
	for (size_t i = 0; i < s->sections; i++)
		if (offset >= s->section[i].start && offset < s->section[i].end)
			return &s->section[i];
	return NULL;
}

bool symbols_find(struct symbols *s, uint64_t offset, struct symbol *out)
{
	size_t at = ARRAY_UPTO(s->entry, s->n, start, offset);
	uint64_t next = at < s->n ? s->entry[at].start : UINT64_MAX;
	const struct entry *in = section_at(s, offset);

	for (size_t i = at; i > 0 && i + LOOK_BACK > at; i--) {
		struct entry *e = &s->entry[i - 1];
		uint64_t end = e->end;

		/* A symbol without a size extends to the next one, within its section. */
		if (!end && (i == at) && (!in || e->start >= in->start))
			end = next < segment_end(s, offset) ? next : segment_end(s, offset);
		if (offset >= end)
			continue;
		e->name = symbols_demangled(s, e->name);
		/* With nested symbols, each byte belongs to the innermost one. */
		*out = (struct symbol){ e->name, e->start, end < next ? end : next, false };
		return true;
	}
	if (in && in->end < next)
		next = in->end;
	if (!in && eh_frame_find(s, offset, out)) {
		out->end = out->end < next ? out->end : next;
		return true;
	}
	*out = (struct symbol){ in ? in->name : NULL, in ? in->start : offset, next, false };
	return in != NULL;
}

/* ---- lines ---- */

static int by_low(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return x->low != y->low ? (x->low < y->low ? -1 : 1)
				: (x->high > y->high) - (x->high < y->high);
}

/*
 * The code ranges of each compilation unit. Not every compiler writes the index that libdw would
 * use (.debug_aranges; clang does not), so they are read from the units. Line tables are read on
 * first use.
 */
static void read_units(struct symbols *s)
{
	size_t room = 0;
	Dwarf_Addr bias;

	s->units_read = true;
	for (Dwarf_Die *die = NULL; (die = libdw.dwfl_module_nextcu(s->module, die, &bias));) {
		Dwarf_Addr base, low, high;
		ptrdiff_t next = 0;

		while ((next = libdw.dwarf_ranges(die, next, &base, &low, &high)) > 0) {
			if (low >= high)
				continue;
			if (s->units < UNITS_MAX &&
			    array_reserve(&s->unit, &room, s->units + 1, sizeof(*s->unit)))
				s->unit[s->units++] = (struct unit){ low + bias, high + bias, bias,
								     *die };
		}
	}
	if (s->units)
		qsort(s->unit, s->units, sizeof(*s->unit), by_low);
}

struct unit *symbols_unit(struct symbols *s, uint64_t address)
{
	size_t low;

	if (!s->units_read)
		read_units(s);
	low = ARRAY_UPTO(s->unit, s->units, low, address);
	for (size_t i = low; i > 0 && i + LOOK_BACK > low; i--)
		if (address < s->unit[i - 1].high)
			return &s->unit[i - 1];
	return NULL;
}

bool symbols_line(struct symbols *s, uint64_t offset, const char **file, unsigned *line)
{
	uint64_t address;
	struct unit *u;
	Dwarf_Line *l;
	int number = 0;

	if (!symbols_address(s, offset, &address))
		return false;
	u = symbols_unit(s, address + s->bias);
	l = u ? libdw.dwarf_getsrc_die(&u->die, address + s->bias - u->bias) : NULL;
	if (!l || libdw.dwarf_lineno(l, &number) < 0 || number <= 0)
		return false;
	*file = libdw.dwarf_linesrc(l, NULL, NULL);
	*line = (unsigned)number;
	return *file != NULL;
}
