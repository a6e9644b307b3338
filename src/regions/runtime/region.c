/* SPDX-License-Identifier: MIT */
/*
 * Regions of this process (tare/region.h): which regions exist, whether they are recorded, and the
 * stream of the calling thread.
 *
 * A thread that has a stream of an earlier recording opens a new stream at its next point. After
 * fork, the child continues the recording, but it has no block of its own in the file until its
 * first point.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "arch/stack.h"
#include "base/file.h"
#include "base/pages.h"
#include "regions/runtime/region_cost.h"
#include "regions/runtime/region_fiber.h"
#include "regions/runtime/region_kept.h"
#include "regions/runtime/region_map.h"
#include "regions/runtime/region_private.h"

enum { LINE_BITS = 24 };

__thread struct tare_region_here tare_region_thread
	__attribute__((tls_model("initial-exec"))) = { .end = &region_no_room };
__thread struct region_stream *region_mine __attribute__((tls_model("initial-exec")));
struct region_state region_state;

static struct tare_error look_error;
static struct stat errors_go_to; /* stderr when the recording began */
static bool is_set_up;

static struct region_recording *current(void)
{
	return __atomic_load_n(&region_self()->current, __ATOMIC_ACQUIRE);
}

/*
 * The value of `place` while the recorder writes a point and the inline functions must not: larger
 * than every block.
 */
#define NOWHERE (UINT64_MAX / 2)

/*
 * While there are kept points, the inline functions must not write. If a handler interrupts an
 * inline function, that function finds a clock difference that it must leave to the recorder; later
 * calls find no room. On arm64, between the load of `last` and its store, the function clears the
 * bit again: in that case its clock value is before those of the kept points.
 */
#define BLOCKED ((uint64_t)1 << 63)

/*
 * Take the place from the inline functions, which then do not write. Pass the return value to
 * tare_place_leave().
 */
static inline __attribute__((always_inline)) uint64_t take_place(void)
{
	uint64_t at = tare_place_take(&tare_region_thread.place);

	if (!region_is_held(at)) {
		if (region_mine)
			region_mine->at = (uint8_t *)(uintptr_t)at;
		tare_region_thread.place.at = NOWHERE;
		if (__builtin_expect(region_kept_waits, 0))
			tare_region_thread.last &= ~BLOCKED;
	}
	return at;
}

/*
 * Does this handler interrupt one of the inline functions, or else the recorder? Leaves the place
 * unchanged.
 */
static bool interrupts_inline(void)
{
	return tare_region_thread.place.at < NOWHERE;
}

static bool keep_early(struct tare_region *r)
{
	for (unsigned i = 0; r && i < EARLY_REGIONS; i++) {
		struct tare_region *there = NULL;

		if (__atomic_compare_exchange_n(&region_state.early.region[i], &there, r, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    there == r)
			return true;
	}
	return false;
}

/*
 * Count points of a handler as lost, for that region or label; if neither is known, points of any
 * label may be lost.
 */
static void lose(unsigned points, struct tare_region *r, tare_label label)
{
	struct region_stream *s;
	uint32_t number = region_label_number(label);
	unsigned bit = format_lost_bit(number);

	if (!points)
		return;
	region_process_look();
	s = region_mine;
	if (!number && keep_early(r))
		bit = LOST_UNNAMED;
	if (s && !s->scratch) {
		region_recording_lose_of(s->of, bit);
		region_recording_lose(s->of, points, 0);
		if (bit != LOST_UNNAMED)
			return;
	} else {
		__atomic_or_fetch(&region_state.early.label[bit / 64], (uint64_t)1 << bit % 64,
				  __ATOMIC_RELAXED);
		__atomic_add_fetch(&region_state.early.points, points, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&region_state.early.any, true, __ATOMIC_RELEASE);
	if (region_lock()) /* else the interrupted thread reports it */
		region_unlock_and_tell();
}

static void write_kept(void);

/*
 * Call with the place held. If handlers run all the time, some points stay in the list for later.
 */
static __attribute__((noinline, cold)) void settle(void)
{
	region_process_look();
	write_kept();
	tare_region_thread.end = region_mine && region_mine->block ? region_mine->end
								   : &region_no_room;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (region_kept_waits)
		tare_region_thread.end = &region_no_room;
}

static bool looked(void)
{
	return __builtin_expect(__atomic_load_n(&region_state.looked, __ATOMIC_ACQUIRE), 1);
}

static int look(void);

/*
 * Before a thread's first point: start the recording with signals blocked. A handler that ran after
 * the point had begun, but before the recording had, could not record anything.
 */
static __attribute__((noinline, cold)) void look_alone(void)
{
	sigset_t kept;

	if (region_is_held(tare_place_look(&tare_region_thread.place)))
		return;
	region_block_signals(&kept);
	if (region_lock()) {
		look();
		region_unlock_and_tell();
	}
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
}

static void look_first(void)
{
	if (!looked())
		look_alone();
}

/* False: this is a handler that interrupts a point of its thread. */
static inline __attribute__((always_inline)) bool hold(void)
{
	uint64_t at = take_place();

	if (!region_is_held(at)) {
		if (__builtin_expect(region_kept_waits, 0))
			settle();
		return true;
	}
	tare_place_leave(&tare_region_thread.place, at);
	return false;
}

/*
 * The same. In addition, a child created by clone(2) without fork handlers becomes a process of its
 * own.
 */
static bool enter(void)
{
	bool held;

	look_first();
	held = hold();

	region_process_look();
	return held;
}

static void leave_place(void)
{
	tare_place_leave(&tare_region_thread.place, region_mine ? (uintptr_t)region_mine->at : 0);
}

/* Repeated, because handlers may add points before the place is left. */
static __attribute__((noinline, cold)) void settle_and_leave(void)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			take_place();
		settle();
		leave_place();
		if (!region_kept_waits)
			return;
	}
}

