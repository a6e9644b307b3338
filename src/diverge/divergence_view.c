/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/path.h"
#include "base/signal_name.h"
#include "diverge/divergence_view.h"
#include "launch/determinism_json.h"

static const char *const verdicts[] = { [DIVERGE_SAME] = "same",
					[DIVERGE_PARTED] = "parted",
					[DIVERGE_SETTLED] = "settled",
					[DIVERGE_MOVES] = "moves" };

static const char *const causes[] = {
	[CAUSE_UNKNOWN] = "unknown",
	[CAUSE_CALL] = "system-call",
	[CAUSE_WRITTEN] = "system-call-memory",
	[CAUSE_TICKS] = "ticks",
	[CAUSE_CPUID] = "cpuid",
	[CAUSE_CPU] = "cpu",
	[CAUSE_RANDOM] = "rdrand",
	[CAUSE_CLOCK] = "clock-page",
	[CAUSE_STARTUP] = "startup",
	[CAUSE_SIGNAL] = "signal",
	[CAUSE_THREADS] = "other-thread",
	[CAUSE_PROGRAM] = "program",
	[CAUSE_PROCESS] = "other-process",
	[CAUSE_THREAD_END] = "thread-end",
	[CAUSE_RSEQ] = "rseq",
	[CAUSE_FILE] = "file",
	[CAUSE_START] = "start",
	[CAUSE_STORED] = "stored",
	[CAUSE_MEMORY] = "memory",
	[CAUSE_BEFORE] = "before",
	[CAUSE_END] = "end",
};

static void put_place(struct text *out, const struct code_place *p)
{
	if (p->function)
		text_add(out, "%s+%#" PRIx64 " (%s)", p->function, p->into, path_base(p->module));
	else
		text_add(out, "%s+%#" PRIx64, path_base(p->module), p->offset);
	if (p->file[0])
		text_add(out, "  %s:%u", path_base(p->file), p->line);
}

/* "memory at 0x5000, `flag` of prog" */
static void put_memory(struct text *out, const struct divergence_report *r)
{
	if (r->address)
		text_add(out, "memory at %#" PRIx64 "%s%s", r->address, r->memory[0] ? ", " : "",
			 r->memory);
	else
		text_add(out, "memory");
}

static const char *const started[] = {
	[INITIAL_STACK_UNKNOWN] = NULL,
	[INITIAL_STACK_ARGUMENT] = "argument",
	[INITIAL_STACK_VARIABLE] = "environment",
	[INITIAL_STACK_RANDOM] = "random",
	[INITIAL_STACK_VECTOR] = "auxiliary-vector",
	[INITIAL_STACK_POINTERS] = "pointers",
	[INITIAL_STACK_NAME] = "name",
};

static void put_started(struct text *out, const struct divergence_report *r)
{
	const struct initial_stack_place *p = &r->started;

	switch (p->part) {
	case INITIAL_STACK_ARGUMENT:
		text_add(out, "argument %u of the program (0 is its name)", p->number);
		break;
	case INITIAL_STACK_VARIABLE:
		text_add(out,
			 p->name[0] ? "the environment variable %s of the program"
				    : "an environment variable of the program",
			 p->name);
		break;
	case INITIAL_STACK_RANDOM:
		text_add(out, "random bytes from the kernel (AT_RANDOM)");
		break;
	case INITIAL_STACK_VECTOR:
		text_add(out, "entry %u of the auxiliary vector from the kernel", p->number);
		break;
	case INITIAL_STACK_POINTERS:
		text_add(
			out,
			"the number of arguments, or the address of the arguments or the environment");
		break;
	case INITIAL_STACK_NAME:
		text_add(out, "the path name of the program");
		break;
	case INITIAL_STACK_UNKNOWN:
		text_add(out, "the initial stack from the kernel");
		break;
	}
	text_add(out, ", at %#" PRIx64, r->address);
}

static const struct style grouped = { .thousands = true };

static void put_file(struct text *out, const struct divergence_report *r)
{
	if (r->file[0])
		text_add(out, ", of %s", r->file);
}

