/* SPDX-License-Identifier: MIT */
/*
 * Directories read in the order of names, "." and ".." first, instead of the file system's order.
 * The whole directory is read, sorted, and returned in pieces. The file offset of the descriptor
 * remains the state: after the k-th entry returned, it is the offset that the kernel has after its
 * k-th entry. So rewinddir, telldir, seekdir and inherited descriptors need no extra code. The
 * entries are kept until the last piece is returned: entries that are removed meanwhile are still
 * returned, as POSIX allows.
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include "exact/engine/engine.h"

enum { SEEK_SET_ = 0, SEEK_CUR_ = 1, PIECE = 1 << 16, FIRST_BYTES = 1 << 20, MOST_BYTES = 1 << 28 };

/* The kernel's layout. Source: getdents64(2). */
struct entry {
	uint64_t ino, behind;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static struct directory kept[8]; /* with the lock held; .memory NULL: free */
static unsigned next_kept;

static void *memory_for(size_t bytes)
{
	void *p;

	lock();
	p = reserve(bytes);
	unlock();
	return p;
}

static void give_memory_back(void *p, size_t bytes)
{
	lock();
	unreserve(p, bytes);
	unlock();
}

static void forget(struct directory *d)
{
	if (d->memory)
		give_memory_back(d->memory, d->bytes);
	if (d->entry)
		give_memory_back(d->entry, d->n * 16);
	*d = (struct directory){ 0 };
}

/* ---- in order ---- */

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static bool name_before(uint64_t left, uint64_t right)
{
	const char *a = ((const struct entry *)left)->name,
		   *b = ((const struct entry *)right)->name;

	if (is_dots(a) != is_dots(b))
		return is_dots(a);
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (uint8_t)*a < (uint8_t)*b;
}

static bool number_before(uint64_t left, uint64_t right)
{
	return left < right;
}

static void sink(uint64_t *x, size_t i, size_t n, bool (*before)(uint64_t, uint64_t))
{
	for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
		uint64_t up = x[i];

		if (child + 1 < n && before(x[child], x[child + 1]))
			child++;
		if (!before(up, x[child]))
			return;
		x[i] = x[child];
		x[child] = up;
		i = child;
	}
}

static void heap_sort(uint64_t *x, size_t n, bool (*before)(uint64_t, uint64_t))
{
	for (size_t i = n / 2; i-- > 0;)
		sink(x, i, n, before);
	for (size_t i = n; i-- > 1;) {
		uint64_t last = x[i];

		x[i] = x[0];
		x[0] = last;
		sink(x, 0, i, before);
	}
}

/* ---- all of it ---- */

/*
 * Read from the current offset to the end; false: the kernel reports an error, or it is too long.
 */
static bool read_all(struct directory *d)
{
	long got;

	d->bytes = FIRST_BYTES;
	d->memory = memory_for(d->bytes);
	while ((got = sys(__NR_getdents64, d->fd, d->memory + d->used, PIECE)) > 0) {
		d->used += (size_t)got;
		if (d->used + PIECE > d->bytes) {
			uint8_t *more;

			if (d->bytes >= MOST_BYTES)
				return false;
			more = memory_for(2 * d->bytes);
			memcpy(more, d->memory, d->used);
			give_memory_back(d->memory, d->bytes);
			d->memory = more;
			d->bytes *= 2;
		}
	}
	return got == 0;
}

/* Offsets that encode how many entries were returned must be distinct. */
static bool order(struct directory *d)
{
	uint64_t *position;
	size_t i = 0;

	for (size_t at = 0; at < d->used; at += ((struct entry *)(d->memory + at))->bytes)
		d->n++;
	if (!d->n)
		return true;
	d->entry = memory_for(d->n * 16);
	position = d->entry + d->n;
	for (size_t at = 0; at < d->used; at += ((struct entry *)(d->memory + at))->bytes, i++)
		d->entry[i] = position[i] = ((struct entry *)(d->memory + at))->behind;
	heap_sort(d->entry, d->n, number_before);
	for (i = 0; i < d->n; i++)
		if (!d->entry[i] || (i && d->entry[i] == d->entry[i - 1]))
			return false;
	i = 0;
	for (size_t at = 0; at < d->used; at += ((struct entry *)(d->memory + at))->bytes)
		d->entry[i++] = (uint64_t)(d->memory + at);
	heap_sort(d->entry, d->n, name_before);
	for (i = 0; eng.mode & TURNED_READDIR && i < d->n / 2; i++) {
		uint64_t last = d->entry[d->n - 1 - i];

		d->entry[d->n - 1 - i] = d->entry[i];
		d->entry[i] = last;
	}
	for (i = 0; i < d->n; i++)
		((struct entry *)d->entry[i])->behind = position[i];
	return true;
}

