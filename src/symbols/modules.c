/* SPDX-License-Identifier: MIT */
/* See modules.h. perf's copies of files: perf-buildid-cache(1). */
#include <elf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/array.h"
#include "symbols/modules.h"
#include "symbols/rust_name.h"
#include "symbols/vdso.h"
#include "base/file.h"

enum {
	PATH_ROOM = 4200,
	TEXT_MAX = 1 << 29,
	BUILD_ID_MAX = sizeof(((struct build_id *)0)->bytes),
	HEX_ROOM = 2 * BUILD_ID_MAX + 1
};

struct key {
	uint32_t kind, path, id, pid;
};

struct path_id {
	uint32_t path, id;
};

static void hex(char out[HEX_ROOM], const uint8_t *id, size_t size)
{
	size = size < BUILD_ID_MAX ? size : BUILD_ID_MAX;
	out[0] = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(out + 2 * i, 3, "%02x", id[i]);
}

static uint32_t id_word(struct modules *m, const uint8_t *id, size_t size)
{
	static const uint8_t zeros[BUILD_ID_MAX];
	char text[HEX_ROOM];

	if (!id || !size || size > BUILD_ID_MAX || !memcmp(id, zeros, size))
		return words_add(&m->words, "", 0);
	hex(text, id, size);
	return words_add(&m->words, text, strlen(text));
}

enum module_kind modules_kind(const char *path)
{
	static const char *const memory[] = { "//anon",    "[anon",   "/anon_hugepage", "/dev/zero",
					      "/SYSV",     "/memfd:", "[heap]",         "[stack",
					      "/dev/shm/", "/[aio]",  "/i915",          "" };

	if (!strcmp(path, "[vdso]") || !strcmp(path, "[vsyscall]"))
		return path[2] == 'd' ? MODULE_VDSO : MODULE_UNKNOWN;
	if (!*path)
		return MODULE_MEMORY;
	for (size_t i = 0; *memory[i]; i++)
		if (!strncmp(path, memory[i], strlen(memory[i])))
			return MODULE_MEMORY;
	return path[0] == '[' ? MODULE_UNKNOWN : MODULE_FILE;
}

uint32_t modules_add(struct modules *m, enum module_kind kind, const char *path,
		     const uint8_t *build_id, size_t size, uint32_t pid)
{
	struct key key = { kind, words_add(&m->words, path, strlen(path)),
			   id_word(m, build_id, size), kind == MODULE_MEMORY ? pid : 0 };
	uint32_t at;
	bool fresh;

	if (key.path == WORDS_NONE || key.id == WORDS_NONE)
		return SET_NONE;
	if (!array_reserve(&m->module, &m->room, m->key.n + 1, sizeof(*m->module)))
		return SET_NONE;
	at = set_add(&m->key, &key, sizeof(key), sizeof(key), &fresh);
	if (fresh)
		m->module[at] = (struct module){
			.kind = kind, .path = key.path, .id = key.id, .pid = pid, .fd = -1
		};
	return at;
}

void modules_inode(struct modules *m, uint32_t number, uint64_t inode)
{
	struct module *of = &m->module[number];

	if (inode)
		of->inode = of->inode && of->inode != inode ? UINT64_MAX : inode;
}

int modules_build_id(struct modules *m, const char *path, const uint8_t *id, size_t size,
		     struct tare_error *err)
{
	struct path_id row = { words_add(&m->words, path, strlen(path)), id_word(m, id, size) };
	bool fresh;
	uint32_t at;

	if (row.path == WORDS_NONE || row.id == WORDS_NONE)
		return tare_fail_nomem(err);
	if (row.id == 0)
		return 0;
	at = set_add(&m->path_id, &row, sizeof(row), sizeof(row.path), &fresh);
	/* Two builds with one name: then the name alone identifies neither. */
	if (at != SET_NONE && !fresh && ((struct path_id *)m->path_id.item)[at].id != row.id)
		((struct path_id *)m->path_id.item)[at].id = 0;
	return at == SET_NONE ? tare_fail_nomem(err) : 0;
}

static const char *id_of(const struct modules *m, uint32_t path, uint32_t id)
{
	struct path_id row = { path, 0 };
	uint32_t at;

	if (id)
		return words_at(&m->words, id);
	at = set_find(&m->path_id, &row, sizeof(row), sizeof(row.path));
	return at == SET_NONE ? ""
			      : words_at(&m->words, ((struct path_id *)m->path_id.item)[at].id);
}

