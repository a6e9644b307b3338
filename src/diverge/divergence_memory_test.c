/* SPDX-License-Identifier: MIT */
/* Finds the writer of memory in constructed runs: this file replaces diverge/diverge.c to answer
 * requests for further runs. */
#include "diverge/divergence_made.h"
#include "diverge/divergence_memory.h"
#include "base/error.h"
#include "tap.h"

enum { PLACE = 0x5000, VALUE = 7, OTHER = 84, FAR = 1000 };

/* A pair of runs. The place is the same up to step `alike` and differs after it; nothing differs
 * if that is beyond the steps. */
struct pair {
	struct way way;
	size_t alike;
	int64_t first; /* number of the first step */
};

static const struct pair *near,
	*earlier; /* the results of diverge_watch() and diverge_earlier(); NULL: nothing */
static unsigned earlier_runs;
static struct code code;
static struct diverge_step steps[2][2][STEPS_MOST];
static uint64_t holds[2][2][STEPS_MOST];
/* The program before exec had two threads; this one has one, or two. */
enum { ALONE = 3, WITH_OTHER };
static struct diverge_thread thread[] = { { 100, 1, 0, 10, 10, 100 },
					  { 101, 1, 1, 10, 11, 100 },
					  { 102, 1, 2, 10, 10, 100 },
					  { 103, 1, 3, 10, 12, 100 } };

static void make(struct divergence *d, const struct pair *p, unsigned which, bool threads)
{
	size_t n = lay_out(&p->way, &code, steps[which][0], steps[which][1]);

	d->stable_id = 102;
	d->first = p->first;
	d->at = n - 1;
	d->low = p->first + (int64_t)d->at;
	d->n_watched = 1;
	d->watched[0] = (struct diverge_place){ .address = PLACE };
	for (unsigned r = 0; r < 2; r++) {
		d->run[r] = (struct diverge_run){ .step = steps[which][r],
						  .n = n,
						  .held = holds[which][r],
						  .serial = 1,
						  .pid = 10,
						  .tid = 10,
						  .thread = thread,
						  .ended = threads ? WITH_OTHER : ALONE,
						  .threads = threads ? WITH_OTHER : ALONE };
		for (size_t i = 0; i < n; i++) {
			steps[which][r][i].number = p->first + (int64_t)i;
			holds[which][r][i] = i > p->alike && r ? OTHER : VALUE;
		}
	}
}

int diverge_watch(struct diverge_plan *plan, struct divergence *d,
		  const struct diverge_place *place, unsigned n, struct tare_error *err)
{
	(void)plan, (void)d, (void)err;
	return near && n && place->address == PLACE;
}

int diverge_earlier(struct diverge_plan *plan, struct divergence *d, int64_t number,
		    const struct diverge_place *place, unsigned n, unsigned tries,
		    struct divergence *out, struct tare_error *err)
{
	(void)plan, (void)d, (void)place, (void)n, (void)tries, (void)err;
	earlier_runs++;
	if (!earlier)
		return 0;
	make(out, earlier, 1, false);
	return number == out->low;
}

int diverge_history(struct diverge_plan *plan, struct divergence *d,
		    const struct diverge_place *place, unsigned size, struct diverge_written *out,
		    struct tare_error *err)
{
	(void)plan, (void)d, (void)place, (void)size, (void)err;
	*out = (struct diverge_written){ 0 };
	return 0;
}

int64_t diverge_first(int64_t number)
{
	return number > FAR ? number - FAR : 1;
}

void diverge_free(struct divergence *d)
{
	*d = (struct divergence){ 0 };
}

static struct memory_cause ask(const struct pair *now, const struct pair *before, bool threads)
{
	struct divergence d = { 0 };
	struct memory_cause m = { 0 };
	struct cause c;

	code.n = 0;
	near = now;
	earlier = before;
	earlier_runs = 0;
	make(&d, now, 0, threads);
	CHECK_EQ(cause_find(&c, &d, NULL, code_at, &code, NULL), 0, "looked at");
	CHECK_EQ(memory_cause_find(&m, &d, &c, NULL, code_at, &code, NULL), 0, "asked");
	return m;
}