/* "a signal, SIGALRM," */
static const char *signal_words(char to[64], const struct divergence_report *r)
{
	char name[SIGNAL_NAME_ROOM];

	if (r->signal)
		snprintf(to, 64, "a signal, %s,", signal_name(r->signal, name));
	else
		snprintf(to, 64, "a signal");
	return to;
}

/* The cause in one sentence. */
void divergence_cause(struct text *out, const struct divergence_report *r)
{
	char by[64];

	switch (r->cause) {
	case CAUSE_CALL:
		text_add(out, "the return value of %s", r->call_name);
		put_file(out, r);
		break;
	case CAUSE_WRITTEN:
		text_add(out, "the data that %s wrote to %#" PRIx64, r->call_name, r->address);
		put_file(out, r);
		break;
	case CAUSE_TICKS:
		text_add(out, "the time-stamp counter (rdtsc)");
		break;
	case CAUSE_CPUID:
		text_add(out, "the processor's identification (cpuid)");
		break;
	case CAUSE_CPU:
		text_add(out, "the number of the CPU that the thread ran on (rdtscp, rdpid)");
		break;
	case CAUSE_RANDOM:
		text_add(out, "a random number from the processor (rdrand, rdseed)");
		break;
	case CAUSE_CLOCK:
		text_add(out, "the clock in the kernel's page at %#" PRIx64, r->address);
		break;
	case CAUSE_STARTUP:
		put_started(out, r);
		break;
	case CAUSE_SIGNAL:
		if (!strcmp(r->call_name, "execve"))
			text_add(out, "the program that was executed");
		else if (r->call_name[0])
			text_add(out, "%s that arrived in %s in one run", signal_words(by, r),
				 r->call_name);
		else
			text_add(out, "%s that arrived here in one run", signal_words(by, r));
		break;
	case CAUSE_THREADS:
		put_memory(out, r);
		text_add(out, ", written by another thread");
		break;
	case CAUSE_PROCESS:
		put_memory(out, r);
		text_add(out, ", written by another process that shares it");
		break;
	case CAUSE_THREAD_END:
		put_memory(out, r);
		text_add(out, ": a thread id that the kernel clears when the thread ends");
		break;
	case CAUSE_RSEQ:
		text_add(out, "the CPU number, which the kernel writes to %#" PRIx64 " (rseq)",
			 r->address);
		break;
	case CAUSE_FILE:
		text_add(out, "the contents of %s when it was mapped, at %#" PRIx64, r->memory,
			 r->address);
		break;
	case CAUSE_START:
		put_memory(out, r);
		text_add(out,
			 r->forked ? ", unchanged since the fork"
				   : ", unchanged since the program began");
		break;
	case CAUSE_STORED:
		put_memory(out, r);
		text_add(out, ", written by the thread itself");
		break;
	case CAUSE_MEMORY:
		put_memory(out, r);
		text_add(out, ": the writer was not found");
		break;
	case CAUSE_BEFORE:
		if (r->held_in)
			text_add(out, "a value that was in %s for more than ", r->held_in);
		else
			text_add(out, "a value that entered more than ");
		put_count(out, &grouped, r->d->at);
		text_add(out, r->held_in ? " instructions" : " instructions before");
		break;
	case CAUSE_PROGRAM:
		text_add(out, "the program that was executed: '%s' in one run, '%s' in the other",
			 r->program[0], r->program[1]);
		break;
	case CAUSE_END:
		text_add(out, "one run was killed there from outside");
		break;
	case CAUSE_UNKNOWN:
		text_add(out, "not found: the origin of the value is unknown");
		break;
	}
}

/* The item of --deterministic that removes this cause; FIXED_ITEMS: none. */
static enum determinism_item item_of(const struct divergence_report *r)
{
	static const struct {
		const char *call;
		enum determinism_item item;
	} rows[] = {
		{ "clock_gettime", FIXED_CLOCK },
		{ "gettimeofday", FIXED_CLOCK },
		{ "time", FIXED_CLOCK },
		{ "getrandom", FIXED_RANDOM },
		{ "getpid", FIXED_PID },
		{ "gettid", FIXED_PID },
		{ "getppid", FIXED_PID },
		{ "getdents64", FIXED_READDIR },
		{ "getcwd", FIXED_CWD },
		{ "getcpu", FIXED_CPU },
		{ "sched_getaffinity", FIXED_CPUS },
	};