const char *modules_recorded_id(const struct modules *m, uint32_t number)
{
	return id_of(m, m->module[number].path, m->module[number].id);
}

__attribute__((format(printf, 3, 4))) static void note_why(struct module *of, const char *remedy,
							   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(of->why, sizeof(of->why), fmt, ap);
	va_end(ap);
	snprintf(of->remedy, sizeof(of->remedy), "%s", remedy);
}

/* -1 with errno. */
static int open_regular(const char *path)
{
	int fd = file_open_regular(path, INT64_MAX);

	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

/* The recording was made on another host. */
static bool other_host(const struct modules *m)
{
	const char *host = words_at(&m->words, m->host);
	struct utsname here;

	return *host && uname(&here) == 0 && strcmp(here.nodename, host) != 0;
}

/*
 * Only inodes are compared: on some file systems the kernel records another device than stat(2)
 * returns, and with layers and subvolumes the inode may differ, too.
 * Source: Linux, Documentation/filesystems/overlayfs.rst, "Inode properties".
 */
static bool tells_inodes(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type != OVERLAYFS_SUPER_MAGIC &&
		fs.f_type != BTRFS_SUPER_MAGIC;
}

/*
 * Without a build id in the recording: why the file of that name may not be the one that ran; NULL:
 * it is the one.
 */
static const char *doubt(const struct modules *m, struct module *of, int fd)
{
	bool inodes = tells_inodes(fd), host = m->host && *words_at(&m->words, m->host);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return "the file here cannot be examined";
	of->same_inode = inodes && of->inode == st.st_ino;
	of->other_inode = inodes && of->inode && !of->same_inode;
	of->newer = m->ended_s && st.st_mtim.tv_sec > m->ended_s;
	if (m->ids_cut)
		return "the recording's list of build ids is truncated";
	if (other_host(m))
		return "it ran on another host";
	if (of->inode == UINT64_MAX)
		return "several files with this name ran";
	if (of->other_inode)
		return "the file here has another inode";
	if (of->newer)
		return "the file here was changed after the recording";
	if (inodes && !of->inode)
		return "the recording does not have its inode, either";
	return of->same_inode || host ? NULL : "the recording does not name its host";
}

/*
 * Uses the file at `path` for the module if its build matches. "": the recording has no build id;
 * then inode, host and time have to show that this file ran, or the user vouches for it (--symfs,
 * --force-names).
 */
static bool try_file(const struct modules *m, struct module *of, const char *path,
		     const char *wanted)
{
	const char *reason = NULL;
	struct tare_error err = TARE_ERROR_INIT;
	struct elf_head head;
	char found[HEX_ROOM];
	int fd = open_regular(path);

	if (fd < 0) {
		if (!of->why[0])
			note_why(of,
				 errno == ENOENT ? "copy it here, or name its root with --symfs"
						 : "",
				 "%.200s cannot be read: %s", path, file_open_why(errno));
		return false;
	}
	if (elf_head_read(&head, fd, &err) < 0) {
		note_why(of, "", "%.200s: %s", path, err.what);
		close(fd);
		return false;
	}
	hex(found, head.build_id.bytes, head.build_id.size);
	if (*wanted && strcmp(found, wanted)) {
		note_why(
			of, "install the build that ran, or put a copy where --symfs names",
			"%.120s is another build now: its build id is %.40s, that of the file that ran %.40s",
			path, *found ? found : "missing", wanted);
		close(fd);
		return false;
	}
	of->same_inode = of->other_inode = of->newer = of->doubted = false;
	if (!*wanted && !(m->opts.symfs && *m->opts.symfs))
		reason = doubt(m, of, fd);
	if (reason && !m->opts.force_names) {
		note_why(
			of,
			"name a folder with copies of the files that ran (--symfs), or use the local files anyway (--force-names)",
			"its build id was not recorded, and %s", reason);
		of->doubted = true;
		close(fd);
		return false;
	}
	of->fd = fd;
	of->head = head;
	of->verified = *wanted != '\0';
	of->why[0] = of->remedy[0] = '\0';
	return true;
}

static void open_file(struct modules *m, struct module *of)
{
	const char *path = words_at(&m->words, of->path), *wanted = id_of(m, of->path, of->id);
	const char *root = m->opts.symfs ? m->opts.symfs : "";
	char where[PATH_ROOM];
	size_t n = strlen(path);

	/* The kernel's mark for a file that was deleted. */
	if (n > 10 && !strcmp(path + n - 10, " (deleted)")) {
		n -= 10;
		if (!*wanted) {
			note_why(
				of, "",
				"deleted while it ran, and the recording does not have its build id");
			return;
		}
	}
	if (snprintf(where, sizeof(where), "%s%.*s", root, (int)n, path) < (int)sizeof(where) &&
	    try_file(m, of, where, wanted))
		return;
	if (m->opts.home && *wanted) {
		struct module copy = { .fd = -1 };

		snprintf(where, sizeof(where), "%s/.debug/.build-id/%.2s/%s/elf", m->opts.home,
			 wanted, wanted + 2);
		if (try_file(m, &copy, where, wanted)) {
			of->fd = copy.fd;
			of->head = copy.head;
			of->verified = true;
			of->why[0] = of->remedy[0] = '\0';
		}
	}
}

static void open_vdso(struct modules *m, struct module *of)
{
	const char *wanted = id_of(m, of->path, of->id);
	char found[HEX_ROOM];

	of->fd = vdso_open();
	if (of->fd < 0 || elf_head_read(&of->head, of->fd, NULL) < 0) {
		note_why(of, "", "this machine's vdso cannot be read");
	} else {
		hex(found, of->head.build_id.bytes, of->head.build_id.size);
		of->verified = *wanted && !strcmp(found, wanted);
		if (of->verified)
			return;
		note_why(of, "",
			 *wanted ? "it is of another kernel"
				 : "the recording does not name its kernel");
	}
	if (of->fd >= 0)
		close(of->fd);
	of->fd = -1;
}

/* The whole file, NUL-terminated. */
static char *read_text(int fd)
{
	size_t room = 1 << 16, n = 0;
	char *text = malloc(room);
	ssize_t got = 0;

	while (text && (got = read(fd, text + n, room - n - 1)) > 0) {
		n += (size_t)got;
		if (n + 1 == room) {
			if (room < TEXT_MAX && array_reserve(&text, &room, 2 * room, 1))
				continue;
			free(text);
			text = NULL;
		}
	}
	if (text && got < 0) {
		free(text);
		text = NULL;
	}
	if (text)
		text[n] = '\0';
	return text;
}

/*
 * Any user can write to /tmp. For a symbolic link the owner of the link matters, too, and a file
 * with a second hard link may have been put there by someone other than its owner.
 */
static bool is_others(int fd, const char *path)
{
	struct stat at, of;

	if (lstat(path, &at) < 0 || fstat(fd, &of) < 0)
		return true;
	return (at.st_uid != geteuid() && at.st_uid != 0) ||
		(of.st_uid != geteuid() && of.st_uid != 0) || of.st_nlink > 1;
}

static void open_memory(struct modules *m, struct module *of)
{
	struct tare_error err = TARE_ERROR_INIT;
	char where[PATH_ROOM];
	char *text;
	int fd;

	snprintf(where, sizeof(where), "%s/tmp/perf-%u.map", m->opts.symfs ? m->opts.symfs : "",
		 of->pid);
	if (other_host(m) && !m->opts.symfs && !m->opts.force_names) {
		note_why(
			of, "copy that host's file below a folder that --symfs names",
			"code generated at run time on another host: %.100s here belongs to another process",
			where);
		return;
	}
	fd = open_regular(where);
	if (fd < 0) {
		note_why(
			of,
			"a JIT compiler can name its functions there (node --perf-basic-prof; java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer, from 17 on)",
			"code generated at run time, and %.100s cannot be read: %s", where,
			strerror(errno));
		return;
	}
	if (is_others(fd, where)) {
		note_why(of, "", "%.100s is another user's file, link or hard link", where);
	} else if (!(text = read_text(fd))) {
		note_why(of, "", "%.100s cannot be read, or is longer than %d MiB", where,
			 TEXT_MAX >> 20);
	} else if (text_symbols_perf_map(&of->list, text, &err) < 0) {
		note_why(of, "", "%.100s: %s", where, err.what);
	} else {
		note_why(of, "", "%.100s has no function there", where);
	}
	close(fd);
}

/*
 * The start of the kernel's code, 0: unknown. Searches the text because the list keeps one name per
 * address.
 */
static uint64_t text_begins(const char *kallsyms)
{
	static const char *const names[] = { " _text\n", " _stext\n" };

	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(kallsyms, names[i]);

		while (at && at > kallsyms && at[-1] != '\n')
			at--;
		if (at)
			return strtoull(at, NULL, 16);
	}
	return 0;
}

