/* SPDX-License-Identifier: MIT */
/* The output for a scan with one event of each meaning. */
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "scan/scan_view.h"

enum { EVENTS = 8 };

static struct scan scan = { .cpu = "GenuineIntel-6-55-4",
			    .pmu = "cpu",
			    .rows = 3,
			    .row = { { 0, 100 }, { 0, 1100 }, { 0, 8000 } } };
static struct scan_finding finding[EVENTS];
static char *command[] = { "ls", "-l", NULL };
static const uint64_t classes[EXACT_CLASSES] = { [EXACT_LOADS] = 500, [EXACT_RETURNS] = 7 };

static const char *name_of(const void *with, uint32_t select, uint32_t umask)
{
	(void)with;
	return select == 0xd0 && umask == 0x81 ? "mem_inst_retired.all_loads" : "";
}

static struct scan_shown made(void)
{
	static const struct {
		uint32_t select, umask;
		enum scan_state state;
	} rows[EVENTS] = { { 0x01, 0, SCAN_DEAD },    { 0x02, 1, SCAN_LIVE },
			   { 0x03, 2, SCAN_LIVE },    { 0x04, 4, SCAN_LIVE },
			   { 0x05, 0xff, SCAN_LIVE }, { 0x06, 8, SCAN_LIVE },
			   { 0xb7, 1, SCAN_REFUSED }, { 0xd0, 0x81, SCAN_UNCOUNTED } };

	for (size_t i = 0; i < EVENTS; i++) {
		struct scan_event e = { .select = rows[i].select,
					.umask = rows[i].umask,
					.state = rows[i].state };

		if (e.state == SCAN_LIVE) {
			e.count = calloc(SCAN_SAMPLES_MOST, sizeof(*e.count));
			e.interrupts = calloc(SCAN_SAMPLES_MOST, sizeof(*e.interrupts));
			for (size_t k = 0; k < 3 * SCAN_ROUNDS; k++)
				e.count[k] = (int64_t)(100 * i * (k % 3 + 1));
			e.has_command = i == 1;
			e.command = 1014;
		}
		scan_put(&scan, &e, NULL);
	}
	finding[1] = (struct scan_finding){ .meaning = SCAN_COUNTS,
					    .sure = SCAN_CERTAIN,
					    .explained = 1,
					    .n = 2,
					    .term = { { TERM_CLASS, WORK_LOADS, 2 },
						      { TERM_CLASS, WORK_RETURNS, 2 } } };
	finding[2] = (struct scan_finding){ .meaning = SCAN_FOLLOWS,
					    .sure = SCAN_PERHAPS,
					    .correlation = 0.987,
					    .n = 1,
					    .term = { { TERM_KNOWN, 0, 1.5 } } };
	finding[3] = (struct scan_finding){ .meaning = SCAN_SUM,
					    .sure = SCAN_LIKELY,
					    .n = 2,
					    .term = { { TERM_EVENT, 1, 1 },
						      { TERM_EVENT, 2, 1 } } };
	finding[5] = (struct scan_finding){ .meaning = SCAN_CONSTANT,
					    .sure = SCAN_CERTAIN,
					    .fixed = 4 };
	return (struct scan_shown){ .scan = &scan,
				    .finding = finding,
				    .name = name_of,
				    .command = command,
				    .classes = classes };
}

static bool has(const struct text *t, const char *what)
{
	return CHECK(t->s && strstr(t->s, what), "'%s' is not in\n%s", what, t->s ? t->s : "");
}

static const struct scan_event other = { .state = SCAN_DEAD };
static const struct scan_known known[] = { { "cycles:u", &other } };

TEST(as_text)
{
	const struct style plain = { .thousands = true, .width = 200 };
	struct scan_shown v = made();
	struct text t = { 0 };

	v.known = known;
	v.n_known = 1;
	v.like = "page-faults:u";
	v.like_event = &scan.event[1];
	scan_view_text(&t, &v, &plain);
	has(&t,
	    " 0x02:0x01    certain  counts 2 loads + 2 returns  (command: 1,014, the exact engine 1,014)\n");
	has(&t, " 0x03:0x02    perhaps  follows cycles:u: factor 1.5, correlation 0.987\n");
	has(&t, " 0x04:0x04    likely   counts what 0x02:0x01 + 0x03:0x02 count\n");
	has(&t, " 0x06:0x08    certain  4 each reading, independent of the work\n");
	has(&t,
	    "8 events tried, 5 count, 1 are dead, 1 refused by the kernel, 1 never scheduled on a counter.");
	CHECK(!strstr(t.s, "0x05:0xff"), "what several bits count");
	has(&t,
	    "Nearest to page-faults:u:\n 0x02:0x01    equal in 100 % of the work that either counts, correlation 0.000, factor 1");
	text_free(&t);
}

TEST(as_data)
{
	struct scan_shown v = made();
	struct text t = { 0 };

	v.known = known;
	scan_view_document(&t, FORMAT_CSV, &v);
	has(&t, "\n0x1,0x0,dead,,,,,,,\n");
	has(&t,
	    "\n0x2,0x1,live,,counts,certain,2 loads + 2 returns,0,counts 2 loads + 2 returns,1014\n");
	text_free(&t);
	scan_view_table(&t, &v);
	has(&t, "# pmu: cpu\n");
	has(&t, "scan.0x02.0x01 0x2 0x1 - certain: counts 2 loads + 2 returns\n");
	CHECK(!strstr(t.s, "scan.0x05") && !strstr(t.s, "scan.0x01"), "single bits that count");
	text_free(&t);
	v.kernel = true;
	scan_view_table(&t, &v);
	has(&t,
	    "scan.kernel.0x02.0x01 0x2 0x1 - certain, with the kernel: counts 2 loads + 2 returns\n");
	CHECK(!strstr(t.s, "scan.0x"), "no name of those that count in user mode");
	text_free(&t);
	v.kernel = false;
	scan_view_document(&t, FORMAT_JSON, &v);
	has(&t, "\"schema\": \"tare/scan/1\"");
	has(&t, "\"command_exact\": 1014");
	text_free(&t);
}

TEST_MAIN()