	switch (r->cause) {
	case CAUSE_TICKS:
	case CAUSE_CLOCK:
		return FIXED_CLOCK;
	case CAUSE_CPU:
	case CAUSE_RSEQ:
		return FIXED_CPU;
	case CAUSE_THREADS:
	case CAUSE_THREAD_END:
		return FIXED_TURNS;
	case CAUSE_CALL:
	case CAUSE_WRITTEN:
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			if (!strcmp(r->call_name, rows[i].call))
				return rows[i].item;
		return FIXED_ITEMS;
	default:
		return FIXED_ITEMS;
	}
}

/* "--deterministic=+clock"; false: no item helps, or it was fixed in these runs. */
static bool put_remedy(struct text *out, const struct divergence_report *r,
		       const struct determinism *fixed)
{
	enum determinism_item item = item_of(r);

	if (item == FIXED_ITEMS || determinism_had(fixed) & 1u << item)
		return false;
	text_add(out, "--deterministic=+%s", determinism_rows[item].name);
	return true;
}

void divergence_roughly(struct text *out, const struct divergence_report *r)
{
	for (unsigned i = 0; i < r->n_roughly; i++)
		text_add(out, "%s%s (%s)", i ? ", " : ", in ", r->roughly[i].function,
			 path_base(r->roughly[i].module));
	if (r->roughly_more)
		text_add(out, " and others");
	if (r->d->beside)
		text_add(out, "%s", ": the order of the threads may be the cause");
}

static void put_callers(struct text *out, const struct divergence_report *r)
{
	if (r->callers)
		text_add(out, "\n called from\n");
	for (unsigned i = 0; i < r->callers; i++) {
		text_add(out, "   ");
		put_place(out, &r->caller[i]);
		text_add(out, "\n");
	}
	if (r->callers && !r->callers_whole)
		text_add(out, "   (and more callers, which could not be found)\n");
}

/* For runs that diverge elsewhere each time, the last place. */
static void put_moving(struct text *out, const struct divergence_report *r, const struct style *s)
{
	const struct divergence *d = r->d;

	text_add(
		out,
		" Runs differ, but not twice at the same place: last in thread %u%s%.40s%s between instructions ",
		d->thread, r->program[0][0] ? " (" : "", r->program[0],
		r->program[0][0] ? ")" : "");
	put_count(out, s, (uint64_t)d->low);
	text_add(out, " and ");
	put_count(out, s, (uint64_t)d->high);
	divergence_roughly(out, r);
	text_add(out, ".\n");
	if (d->beside_there)
		text_add(
			out,
			" %u other thread%s of its process existed at that time in both of two runs. With --deterministic=+turns one runs at a time, in the same order.\n",
			d->beside_there, d->beside_there == 1 ? "" : "s");
	else if (d->beside)
		text_add(
			out,
			" %u other thread%s of its process existed at some earlier time in both of two runs. With --deterministic=+turns one runs at a time, in the same order.\n",
			d->beside, d->beside == 1 ? "" : "s");
	if (!r->at.pc)
		return;
	text_add(out, "\n There one run executed\n\n   %s", ink_on(s, INK_STRONG));
	put_place(out, &r->at);
	text_add(out, "%s\n", ink_off(s));
	put_callers(out, r);
}