static bool try_kallsyms(struct modules *m, const char *path)
{
	struct module *why = &m->kernel_why;
	struct tare_error err = TARE_ERROR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd >= 0 ? read_text(fd) : NULL;
	uint64_t begins = text ? text_begins(text) : 0;
	int ret = text ? text_symbols_kallsyms(&m->kernel, text, &err) : -errno;

	if (fd >= 0)
		close(fd);
	if (ret < 0) {
		note_why(why, err.hint, "%.120s: %s", path, text ? err.what : strerror(-ret));
		return false;
	}
	/* The kernel may have been booted at another address since. */
	m->kernel_begins = begins;
	m->kernel_moved = m->kernel_text && begins ? (int64_t)(begins - m->kernel_text) : 0;
	return true;
}

/*
 * The recording has no build id for its kernel (perf record -z, or through a pipe). The running
 * kernel is used if release, machine and the address of its code match: without address
 * randomisation all kernels have the same address.
 */
static bool try_kernel_here(struct modules *m)
{
	static const char remedy[] = "name a copy of that machine's /proc/kallsyms with --kallsyms";
	const char *release = words_at(&m->words, m->release), *host = words_at(&m->words, m->host);
	struct utsname here;

	if (!*release || !*host || !m->kernel_text) {
		note_why(&m->kernel_why, remedy, "the recording does not name its kernel");
		return false;
	}
	if (uname(&here) < 0 || strcmp(here.release, release) || strcmp(here.nodename, host)) {
		note_why(
			&m->kernel_why, remedy,
			"the kernel or machine differs from this one, and the recording has no build id");
		return false;
	}
	if (!try_kallsyms(m, "/proc/kallsyms"))
		return false;
	if (!m->kernel_begins || m->kernel_moved) {
		text_symbols_free(&m->kernel);
		note_why(
			&m->kernel_why, remedy,
			m->kernel_begins
				? "the machine was rebooted since then, and the recording has no build id of its kernel"
				: "this kernel hides the address of its code, and the recording has no build id");
		return false;
	}
	m->kernel_by_place = true;
	return true;
}