static inline __attribute__((always_inline)) void leave(void)
{
	if (__builtin_expect(!region_kept_waits, 1)) {
		leave_place();
		if (__builtin_expect(!region_kept_waits, 1))
			return;
		take_place();
	}
	settle_and_leave();
}

/*
 * A point that a handler keeps is counted as lost until it is written. False: this is not possible
 * yet, or there is no recording.
 */
static bool count_kept(tare_label label)
{
	struct region_recording *r = region_mine && !region_mine->scratch ? region_mine->of : NULL;
	bool locked = false;

	if (!region_label_number(label))
		return false;
	if (!r || r != current() || !r->process) {
		locked = region_lock();
		r = locked ? region_state.recording : NULL;
		if (r && region_open_process(r) < 0)
			r = NULL;
	}
	if (r) {
		region_recording_lose_of(r, format_lost_bit(region_label_number(label)));
		region_recording_lose(r, 1, 0);
	}
	if (locked)
		region_unlock_and_tell();
	return r != NULL;
}

/*
 * The calling thread's PMU events, for a handler that may have interrupted a read of them. NULL if
 * it interrupted any other operation on them.
 */
static struct thread_counters *readable_pmu(const struct region_recording *r)
{
	struct region_stream *s = region_mine;

	return s && s->of == r && s->block && !s->scratch && !region_fiber_switching()
		? &s->counters
		: NULL;
}

/*
 * For a handler that interrupts a point or a locked section of its thread. False: the point is
 * counted as lost.
 */
static bool keep(struct tare_region *r, tare_label label, enum point_op op, uint64_t number)
{
	struct kept_point p = { .region = r, .label = label, .op = op, .number = number };
	struct region_recording *of;

	region_process_look();
	if ((label & ~TARE_LABEL_END) == TARE_LABEL_UNKNOWN && r && looked()) {
		if (region_name(r, &p.label) && !p.label)
			return true; /* recording is off */
		if (p.label != label)
			p.label |= label & TARE_LABEL_END;
	}
	of = current();
	p.generation = of ? of->generation : 0;
	p.process = region_process();
	if ((p.label & ~TARE_LABEL_END) == TARE_LABEL_UNKNOWN && !r)
		label = 0; /* a function without a label: the handler interrupted its naming */
	else if (of && !(region_mine && !region_mine->page)) {
		p.counted = count_kept(p.label);
		if (region_kept_add(&p, &of->counters, readable_pmu(of))) {
			if (interrupts_inline())
				tare_region_thread.last |= BLOCKED;
			tare_region_thread.end = &region_no_room;
			return true;
		}
		if (p.counted)
			return false;
	}
	lose(1, r, label ? p.label : 0);
	return false;
}

