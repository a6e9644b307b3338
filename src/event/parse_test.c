/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "event/event.h"
#include "tap.h"

/* Format an event as text: kind, names, terms, modifiers. */
static void draw(const struct event *e, char *to, size_t room)
{
	static const char *const kinds[] = { "name", "pmu", "raw", "bp", "tp", "numbers" };
	const struct event_mods *m = &e->mods;
	size_t n = (size_t)snprintf(to, room, "%s", kinds[e->kind]);

#define DRAW(...) (n += (size_t)snprintf(to + n, n < room ? room - n : 0, __VA_ARGS__))
	if (e->pmu)
		DRAW(" %s/", e->pmu);
	if (e->system)
		DRAW(" [%s]", e->system);
	if (e->name)
		DRAW(" %s", e->name);
	if (e->kind == EVENT_RAW)
		DRAW(" %#llx", (unsigned long long)e->raw);
	if (e->kind == EVENT_NUMBERS)
		DRAW(" %u:%#llx", e->type, (unsigned long long)e->raw);
	if (e->kind == EVENT_BREAKPOINT)
		DRAW(" %#llx+%llu %s%s%s", (unsigned long long)e->bp.addr,
		     (unsigned long long)e->bp.len, e->bp.r ? "r" : "", e->bp.w ? "w" : "",
		     e->bp.x ? "x" : "");
	for (size_t i = 0; i < e->n_terms; i++) {
		DRAW(" <%s", e->term[i].name);
		if (e->term[i].is_number)
			DRAW("=%#llx>", (unsigned long long)e->term[i].number);
		else
			DRAW("=%s>", e->term[i].value);
	}
	if (e->label)
		DRAW(" as %s", e->label);
	DRAW(" %s%s%s%s%s%s%s%s%s%s%s%s%.*s", m->given ? ":" : "", m->user ? "u" : "",
	     m->kernel ? "k" : "", m->hypervisor ? "h" : "", m->guest ? "G" : "",
	     m->host ? "H" : "", m->no_idle ? "I" : "", m->precise_max ? "P" : "",
	     m->sample_read ? "S" : "", m->pinned ? "D" : "", m->weak ? "W" : "",
	     m->exclusive ? "e" : "", (int)m->precise, "ppp");
	DRAW(" g%u", e->group);
#undef DRAW
}

