/* SPDX-License-Identifier: MIT */
/*
 * Hides the engine when the program reads /proc/self/maps, smaps, numa_maps, pagemap, status, stat,
 * statm or mem, and when it reads maps, smaps or numa_maps of another process of the command.
 * /proc/self/auxv has the program's own auxiliary vector. The descriptor, its inode and its
 * position stay the kernel's; this file only makes the bytes that a read returns. The position
 * counts the bytes that the program got, so dup, fork, lseek and pread need no special handling.
 *
 * Each read returns as much as the kernel's seq_file does for the same records: the rest of the
 * record that the last read ended in, then as many whole records as fit into a page, or fewer
 * if the program asks for less. A reader continues at its address, so a mapping that appears
 * between two reads tears no line.
 * Source: linux/fs/seq_file.c, seq_read_iter(), traverse(); linux/fs/proc/task_mmu.c, m_start(),
 * show_map_vma().
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/magic.h>
#include "exact/engine/engine.h"

enum {
	ROOM = 4096, /* the kernel's buffer, twice as large for a record that does not fit */
	RECORD_MAX = 8192,
	OUT_MAX = 2 * RECORD_MAX,
	LEFT_MAX = 1536,
	READERS = 4,
	VECTORS = 1024,
	NAME_COLUMN = 72,
	RIGHTS = 4,
	LINK_ROOM = 128,
	CHUNK = 512, /* entries of pagemap */
	ENTRY = 8,
	FILE_TYPE = 0170000,
	REGULAR = 0100000,
	SEEK_SET_ = 0,
	SEEK_CUR_ = 1,
};

enum kind { OTHER, MAPS, SMAPS, NUMA_MAPS, PAGEMAP, STATUS, STAT, STATM, MEMORY, AUXV };

static const uint64_t THE_END = ~0ull;

/* ---- which file ---- */