/* The functions from here on are called with the lock held. */

/* Change to another recording, or to none. */
static void change_to(struct region_recording *r, bool for_good)
{
	__atomic_store_n(&region_state.changing, region_state.n_known > 0 && !for_good,
			 __ATOMIC_SEQ_CST);
	region_set_current(r);
	region_process_look();
	if (r && r == region_state.recording && r->file.process != region_process())
		/* a child forked during the start: the file so far belongs to the parent */
		region_go_on(r);
	__atomic_add_fetch(&region_state.generation, 1, __ATOMIC_RELEASE);
	if (region_state.recording)
		region_tell_early(region_state.recording);
	if (!for_good) /* else points notice that there is no recording */
		region_set_labels();
	__atomic_store_n(&region_state.changing, false, __ATOMIC_RELEASE);
}

enum { SCALE_NS = 2000000 };

/* Wait until two readings of both clocks are far enough apart to compute the scale. */
static void await_scale(const struct region_recording *r)
{
	while (r->counters.clocks && !r->counters.mult &&
	       kernel_clock() - r->start_clock_ns < SCALE_NS)
		;
}

/* The two ways in which the inline functions are used. */
static void empty_regions(tare_label label, unsigned n, void *with)
{
	static struct tare_region probe = { 0, 0, "", "" };

	(void)with;
	probe.label = label;
	for (unsigned i = 0; i < n; i++) {
		tare_region_begin(&probe);
		tare_region_end(&probe);
	}
}

static void empty_labels(tare_label label, unsigned n, void *with)
{
	(void)with;
	for (unsigned i = 0; i < n; i++) {
		tare_label_begin(label);
		tare_label_end(label);
	}
}

/*
 * The cost of an empty region for one path, measured with the calling thread's own functions.
 * -ENODATA: a counter could not be read meanwhile.
 */
/* -ENODATA: a counter could not be read meanwhile. */
static int measure(struct region_recording *r, unsigned path, tare_region_empty *empty,
		   tare_region_empty *other, void *with)
{
	struct tare_region_here kept_here = tare_region_thread;
	struct region_recording *kept_current = current();
	struct region_stream *kept_mine = region_mine, s;
	bool kept_waits = region_kept_waits;
	void *memory = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	bool told;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	region_stream_private(&s, r, &tare_region_thread, memory);
	region_mine = &s;
	region_kept_waits = false;
	leave(); /* so that these points are written */
	if (kept_current != r)
		__atomic_store_n(&region_self()->current, r, __ATOMIC_RELEASE);
	region_cost_measure(&s, path == FILE_PATH_WIDE ? COST_LABEL_WIDE : COST_LABEL, empty, other,
			    with, r->own[path]);
	if (kept_current != r)
		__atomic_store_n(&region_self()->current, kept_current, __ATOMIC_RELEASE);
	take_place();
	told = !s.counters.missing;
	thread_counters_close(&s.counters);
	region_mine = kept_mine;
	region_kept_waits = kept_waits;
	tare_region_thread = kept_here;
	munmap(memory, BLOCK_BYTES);
	if (told)
		__atomic_or_fetch(&r->measured, 1u << path, __ATOMIC_RELEASE);
	return told ? 0 : -ENODATA;
}

static int measure_inline(struct region_recording *r)
{
	int ret = measure(r, TARE_PATH_INLINE, empty_regions, empty_labels, NULL);

	if (ret == 0)
		ret = measure(r, FILE_PATH_WIDE, empty_regions, empty_labels, NULL);
	return ret == -ENODATA ? 0 : ret; /* then the recording has no known overhead */
}

/*
 * Close the calling thread's stream. A stream inherited from the parent process is left as it is.
 */
static void close_mine(bool reuse)
{
	struct region_stream *s = region_mine;

	if (region_kept_waits && s->process == region_process())
		region_kept_write(s);
	region_mine = NULL;
	tare_region_thread.end = &region_no_room;
	if (s->process == region_process())
		region_stream_close(s, reuse);
	else
		region_stream_forget(s);
}

static void thread_ends(void *stream)
{
	if (region_mine != stream && stream != region_fiber_at_end())
		return;
	if (!enter())
		return;
	region_fiber_thread_ends();
	if (region_mine)
		close_mine(true);
	region_kept_free();
	leave();
}