TEST(forms)
{
	static const struct {
		int line;
		const char *text;
		const char *drawn[4];
	} rows[] = {
		{ __LINE__, "cycles", { "name cycles  g0" } },
		{ __LINE__, "cycles:u", { "name cycles :u g0" } },
		{ __LINE__, "cycles:ukhGHIPSDWe", { "name cycles :ukhGHIPSDWe g0" } },
		{ __LINE__, "cycles:ppp", { "name cycles ppp g0" } },
		{ __LINE__,
		  "L1-dcache-load-misses:k,cs",
		  { "name L1-dcache-load-misses :k g0", "name cs  g1" } },
		{ __LINE__, "inst_retired.any_p:up", { "name inst_retired.any_p :up g0" } },
		{ __LINE__, "r1a8", { "raw 0x1a8  g0" } },
		{ __LINE__, "r0x1A8:u", { "raw 0x1a8 :u g0" } },
		{ __LINE__, "rffffffffffffffff", { "raw 0xffffffffffffffff  g0" } },
		{ __LINE__, "r1a8/name=x/u", { "raw 0x1a8 as x :u g0" } },
		{ __LINE__, "r0x1", { "raw 0x1  g0" } },
		{ __LINE__, "r0x", { "name r0x  g0" } },
		{ __LINE__, "r12345678901234567", { "name r12345678901234567  g0" } },
		{ __LINE__,
		  "sched:sched_switch/name=x,period=2/u",
		  { "tp [sched] sched_switch <period=0x2> as x :u g0" } },
		{ __LINE__, "mem:0x10/1:r", { "bp 0x10+1 r  g0" } },
		{ __LINE__, "rs_events", { "name rs_events  g0" } },
		{ __LINE__, "r", { "name r  g0" } },
		{ __LINE__, "4:0x1a8:k", { "numbers 4:0x1a8 :k g0" } },
		{ __LINE__, "1:2", { "numbers 1:0x2  g0" } },
		{ __LINE__,
		  "cpu/event=0xd1,umask=0x8/",
		  { "pmu cpu/ <event=0xd1> <umask=0x8>  g0" } },
		{ __LINE__,
		  "cpu/event=209,any/upp",
		  { "pmu cpu/ <event=0xd1> <any=0x1> :upp g0" } },
		{ __LINE__, "cpu/r1a/:u", { "pmu cpu/ <r1a=0x1> :u g0" } },
		{ __LINE__, "cpu//", { "pmu cpu/  g0" } },
		{ __LINE__,
		  "cpu/ event=1 , umask=2 /",
		  { "pmu cpu/ <event=0x1> <umask=0x2>  g0" } },
		{ __LINE__,
		  "cpu/name='A:b=c,d',period=100/k",
		  { "pmu cpu/ <period=0x64> as A:b=c,d :k g0" } },
		{ __LINE__,
		  "uncore_imc*/cas_count_read/",
		  { "pmu uncore_imc*/ <cas_count_read=0x1>  g0" } },
		{ __LINE__, "cs_etm/@tmc_etr0/u", { "pmu cs_etm/ <@tmc_etr0=0x1> :u g0" } },
		{ __LINE__, "cpu/L1-dcache-loads/", { "pmu cpu/ <L1-dcache-loads=0x1>  g0" } },
		{ __LINE__, "hv/domain=?,core=x.y/", { "pmu hv/ <domain=?> <core=x.y>  g0" } },
		{ __LINE__, "mem:0x1000", { "bp 0x1000+4 rw  g0" } },
		{ __LINE__, "mem:4096/8:rw:u", { "bp 0x1000+8 rw :u g0" } },
		{ __LINE__, "mem:0x1000:x", { "bp 0x1000+8 x  g0" } },
		{ __LINE__, "mem:0x1000/2:w", { "bp 0x1000+2 w  g0" } },
		{ __LINE__, "mem:0x1000:u", { "bp 0x1000+4 rw :u g0" } },
		{ __LINE__, "sched:sched_switch", { "tp [sched] sched_switch  g0" } },
		{ __LINE__, "sched:sched_*:k", { "tp [sched] sched_* :k g0" } },
		{ __LINE__, "INST_RETIRED:ANY_P:u", { "tp [INST_RETIRED] ANY_P :u g0" } },
		{ __LINE__,
		  "skl::INST_RETIRED:ANY_P:c=1:k",
		  { "name skl::INST_RETIRED:ANY_P:c=1 :k g0" } },
		{ __LINE__, "skl::CYCLES", { "name skl::CYCLES  g0" } },
		{ __LINE__, "INSTR_RETIRED_ANY:FIXC0", { "name INSTR_RETIRED_ANY  g0" } },
		{ __LINE__, "EV:PMC12:u", { "name EV :u g0" } },
		{ __LINE__, "{a,b}", { "name a  g0", "name b  g0" } },
		{ __LINE__,
		  "{a:u,b:p}:Sk,c",
		  { "name a :ukS g0", "name b :kSp g0", "name c  g1" } },
		{ __LINE__, "grp{a}", { "name a  g0" } },
		{ __LINE__,
		  " a ,\n\t{ b , c } ,\nd\n",
		  { "name a  g0", "name b  g1", "name c  g1", "name d  g2" } },
		{ __LINE__,
		  "{cpu/event=1/u,r3}:D",
		  { "pmu cpu/ <event=0x1> :uD g0", "raw 0x3 D g0" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct event_list list = { 0 };
		size_t n = 0;

		CHECK_EQ(event_list_parse(rows[i].text, &list, &err), 0, "row at line %d: %s",
			 rows[i].line, err.what);
		for (; n < 4 && rows[i].drawn[n]; n++) {
			char drawn[512] = "";

			if (n < list.n)
				draw(&list.event[n], drawn, sizeof(drawn));
			CHECK_STR(drawn, rows[i].drawn[n], "row at line %d", rows[i].line);
		}
		CHECK_EQ(list.n, n, "row at line %d", rows[i].line);
		event_list_free(&list);
	}
}

TEST(mistakes_point_at_their_byte)
{
	static const struct {
		int line;
		const char *text;
		int at;
		const char *what;
	} rows[] = {
		{ __LINE__, "", 0, "an event name is expected, not the end" },
		{ __LINE__, "a,", 2, "an event name is expected, not the end" },
		{ __LINE__, "a,,b", 2, "an event name is expected, not ','" },
		{ __LINE__, "a b", 2, "',' is expected after a, not 'b'" },
		{ __LINE__, "a}", 1, "',' is expected after a, not '}'" },
		{ __LINE__, "{a,b", 4, "the '}' that ends the group is missing" },
		{ __LINE__, "{}", 1, "an event name is expected, not '}'" },
		{ __LINE__, "{a,{b}}", 3, "an event name is expected, not '{'" },
		{ __LINE__, "{a}:", 4, "modifiers of the group are expected after ':'" },
		{ __LINE__, "{a}:q", 4, "modifiers of the group are expected after ':'" },
		{ __LINE__, "{a:pp,b}:pp", 9,
		  "with the event's own p that makes 4: precise levels are 0 to 3" },
		{ __LINE__, "a:uu", 3, "'u' is given twice" },
		{ __LINE__, "ab:pppp", 6, "at most three p: precise levels are 0 to 3" },
		{ __LINE__, "a:b", 2, "the modifier b (BPF counters) is not offered" },
		{ __LINE__, "a:", 2,
		  "modifiers (u, k, ...) or more of a name are expected after ':', not the end" },
		{ __LINE__, "cpu/event=0xd1", 14, "the '/' that ends the terms of cpu is missing" },
		{ __LINE__, "cpu/event=/", 10, "a value for event is expected, not '/'" },
		{ __LINE__, "cpu/event=1,,umask=2/", 12,
		  "a term such as event=0xd1 is expected, not ','" },
		{ __LINE__, "cpu/event=1,/", 12, "a term such as event=0xd1 is expected, not '/'" },
		{ __LINE__, "cpu/event=1 umask=2/", 12,
		  "',' or '/' is expected after the term event, not 'u'" },
		{ __LINE__, "cpu/event=0x10000000000000000/", 10,
		  "0x10000000000000000 is over 64 bits" },
		{ __LINE__, "cpu/event=18446744073709551616/", 10,
		  "18446744073709551616 is over 64 bits" },
		{ __LINE__, "cpu/name=/", 9, "a value for name is expected, not '/'" },
		{ __LINE__, "cpu/name/", 8, "name needs '=' and a value" },
		{ __LINE__, "cpu/name=''/", 9, "an empty name cannot be shown" },
		{ __LINE__, "cpu/name='x/", 9, "the quote is not closed" },
		{ __LINE__, "cpu/event=1/x", 12, "',' is expected after cpu/event=1/, not 'x'" },
		{ __LINE__, "cpu/event=1/:x", 13, "modifiers are expected after ':'" },
		{ __LINE__, "r1:x", 3, "modifiers are expected after ':'" },
		{ __LINE__, "mem:", 4,
		  "the address of the breakpoint is expected (decimal or 0x hex), not the end" },
		{ __LINE__, "mem:main", 4,
		  "the address of the breakpoint is expected (decimal or 0x hex), not 'm'" },
		{ __LINE__, "mem:0x10/9", 9, "a breakpoint covers 1 to 8 bytes, not 9" },
		{ __LINE__, "mem:0x10/0", 9, "a breakpoint covers 1 to 8 bytes, not 0" },
		{ __LINE__, "mem:0x10:rr", 10, "'r' is given twice" },
		{ __LINE__, "mem:0x10:q", 9,
		  "access (r, w, x) or modifiers (u, k, ...) are expected" },
		{ __LINE__, "mem:0xfffffffffffffffff", 4,
		  "the address of the breakpoint is over 64 bits" },
		{ __LINE__, "4294967296:1", 0, "a type is at most 32 bits" },
		{ __LINE__, "1:x", 2, "a config is expected (decimal or 0x hex), not 'x'" },
		{ __LINE__, "a\001", 1, "',' is expected after a, not an unprintable byte" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct event_list list = { 0 };

		CHECK_EQ(event_list_parse(rows[i].text, &list, &err), -EINVAL, "row at line %d",
			 rows[i].line);
		CHECK_STR(err.what, rows[i].what, "row at line %d", rows[i].line);
		CHECK_EQ(err.at, rows[i].at, "row at line %d", rows[i].line);
		CHECK_EQ(list.n, 0, "row at line %d", rows[i].line);
		CHECK(!list.event && !list.memory, "row at line %d", rows[i].line);
	}
}

TEST(lists_grow)
{
	struct event_list list = { 0 };
	char text[4000] = "{a";

	for (int i = 0; i < 999; i++)
		strcat(text, ",b");
	strcat(text, "}");
	CHECK_EQ(event_list_parse("x,y:u", &list, NULL), 0);
	CHECK_EQ(event_list_parse(text, &list, NULL), 0);
	CHECK_EQ(event_list_parse("z", &list, NULL), 0);
	CHECK_EQ(list.n, 1003);
	CHECK_EQ(list.groups, 4);
	CHECK_EQ(list.event[2].group, 2);
	CHECK_EQ(list.event[1001].group, 2);
	CHECK_EQ(list.event[1001].at, 1999);
	CHECK_EQ(list.event[1002].group, 3);
	CHECK_EQ(list.event[1002].at, 0);
	CHECK_STR(list.event[1].text, "y:u");
	CHECK_STR(list.event[1001].text, "b");
	event_list_free(&list);
}

/*
 * Commas and slashes in a quoted value do not separate terms: other memory of the list follows the
 * last term.
 */
TEST(terms_behind_a_quoted_value)
{
	static const char text[] = "cpu/name='A:/b,c',v='/',first,second=2,third/,after";
	struct event_list list = { 0 };

	CHECK_EQ(event_list_parse(text, &list, NULL), 0);
	CHECK_EQ(list.n, 2);
	CHECK_STR(list.event[0].label, "A:/b,c");
	CHECK_EQ(list.event[0].n_terms, 4);
	for (size_t t = 0; t < 4; t++) {
		const struct event_term *term = &list.event[0].term[t];

		CHECK(!strncmp(text + term->at, term->name, strlen(term->name)), "term %zu at %d",
		      t, (int)term->at);
	}
	CHECK_STR(list.event[0].term[3].name, "third");
	CHECK_STR(list.event[1].name, "after");
	event_list_free(&list);
}

TEST(a_text_over_one_mebibyte_is_refused)
{
	size_t n = (1 << 20) + 2;
	char *text = malloc(n);
	struct event_list list = { 0 };

	memset(text, 'a', n);
	text[n - 1] = '\0';
	CHECK_EQ(event_list_parse(text, &list, NULL), -EINVAL);
	text[n - 2] = '\0';
	CHECK_EQ(event_list_parse(text, &list, NULL), 0);
	CHECK_EQ(strlen(list.event[0].name), 1 << 20);
	event_list_free(&list);
	free(text);
}

TEST_MAIN()