static void put_parting(struct text *out, const struct divergence_report *r,
			const struct determinism *fixed, const struct style *s)
{
	const struct divergence *d = r->d;
	struct text remedy = { 0 };

	text_add(out, " They diverge at instruction %s", ink_on(s, INK_STRONG));
	put_count(out, s, (uint64_t)d->low);
	text_add(out, "%s of thread %u%s%.40s%s%s:\n\n   %s", ink_off(s), d->thread,
		 r->program[0][0] ? " (" : "", r->program[0], r->program[0][0] ? ")" : "",
		 d->since_exec ? ", counted from its exec" : "", ink_on(s, INK_STRONG));
	put_place(out, &r->at);
	text_add(out, "%s\n      %s\n", ink_off(s), r->at.text);
	for (int i = 0; i < 2; i++) {
		text_add(out, "   run %d continues at  ", i + 1);
		if (r->next[i].pc)
			put_place(out, &r->next[i]);
		else
			text_add(out, "no instruction: it ends");
		text_add(out, "\n");
	}
	put_callers(out, r);
	text_add(out, "\n What differed: %s", ink_on(s, INK_STRONG));
	divergence_cause(out, r);
	text_add(out, "%s\n", ink_off(s));
	if (r->from.pc && r->back) {
		text_add(out, "   ");
		put_count(out, s, (uint64_t)r->back);
		text_add(out, " instruction%s earlier, at ", r->back == 1 ? "" : "s");
		put_place(out, &r->from);
		text_add(out, "\n");
	}
	if (r->writer_thread) {
		text_add(out, "   thread %u wrote this in another run, at ", r->writer_thread);
		put_place(out, &r->writer);
		text_add(out, "\n");
	}
	if (r->has_value)
		text_add(out,
			 "   in %s: %#" PRIx64 " (%" PRIu64 ") in one run, %#" PRIx64 " (%" PRIu64
			 ") in the other\n",
			 r->value_in, r->value[0], r->value[0], r->value[1], r->value[1]);
	if (put_remedy(&remedy, r, fixed))
		text_add(out, "   %s removes this cause\n", remedy.s);
	text_free(&remedy);
}

const char *divergence_cause_name(const struct divergence_report *r)
{
	return causes[r->cause];
}

bool divergence_cause_found(const struct divergence_report *r)
{
	return r->cause != CAUSE_UNKNOWN && r->cause != CAUSE_MEMORY && r->cause != CAUSE_BEFORE &&
		r->cause != CAUSE_STORED;
}

void divergence_text(struct text *out, const struct divergence_report *r,
		     const struct divergence_about *about, const struct style *s)
{
	const struct divergence *d = r->d;

	text_put(out, "\n", 1);
	for (char *const *a = about->argv; *a; a++)
		text_add(out, " %s", *a);
	text_add(out, "\n\n");
	if (d->verdict == DIVERGE_SAME) {
		text_add(out, " %u runs took the same path: %s", d->alike, ink_on(s, INK_STRONG));
		put_count(out, s, (uint64_t)d->longest);
		text_add(out, "%s instructions, %u thread%s.\n", ink_off(s), d->run[0].threads,
			 d->run[0].threads == 1 ? "" : "s");
	} else if (d->verdict == DIVERGE_SETTLED) {
		text_add(
			out,
			" Two runs differed, and later ones took the same path: either the first run left a file or a cache that the\n"
			" others found, or runs diverge only sometimes. Run the command again: such a file exists now.\n");
	} else if (d->verdict == DIVERGE_MOVES) {
		put_moving(out, r, s);
	} else {
		put_parting(out, r, about->fixed, s);
	}
	text_add(out, "\n");
	if (d->shortest != d->longest) {
		text_add(out, " %u runs: ", d->runs);
		put_count(out, s, (uint64_t)d->shortest);
		text_add(out, " (first in run %u) to ", d->shortest_run);
		put_count(out, s, (uint64_t)d->longest);
		text_add(out, " (first in run %u) instructions.\n", d->longest_run);
	}
	if (d->uncounted[0])
		text_add(out, " Some parts were not compared: %s.\n", d->uncounted);
	if (d->output_differs)
		text_add(out, " Its output differs from run to run.\n");
	if (d->end_differs)
		text_add(out, " Its exit status differs from run to run.\n");
	text_add(out, " Fixed in each run: ");
	determinism_names_had(out, about->fixed);
	text_add(out, ".\n");
	determinism_remarks_text(out, about->fixed);
}

static void json_place(struct json *j, const char *key, const struct code_place *p)
{
	char hex[24];

	json_object(j, key);
	snprintf(hex, sizeof(hex), "%#" PRIx64, p->pc);
	json_string(j, "pc", hex);
	json_string(j, "module", p->module);
	json_uint(j, "offset", p->offset);
	json_string(j, "function", p->function);
	if (p->function)
		json_uint(j, "into", p->into);
	if (p->file[0]) {
		json_string(j, "file", p->file);
		json_uint(j, "line", p->line);
	}
	if (p->text[0])
		json_string(j, "instruction", p->text);
	json_end(j);
}