/* Call with the lock held. */
static void set_up(void)
{
	if (is_set_up)
		return;
	is_set_up = true;
	pthread_key_create(&region_state.at_thread_end, thread_ends);
	region_child_set_up();
}

/* the base of a relative TARE_REGIONS, even if the program changes its directory */
static char began_in[PATH_MAX];

/* Called in the main thread before there are other threads, because it allocates memory. */
__attribute__((constructor)) static void set_up_early(void)
{
	const char *path = secure_getenv("TARE_REGIONS");

	if (!path)
		return;
	if (region_lock()) {
		set_up();
		region_unlock();
	}
	if (path[0] != '/' && !getcwd(began_in, sizeof(began_in)))
		began_in[0] = '\0';
}

enum start { ANEW, JOIN };

static int open_file(struct region_file *f, const char *path, const char *events, enum start how,
		     struct tare_error *err)
{
	char command[1024];
	int ret = -ENOENT;

	region_command(command, sizeof(command));
	if (how == ANEW)
		return region_file_create(f, path, events, command, true, err);
	/* Another process may create it at the same time. */
	for (int tries = 0; tries < 3; tries++) {
		ret = region_file_join(f, path, err);
		if (ret == 0 && strcmp(f->head->counters, events))
			return tare_fail(err, EEXIST,
					 "%.200s: is a recording with other counters: %.80s", path,
					 f->head->counters);
		if (ret != -ENOENT)
			return ret;
		ret = region_file_create(f, path, events, command, false, err);
		if (ret != -EEXIST)
			return ret;
	}
	return ret;
}

static int start(const char *path, const char *events, enum start how, struct tare_error *err)
{
	struct region_recording *r;
	int ret;

	if (region_state.recording)
		return tare_fail(err, EBUSY, "regions are being recorded already%s, into %.200s",
				 region_state.from_environment ? ", as set by TARE_REGIONS" : "",
				 region_state.recording->file.path);
	if (!events)
		events = "wall-time";
	if (region_state.torn)
		return tare_fail(
			err, EAGAIN,
			"%.200s: another thread was starting or stopping a recording when clone() made this process, which cannot record",
			path);
	set_up();
	r = pages_new(sizeof(*r));
	if (!r)
		return tare_fail_nomem(err);
	r->references = 1;
	r->generation = region_state.generation + 1;
	r->file.fd = -1;
	r->labels.next = 1;
	region_clock_pair(&r->start_ticks, &r->start_clock_ns);
	ret = region_counters_new(&r->counters, events, err);
	if (ret == 0)
		ret = measure_inline(r);
	if (ret == 0)
		await_scale(r);
	if (ret == 0)
		ret = open_file(&r->file, path, events, how, err);
	if (ret == 0)
		ret = region_open_process(r);
	if (ret < 0) {
		if (err && !err->code)
			tare_fail(err, -ret, "%.200s: %s", path, strerror(-ret));
		region_recording_put(r);
		return ret;
	}
	fstat(STDERR_FILENO, &errors_go_to);
	change_to(r, false);
	return 0;
}

/*
 * Starting needs more stack than a thread or a handler may have. So it runs on its own stack, with
 * signals blocked except those raised by the program's own instructions (a debugger's step).
 */
enum { START_STACK = 256 << 10 };

struct starting {
	const char *path, *events;
	enum start how;
	struct tare_error *err;
	int ret;
};

static void start_here(void *starting)
{
	struct starting *s = starting;

	s->ret = start(s->path, s->events, s->how, s->err);
}

void region_block_signals(sigset_t *kept)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	sigset_t others;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_BLOCK, &others, kept);
}

static int start_aside(const char *path, const char *events, enum start how, struct tare_error *err)
{
	struct starting s = { path, events, how, err, 0 };
	char *stack = pages_new(START_STACK);
	sigset_t kept;

	if (!stack)
		return tare_fail_nomem(err);
	mprotect(stack, FILE_PAGE, PROT_NONE);
	region_block_signals(&kept);
	stack_call(stack + START_STACK, start_here, &s);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	pages_free(stack, START_STACK);
	return s.ret;
}