static enum kind kind_of_name(int fd, int64_t *pid)
{
	static const struct {
		char name[12];
		enum kind kind;
	} rows[] = {
		{ "/maps", MAPS },       { "/smaps", SMAPS },   { "/numa_maps", NUMA_MAPS },
		{ "/pagemap", PAGEMAP }, { "/status", STATUS }, { "/stat", STAT },
		{ "/statm", STATM },     { "/mem", MEMORY },    { "/auxv", AUXV },
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if ((*pid = proc_file(fd, rows[i].name)))
			return rows[i].kind;
	return OTHER;
}

static bool may_be_of_proc(int fd, struct stat *st)
{
	return sys(__NR_fstat, fd, st) >= 0 && (st->st_mode & FILE_TYPE) == REGULAR &&
		!st->st_size && !(st->st_dev >> 8 & 0xfff);
}

/*
 * From now on reads are checked, in all processes of the command: a descriptor may be inherited or
 * sent.
 */
void proc_file_opened(int fd)
{
	struct stat st;
	int64_t pid;

	if (!eng.shared->maps_opened && may_be_of_proc(fd, &st) && kind_of_name(fd, &pid) != OTHER)
		eng.shared->maps_opened = 1;
}

static bool has_records(enum kind kind)
{
	return kind == MAPS || kind == SMAPS || kind == NUMA_MAPS;
}

/* ---- what the kernel gives; all below with the lock held, for the buffers ---- */

static struct {
	int fd;
	uint64_t at; /* of the file */
	unsigned next, n;
	long error;
	char text[ROOM];
} raw;

struct record {
	uint64_t start, end;
	unsigned size;
	bool altered; /* its protection differs from the kernel's */
	char text[RECORD_MAX];
};

static void raw_first(int fd)
{
	raw.fd = fd;
	raw.at = raw.next = raw.n = 0;
	raw.error = 0;
}

static int peek(void)
{
	if (raw.next == raw.n && !raw.error) {
		long n = sys(__NR_pread64, raw.fd, raw.text, sizeof raw.text, raw.at);

		raw.next = raw.n = 0;
		if (n < 0)
			raw.error = n;
		else
			raw.at += raw.n = (unsigned)n;
	}
	return raw.next < raw.n ? (uint8_t)raw.text[raw.next] : -1;
}

static const char *hex(const char *s, uint64_t *n)
{
	for (*n = 0; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
		*n = *n << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return s;
}

/* A line of maps; in smaps also the lines after it that begin with a capital letter. */
static bool raw_record(struct record *r)
{
	const char *s;
	int c = peek();

	r->size = 0;
	r->altered = false;
	if (c < 0)
		return false;
	do {
		do {
			c = peek();
			raw.next += c >= 0;
			if (c >= 0 && r->size < RECORD_MAX - 1)
				r->text[r->size++] = (char)c;
		} while (c >= 0 && c != '\n');
		c = peek();
	} while (c >= 'A' && c <= 'Z');
	r->text[r->size] = 0;
	s = hex(r->text, &r->start);
	r->end = r->start + 1; /* numa_maps has no end addresses */
	if (*s == '-')
		hex(s + 1, &r->end);
	return true;
}

/* ---- what the program is given ---- */

static char *put_hex(char *to, uint64_t n)
{
	unsigned digits = 8;

	while (digits < 16 && n >> (4 * digits))
		digits++;
	while (digits--)
		*to++ = "0123456789abcdef"[n >> (4 * digits) & 15];
	return to;
}

/*
 * Make [start, end) of a record a record of its own. Its fields: addresses, permissions, offset,
 * device, inode, maybe a name.
 */
static void cut(struct record *to, const struct record *from, uint64_t start, uint64_t end,
		bool writable)
{
	const char *s = from->text, *rights, *fields;
	char *p = put_hex(to->text, start);
	uint64_t offset;

	while (*s != ' ')
		s++;
	rights = s + 1;
	fields = s = hex(rights + RIGHTS + 1, &offset);
	for (s++; *s != ' '; s++)
		;
	if (s[1] != '0') /* a file */
		offset += start - from->start;
	for (s++; *s != ' '; s++)
		;
	*p++ = '-';
	p = put_hex(p, end);
	*p++ = ' ';
	memcpy(p, rights, RIGHTS);
	if (writable)
		p[1] = 'w';
	p += RIGHTS;
	*p++ = ' ';
	p = put_hex(p, offset);
	while (fields <= s)
		*p++ = *fields++;
	while (*s == ' ')
		s++;
	if (*s != '\n') {
		while (p < to->text + NAME_COLUMN)
			*p++ = ' ';
		*p++ = ' ';
	}
	while (*s && p < to->text + RECORD_MAX - 1)
		*p++ = *s++;
	*p = 0;
	to->size = (unsigned)(p - to->text);
	to->start = start;
	to->end = end;
	to->altered = writable;
}

static bool has_rights(const struct record *r, const char *rights)
{
	const char *s = r->text;

	while (*s && *s != ' ')
		s++;
	return *s && !memcmp(s + 1, rights, RIGHTS);
}

/* The engine's ranges in the memory that is shown: this process's, or another's. */
static struct {
	const struct range *own;
	uint32_t n;
} hidden;

static const struct range *hidden_first(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < hidden.n; i++)
		if (hidden.own[i].start < end && start < hidden.own[i].end)
			return &hidden.own[i];
	return NULL;
}

static struct record whole, following, joined, again;
static uint64_t whole_at; /* returned up to this address */
static bool has_following, merges;

/*
 * The next part of the kernel's record without the engine's memory, and with the program's
 * protection: pages with translated code are write-protected by the engine (pages.c).
 */
static bool next_piece(struct record *to)
{
	for (;;) {
		const struct range *ours;
		const struct region *code;
		uint64_t end;
		bool writable = false;

		if (whole_at >= whole.end) {
			if (!raw_record(&whole))
				return false;
			whole_at = whole.start;
		}
		end = whole.end;
		ours = hidden_first(whole_at, end);
		if (ours && ours->start <= whole_at) {
			whole_at = ours->end;
			continue;
		}
		if (ours)
			end = ours->start;
		code = merges && has_rights(&whole, "r-xp") ? region_in(whole_at, end) : NULL;
		if (code) {
			if (code->start > whole_at) {
				end = code->start;
			} else {
				end = code->end < end ? code->end : end;
				writable = code->exec && code->writable;
			}
		}
		if (whole_at == whole.start && end == whole.end && !writable)
			memcpy(to, &whole, sizeof whole - sizeof whole.text + whole.size + 1);
		else
			cut(to, &whole, whole_at, end, writable);
		whole_at = end;
		return true;
	}
}

/* Would they be one mapping without the engine? Then `joined` is that mapping. */
static bool continues(const struct record *a, const struct record *b)
{
	if (a->end != b->start || !(a->altered || b->altered))
		return false;
	cut(&joined, a, a->start, b->end, false);
	cut(&again, &joined, b->start, b->end, false);
	return again.size == b->size && !memcmp(again.text, b->text, b->size);
}

static void records_first(int fd, enum kind kind)
{
	raw_first(fd);
	whole.end = whole_at = 0;
	has_following = false;
	merges = kind == MAPS && eng.watch_end && hidden.own == eng.own;
}

static bool next_record(struct record *to)
{
	if (has_following)
		memcpy(to, &following, sizeof following);
	else if (!next_piece(to))
		return false;
	has_following = false;
	while (merges && next_piece(&following)) {
		if (!continues(to, &following)) {
			has_following = true;
			break;
		}
		memcpy(to, &joined, sizeof joined);
		to->altered = true;
	}
	return true;
}

/* ---- one read ---- */

/*
 * The state of a reader at position `at` of the file: the rest of the current record, and the
 * address of the next one.
 */
static struct reader {
	uint64_t inode, at, from;
	unsigned n_left;
	char left[LEFT_MAX];
} readers[READERS];
static unsigned next_reader;

static struct reader *reader_at(uint64_t inode, uint64_t at)
{
	for (unsigned i = 0; at && inode && i < READERS; i++)
		if (readers[i].inode == inode && readers[i].at == at)
			return &readers[i];
	return NULL;
}

static void stay(struct reader *r, uint64_t inode, uint64_t at, uint64_t from, const char *left,
		 unsigned n_left)
{
	for (struct reader *other; (other = reader_at(inode, at)) && other != r;)
		other->inode = 0;
	if (n_left > LEFT_MAX) { /* the next read finds the place by counting bytes */
		if (r)
			r->inode = 0;
		return;
	}
	if (!r)
		r = &readers[next_reader++ % READERS];
	r->inode = inode;
	r->at = at;
	r->from = from;
	r->n_left = n_left;
	memcpy(r->left, left, n_left);
}

static struct record record;

/* The next record to return, from address `from` on. */
static bool record_from(uint64_t from)
{
	bool found;

	while ((found = next_record(&record)) && record.end <= from)
		;
	return found;
}

/*
 * The record that contains byte `at`, and how many of its bytes come before; all of them if it ends
 * there.
 */
static bool record_with(uint64_t at, unsigned *before)
{
	for (uint64_t seen = 0; next_record(&record); seen += record.size)
		if (seen + record.size >= at) {
			*before = (unsigned)(at - seen);
			return true;
		}
	return false;
}

/* Up to `n` bytes from position `at` into `out`. */
static long one_read(int fd, enum kind kind, uint64_t inode, uint64_t at, uint64_t n,
		     char out[OUT_MAX])
{
	struct reader *r = reader_at(inode, at);
	unsigned done = 0, given = 0, room = ROOM, count = 0;
	uint64_t from = 0;
	bool more = true;

	records_first(fd, kind);
	if (r) {
		from = r->from;
		memcpy(out, r->left, done = r->n_left);
	} else if (at) {
		unsigned before = 0;

		if (!record_with(at, &before))
			return raw.error;
		memcpy(out, record.text + before, done = record.size - before);
		more = next_record(&record);
		from = more ? record.start : THE_END;
	}
	given = done;
	if (n > done) {
		if (r || !at)
			more = from != THE_END && record_from(from);
		while (more && record.size >= room)
			room *= 2;
		while (more && (!count || count < n - done) && count + record.size < room &&
		       done + count + record.size <= OUT_MAX) {
			memcpy(out + done + count, record.text, record.size);
			count += record.size;
			more = next_record(&record);
		}
		from = more ? record.start : THE_END;
		given = done + count;
	}
	if (raw.error && !given)
		return raw.error;
	done = given < n ? given : (unsigned)n;
	stay(r, inode, at + done, from, out + done, given - done);
	return (long)done;
}

/* ---- which process a descriptor shows ---- */

static struct range shown[OWN_SHOWN];

/*
 * Set `hidden` to the engine's ranges in process p. Returns their size if `fd` lists all of them as
 * mapped, else 0. numa_maps has no end addresses: then the number of mappings listed.
 */
static uint64_t all_there(int fd, enum kind kind, const struct process *p)
{
	uint64_t all = 0, there = 0;

	if (p == eng.process) {
		hidden.own = eng.own;
		hidden.n = eng.n_own;
	} else {
		hidden.own = shown;
		hidden.n = p->n_own < OWN_SHOWN ? p->n_own : OWN_SHOWN;
		memcpy(shown, p->own, hidden.n * sizeof shown[0]);
	}
	for (uint32_t i = 0; i < hidden.n; i++)
		all += hidden.own[i].end - hidden.own[i].start;
	raw_first(fd);
	while (raw_record(&whole))
		for (uint32_t i = 0; i < hidden.n; i++) {
			uint64_t from = whole.start > hidden.own[i].start ? whole.start
									  : hidden.own[i].start;
			uint64_t to = whole.end < hidden.own[i].end ? whole.end : hidden.own[i].end;

			there += from < to ? to - from : 0;
		}
	return kind == NUMA_MAPS || there == all ? there : 0;
}

/*
 * Find the process that `fd` shows. It is not always the one in its path: a descriptor that a
 * vfork()ed child opened shows the parent's memory, even after the child's exec. Of the processes
 * that may have opened it, take the one with the most engine memory listed.
 */
static bool find_hidden(int fd, enum kind kind, int64_t pid, bool of_self)
{
	enum { GENERATIONS = 8 };
	const struct process *best = NULL, *p = eng.process, *named = of_self ? NULL : counted(pid);
	uint64_t most = 0;

	if (of_self && !eng.maps_inherited) {
		hidden.own = eng.own;
		hidden.n = eng.n_own;
		return true;
	}
	for (int i = 0; i <= GENERATIONS; i++) {
		const struct process *q = i < GENERATIONS ? p : named;
		uint64_t n = q ? all_there(fd, kind, q) : 0;

		if (n > most) {
			most = n;
			best = q;
		}
		if (i < GENERATIONS && p)
			p = process_at(p->parent) == p ? NULL : process_at(p->parent);
	}
	return best && all_there(fd, kind, best);
}

/* ---- files of one record ---- */

static char *put_number(char *to, uint64_t n, unsigned width)
{
	char digits[24];
	unsigned d = 0;

	do
		digits[d++] = (char)('0' + n % 10);
	while (n /= 10);
	while (d < width)
		digits[d++] = ' ';
	while (d)
		*to++ = digits[--d];
	return to;
}

static const char *number_at(const char *s, uint64_t *n)
{
	while (*s == ' ')
		s++;
	for (*n = 0; *s >= '0' && *s <= '9'; s++)
		*n = *n * 10 + (uint64_t)(*s - '0');
	return s;
}

static bool begins(const char *s, const char *word)
{
	while (*word && *s == *word)
		s++, word++;
	return !*word;
}

/*
 * Copy one field, reduced by `by`, but not below `least`. For VmPeak this assumes that the engine
 * had as much memory at the peak as it has now.
 */
static const char *less(char **to, const char *from, uint64_t by, unsigned width, uint64_t *least)
{
	uint64_t n;

	from = number_at(from, &n);
	n = n > by ? n - by : 0;
	if (least)
		n = *least > n ? *least : n;
	*to = put_number(*to, n, width);
	return from;
}

/* Source: linux/fs/proc/task_mmu.c, task_mem(): SEQ_PUT_DEC. */
static char *altered_status(char *to, const char *from)
{
	enum { WIDTH = 8 };
	const uint64_t space = eng.mapped[LIMIT_SPACE] >> 10, data = eng.mapped[LIMIT_DATA] >> 10;
	uint64_t size = 0;

	for (const char *s = from; *s; s++)
		if (begins(s, "\nVmSize:\t"))
			number_at(s + sizeof "\nVmSize:\t" - 1, &size);
	size = size > space ? size - space : 0;
	while (*from) {
		bool peak = begins(from, "VmPeak:\t"), has_data = begins(from, "VmData:\t");

		if (peak || has_data || begins(from, "VmSize:\t")) {
			memcpy(to, from, sizeof "VmPeak:\t" - 1);
			to += sizeof "VmPeak:\t" - 1;
			from = less(&to, from + sizeof "VmPeak:\t" - 1, has_data ? data : space,
				    WIDTH, peak ? &size : NULL);
		}
		while (*from && (*to++ = *from++) != '\n')
			;
	}
	return to;
}

/*
 * Fields, from 1: field 23 of stat is the size in bytes. statm is in pages: the first field is the
 * size, the sixth data and stack.
 */
static char *altered_fields(char *to, const char *from, enum kind kind)
{
	const uint64_t space = eng.mapped[LIMIT_SPACE], data = eng.mapped[LIMIT_DATA];
	unsigned field = kind == STAT
		? 3
		: 1; /* the first field after the name; the name may contain any character */
	const char *rest = from;

	for (const char *s = from; kind == STAT && *s; s++)
		if (*s == ')')
			rest = s + 1;
	while (from < rest)
		*to++ = *from++;
	for (; *from; field++) {
		uint64_t by = kind == STAT
			? (field == 23) * space
			: (field == 1) * (space / PAGE) + (field == 6) * (data / PAGE);

		if (*from == ' ')
			*to++ = *from++;
		if (by)
			from = less(&to, from, by, 0, NULL);
		while (*from && *from != ' ')
			*to++ = *from++;
	}
	return to;
}

/* The vector from the program's stack: the kernel's copy does not have the changes. */
static char *altered_auxv(char *to, const char *from, uint64_t bytes)
{
	uint64_t pair[2];

	for (uint64_t at = 0; at + sizeof pair <= bytes; at += sizeof pair) {
		memcpy(pair, from + at, sizeof pair);
		if (!auxv_pair(pair, &eng.shared->auxv))
			continue;
		memcpy(to, pair, sizeof pair);
		to += sizeof pair;
	}
	return to;
}

static char *altered_text(char *to, const char *from, uint64_t bytes, enum kind kind)
{
	if (kind == AUXV)
		return altered_auxv(to, from, bytes);
	return kind == STATUS ? altered_status(to, from) : altered_fields(to, from, kind);
}

/* ---- calls ---- */

struct reading {
	int fd;
	enum kind kind;
	bool of_self;
	int64_t pid;
	uint64_t inode, at;
};

static long read_records(struct reading *r, uint64_t to, uint64_t n)
{
	char out[OUT_MAX];
	long got;

	lock();
	got = find_hidden(r->fd, r->kind, r->pid, r->of_self)
		? one_read(r->fd, r->kind, r->inode, r->at, n, out)
		: -EIO;
	unlock();
	if (got <= 0)
		return got;
	got = (long)copy_bytes((void *)to, out, (size_t)got);
	r->at += (uint64_t)got;
	return got ? got : -EFAULT;
}

/* Entries of 8 bytes, one for each page. */
static long read_entries(struct reading *r, uint64_t to, uint64_t n)
{
	uint64_t entries[CHUNK], done = 0;

	if ((r->at | n) % ENTRY)
		return -EINVAL;
	while (done < n) {
		uint64_t some = n - done < sizeof entries ? n - done : sizeof entries, copied;
		long got = sys(__NR_pread64, r->fd, entries, some, r->at);

		if (got <= 0)
			return done ? (long)done : got;
		lock();
		for (uint64_t i = 0; i < (uint64_t)got / ENTRY; i++) {
			uint64_t page = (r->at / ENTRY + i) * PAGE;

			if (own_first(page, page + 1))
				entries[i] = 0;
		}
		unlock();
		copied = copy_bytes((void *)(to + done), entries, (size_t)got);
		if (copied < (uint64_t)got)
			return done ? (long)done : -EFAULT;
		done += copied;
		r->at += copied;
	}
	return (long)done;
}

/* status, stat, statm or auxv: generated for each read, as the kernel does for pread. */
static long read_text(struct reading *r, uint64_t to, uint64_t n)
{
	char out[RECORD_MAX];
	uint64_t size = 0;
	long got;

	lock();
	got = sys(__NR_pread64, r->fd, whole.text, sizeof whole.text - 1, 0);
	if (got > 0) {
		whole.text[got] = 0;
		size = (uint64_t)(altered_text(out, whole.text, (uint64_t)got, r->kind) - out);
	}
	unlock();
	if (got < 0 || r->at >= size)
		return got < 0 ? got : 0;
	n = n < size - r->at ? n : size - r->at;
	got = (long)copy_bytes((void *)to, out + r->at, n);
	r->at += (uint64_t)got;
	return got ? got : -EFAULT;
}

/* Reads up to the engine's memory. Source: linux/fs/proc/base.c, mem_rw(). */
static long read_memory(struct reading *r, uint64_t to, uint64_t n)
{
	const struct range *ours;
	long got;

	lock();
	ours = own_first(r->at, r->at + n < r->at ? ~0ull : r->at + n);
	if (ours)
		n = ours->start > r->at ? ours->start - r->at : 0;
	unlock();
	got = n ? sys(__NR_pread64, r->fd, to, n, r->at) : -EIO;
	if (got > 0)
		r->at += (uint64_t)got;
	return got;
}

static long read_some(struct reading *r, uint64_t to, uint64_t n)
{
	if (!n)
		return 0;
	switch (r->kind) {
	case PAGEMAP:
		return read_entries(r, to, n);
	case MEMORY:
		return read_memory(r, to, n);
	case STATUS:
	case STAT:
	case STATM:
	case AUXV:
		return read_text(r, to, n);
	default:
		return read_records(r, to, n);
	}
}

/* Does the range of `n` bytes, or the vector of `n`, overlap the engine's memory? */
static bool meets_own(const struct reading *r, uint64_t vector, uint64_t n)
{
	uint64_t size = vector ? 0 : n, v[2];
	bool meets;

	for (uint64_t i = 0; vector && i < n; i++) {
		if (copy_bytes(v, (const void *)(vector + 16 * i), sizeof v) != sizeof v)
			return false;
		size += v[1];
	}
	lock();
	meets = size && own_first(r->at, r->at + size < r->at ? ~0ull : r->at + size);
	unlock();
	return meets;
}

/* Must the engine alter the bytes that this call reads? */
static bool alters(const struct reading *r, uint64_t vector, uint64_t n)
{
	bool found;

	if (r->kind == MEMORY)
		return r->of_self && meets_own(r, vector, n);
	if (!has_records(r->kind))
		return r->of_self;
	lock();
	found = find_hidden(r->fd, r->kind, r->pid, r->of_self);
	unlock();
	return found;
}

/*
 * As the kernel does for files without a readv of their own. Source: linux/fs/read_write.c,
 * do_loop_readv_writev().
 */
static long read_vector(struct reading *r, uint64_t vector, uint64_t n)
{
	long done = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t v[2];
		long got;

		if (copy_bytes(v, (const void *)(vector + 16 * i), sizeof v) != sizeof v)
			return done ? done : -EFAULT;
		got = read_some(r, v[0], v[1]);
		if (got < 0)
			return done ? done : got;
		done += got;
		if ((uint64_t)got != v[1])
			break;
	}
	return done;
}

