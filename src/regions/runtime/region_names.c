/* SPDX-License-Identifier: MIT */
/*
 * The labels of this process's regions, and its block in the file. Call with the lock held
 * (region_process.h).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/pages.h"
#include "base/process.h"
#include "regions/runtime/region_private.h"

enum { WIDE = (int)0x80000000 };

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 and later have it */
extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));
#endif

static int holds(struct dl_phdr_info *object, size_t size, void *place)
{
	const uintptr_t at = *(const uintptr_t *)place;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - (object->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return 1;
	}
	return 0;
}

/*
 * Is the region's library still loaded? Avoids the loader's lock where possible, because in a child
 * or a handler it may never be free.
 */
static bool still_there(struct tare_region *r)
{
	uintptr_t at = (uintptr_t)r;

#ifdef DLFO_STRUCT_HAS_EH_DBASE
	struct dl_find_object found;

	if (_dl_find_object)
		return _dl_find_object(r, &found) == 0;
#endif
	return dl_iterate_phdr(holds, &at) != 0;
}

/* A refused request reads the memory that it names first. */
static bool readable(const void *p)
{
	int kept = errno;
	bool yes = syscall(SYS_rt_sigprocmask, -1, p, NULL, sizeof(uint64_t)) == 0 ||
		errno != EFAULT;

	errno = kept;
	return yes;
}

/* Another library may be mapped at the same addresses. */
static bool is_still(const struct known_region *k)
{
	struct tare_region *r = k->region;

	return still_there(r) && readable(r) && readable(&r->file) && r->name == k->name &&
		r->file == k->file;
}

static tare_label as_label(uint32_t number)
{
	if (!number)
		return 0;
	return number << 3 | 1 | (number >= POINT_WIDE ? (tare_label)WIDE : 0);
}