/* Check once whether the environment asks for a recording. */
static int look(void)
{
	static char whole[PATH_MAX];
	const char *path, *events;
	int kept = errno, ret = 0;

	if (region_state.looked)
		return 0;
	path = secure_getenv("TARE_REGIONS");
	events = secure_getenv("TARE_REGIONS_EVENTS");
	if (!path || !*path) {
		__atomic_store_n(&region_state.looked, true, __ATOMIC_RELEASE);
		return 0;
	}
	if (path[0] != '/' && began_in[0]) {
		int n = snprintf(whole, sizeof(whole), "%s/%s", began_in, path);

		if (n < 0 || (size_t)n >= sizeof(whole))
			ret = tare_fail(&look_error, ENAMETOOLONG,
					"%.200s...: the name is too long", path);
		path = whole;
	}
	__atomic_store_n(&region_state.looking, true, __ATOMIC_SEQ_CST);
	if (ret == 0)
		ret = start_aside(path, events && *events ? events : NULL, JOIN, &look_error);
	region_state.from_environment = ret == 0;
	__atomic_store_n(&region_state.looked, true, __ATOMIC_RELEASE);
	__atomic_store_n(&region_state.looking, false, __ATOMIC_RELEASE);
	/*
	 * The program did not request the recording, so there is no caller to return the error to.
	 */
	if (ret < 0)
		dprintf(STDERR_FILENO, "tare: no regions are recorded: %s%s%s\n", look_error.what,
			look_error.hint[0] ? "; " : "", look_error.hint);
	errno = kept;
	return ret;
}

/* End of the functions that need the lock. */

/* The stream of the calling thread, if it belongs to the current recording. */
static struct region_stream *paused_stream(void)
{
	return region_mine && region_mine->of == current() ? region_mine : NULL;
}

bool region_name(struct tare_region *r, tare_label *label)
{
	if (!region_lock())
		return false;
	look();
	*label = r->label == TARE_LABEL_UNKNOWN && !region_number(r) ? 0 : r->label;
	region_unlock_and_tell();
	return true;
}

static bool enrol(struct tare_region *r, tare_label *label)
{
	struct region_pause pause;
	bool named;

	region_stream_pause(paused_stream(), &pause);
	named = region_name(r, label);
	region_stream_resume(&pause);
	return named;
}

/*
 * The calling thread's stream in the current recording, or NULL. points: the number of points lost
 * if the process cannot have a block. *busy is set in a handler that interrupts a locked section of
 * its thread.
 */
static struct region_stream *my_stream(uint32_t points, bool *busy)
{
	struct region_recording *r = current();
	struct region_stream *s = region_mine;

	if (__builtin_expect(s && (s->of == r || (s->scratch && s->process == region_process())),
			     1))
		return s;
	if (s) {
		pthread_setspecific(region_state.at_thread_end, NULL);
		close_mine(false);
	}
	s = region_fiber_settle(r);
	if (s || !r)
		return s;

	int ret;

	if (!region_lock()) {
		*busy = true;
		return NULL;
	}
	r = region_state.recording;
	ret = r ? region_open_process(r) : -ESRCH;
	if (ret == 0)
		__atomic_add_fetch(&r->references, 1, __ATOMIC_RELAXED);
	else if (r)
		__atomic_add_fetch(&r->file.head->lost, points, __ATOMIC_RELAXED);
	region_unlock_and_tell();
	if (ret < 0)
		return NULL;
	s = region_stream_open(r, &tare_region_thread);
	region_recording_put(r);
	region_mine = s;
	if (s)
		pthread_setspecific(region_state.at_thread_end, s);
	return s;
}

/* Points that cannot be written now stay in the list. */
static void write_kept(void)
{
	bool busy = false;
	struct region_stream *s = my_stream(region_kept_number(), &busy);

	if (s)
		region_kept_write(s);
	else if (!busy)
		region_kept_drop();
}

/* The destination of a point, in two registers. */
struct target {
	struct region_stream *stream; /* NULL: not recorded, or kept */
	uint64_t label;
};

