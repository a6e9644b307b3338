/* SPDX-License-Identifier: MIT */
/*
 * exact-run [-t] [-a] [-p] [-r] [-k] [-e N:CLASS:FILE] [--json] [-o FILE] -- COMMAND...: runs a
 * command under the exact engine and writes its counts as JSON to FILE (default: stderr). Used by
 * the tests; exits with the command's status.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "base/error.h"
#include "exact/exact.h"

extern char **environ;

static void write_counts(FILE *f, const int64_t *counts, bool total_only)
{
	for (int c = 0; c < (total_only ? 1 : EXACT_CLASSES); c++)
		fprintf(f, "%s\"%s\":%" PRId64, c ? "," : "", exact_class_names[c], counts[c]);
}

static int by_process(const void *a, const void *b)
{
	const struct exact_thread *x = a, *y = b;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return (x->born > y->born) - (x->born < y->born);
}

/* All threads, grouped by process, in order of creation; freed by the caller. */
static struct exact_thread *threads_of(struct exact *x, size_t *n)
{
	struct exact_thread *t;

	*n = exact_threads(x, NULL, 0);
	t = calloc(*n + 1, sizeof *t);
	*n = exact_threads(x, t, *n);
	qsort(t, *n, sizeof *t, by_process);
	return t;
}

static void write_threads(FILE *f, const struct exact_thread *t, size_t n, uint32_t serial,
			  bool total_only)
{
	size_t from = 0;
	const char *comma = "";

	for (size_t to = n; from < to;) { /* the first of this process */
		size_t middle = from + (to - from) / 2;

		if (t[middle].serial < serial)
			from = middle + 1;
		else
			to = middle;
	}
	fprintf(f, ",\"threads\":[");
	for (size_t i = from; i < n && t[i].serial == serial; i++, comma = ",") {
		fprintf(f, "%s{\"tid\":%d,", comma, (int)t[i].tid);
		write_counts(f, t[i].counts, total_only);
		fprintf(f, "}");
	}
	fprintf(f, "]");
}

/* Instructions by module; their sum is the command's total. */
static int write_profile(FILE *f, struct exact *x)
{
	struct exact_profile p;
	struct tare_error err = TARE_ERROR_INIT;
	int64_t *sum;

	if (exact_profile(x, &p, &err) < 0) {
		fprintf(stderr, "exact-run: %s\n", err.what);
		return -1;
	}
	sum = calloc(p.n_modules + 1, sizeof *sum);
	for (size_t i = 0; i < p.n_code; i++)
		sum[p.code[i].module] += p.code[i].executions * p.code[i].instructions;
	fprintf(f, ",\"code\":%zu,\"unplaced\":%" PRId64 ",\"modules\":[", p.n_code, p.unplaced);
	for (size_t i = 0; i < p.n_modules; i++)
		fprintf(f, "%s\n{\"module\":\"%s\",\"instructions\":%" PRId64 "}", i ? "," : "",
			p.module[i].path, sum[i]);
	fprintf(f, "]");
	free(sum);
	exact_profile_free(&p);
	return 0;
}

enum { R11 = 11, DIRECTION_FLAG = 0x400, STACK_BYTES = 64 };

#define TRAP_FLAG 0x100ull

/* Output files of samples, one per event. */
struct files {
	FILE *of[EXACT_EVENTS_MAX];
	unsigned n;
};

/*
 * One line per sample, in the format of the stepper's -e: THREAD NUMBER PC COUNT... >TARGET
 * @ADDRESS#BYTES =REGISTERS ^STACK <CALLER...
 */