static bool open_kernel(struct modules *m)
{
	const char *wanted = id_of(m, words_add(&m->words, "[kernel.kallsyms]", 17), 0);
	struct module *why = &m->kernel_why;
	unsigned char notes[8192];
	struct build_id id;
	char here[HEX_ROOM] = "", where[PATH_ROOM];
	ssize_t n;
	int fd;

	if (m->opts.kallsyms)
		return try_kallsyms(m, m->opts.kallsyms);
	if (!*wanted)
		return try_kernel_here(m);
	if (m->opts.home) {
		snprintf(where, sizeof(where), "%s/.debug/[kernel.kallsyms]/%s/kallsyms",
			 m->opts.home, wanted);
		if (access(where, R_OK) == 0 && try_kallsyms(m, where))
			return true;
	}
	fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, notes, sizeof(notes)) : -1;
	if (fd >= 0)
		close(fd);
	if (n > 0 && build_id_of_notes(notes, (size_t)n, &id))
		hex(here, id.bytes, id.size);
	if (!strcmp(here, wanted))
		return try_kallsyms(m, "/proc/kallsyms");
	note_why(why, "name a copy of that machine's /proc/kallsyms with --kallsyms",
		 "its kernel differs from the running one");
	return false;
}

/* Opens the source of names, once. */
static void open_module(struct modules *m, uint32_t number)
{
	struct module *of = &m->module[number];
	if (of->opened)
		return;
	of->opened = true;
	switch (of->kind) {
	case MODULE_FILE:
		open_file(m, of);
		break;
	case MODULE_VDSO:
		open_vdso(m, of);
		break;
	case MODULE_MEMORY:
		open_memory(m, of);
		break;
	case MODULE_KERNEL:
		if (m->kernel_state == 0)
			m->kernel_state = open_kernel(m) ? 1 : -1;
		if (m->kernel_state < 0) {
			memcpy(of->why, m->kernel_why.why, sizeof(of->why));
			memcpy(of->remedy, m->kernel_why.remedy, sizeof(of->remedy));
		}
		break;
	case MODULE_SYMBOL:
		break;
	case MODULE_UNKNOWN:
		note_why(of, "", "no mapping is known there");
		break;
	}
}

