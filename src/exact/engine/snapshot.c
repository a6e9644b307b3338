/* SPDX-License-Identifier: MIT */
/*
 * The translated code of a program, kept for its next processes. The memory layout is fixed, so
 * they map the same files at the same addresses. A process of the program copies its code and
 * tables to the shared state's file when it ends; later ones map the copy, privately, in place of
 * empty tables, at the same addresses. They belong to the same lineage, as if they were forked from
 * that process: so the counters are the same (counters.c), and each process counts in its own
 * memory.
 *
 *	offset in the file                size
 *	SNAPSHOTS_AT + i * SNAPSHOT_SIZE  struct snapshot, in HEAD_SIZE bytes
 *	... + piece.offset                piece.size, for each piece of memory
 *
 * Only code of files that are mapped privately and not writable is kept, with the version of each
 * file. Code of a file that was mapped before the program began is found at once. Code of any other
 * is found only from when the program maps the same version of the file there; if it makes other
 * memory executable there, the code is discarded. Until then nothing leads to that code: it is in
 * no bucket, and no block of another file has a direct branch to it (B_FAR).
 *
 * The supervisor says which processes write and read which snapshot (src/exact/snapshots.c).
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "exact/engine/emit.h"

enum {
	ARENAS_KEPT = 32,
	MAPPINGS_KEPT = 256,
	TABLES_MAX = 8 + 2 * ARENAS_KEPT,
	PIECES_MAX = 8 + 3 * ARENAS_KEPT,
	HEAD_SIZE = 1 << 16,
	HASH_BITS_MAX = 26,
	GROWN_BY = 8, /* with an eighth more code, write a new snapshot */
};

/* Memory that the engine reserves. */
struct table {
	uint64_t at, size;
	uint32_t is_code, pad;
};

/* A part of it that has contents. */
struct piece {
	uint64_t at, size, offset;
	uint32_t is_code, pad;
};

/* A file that has code in the snapshot. */
struct kept_mapping {
	uint64_t start, end, offset;
	struct file_version version;
	uint32_t first; /* mapped before the program began */
	uint32_t awaited;
};

struct snapshot {
	volatile uint32_t ready; /* SNAPSHOT_READY: written last */
	uint32_t n_tables, n_pieces, n_mappings, n_arenas;
	uint32_t n_blocks, map_used, n_edges, dead_blocks, n_buckets;
	uint32_t hash_bits, hash_used, page_bits, page_used, counters_met;
	uint64_t image, next_place;
	uint64_t blocks, map_pool, edges, hash, numbers, buckets, pages;
	struct arena arenas[ARENAS_KEPT];
	struct table tables[TABLES_MAX];
	struct piece pieces[PIECES_MAX];
	struct kept_mapping mappings[MAPPINGS_KEPT];
};

_Static_assert(sizeof(struct snapshot) <= HEAD_SIZE, "it is followed by the pieces");

static struct snapshot now; /* that is read or written */
static uint32_t blocks_before;
static uint64_t file_dev, file_inode; /* of the shared state */
static int32_t file_fd;               /* the supervisor's descriptor of it */

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

