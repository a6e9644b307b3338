/* SPDX-License-Identifier: MIT */
/*
 * exact-run [-t] [-a] [-p] [-r] [--json] [-o FILE] -- COMMAND...: run a command under the exact engine and write its counts as
 * JSON to FILE (default: stderr). For the tests; exits with the command's status.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "exact/exact.h"

extern char **environ;

static void write_counts(FILE *f, const int64_t *counts, bool total_only)
{
	for (int c = 0; c < (total_only ? 1 : EXACT_CLASSES); c++)
		fprintf(f, "%s\"%s\":%" PRId64, c ? "," : "", exact_class_names[c], counts[c]);
}

static int by_birth(const void *a, const void *b)
{
	const struct exact_thread *x = a, *y = b;

	return (x->born > y->born) - (x->born < y->born);
}

static void write_threads(FILE *f, struct exact *x, uint32_t serial)
{
	size_t n = exact_threads(x, NULL, 0);
	struct exact_thread *t = calloc(n + 1, sizeof *t);
	const char *comma = "";

	n = exact_threads(x, t, n);
	qsort(t, n, sizeof *t, by_birth);
	fprintf(f, ",\"threads\":[");
	for (size_t i = 0; i < n; i++)
		if (t[i].serial == serial) {
			fprintf(f, "%s{\"tid\":%d,\"instructions\":%" PRId64 "}", comma, (int)t[i].tid,
				t[i].instructions);
			comma = ",";
		}
	fprintf(f, "]");
	free(t);
}

/* Instructions by module; all of them together are the command's. */
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
		fprintf(f, "%s\n{\"module\":\"%s\",\"instructions\":%" PRId64 "}", i ? "," : "", p.module[i].path,
			sum[i]);
	fprintf(f, "]");
	free(sum);
	exact_profile_free(&p);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option words[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	struct exact_options o = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct exact_process *processes;
	struct exact_end end;
	struct exact *x;
	int64_t counts[EXACT_CLASSES];
	FILE *f = stderr;
	bool refused;
	size_t n;
	int opt;

	while ((opt = getopt_long(argc, argv, "+taprjo:", words, NULL)) != -1)
		switch (opt) {
		case 't': o.total_only = true; break;
		case 'a': o.aslr = true; break;
		case 'p': o.profile = true; break;
		case 'r': o.running = true; break;
		case 'j': break;
		case 'o':
			f = fopen(optarg, "we");
			if (!f) {
				perror(optarg);
				return 125;
			}
			break;
		default: return 125;
		}
	if (optind == argc) {
		fprintf(stderr, "usage: exact-run [-t] [-a] [-p] [-r] [-o FILE] -- COMMAND [ARG...]\n");
		return 125;
	}
	if (exact_launch(&x, argv + optind, environ, &o, &err) < 0 || exact_wait(x, -1, &end, &err) < 0) {
		fprintf(stderr, "exact-run: %s\n", err.what);
		return 125;
	}
	fprintf(f, "{");
	refused = exact_counts(x, counts, &err) < 0;
	if (refused) {
		fprintf(f, "\"refused\":\"%s\",", err.what);
		fprintf(stderr, "exact-run: %s\n", err.what);
	}
	write_counts(f, counts, o.total_only);
	fprintf(f, ",\"user_s\":%.6f,\"system_s\":%.6f,\"max_rss_kib\":%ld",
		end.usage.ru_utime.tv_sec + end.usage.ru_utime.tv_usec / 1e6,
		end.usage.ru_stime.tv_sec + end.usage.ru_stime.tv_usec / 1e6, end.usage.ru_maxrss);
	n = exact_processes(x, NULL, 0);
	processes = calloc(n + 1, sizeof *processes);
	n = exact_processes(x, processes, n);
	fprintf(f, ",\"processes\":[");
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%s\n{\"pid\":%d,\"parent\":%d,\"name\":\"%s\",", i ? "," : "", (int)processes[i].pid,
			(int)processes[i].parent, processes[i].name);
		write_counts(f, processes[i].counts, o.total_only);
		write_threads(f, x, processes[i].serial);
		fprintf(f, "}");
	}
	fprintf(f, "]");
	if (o.profile && write_profile(f, x) < 0)
		return 125;
	fprintf(f, "}\n");
	fclose(f);
	exact_close(x);
	if (refused)
		return 125;
	if (WIFSIGNALED(end.status)) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 }); /* the command's core stays */
		signal(WTERMSIG(end.status), SIG_DFL);
		raise(WTERMSIG(end.status));
		return 128 + WTERMSIG(end.status);
	}
	return WEXITSTATUS(end.status);
}
