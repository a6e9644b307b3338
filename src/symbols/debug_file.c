/* SPDX-License-Identifier: MIT */
/*
 * See debug_file.h. libdw's own search would open anything with a matching name: it blocks on a
 * FIFO, and queries servers.
 * Source: elfutils' libdwfl.h; GDB's manual, "Separate Debug Files"; dwz(1).
 */
#include <elf.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/path.h"
#include "symbols/debug_file.h"
#include "symbols/debug_servers.h"
#include "base/file.h"

enum { ID_LEAST = 3, ID_MOST = 64, CHUNK = 1 << 16 };

static const char root[] = "/usr/lib/debug";

/* The file to look for. */
struct wanted {
	const uint8_t *id; /* build id of n bytes; n 0: none, then the checksum decides */
	size_t n;
	uint32_t sum; /* 0: none */
	bool is_alt;
};

struct search {
	struct wanted wanted;
	const char *name;        /* as in the file; NULL: only its build id is known */
	char path[2 * PATH_MAX]; /* of the candidate */
	int fd;
};

/* CRC-32 of a whole file as in gzip, for .gnu_debuglink. */
static bool sum_of(int fd, uint32_t *out)
{
	uint32_t table[256], sum = ~UINT32_C(0);
	unsigned char *bytes = malloc(CHUNK);
	ssize_t got = -1;
	off_t at = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(table); i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while (bytes && (got = pread(fd, bytes, CHUNK, at)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			sum = table[(sum ^ bytes[i]) & 0xff] ^ sum >> 8;
		at += got;
	}
	free(bytes);
	*out = ~sum;
	return got == 0;
}

static bool has_id(int fd, const struct wanted *w)
{
	Elf *elf = libdw.elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *id = NULL;
	ssize_t n = elf ? libdw.dwelf_elf_gnu_build_id(elf, &id) : -1;
	bool same = n > 0 && (size_t)n == w->n && !memcmp(id, w->id, w->n);

	if (elf)
		libdw.elf_end(elf);
	return same;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

/* Tries s->path: true, with s->fd open, if it is the wanted file. */
static bool try_file(struct search *s)
{
	uint32_t sum;

	s->fd = file_open_regular(s->path, DEBUG_FILE_MOST);
	if (s->fd >= 0 && is_elf(s->fd) &&
	    (s->wanted.n ? has_id(s->fd, &s->wanted)
			 : s->wanted.sum && sum_of(s->fd, &sum) && sum == s->wanted.sum))
		return true;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	return false;
}

__attribute__((format(printf, 2, 3))) static bool try(struct search *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->path, sizeof(s->path), fmt, ap);
	va_end(ap);
	return n >= 0 && n < (int)sizeof(s->path) && try_file(s);
}

static bool try_build_id(struct search *s)
{
	char rest[2 * ID_MOST + 1];

	if (s->wanted.n < ID_LEAST || s->wanted.n > ID_MOST)
		return false;
	for (size_t i = 1; i < s->wanted.n; i++)
		snprintf(rest + 2 * (i - 1), 3, "%02x", s->wanted.id[i]);
	return try(s, "%s/.build-id/%02x/%s.debug", root, s->wanted.id[0], rest);
}

/*
 * dwz's common file: by its name, relative to the file that names it, or in the folders for such
 * files.
 */
static bool try_alt(struct search *s, const char *folder, int n)
{
	const char *base = path_base(s->name);

	if (s->name[0] == '/' ? try(s, "%s", s->name) : try(s, "%.*s%s", n, folder, s->name))
		return true;
	return try(s, "%.*s.dwz/%s", n, folder, base) || try(s, "%s/%s", root, base) ||
		try(s, "%s/.dwz/%s", root, base);
}

/*
 * In the program's folder, in its .debug, and below /usr/lib/debug with the folder's full path or
 * its last parts.
 */
static bool try_folder(struct search *s, const char *folder, int n)
{
	if (try(s, "%.*s%s", n, folder, s->name) || try(s, "%.*s.debug/%s", n, folder, s->name))
		return true;
	for (int at = 0; folder[0] == '/' && at < n; at++)
		if (folder[at] == '/' && try(s, "%s%.*s%s", root, n - at, folder + at, s->name))
			return true;
	return false;
}

static bool try_named(struct search *s, const char *of)
{
	const char *slash = strrchr(of, '/');
	int n = slash ? (int)(slash - of) + 1 : 0; /* its folder, including the slash */

	if (!s->name || !*s->name)
		return false;
	if (s->wanted.is_alt)
		return try_alt(s, of, n);
	/* .gnu_debuglink has a base name only. */
	return !strchr(s->name, '/') && try_folder(s, of, n);
}

static void search(struct search *s, const char *of)
{
	char real[PATH_MAX];

	if (try_build_id(s) || !of || try_named(s, of))
		return;
	if (realpath(of, real) && strcmp(real, of) && try_named(s, real))
		return;
	s->fd = debug_servers_find(s->wanted.id, s->wanted.n);
	if (s->fd >= 0 && !(is_elf(s->fd) && has_id(s->fd, &s->wanted))) {
		close(s->fd);
		s->fd = -1;
	}
	snprintf(s->path, sizeof(s->path), "debuginfod");
}

/*
 * An empty file that replaces a missing common file (.gnu_debugaltlink). Otherwise libdw would open
 * the file of that name itself when an attribute first refers to it.
 */
static int empty_alt(void)
{
	static const struct {
		Elf64_Ehdr head;
		Elf64_Shdr section[3];
		char names[32], lines[8];
	} file = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_version = EV_CURRENT,
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_shoff = sizeof(Elf64_Ehdr),
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 3,
			  .e_shstrndx = 1 },
		.section = { [1] = { .sh_name = 1,
				     .sh_type = SHT_STRTAB,
				     .sh_offset = offsetof(typeof(file), names),
				     .sh_size = sizeof(file.names) },
			     [2] = { .sh_name = 11,
				     .sh_type = SHT_PROGBITS,
				     .sh_offset = offsetof(typeof(file), lines),
				     .sh_size = sizeof(file.lines) } },
		.names = "\0.shstrtab\0.debug_line",
	};
	int fd = memfd_create("no-debug-file", MFD_CLOEXEC);

	if (fd >= 0 && file_write_all(fd, &file, sizeof(file)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* libdw asks for a module's common file after it has read the module's DWARF. */
static void want_alt(struct search *s, Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = libdw.dwfl_module_getdwarf(module, &bias);
	const void *id = NULL;
	const char *name = NULL;
	ssize_t n = dwarf ? libdw.dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : -1;

	s->wanted = (struct wanted){ .id = id, .n = n > 0 ? (size_t)n : 0, .is_alt = true };
}

static void want_debug(struct search *s, Dwfl_Module *module, uint32_t sum)
{
	GElf_Addr bias;
	const void *id = NULL;
	Elf *elf = libdw.dwfl_module_getelf(module, &bias);
	ssize_t n = elf ? libdw.dwelf_elf_gnu_build_id(elf, &id) : -1;

	s->wanted = (struct wanted){ .id = id, .n = n > 0 ? (size_t)n : 0, .sum = sum };
}

/* `link` NULL: the file names none. A common file has no checksum. */
static int find_debug(Dwfl_Module *module, void **data, const char *module_name, Dwarf_Addr base,
		      const char *of, const char *link, GElf_Word sum, char **name)
{
	static _Thread_local unsigned calls, depth;
	const unsigned before = ++calls;
	bool is_alt = link && !sum;
	struct search s = { .name = link, .fd = -1 };

	(void)data, (void)module_name, (void)base;
	if (depth == 2)
		return -1;
	depth++;
	libdw.elf_version(EV_CURRENT);
	if (is_alt)
		want_alt(&s, module);
	else
		want_debug(&s, module, sum);
	/*
	 * A debug link with checksum 0 looks like a common file, but want_alt() then makes libdw
	 * read DWARF, and ask again.
	 */
	if (calls != before)
		s.wanted = (struct wanted){ 0 };
	if (s.wanted.n || s.wanted.sum)
		search(&s, of);
	if (s.fd < 0 && is_alt && s.wanted.n)
		s.fd = empty_alt();
	depth--;
	/* libdw asks again after it failed to read the file, and has lost the first name */
	if (!is_alt)
		free(*name);
	*name = s.fd >= 0 ? strdup(s.path) : NULL;
	return s.fd;
}

/* The program's own file is already open. */
static int find_elf(Dwfl_Module *module, void **data, const char *module_name, Dwarf_Addr base,
		    char **name, Elf **elf)
{
	(void)module, (void)data, (void)module_name, (void)base, (void)name, (void)elf;
	return -1;
}

const Dwfl_Callbacks *debug_file_calls(void)
{
	static Dwfl_Callbacks calls;

	calls.find_elf = find_elf;
	calls.find_debuginfo = find_debug;
	calls.section_address = libdw.dwfl_offline_section_address;
	return &calls;
}

/* A missing file is harmless: libdw cannot open it. */
static bool is_harmless(const char *folder, const char *middle, const char *name)
{
	char path[3 * PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s%s%s%s%s", name[0] == '/' ? "" : folder,
			 name[0] == '/' || !*folder ? "" : "/", name[0] == '/' ? "" : middle,
			 name[0] == '/' || !*middle ? "" : "/", name);

	if (n < 0 || n >= PATH_MAX) /* longer than the kernel allows */
		return true;
	return stat(path, &st) < 0 ||
		(S_ISREG(st.st_mode) && (uint64_t)st.st_size <= DEBUG_FILE_MOST);
}

static const char *string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;

	return libdw.dwarf_attr(die, attribute, &attr) ? libdw.dwarf_formstring(&attr) : NULL;
}

bool debug_file_split_is_safe(Dwarf_Die *die, const char *const *folders)
{
	const char *name = string_of(die, DW_AT_dwo_name), *of = string_of(die, DW_AT_comp_dir);
	bool safe = true;

	name = name ? name : string_of(die, DW_AT_GNU_dwo_name);
	if (!name)
		return true;
	of = of ? of : "";
	for (size_t i = 0; folders[i] && safe; i++)
		safe = is_harmless(folders[i], "", name) &&
			(of[0] == '/' ? is_harmless("", of, name)
				      : is_harmless(folders[i], of, name));
	return safe;
}