static void json_callers(struct json *j, const struct divergence_report *r)
{
	json_array(j, "callers");
	for (unsigned i = 0; i < r->callers; i++)
		json_place(j, NULL, &r->caller[i]);
	json_end(j);
}

static void json_cause(struct json *j, const struct divergence_report *r,
		       const struct determinism *fixed)
{
	struct text words = { 0 }, remedy = { 0 };
	char hex[24], name[SIGNAL_NAME_ROOM];

	divergence_cause(&words, r);
	json_object(j, "cause");
	json_string(j, "kind", causes[r->cause]);
	json_string(j, "words", words.s);
	if (put_remedy(&remedy, r, fixed))
		json_string(j, "remedy", remedy.s);
	text_free(&remedy);
	if (r->call_name[0])
		json_string(j, "call", r->call_name);
	if (r->file[0])
		json_string(j, "file", r->file);
	if (r->signal)
		json_string(j, "signal", signal_name(r->signal, name));
	if (r->address) {
		snprintf(hex, sizeof(hex), "%#" PRIx64, r->address);
		json_string(j, "address", hex);
	}
	if (started[r->started.part])
		json_string(j, "started_with", started[r->started.part]);
	if (r->started.part == INITIAL_STACK_ARGUMENT)
		json_uint(j, "argument", r->started.number);
	if (r->started.name[0])
		json_string(j, "variable", r->started.name);
	if (r->memory[0])
		json_string(j, "memory", r->memory);
	if (r->from.pc) {
		json_place(j, "from", &r->from);
		json_int(j, "instructions_before", r->back);
	}
	if (r->writer_thread) {
		json_uint(j, "writer_thread", r->writer_thread);
		json_place(j, "writer", &r->writer);
	}
	if (r->has_value) {
		json_string(j, "register", r->value_in);
		json_array(j, "values");
		for (int i = 0; i < 2; i++) {
			snprintf(hex, sizeof(hex), "%#" PRIx64, r->value[i]);
			json_string(j, NULL, hex);
		}
		json_end(j);
	}
	json_end(j);
	text_free(&words);
}

void divergence_json(struct text *out, const struct divergence_report *r,
		     const struct divergence_about *about)
{
	const struct divergence *d = r->d;
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/diverge/1");
	json_strings(&j, "command", (const char *const *)about->argv);
	json_string(&j, "verdict", verdicts[d->verdict]);
	json_uint(&j, "pairs", d->pairs);
	json_uint(&j, "runs", d->runs);
	json_int(&j, "instructions_min", d->shortest);
	json_int(&j, "instructions_max", d->longest);
	json_bool(&j, "output_differs", d->output_differs);
	json_bool(&j, "exit_differs", d->end_differs);
	if (d->verdict != DIVERGE_SAME) {
		json_uint(&j, "thread", d->thread);
		json_bool(&j, "since_exec", d->since_exec);
		json_int(&j, "low", d->low);
		json_int(&j, "high", d->high);
	}
	if (d->verdict == DIVERGE_MOVES) {
		json_string(&j, "program", r->program[0]);
		json_array(&j, "functions");
		for (unsigned i = 0; i < r->n_roughly; i++)
			json_place(&j, NULL, &r->roughly[i]);
		json_end(&j);
		json_bool(&j, "threads", d->beside);
		json_uint(&j, "threads_there", d->beside_there);
		if (r->at.pc)
			json_place(&j, "at", &r->at);
		json_callers(&j, r);
	}
	if (d->verdict == DIVERGE_PARTED) {
		json_string(&j, "program", r->program[0]);
		json_place(&j, "at", &r->at);
		json_array(&j, "next");
		for (int i = 0; i < 2; i++)
			if (r->next[i].pc)
				json_place(&j, NULL, &r->next[i]);
			else
				json_null(&j, NULL);
		json_end(&j);
		json_callers(&j, r);
		json_cause(&j, r, about->fixed);
	}
	json_string(&j, "uncounted", d->uncounted[0] ? d->uncounted : NULL);
	determinism_json(&j, about->fixed);
	json_end(&j);
	json_into(out, &j);
}