static bool move_to(const struct directory *d, uint64_t position)
{
	return (uint64_t)sys(__NR_lseek, d->fd, position, SEEK_SET_) == position;
}

static bool take_in(struct directory *d)
{
	if (!move_to(d, 0) || !read_all(d) || !order(d))
		return false;
	/* if the file system cannot do this, a later call could not continue */
	return !d->n || move_to(d, d->entry[2 * d->n - 1]);
}

/* Index of the first entry after an offset; if past the end, there is none. */
static size_t entry_behind(const struct directory *d, uint64_t position)
{
	if (!position)
		return 0;
	for (size_t i = 0; i < d->n; i++)
		if (d->entry[d->n + i] == position)
			return i + 1;
	return d->n + 1;
}

/* ---- kept from one call to the next ---- */

static bool find_kept(struct directory *d, uint64_t position)
{
	bool found = false;

	lock();
	for (unsigned i = 0; !found && i < sizeof kept / sizeof *kept; i++) {
		struct directory *k = &kept[i];

		if (!k->memory || k->fd != d->fd || k->dev != d->dev || k->inode != d->inode ||
		    entry_behind(k, position) > k->n)
			continue;
		*d = *k;
		*k = (struct directory){ 0 };
		found = true;
	}
	unlock();
	return found;
}

static void hold(struct directory *d)
{
	struct directory old;

	lock();
	old = kept[next_kept];
	kept[next_kept] = *d;
	next_kept = (next_kept + 1) % (sizeof kept / sizeof *kept);
	unlock();
	forget(&old);
}

/* ---- the call ---- */

/* Copy entries from the i-th on, as many as fit, to the program's memory. */
static long give(const struct directory *d, size_t *i, uint64_t to, uint64_t room)
{
	uint64_t done = 0;

	if (*i < d->n && ((struct entry *)d->entry[*i])->bytes > room)
		return -EINVAL;
	for (; *i < d->n; ++*i) {
		const struct entry *e = (const struct entry *)d->entry[*i];

		if (done + e->bytes > room)
			break;
		if (copy_bytes((void *)(to + done), e, e->bytes) != e->bytes)
			return -EFAULT;
		done += e->bytes;
	}
	return (long)done;
}

/* False: not a directory, or its offsets are unusable; the kernel's order is used. */
bool directory_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct directory d = { .fd = (int)r[RDI] };
	struct stat st;
	long at, got;
	size_t i;

	if (!(eng.mode & SAME_READDIR) || sys(__NR_fstat, d.fd, &st) < 0)
		return false;
	at = sys(__NR_lseek, d.fd, 0, SEEK_CUR_);
	if (at < 0)
		return false;
	d.dev = st.st_dev;
	d.inode = st.st_ino;
	if ((!at || !find_kept(&d, (uint64_t)at)) && !take_in(&d)) {
		move_to(&d, (uint64_t)at);
		forget(&d);
		return false;
	}
	i = entry_behind(&d, (uint64_t)at);
	if (i > d.n) {
		move_to(&d, (uint64_t)at);
		forget(&d);
		return false;
	}
	got = give(&d, &i, r[RSI], (uint32_t)r[RDX]);
	if (!move_to(&d, got > 0 ? d.entry[d.n + i - 1] : (uint64_t)at))
		refuse("a file system does not let the position in a directory be set", 0);
	if (got > 0 && i < d.n)
		hold(&d);
	else
		forget(&d);
	finish(t, got);
	return true;
}