static bool no_capstone(void)
{
	struct disasm *d;

	if (disasm_open(&d, 62, false, NULL) < 0)
		return true;
	disasm_close(d);
	return false;
}

/* mov [0x5000], rbx; cmp qword [0x5000], 5; jne: the thread stored the same value in both */
TEST(a_store_of_what_is_alike_is_not_who_wrote_it)
{
	const struct pair p = { { .code = { "48891c2500500000", "48833c250050000005", "7502" },
				  .differ = { { -1, 0 } } },
				.alike = 0,
				.first = 1 };
	struct memory_cause m;

	if (no_capstone())
		tap_skip("capstone", "Capstone is not installed");
	m = ask(&p, NULL, true);
	CHECK(m.found && m.kind == CAUSE_THREADS && !m.from, "another thread: %d from %#llx",
	      m.kind, (unsigned long long)m.from);
	CHECK(m.value[0] == VALUE && m.value[1] == OTHER, "values");
	m = ask(&p, NULL, false);
	CHECK(m.found && m.kind == CAUSE_MEMORY, "no thread of the program before its exec: %d",
	      m.kind);
	m = ask(&(struct pair){ p.way, .alike = STEPS_MOST, .first = 1 }, NULL, true);
	CHECK(!m.found, "it was the same each time that it was read");
}

/* The same with a different rbx from before; then in runs recorded from an earlier step: rdtsc;
 * mov rbx, rax; the store. */
TEST(what_was_stored_is_followed_on_in_earlier_runs)
{
	const struct pair now = { { .code = { "48891c2500500000", "48833c250050000005", "7502" },
				    .differ = { { BX, 0 }, { -1, 0 } } },
				  .alike = 0,
				  .first = 2 * FAR };
	const struct pair before = { { .code = { "0f31", "4889c3", "48891c2500500000" },
				       .differ = { { AX, 1 }, { BX, 2 } } },
				     .alike = STEPS_MOST,
				     .first = 2 * FAR - 2 };
	struct memory_cause m;

	if (no_capstone())
		tap_skip("capstone", "Capstone is not installed");
	m = ask(&now, NULL, false);
	CHECK(m.found && m.kind == CAUSE_STORED && m.from == CODE && m.number == 2 * FAR,
	      "the thread itself: %d", m.kind);
	CHECK_EQ(earlier_runs, 1u, "earlier ones were asked for");
	CHECK(m.trail.value_in == BX && !m.trail.has_step && m.trail_first == 2 * FAR,
	      "the way leads on by rbx");
	m = ask(&now, &before, false);
	CHECK(m.found && m.kind == CAUSE_TICKS, "it came in by rdtsc: %d", m.kind);
	CHECK(m.number == 2 * FAR - 2 && m.value_in && !strcmp(m.value_in, "rax"),
	      "there: %lld, %s", (long long)m.number, m.value_in);
}

/* rdtsc; mov [0x5000], rax; cmp qword [0x5000], 5; jne: all of it is recorded */
TEST(what_came_in_before_the_store)
{
	const struct pair p = { { .code = { "0f31", "4889042500500000", "48833c250050000005",
					    "7502" },
				  .differ = { { AX, 1 }, { -1, 0 } } },
				.alike = 1,
				.first = 2 * FAR };
	struct divergence d = { 0 };
	struct memory_cause m = { 0 };
	struct cause c = { .places = 1, .place = { { .address = PLACE, .size = 8, .at = 2 } } };

	if (no_capstone())
		tap_skip("capstone", "Capstone is not installed");
	code.n = 0;
	near = &p;
	make(&d, &p, 0, false);
	CHECK_EQ(memory_cause_find(&m, &d, &c, NULL, code_at, &code, NULL), 0, "asked");
	CHECK(m.found && m.kind == CAUSE_TICKS && m.from == CODE && m.number == 2 * FAR,
	      "rdtsc: %d at %lld", m.kind, (long long)m.number);
}

TEST_MAIN()