static int write_sample(void *with, const struct exact_sample *s)
{
	const struct files *files = with;
	FILE *f = files->of[s->event];

	switch (s->kind) {
	case EXACT_SAMPLE:
		fprintf(f, "%u %" PRIu64 " %#" PRIx64, s->born, s->number, s->pc);
		break;
	case EXACT_SAMPLE_END:
		fprintf(f, "%u end %" PRIu64, s->born, s->number);
		break;
	case EXACT_SAMPLE_MAPPING:
		fprintf(f, "mapping %u %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %s\n", s->serial,
			s->start, s->end, s->offset, s->path);
		return 0;
	case EXACT_SAMPLE_NAME:
		fprintf(f, "name %u %s\n", s->born, s->name);
		return 0;
	case EXACT_SAMPLE_SETTLED:
		return 0;
	default:
		fprintf(f, "%s %u %u %d %s\n", s->kind == EXACT_SAMPLE_FORK ? "fork" : "program",
			s->serial, s->parent, (int)s->pid, s->name);
		return 0;
	}
	for (int c = 0; s->counts && c < EXACT_CLASSES; c++)
		fprintf(f, " %" PRId64, s->counts[c]);
	if (s->reads || s->writes || s->prefetches)
		fprintf(f, " %s%s%s%s", s->reads ? "r" : "", s->writes ? "w" : "",
			s->prefetches ? "p" : "", s->locked ? "l" : "");
	if (s->has_target)
		fprintf(f, " >%#" PRIx64 "%s", s->target,
			!s->has_outcome    ? "?"
				: s->taken ? "!"
					   : "");
	if (s->kind == EXACT_SAMPLE && s->has_address)
		fprintf(f, " @%#" PRIx64 "#%" PRIu64, s->address, s->bytes);
	for (int i = 0; s->registers && i < EXACT_REGISTERS; i++) {
		/* the stepper's */
		uint64_t all = i == EXACT_REGISTERS - 1 ? DIRECTION_FLAG
			: i == R11                      ? ~TRAP_FLAG
							: ~0ull;

		fprintf(f, "%s%#" PRIx64, i ? "," : " =", s->registers[i] & all);
	}
	if (s->kind == EXACT_SAMPLE)
		fprintf(f, " ^");
	for (size_t i = 0; i < s->n_stack; i++)
		fprintf(f, "%02x", s->stack[i]);
	for (size_t i = 0; i < s->n_chain; i++)
		fprintf(f, " <%#" PRIx64, s->chain[i]);
	return fprintf(f, "\n") < 0 ? -1 : 0;
}

static enum exact_class class_of(const char *name)
{
	int c = 0;

	while (c < EXACT_CLASSES && strcmp(exact_class_names[c], name) != 0)
		c++;
	return (enum exact_class)c;
}

/* N:CLASS:FILE, once per event. */
static bool take_every(char *word, struct exact_every *every, struct files *files)
{
	char *class = strchr(word, ':'), *file = class ? strchr(class + 1, ':') : NULL;

	if (!file || files->n == EXACT_EVENTS_MAX)
		return false;
	*class ++ = *file++ = 0;
	if (!files->n)
		*every = (struct exact_every){ .n = strtoull(word, NULL, 10),
					       .class = class_of(class),
					       .counts = true,
					       .chain = 20,
					       .registers = true,
					       .stack = STACK_BYTES };
	else
		every->more[every->n_more++] = (struct exact_more){ .n = strtoull(word, NULL, 10),
								    .class = class_of(class) };
	files->of[files->n] = fopen(file, "we");
	return files->of[files->n++];
}

static int close_all(struct files *files, struct tare_error *err)
{
	for (unsigned i = 0; i < files->n; i++)
		if (fclose(files->of[i]) != 0)
			return tare_fail(err, errno, "cannot write the samples");
	return 0;
}

static int wait_for_end(struct exact *x, struct files *samples, struct exact_end *end,
			struct tare_error *err)
{
	int ret;

	do {
		ret = exact_wait(x, samples->n ? 100 : -1, end, err);
		if (samples->n && ret >= 0 && exact_samples(x, write_sample, samples, err) < 0)
			return -1;
	} while (ret == 0);
	return close_all(samples, err) < 0 ? -1 : ret;
}

static void usage(FILE *to)
{
	fprintf(to,
		"usage: exact-run [-t] [-a] [-p] [-r] [-k] [-e N:CLASS:FILE]... [-o FILE] -- COMMAND [ARG...]\n"
		"Count what COMMAND executes in user mode, into FILE (else stderr) as JSON.\n"
		"  -t  the total of instructions alone    -a  address space layout as it is elsewhere, random\n"
		"  -p  also where: instructions by module -r  a running count for the program itself\n"
		"  -k  keep code: processes use the code that earlier ones of their program translated\n"
		"  -e  a sample every N of CLASS, into FILE; up to 8 times\n");
}