static uint64_t whole_pages(uint64_t size)
{
	return (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* ---- reading ---- */

static bool is_within(uint64_t at, uint64_t size, uint64_t start, uint64_t room)
{
	return at >= start && at - start <= room && size <= room - (at - start);
}

/* Is each piece part of a table? They are in the same order. */
static bool pieces_in_tables(const struct snapshot *s)
{
	uint32_t t = 0;

	for (uint32_t i = 0; i < s->n_pieces; i++) {
		const struct piece *p = &s->pieces[i];

		if (!is_within(p->offset, p->size, HEAD_SIZE, SNAPSHOT_SIZE - HEAD_SIZE))
			return false;
		while (t < s->n_tables &&
		       !is_within(p->at, p->size, s->tables[t].at, s->tables[t].size))
			t++;
		if (t == s->n_tables)
			return false;
	}
	return true;
}

/* Any process of the command can have written it. */
static bool is_sound(const struct snapshot *s)
{
	return s->ready == SNAPSHOT_READY && s->n_tables <= TABLES_MAX &&
		s->n_pieces <= PIECES_MAX && s->n_mappings <= MAPPINGS_KEPT &&
		s->n_arenas <= ARENAS_KEPT && s->hash_bits <= HASH_BITS_MAX &&
		s->page_bits <= HASH_BITS_MAX && s->n_blocks <= BLOCKS_HALF &&
		s->n_edges <= EDGES_HALF && s->map_used <= MAP_HALF && s->n_buckets < BUCKETS &&
		s->counters_met <= COUNTERS_MAX && pieces_in_tables(s);
}

static bool reserve_tables(const struct snapshot *s)
{
	uint32_t i = 0;

	while (i < s->n_tables &&
	       reserve_at(s->tables[i].at, s->tables[i].size,
			  PROT_READ | PROT_WRITE | (s->tables[i].is_code ? PROT_EXEC : 0)))
		i++;
	if (i == s->n_tables)
		return true;
	while (i-- > 0)
		unreserve_at(s->tables[i].at, s->tables[i].size);
	return false;
}

static void map_piece(const struct piece *p, int fd, uint64_t from)
{
	uint64_t size = whole_pages(p->size);

	if ((uint64_t)sys(__NR_mmap, p->at, size,
			  PROT_READ | PROT_WRITE | (p->is_code ? PROT_EXEC : 0),
			  MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, from + p->offset) != p->at)
		refuse("the kernel does not map translated code, at", p->at);
	sys(__NR_madvise, p->at, size, MADV_DONTDUMP);
}

static void take_tables(const struct snapshot *s)
{
	eng.blocks = (struct block *)s->blocks;
	eng.n_blocks = s->n_blocks;
	eng.map_pool = (uint8_t *)s->map_pool;
	eng.map_used = s->map_used;
	eng.edges = (struct edge *)s->edges;
	eng.n_edges = s->n_edges;
	eng.hash = (uint64_t *)s->hash;
	eng.hash_bits = s->hash_bits;
	eng.hash_used = s->hash_used;
	eng.numbers = (uint16_t *)s->numbers;
	eng.buckets = (uint64_t *)s->buckets;
	eng.n_buckets = s->n_buckets;
	eng.pages = (struct code_page *)s->pages;
	eng.page_bits = s->page_bits;
	eng.page_used = s->page_used;
	eng.dead_blocks = s->dead_blocks;
	eng.used_arenas = eng.n_arenas = s->n_arenas;
	memcpy(eng.arenas, s->arenas, s->n_arenas * sizeof *s->arenas);
	eng.first_block = eng.first_edge = eng.first_map = 1;
	eng.generation = 1;
	eng.next_place = s->next_place;
}

static bool is_same(const struct kept_mapping *m, uint64_t start, uint64_t end,
		    const struct region *r, uint64_t offset)
{
	return r->exec && !r->writable && !r->checked && !r->followed && start == m->start &&
		end == m->end && offset == m->offset && m->version.inode &&
		!memcmp(&r->version, &m->version, sizeof m->version);
}

static void discard(struct kept_mapping *m)
{
	eng.n_awaited -= m->awaited;
	m->awaited = 0;
	forget_code(m->start, m->end);
}

static void look_at_first_mappings(void)
{
	for (uint32_t i = 0; i < now.n_mappings; i++) {
		struct kept_mapping *m = &now.mappings[i];
		const struct region *r = region_in(m->start, m->end);

		m->awaited = !r && !m->first;
		eng.n_awaited += m->awaited;
		if (!m->awaited && (!r || !is_same(m, r->start, r->end, r, r->offset)))
			discard(m);
	}
}

/* Begin with the snapshot that the supervisor chose. False: with empty tables. */
bool snapshot_begin(const struct process *p)
{
	uint64_t from = SNAPSHOTS_AT + (p->snapshot - 1ull) * SNAPSHOT_SIZE;
	struct stat st;

	if (!(eng.mode & KEEP_CODE))
		return false;
	file_fd = eng.shared->shared_fd;
	if (sys(__NR_fstat, p->shared_fd, &st) == 0) {
		file_dev = st.st_dev;
		file_inode = st.st_ino;
	}
	if (!p->snapshot || p->snapshot > SNAPSHOTS ||
	    sys(__NR_pread64, p->shared_fd, &now, sizeof now, from) != sizeof now ||
	    now.image != eng.image)
		return false;
	if (!is_sound(&now))
		refuse_overwritten();
	if (!reserve_tables(&now))
		return false;
	for (uint32_t i = 0; i < now.n_pieces; i++)
		map_piece(&now.pieces[i], p->shared_fd, from);
	take_tables(&now);
	blocks_before = eng.n_blocks;
	counters_first();
	counters_from(now.counters_met);
	look_at_first_mappings();
	__atomic_fetch_add(&eng.shared->began_warm, 1, __ATOMIC_RELAXED);
	return true;
}

/*
 * The program changes the mappings of [start, end). If that makes a mapping as in the snapshot, its
 * code can be executed. Mappings that are not executable make no difference.
 */
void snapshot_region(uint64_t start, uint64_t end, int prot, const struct region *what)
{
	if (!(prot & PROT_EXEC) || !what)
		return;
	for (uint32_t i = 0; i < now.n_mappings; i++) {
		struct kept_mapping *m = &now.mappings[i];
		struct region r = *what;

		if (!m->awaited || m->start >= end || start >= m->end)
			continue;
		r.exec = 1;
		r.writable = !!(prot & PROT_WRITE);
		if (is_same(m, start, end, &r, what->offset + (start - what->start))) {
			m->awaited = 0;
			eng.n_awaited--;
		} else {
			discard(m);
		}
	}
}

/* ---- writing ---- */

/*
 * Arenas with code of mappings that the program begins with; only they are kept. Another one would
 * be in the way of mappings that the program makes before it executes the code there.
 */
static bool arena_kept[ARENAS_KEPT];

static void add_table(const void *at, uint64_t size, bool is_code)
{
	now.tables[now.n_tables++] = (struct table){ (uint64_t)at, size, is_code, 0 };
}

static void add_piece(const void *at, uint64_t size, bool is_code)
{
	uint64_t from = (uint64_t)at & ~(uint64_t)(PAGE - 1), offset = HEAD_SIZE;

	if (now.n_pieces)
		offset = now.pieces[now.n_pieces - 1].offset +
			whole_pages(now.pieces[now.n_pieces - 1].size);
	size += (uint64_t)at - from;
	if (size)
		now.pieces[now.n_pieces++] = (struct piece){ from, size, offset, is_code, 0 };
}

/* Rounded as reserve() does. */
static uint64_t reserved(uint64_t size)
{
	return (size + 0xfffff) & ~0xfffffull;
}

static void list_memory(void)
{
	uint64_t hash = sizeof *eng.hash << eng.hash_bits,
		 pages = sizeof *eng.pages << eng.page_bits;
	uint64_t low = NUMBERS * sizeof *eng.numbers + BUCKETS * sizeof *eng.buckets;

	add_table(eng.blocks, reserved(2ull * BLOCKS_HALF * sizeof *eng.blocks), false);
	add_piece(eng.blocks, eng.n_blocks * sizeof *eng.blocks, false);
	add_table(eng.map_pool, reserved(2ull * MAP_HALF), false);
	add_piece(eng.map_pool, eng.map_used, false);
	add_table(eng.edges, reserved(2ull * EDGES_HALF * sizeof *eng.edges), false);
	add_piece(eng.edges, eng.n_edges * sizeof *eng.edges, false);
	add_table(eng.hash, reserved(hash), false);
	add_piece(eng.hash, hash, false);
	add_table(eng.pages, reserved(pages), false);
	add_piece(eng.pages, pages, false);
	add_table(eng.numbers, low, false);
	add_piece(eng.numbers,
		  NUMBERS * sizeof *eng.numbers + (eng.n_buckets + 1) * sizeof *eng.buckets, false);
	for (uint32_t i = 0; i < eng.n_arenas; i++) {
		const struct arena *a = &eng.arenas[i];

		if (!arena_kept[i])
			continue;
		now.arenas[now.n_arenas++] = *a;
		add_table(a->start, (uint64_t)(a->end - a->start), true);
		add_piece(a->start, (uint64_t)(a->hot - a->start), true);
		add_piece(a->cold, (uint64_t)(a->end - a->cold), true);
		add_table(a->blocks, reserved(ARENA_SIZE / 16 * sizeof *a->blocks), false);
		add_piece(a->blocks, a->n_blocks * sizeof *a->blocks, false);
	}
}

/* Those that are awaited are kept for others. */
static void keep_awaited(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < now.n_mappings; i++)
		if (now.mappings[i].awaited)
			now.mappings[n++] = now.mappings[i];
	now.n_mappings = n;
}

static bool list_mappings(void)
{
	keep_awaited();
	for (uint32_t i = 0; i < eng.n_regions; i++) {
		const struct region *r = &eng.regions[i];

		if (!r->exec || r->writable || r->checked || r->followed || !r->version.inode)
			continue;
		if (now.n_mappings == MAPPINGS_KEPT)
			return false;
		now.mappings[now.n_mappings++] = (struct kept_mapping){ r->start,  r->end,
									r->offset, r->version,
									r->first,  0 };
	}
	return true;
}

/* The mapping that contains all of the block. `last`: the one found before. */
static const struct kept_mapping *mapping_with(uint64_t start, uint64_t end)
{
	static uint32_t last;

	for (uint32_t i = 0; i <= now.n_mappings; i++) {
		uint32_t at = i ? i - 1 : last;

		if (at < now.n_mappings && start >= now.mappings[at].start &&
		    end <= now.mappings[at].end) {
			last = at;
			return &now.mappings[at];
		}
	}
	return NULL;
}

static bool is_kept(uint64_t address)
{
	return mapping_with(address, address + 1);
}

static bool *kept_arena(const uint8_t *code)
{
	return &arena_kept[arena_with(code) - eng.arenas];
}

/* Discard what is in the other arenas. */
static void leave_arenas(void)
{
	for (uint32_t i = eng.first_block; i < eng.n_blocks; i++) {
		struct block *b = &eng.blocks[i];

		if (!(b->flags & (B_DEAD | B_ONCE)) && !*kept_arena(b->code))
			block_kill(b);
	}
	for (uint32_t i = eng.first_edge; i < eng.n_edges; i++)
		if (eng.edges[i].site && !*kept_arena(eng.edges[i].site))
			eng.edges[i].site = NULL; /* never written to again */
}

/*
 * Discard code that is not to be kept; take code of files that are mapped later out of the buckets.
 */
static void select_blocks(void)
{
	memset(arena_kept, 0, sizeof arena_kept);
	for (uint32_t i = eng.first_block; i < eng.n_blocks; i++) {
		struct block *b = &eng.blocks[i];
		const struct kept_mapping *m;

		if (b->flags & (B_DEAD | B_ONCE))
			continue;
		m = mapping_with(b->pc, b->pc + b->src_len);
		if (!m || (b->flags & (B_FAR | B_CHECKED | B_PART))) {
			block_kill(b);
		} else if (m->first) {
			*kept_arena(b->code) = true;
		} else if (b->indirect) {
			bucket_remove(b);
			*next_of(b) = 0;
		}
	}
	leave_arenas();
	pages_keep(is_kept);
}

static void fill_head(void)
{
	now.n_blocks = eng.n_blocks;
	now.map_used = eng.map_used;
	now.n_edges = eng.n_edges;
	now.dead_blocks = eng.dead_blocks;
	now.n_buckets = eng.n_buckets;
	now.hash_bits = eng.hash_bits;
	now.hash_used = eng.hash_used;
	now.page_bits = eng.page_bits;
	now.page_used = eng.page_used;
	now.counters_met = counters_met();
	now.image = eng.image;
	now.next_place = eng.next_place;
	now.blocks = (uint64_t)eng.blocks;
	now.map_pool = (uint64_t)eng.map_pool;
	now.edges = (uint64_t)eng.edges;
	now.hash = (uint64_t)eng.hash;
	now.numbers = (uint64_t)eng.numbers;
	now.buckets = (uint64_t)eng.buckets;
	now.pages = (uint64_t)eng.pages;
}

/* The shared state's file; it was closed when the program began. */
static int open_file(void)
{
	char path[64];
	struct stat st;
	long fd = sys(__NR_openat, AT_FDCWD,
		      fd_path(path, (uint64_t)eng.supervisor, (uint64_t)file_fd),
		      O_RDWR | O_CLOEXEC);

	if (failed(fd))
		return -1;
	if (sys(__NR_fstat, fd, &st) == 0 && st.st_dev == file_dev && st.st_ino == file_inode)
		return (int)fd;
	sys(__NR_close, fd);
	return -1;
}

static void write_to(uint8_t *to)
{
	struct snapshot *head = (struct snapshot *)to;

	for (uint32_t i = 0; i < now.n_pieces; i++)
		memcpy(to + now.pieces[i].offset, (const void *)now.pieces[i].at,
		       now.pieces[i].size);
	now.ready = 0;
	memcpy(to, &now, sizeof now);
	__atomic_store_n(&head->ready, SNAPSHOT_READY, __ATOMIC_RELEASE);
}

static void write_snapshot(uint32_t slot)
{
	const struct piece *last;
	uint64_t size;
	long at;
	int fd;

	now.n_tables = now.n_pieces = now.n_arenas = 0;
	if (eng.n_arenas > ARENAS_KEPT || eng.hash_bits > HASH_BITS_MAX || !list_mappings())
		return;
	select_blocks();
	list_memory();
	fill_head();
	last = &now.pieces[now.n_pieces - 1];
	size = last->offset + whole_pages(last->size);
	fd = size > SNAPSHOT_SIZE ? -1 : open_file();
	if (fd < 0)
		return;
	limits_mapped((int64_t)size, 0);
	at = sys(__NR_mmap, eng.next_place, size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_NORESERVE, fd, SNAPSHOTS_AT + (slot - 1ull) * SNAPSHOT_SIZE);
	sys(__NR_close, fd);
	if (!failed(at)) {
		populate((void *)at, size);
		write_to((uint8_t *)at);
		sys(__NR_munmap, at, size);
	}
	limits_mapped(-(int64_t)size, 0);
}

/* The process ends or executes another program: keep its code, if the supervisor asked for it. */
void snapshot_end(const struct thread *t)
{
	struct process *p = eng.process;
	uint32_t slot = p->save;

	if (!slot || slot > SNAPSHOTS || process_at(t->process) != p)
		return;
	lock();
	if (!eng.lent && !eng.alias && eng.generation == 1 && !eng.retiring && !p->refused &&
	    eng.n_blocks - blocks_before > blocks_before / GROWN_BY)
		write_snapshot(slot);
	unlock();
	p->save = 0;
}