/* The first point of a region, of a thread, or after a recording began. */
static __attribute__((noinline, cold)) struct target first_point(struct tare_region *r,
								 tare_label label)
{
	struct target to = { NULL, label };
	tare_label known_as = TARE_LABEL_UNKNOWN;
	bool busy = false;

	region_process_look();
	if ((label & ~TARE_LABEL_END) == TARE_LABEL_UNKNOWN) {
		busy = !r || !enrol(r, &known_as);
		if (!busy && !known_as)
			return to;
		if (!busy)
			to.label = known_as | (label & TARE_LABEL_END);
	}
	if (!busy)
		to.stream = my_stream(1, &busy);
	if (busy)
		keep(r, (tare_label)to.label, OP_BEGIN, 0);
	return to;
}

/* After the counters are read, the first point takes the same steps as any other. */
void tare_region_point(struct tare_region *r, tare_label label, uint64_t clock)
{
	struct region_stream *s;

	if (__builtin_expect((label & ~TARE_LABEL_END) == TARE_LABEL_UNKNOWN, 0))
		look_first();
	if (__builtin_expect(!hold(), 0)) {
		keep(r, label, OP_BEGIN, 0);
		return;
	}
	s = region_mine;
	/* A handler ran in between. It may have set BLOCKED. */
	if (__builtin_expect((clock - tare_region_thread.last) >> 62 != 0, 0))
		clock = 0;
	if (__builtin_expect(!s || (label & ~TARE_LABEL_END) == TARE_LABEL_UNKNOWN ||
				     s->of != current(),
			     0)) {
		struct target to = first_point(r, label);

		s = to.stream;
		label = (tare_label)to.label;
		clock = 0;
	}
	if (__builtin_expect(s != NULL, 1))
		region_stream_begin_or_end(s, label, clock);
	leave();
}

bool region_enter(void)
{
	return enter();
}

void region_leave(void)
{
	leave();
}

void region_close_mine(bool reuse)
{
	close_mine(reuse);
}

tare_label region_label_held(const char *name)
{
	tare_label label;

	if (!region_lock())
		return 0;
	label = region_label_of(name, "", (uint32_t)TARE_PATH_OTHER << LINE_BITS, NULL, 0);
	region_unlock_and_tell();
	return label;
}

/*
 * The cost of naming a label is in no interval, except if a handler interrupts a point: then the
 * stream is inconsistent.
 */
struct naming {
	struct region_pause pause;
	bool entered;
};

static void begin_naming(struct naming *n)
{
	n->entered = enter();
	region_stream_pause(n->entered ? paused_stream() : NULL, &n->pause);
}

/* False: a handler interrupts a locked section of its thread, or the start of the recording. */
static bool lock_to_name(const struct naming *n)
{
	return (n->entered || looked()) && region_lock();
}

static void end_naming(const struct naming *n)
{
	region_stream_resume(&n->pause);
	if (n->entered)
		leave();
}

tare_label tare_region_label(struct tare_region *r)
{
	tare_label label = __atomic_load_n(&r->label, __ATOMIC_RELAXED);
	struct naming n;

	if (label != TARE_LABEL_UNKNOWN)
		return label;
	label = 0;
	begin_naming(&n);
	if (lock_to_name(&n)) {
		look();
		label = r->label == TARE_LABEL_UNKNOWN && !region_number(r) ? 0 : r->label;
		region_unlock_and_tell();
	} else {
		lose(1, r, 0);
	}
	end_naming(&n);
	return label;
}

tare_label tare_label_new_at(enum tare_region_path path, const char *name, const char *const *args,
			     unsigned n, const char *file, uint32_t line)
{
	struct naming naming;
	tare_label label = 0;

	if (!name || !*name || (n && !args))
		return 0;
	for (unsigned i = 0; i < n; i++)
		if (!args[i])
			return 0;
	begin_naming(&naming);
	if (looked() && !current()) {
		/* recording is off */
	} else if (lock_to_name(&naming)) {
		look();
		label = region_label_of(
			name, file ? file : "",
			(uint32_t)path << LINE_BITS | (line & ((1u << LINE_BITS) - 1)), args, n);
		region_unlock_and_tell();
	} else {
		lose(1, NULL, 0);
	}
	end_naming(&naming);
	return label;
}

tare_label tare_label_new_by(enum tare_region_path path, const char *name, const char *const *args,
			     unsigned n)
{
	return tare_label_new_at(path, name, args, n, NULL, 0);
}

tare_label tare_label_new(const char *name, const char *const *args, unsigned n)
{
	return tare_label_new_by(TARE_PATH_INLINE, name, args, n);
}