/* False: not a read, not of such a file, or the kernel refuses it. */
bool proc_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool vector = r[RAX] != __NR_read && r[RAX] != __NR_pread64;
	bool moves = r[RAX] == __NR_read || r[RAX] == __NR_readv;
	struct reading what = { .fd = (int)r[RDI] };
	struct stat st;
	long at, ret;

	if (!eng.shared->maps_opened)
		return false;
	switch (r[RAX]) {
	case __NR_preadv2:
		if (r[R9] & ~1ull) /* RWF_HIPRI */
			return false;
		moves = r[R10] == ~0ull;
		break;
	case __NR_read:
	case __NR_readv:
	case __NR_pread64:
	case __NR_preadv:
		break;
	default:
		return false;
	}
	what.kind = may_be_of_proc(what.fd, &st) ? kind_of_name(what.fd, &what.pid) : OTHER;
	if (what.kind == OTHER || (vector && r[RDX] > VECTORS))
		return false;
	what.of_self = !sys(__NR_tgkill, sys(__NR_getpid), what.pid, 0);
	at = moves ? sys(__NR_lseek, what.fd, 0, SEEK_CUR_) : (long)r[R10];
	if (at < 0)
		return false;
	what.inode = st.st_ino;
	what.at = (uint64_t)at;
	if (!alters(&what, vector ? r[RSI] : 0, r[RDX]))
		return false;
	ret = vector ? read_vector(&what, r[RSI], r[RDX]) : read_some(&what, r[RSI], r[RDX]);
	if (moves && what.at != (uint64_t)at)
		sys(__NR_lseek, what.fd, what.at, SEEK_SET_);
	finish(t, ret);
	return true;
}