void region_command(char *out, size_t room)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, room - 1);

	if (fd >= 0)
		close(fd);
	while (n > 0 && !out[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		out[i] = out[i] ? out[i] : ' ';
	out[n > 0 ? n : 0] = '\0';
}

/* Create this process's own block, at its first point. */
int region_open_process(struct region_recording *r)
{
	struct block_head *b, h = { 0 };
	struct file_process *p;

	if (r->block || r->no_block)
		return -r->no_block;
	b = region_file_map(&r->file, FILE_PAGE, true, NULL);
	if (!b) {
		int code = errno;

		__atomic_add_fetch(&r->file.head->lost_processes, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&r->file.head->lost_errno, (uint32_t)code, __ATOMIC_RELAXED);
		r->no_block = code;
		return -code;
	}
	h.magic = BLOCK_MAGIC;
	h.kind = BLOCK_PROCESS;
	h.state = BLOCK_FREE; /* until it is filled */
	h.size = FILE_PAGE;
	h.pid = h.tid = (uint32_t)getpid();
	region_clock_pair(&h.ticks, &h.clock_ns);
	/* touches the page now, because a page fault is slow */
	__atomic_store_n(&b->magic, 0, __ATOMIC_RELAXED);
	r->serial = __atomic_fetch_add(&r->file.head->processes, 1, __ATOMIC_RELAXED);
	h.process = r->serial;
	h.head_sum = format_head_sum(&h);
	format_begin_block(b, &h);

	p = (void *)(b + 1);
	p->parent = r->inherited ? r->parent : r->serial;
	p->inherited = r->inherited;
	p->n_counters = r->counters.n;
	p->mult = r->counters.mult;
	p->shift = r->counters.shift;
	p->start_ticks = r->start_ticks;
	p->start_clock_ns = r->start_clock_ns;
	memcpy(p->counter, r->counters.info, sizeof(p->counter));
	memcpy(p->own, r->own, sizeof(p->own));
	p->measured = r->measured;
	p->pid_namespace = process_pid_namespace();
	p->born = process_start_ticks("/proc/self/stat");
	region_command(p->command, sizeof(p->command));
	__atomic_store_n(&b->state, BLOCK_OPEN, __ATOMIC_RELEASE);

	r->labels.file = &r->file;
	h.kind = BLOCK_LABELS;
	r->labels.like = h;
	r->block = b;
	r->process = p;
	r->threads = 0;
	return 0;
}

tare_label region_label_of(const char *name, const char *file, uint32_t line,
			   const char *const *args, unsigned n)
{
	int kept = errno;
	struct region_recording *r = region_state.recording;
	uint32_t number = 0;

	if (r && region_open_process(r) == 0) {
		number = region_labels_number(&r->labels, name, file, line, args, n);
		__atomic_store_n(&r->process->labels, r->labels.own, __ATOMIC_RELEASE);
		/* The points are recorded, without a name. */
		r->process->lost_labels_errno = (uint32_t)r->labels.lost_errno;
		__atomic_store_n(&r->process->lost_labels, r->labels.lost, __ATOMIC_RELEASE);
	} else if (r) {
		number = region_labels_nameless(&r->labels); /* for points that are lost */
	}
	errno = kept;
	return as_label(number);
}

static tare_label label_of_region(const struct tare_region *r)
{
	return *r->name ? region_label_of(r->name, r->file, r->line, NULL, 0) : 0;
}

/* Assign a number to a region and add it to the known regions. False: out of memory. */
bool region_number(struct tare_region *r)
{
	if (region_state.n_known == region_state.known_room) {
		size_t room = region_state.known_room ? region_state.known_room * 2
						      : FILE_PAGE / sizeof(*region_state.known);
		struct known_region *more = pages_new(room * sizeof(*more)),
				    *old = region_state.known;
		size_t old_room = region_state.known_room;

		if (!more)
			return false;
		if (old)
			memcpy(more, old, region_state.n_known * sizeof(*more));
		__atomic_store_n(&region_state.known, more, __ATOMIC_RELEASE);
		__atomic_store_n(&region_state.known_room, room, __ATOMIC_RELEASE);
		pages_free(old, old_room * sizeof(*more));
	}
	region_state.known[region_state.n_known] = (struct known_region){ r, r->name, r->file };
	__atomic_store_n(&region_state.n_known, region_state.n_known + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&r->label, region_state.recording ? label_of_region(r) : 0,
			 __ATOMIC_RELEASE);
	return true;
}

/*
 * Count the losses from before the recording could note them, and number the regions without a
 * number.
 */
void region_tell_early(struct region_recording *r)
{
	uint64_t points;

	if (!__atomic_load_n(&region_state.early.any, __ATOMIC_ACQUIRE) ||
	    region_open_process(r) < 0)
		return;
	__atomic_store_n(&region_state.early.any, false, __ATOMIC_RELAXED);
	points = __atomic_exchange_n(&region_state.early.points, 0, __ATOMIC_RELAXED);
	for (unsigned word = 0; word < FILE_LOST_WORDS; word++)
		for (uint64_t bits = __atomic_exchange_n(&region_state.early.label[word], 0,
							 __ATOMIC_RELAXED);
		     bits; bits &= bits - 1)
			region_recording_lose_of(r, 64 * word + (unsigned)__builtin_ctzll(bits));
	/* A point in between sets it again. */
	__atomic_and_fetch(&r->process->lost_label[0], ~((uint64_t)1 << LOST_UNNAMED),
			   __ATOMIC_RELAXED);
	for (unsigned i = 0; i < EARLY_REGIONS; i++) {
		struct tare_region *region = __atomic_exchange_n(&region_state.early.region[i],
								 NULL, __ATOMIC_RELAXED);
		bool named = region && still_there(region) &&
			(region->label != TARE_LABEL_UNKNOWN || region_number(region));

		if (region)
			region_recording_lose_of(
				r, format_lost_bit(named ? region_label_number(region->label) : 0));
	}
	region_recording_lose(r, points, 0);
}

void region_unlock_and_tell(void)
{
	if (region_state.recording)
		region_tell_early(region_state.recording);
	else if (__atomic_load_n(&region_state.early.any, __ATOMIC_ACQUIRE))
		memset(&region_state.early, 0, sizeof(region_state.early)); /* recording is off */
	region_unlock();
}

void region_set_labels(void)
{
	for (size_t i = 0; i < region_state.n_known; i++) {
		struct tare_region *r = region_state.known[i].region;
		tare_label label = 0;

		if (!is_still(&region_state.known[i])) {
			region_state.known[i--] = region_state.known[--region_state.n_known];
			continue;
		}
		if (region_state.recording)
			label = label_of_region(r);
		__atomic_store_n(&r->label, label, __ATOMIC_RELAXED);
	}
}