static void open_symbols(struct modules *m, struct module *of)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (of->fd < 0 || of->symbols || of->why[0])
		return;
	if (symbols_open(&of->symbols, words_at(&m->words, of->path), of->fd, &err) < 0) {
		note_why(of, err.hint, "%s", err.what);
	} else if (!symbols_complete(of->symbols)) {
		of->stripped = true;
		note_why(
			of,
			"install its debugging symbols (Debian: the package's -dbgsym or -dbg), or --debuginfod",
			"stripped: only functions that it exports have names");
	} else {
		note_why(of, "", "no symbol covers this code");
	}
}

bool modules_elf(struct modules *m, uint32_t number, struct module **out)
{
	struct module *of = &m->module[number];

	if (of->kind != MODULE_FILE && of->kind != MODULE_VDSO)
		return false;
	open_module(m, number);
	*out = of;
	return of->fd >= 0;
}

/* The kernel's Rust code uses the same name mangling as other Rust code. */
static const char *readable(struct modules *m, const char *name)
{
	char *plain = rust_name(name);
	uint32_t word = plain ? words_add(&m->words, plain, strlen(plain)) : WORDS_NONE;

	free(plain);
	return word == WORDS_NONE ? name : words_at(&m->words, word);
}

static bool find_in_list(struct modules *m, const struct text_symbols *l, uint64_t at,
			 int64_t moved, struct symbol *out)
{
	const struct text_symbol *e = text_symbols_find(l, at + (uint64_t)moved);

	if (!e || (moved && *e->module)) /* modules are loaded elsewhere at every boot */
		return false;
	*out = (struct symbol){ readable(m, e->name), e->start - (uint64_t)moved,
				e->end - (uint64_t)moved };
	return true;
}

bool modules_find(struct modules *m, uint32_t number, uint64_t offset, struct symbol *out)
{
	struct module *of = &m->module[number];

	open_module(m, number);
	switch (of->kind) {
	case MODULE_FILE:
	case MODULE_VDSO:
		open_symbols(m, of);
		return of->symbols && symbols_find(of->symbols, offset, out);
	case MODULE_MEMORY:
		return find_in_list(m, &of->list, offset, 0, out);
	case MODULE_KERNEL:
		return m->kernel_state > 0 &&
			find_in_list(m, &m->kernel, offset, m->kernel_moved, out);
	case MODULE_SYMBOL:
		*out = (struct symbol){ words_at(&m->words, of->path), 0, UINT64_MAX };
		return true;
	case MODULE_UNKNOWN:
		break;
	}
	return false;
}

const struct module *modules_why(struct modules *m, uint32_t number)
{
	struct module *of = &m->module[number];

	if (!of->why[0])
		note_why(of, "", "no symbol covers this code");
	return of;
}

void modules_close(struct modules *m, uint32_t number)
{
	struct module *of = &m->module[number];

	symbols_close(of->symbols);
	of->symbols = NULL;
	text_symbols_free(&of->list);
	if (of->fd >= 0)
		close(of->fd);
	of->fd = -1;
	of->opened = of->stripped = false;
	of->why[0] = of->remedy[0] = '\0';
}

/* The running kernel's memory, if its code is the recording's. */
static size_t kernel_bytes(struct modules *m, uint64_t address, void *to, size_t n)
{
	struct elf_head h;
	uint64_t offset;
	ssize_t got = -1;
	int fd;

	if (m->kernel_state <= 0 || m->kernel_moved || m->opts.kallsyms)
		return 0;
	fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (elf_head_read(&h, fd, NULL) == 0 && elf_address_to_offset(&h, address, &offset))
		got = pread(fd, to, n, (off_t)offset);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

size_t modules_bytes(struct modules *m, uint32_t number, uint64_t offset, void *to, size_t n)
{
	struct module *of = &m->module[number];
	ssize_t got;

	open_module(m, number);
	if (of->kind == MODULE_KERNEL)
		return kernel_bytes(m, offset, to, n);
	if (of->fd < 0 || offset > INT64_MAX)
		return 0;
	got = pread(of->fd, to, n, (off_t)offset);
	return got > 0 ? (size_t)got : 0;
}

void modules_free(struct modules *m)
{
	for (uint32_t i = 0; i < m->key.n; i++)
		modules_close(m, i);
	text_symbols_free(&m->kernel);
	set_free(&m->key);
	set_free(&m->path_id);
	words_free(&m->words);
	free(m->module);
	*m = (struct modules){ 0 };
}