int tare_region_measure(enum tare_region_path path, tare_region_empty *empty, void *with)
{
	struct region_pause pause;
	struct region_recording *r;
	uint32_t bit = 1u << path;
	sigset_t kept;
	int ret = 0;

	if (path <= TARE_PATH_INLINE || path >= TARE_PATHS)
		return -EINVAL;
	if (!enter())
		return -EDEADLK;
	if (!region_lock()) {
		leave();
		return -EDEADLK;
	}
	region_stream_pause(paused_stream(), &pause);
	r = region_state.recording;
	if (r && !((r->measured | r->being_measured) & bit)) {
		r->being_measured |= bit;
		__atomic_add_fetch(&r->references, 1, __ATOMIC_RELAXED);
	} else {
		ret = r ? 0 : -ESRCH;
		r = NULL;
	}
	region_unlock_and_tell();
	if (r) {
		region_block_signals(&kept); /* a handler's points would be lost */
		ret = measure(r, path, empty, NULL, with);
		pthread_sigmask(SIG_SETMASK, &kept, NULL);
		region_lock();
		if (ret == 0 && r->process) {
			memcpy(r->process->own[path], r->own[path], sizeof(r->own[path]));
			__atomic_or_fetch(&r->process->measured, bit, __ATOMIC_RELEASE);
		}
		region_unlock_and_tell();
		region_recording_put(r);
	}
	region_stream_resume(&pause);
	leave();
	return ret;
}

static void point(tare_label label, enum point_op op, uint64_t number)
{
	struct region_stream *s;
	bool busy = false;

	if (!label || label == TARE_LABEL_UNKNOWN)
		return;
	if (!enter()) {
		keep(NULL, label, op, number);
		return;
	}
	s = my_stream(1, &busy);
	if (s)
		region_stream_point(s, label, op, number, 0);
	else if (busy)
		keep(NULL, label, op, number);
	leave();
}

void tare_label_instant(tare_label label)
{
	point(label, OP_INSTANT, 0);
}

void tare_label_point(tare_label label, uint32_t *open)
{
	if (!(label & ~TARE_LABEL_END))
		return;
	tare_region_point(NULL, label, 0);
	if (open)
		*open += label & TARE_LABEL_END ? -1u : 1u;
}

void tare_label_cut(tare_label label)
{
	point(label, OP_END, 1);
}

void tare_label_integer(tare_label label, uint64_t value)
{
	point(label, OP_INTEGER, value);
}

/* An async span that a handler starts within a point: its number does not contain a thread. */
static struct tare_timing keep_start(tare_label label)
{
	static uint32_t made;
	struct tare_timing t = {
		label, (uint64_t)UINT32_MAX << 32 | __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)
	};

	if (!keep(NULL, label, OP_START, t.number))
		t = (struct tare_timing){ 0, 0 };
	return t;
}

struct tare_timing tare_timing_start(tare_label label)
{
	struct tare_timing t = { 0, 0 };
	struct region_stream *s;
	bool busy = false;

	if (!label)
		return t;
	if (!enter())
		return keep_start(label);
	s = my_stream(1, &busy);
	if (s) {
		t.label = label;
		t.number = (uint64_t)(s->thread + 1) << 32 | ++s->timings;
		region_stream_point(s, label, OP_START, t.number, 0);
	} else if (busy) {
		t = keep_start(label);
	}
	leave();
	return t;
}

void tare_timing_finish(struct tare_timing t)
{
	point(t.label, OP_FINISH, t.number);
}

int tare_regions_start(const char *path, const char *events, struct tare_error *err)
{
	int ret;

	if (!enter())
		return tare_fail(
			err, EDEADLK,
			"%.200s: from a signal handler that interrupted the recording of a point",
			path);
	if (region_lock()) {
		look();
		ret = start_aside(path, events, ANEW, err);
		region_unlock();
	} else {
		ret = tare_fail(err, EDEADLK,
				"%.200s: from a signal handler that interrupted fork()", path);
	}
	leave();
	return tare_end(ret, err);
}

int tare_regions_from_environment(struct tare_error *err)
{
	int ret = 0;

	if (!enter())
		return tare_end(0, err);
	if (region_lock()) {
		ret = look();
		if (ret < 0 && err)
			*err = look_error;
		else if (region_state.recording)
			ret = 1;
		region_unlock();
	}
	leave();
	return tare_end(ret, err);
}