/* The processes that were not counted to their end. */
static void write_partial(FILE *f, const struct exact_partial *p)
{
	if (!p->n)
		return;
	fprintf(f, "\"without\":%u,\"uncounted\":[", p->n);
	for (unsigned i = 0; i < p->n && i < EXACT_UNCOUNTED_MAX; i++)
		fprintf(f, "%s{\"name\":\"%s\",\"pid\":%d,\"ended\":%s,\"reason\":\"%s\"}",
			i ? "," : "", p->process[i].name, (int)p->process[i].pid,
			p->process[i].ended ? "true" : "false", p->process[i].reason);
	fprintf(f, "],");
}

int main(int argc, char **argv)
{
	static const struct option words[] = { { "json", no_argument, NULL, 'j' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	struct exact_options o = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct exact_process *processes;
	struct exact_thread *threads;
	size_t n_threads;
	struct exact_end end;
	struct exact *x;
	int64_t counts[EXACT_CLASSES];
	FILE *f = stderr;
	struct files samples = { 0 };
	struct exact_partial partial;
	struct exact_slow slow;
	bool refused;
	size_t n;
	int ret;
	int opt;

	while ((opt = getopt_long(argc, argv, "+taprkje:o:", words, NULL)) != -1)
		switch (opt) {
		case 't':
			o.total_only = true;
			break;
		case 'a':
			o.aslr = true;
			break;
		case 'p':
			o.profile = true;
			break;
		case 'r':
			o.running = true;
			break;
		case 'k':
			o.keep_code = true;
			break;
		case 'j':
			break;
		case 'e':
			if (!take_every(optarg, &o.every, &samples)) {
				fprintf(stderr, "exact-run: -e N:CLASS:FILE\n");
				return 125;
			}
			break;
		case 'o':
			f = fopen(optarg, "we");
			if (!f) {
				perror(optarg);
				return 125;
			}
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 125;
		}
	if (optind == argc) {
		usage(stderr);
		return 125;
	}
	if (exact_launch(&x, argv + optind, environ, &o, &err) < 0 ||
	    wait_for_end(x, &samples, &end, &err) < 0) {
		fprintf(stderr, "exact-run: %s\n", err.what);
		return 125;
	}
	fprintf(f, "{");
	ret = exact_counts(x, counts, &err);
	refused = ret < 0 && ret != -ENODATA;
	exact_partial(x, &partial);
	write_partial(f, &partial);
	if (refused) {
		fprintf(f, "\"refused\":\"%s\",", err.what);
		fprintf(stderr, "exact-run: %s\n", err.what);
	}
	write_counts(f, counts, o.total_only);
	fprintf(f, ",\"user_s\":%.6f,\"system_s\":%.6f,\"max_rss_kib\":%ld",
		end.usage.ru_utime.tv_sec + end.usage.ru_utime.tv_usec / 1e6,
		end.usage.ru_stime.tv_sec + end.usage.ru_stime.tv_usec / 1e6, end.usage.ru_maxrss);
	if (end.never_began)
		fprintf(f, ",\"never_began\":true");
	if (exact_stops(x))
		fprintf(f, ",\"stops\":%u", exact_stops(x));
	if (exact_warm(x))
		fprintf(f, ",\"warm\":%u", exact_warm(x));
	exact_slow(x, &slow);
	if (slow.compared)
		fprintf(f, ",\"compared\":%" PRIu64, slow.compared);
	n = exact_processes(x, NULL, 0);
	processes = calloc(n + 1, sizeof *processes);
	n = exact_processes(x, processes, n);
	threads = threads_of(x, &n_threads);
	fprintf(f, ",\"processes\":[");
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%s\n{\"pid\":%d,\"parent\":%d,\"name\":\"%s\",", i ? "," : "",
			(int)processes[i].pid, (int)processes[i].parent, processes[i].name);
		write_counts(f, processes[i].counts, o.total_only);
		write_threads(f, threads, n_threads, processes[i].serial, o.total_only);
		fprintf(f, "}");
	}
	free(threads);
	fprintf(f, "]");
	if (o.profile && write_profile(f, x) < 0)
		return 125;
	fprintf(f, "}\n");
	fclose(f);
	exact_close(x);
	if (refused)
		return 125;
	if (WIFSIGNALED(end.status)) {
		/* no core dump of our own; the command's remains */
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		signal(WTERMSIG(end.status), SIG_DFL);
		raise(WTERMSIG(end.status));
		return 128 + WTERMSIG(end.status);
	}
	return WEXITSTATUS(end.status);
}