unsigned tare_regions_generation(void)
{
	return __atomic_load_n(&region_state.generation, __ATOMIC_ACQUIRE);
}

static void close_old(void)
{
	bool busy;

	my_stream(0, &busy);
}

/*
 * Close the calling thread's stream if a handler interrupted one of its points: the stream ends
 * before that point.
 */
static void close_interrupted(void)
{
	const struct tare_place *p = &tare_region_thread.place;

	if (region_mine && interrupts_inline()) {
		region_mine->at = (uint8_t *)region_mine->block +
			tare_place_behind(p, (uintptr_t)region_mine->block);
		tare_region_thread.last &= ~BLOCKED;
	} else {
		region_kept_waits = false; /* the stream is inconsistent: the points stay lost */
	}
	close_old();
}

/* The points and names that could not be written, as an error. */
static int tell_lost(const struct region_recording *r, struct tare_error *err)
{
	uint32_t names = r->labels.lost;
	char more[160] = "";

	if (names)
		snprintf(more, sizeof(more), "the name%s of %u label%s could not be written: %s",
			 names > 1 ? "s" : "", names, names > 1 ? "s" : "",
			 format_why_lost(r->labels.lost_errno));
	if (r->lost_errno && r->lost)
		return tare_fail(err, r->lost_errno,
				 "%.200s: %llu points could not be written: %s%s%s", r->file.path,
				 (unsigned long long)r->lost, strerror(r->lost_errno),
				 names ? "; " : "", more);
	return names ? tare_fail(err, r->labels.lost_errno, "%.200s: %s", r->file.path, more) : 0;
}

/* for_good: a handler that interrupted a point will not return to it. */
static int stop(bool for_good, struct tare_error *err)
{
	struct region_recording *r;
	uint64_t at = take_place();
	bool interrupted = region_is_held(at);
	int ret = 0;

	if (!region_lock()) {
		if (interrupted)
			tare_place_leave(&tare_region_thread.place, at);
		else
			leave();
		return tare_fail(
			err, EDEADLK,
			"the recording cannot be stopped from a signal handler that interrupted its beginning");
	}
	r = region_state.recording;
	region_state.from_environment = false;
	if (!r) {
		region_unlock();
		if (interrupted) {
			tare_place_leave(&tare_region_thread.place, at);
		} else {
			close_old(); /* a handler stopped the recording */
			leave();
		}
		return 0;
	}
	region_tell_early(r);
	change_to(NULL, for_good);
	for (struct region_stream *s = r->streams; s; s = s->next)
		__atomic_store_n(s->end, NULL, __ATOMIC_RELAXED);
	region_labels_close(&r->labels);
	for (struct region_stream *s = r->spare; s; s = s->next)
		region_file_punch(&r->file, s->offset, s->bytes);
	if (r->process) {
		region_clock_pair(&r->process->end_ticks, &r->process->end_clock_ns);
		__atomic_store_n(&r->process->ended, 1, __ATOMIC_RELEASE);
	}
	region_unlock();
	if (!interrupted) {
		close_old();
		leave();
	} else {
		if (for_good)
			close_interrupted();
		tare_place_leave(&tare_region_thread.place, at);
	}
	ret = tell_lost(r, err);
	region_recording_put(r);
	return ret;
}

int tare_regions_stop(struct tare_error *err)
{
	return tare_end(stop(false, err), err);
}

/*
 * Report losses to stderr, except if tare regions does it, or if stderr was redirected since the
 * recording began.
 */
__attribute__((destructor)) static void at_exit(void)
{
	bool told = region_state.from_environment && secure_getenv("TARE_REGIONS_ENGINE");
	struct tare_error err = TARE_ERROR_INIT;
	struct stat now;

	if (!__atomic_load_n(&region_state.recording, __ATOMIC_ACQUIRE))
		return;
	if (stop(true, &err) < 0 && err.code != EDEADLK && !told &&
	    fstat(STDERR_FILENO, &now) == 0 && now.st_dev == errors_go_to.st_dev &&
	    now.st_ino == errors_go_to.st_ino)
		dprintf(STDERR_FILENO, "tare: %s\n", err.what);
}
