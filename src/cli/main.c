/* SPDX-License-Identifier: MIT */
/* tare: the first argument selects a command. */
#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/version.h"
#include "output/own_stdout.h"
#include "output/command.h"

static const struct {
	enum topic topic;
	const char *title;
} topics[] = {
	{ TOPIC_HOW_MUCH, "How much, with what confidence" },
	{ TOPIC_WHERE, "Where and when" },
	{ TOPIC_TRUST, "Can the numbers be trusted" },
	{ TOPIC_MACHINE, "What this machine can count" },
};

#define EXAMPLE "  tare stat -r 5 -- gcc -O2 -c x.c\n\n"
#define USAGE                                                                                      \
	EXAMPLE "usage: tare COMMAND [OPTION]...\n"                                                \
		"Count what a program does on the processor, and report how accurate each\n"       \
		"number is.\n"

static void put_command(FILE *to, const struct command *c)
{
	fprintf(to, "  %-10s %s\n", c->name, c->about);
}

/* One screen. */
static int usage(FILE *to)
{
	fputs(USAGE "\n", to);
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->common)
			put_command(to, *c);
	fputs("\nAlso:", to);
	for (const struct command *const *c = commands; *c; c++)
		if (!(*c)->common)
			fprintf(to, " %s", (*c)->name);
	fputs("\n'tare help all' explains these. Something unavailable? 'tare doctor' says why.\n",
	      to);
	return to == stdout && own_stdout_printed(NULL) < 0 ? EXIT_CANNOT_MEASURE : 0;
}

static int usage_of_all(void)
{
	fputs(USAGE, stdout);
	for (size_t t = 0; t < ARRAY_SIZE(topics); t++) {
		printf("\n%s\n", topics[t].title);
		for (const struct command *const *c = commands; *c; c++)
			if ((*c)->topic == topics[t].topic)
				put_command(stdout, *c);
	}
	printf("\n'tare COMMAND --help' begins with an example.\n");
	return own_stdout_printed(NULL) < 0 ? EXIT_CANNOT_MEASURE : 0;
}

static const struct command *find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int no_command(const char *name)
{
	struct tare_error err = TARE_ERROR_INIT;
	const char *names[64] = { 0 };
	struct text near = { 0 };
	size_t n = 0;

	for (const struct command *const *c = commands; *c && n < ARRAY_SIZE(names); c++)
		names[n++] = (*c)->name;
	tare_fail(&err, EINVAL, "there is no command '%.64s'", name);
	text_nearest(&near, name, names, n, 1);
	if (near.len)
		tare_hint(&err, "did you mean 'tare %s'? 'tare help all' lists them", near.s);
	else
		tare_hint(&err, "'tare help all' lists them");
	text_free(&near);
	complain(NULL, &err, NULL);
	return EXIT_CANNOT_MEASURE;
}

/*
 * If one of the descriptors 0 to 2 is closed, open it so that it can be neither read nor written,
 * with close-on-exec. A command then finds it closed as tare did, and none of tare's files or
 * pipes gets the number and is mistaken for standard output.
 */
static void hold_standard(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/", O_PATH | O_CLOEXEC); /* gets the lowest free number */
}

static void nothing(int sig)
{
	(void)sig;
}

/*
 * With a file size limit (ulimit -f), writes must fail and be reported like a full disk. This uses
 * a handler because SIG_IGN would be inherited through exec, and commands must get the original
 * disposition.
 */
static void hold_file_limit(void)
{
	struct sigaction sa = { .sa_handler = nothing, .sa_flags = SA_RESTART }, before;

	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &sa, NULL);
}

/* Some functions have tens of kilobytes of variables. Threads get stacks of the limit's size. */
enum { STACK_LEAST = 512 << 10 };

static bool has_stack(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct rlimit most;

	if (getrlimit(RLIMIT_STACK, &most) < 0 || most.rlim_cur >= STACK_LEAST)
		return true;
	tare_fail(&err, ENOMEM, "the stack is limited to %llu KiB, and tare needs %d",
		  (unsigned long long)most.rlim_cur / 1024, STACK_LEAST / 1024);
	tare_hint(&err,
		  "ulimit -s 8192; for the command alone: -- sh -c 'ulimit -s %llu; exec ...'",
		  (unsigned long long)most.rlim_cur / 1024);
	complain(NULL, &err, NULL);
	return false;
}

int main(int argc, char **argv)
{
	hold_standard();
	hold_file_limit();
	if (argc < 2) {
		usage(stderr);
		return EXIT_CANNOT_MEASURE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version"))
		return print_version();

	const struct command *c = find(argv[1]);

	if (c)
		return has_stack() ? c->run(c, argc - 1, argv + 1) : EXIT_CANNOT_MEASURE;
	if (!strcmp(argv[1], "--help=all"))
		return usage_of_all();
	if (strcmp(argv[1], "help") && strcmp(argv[1], "--help") && strcmp(argv[1], "-h"))
		return no_command(argv[1]);
	if (argc == 2)
		return usage(stdout);
	if (!strcmp(argv[2], "all"))
		return usage_of_all();

	char *help[] = { argv[2], (char[]){ "--help" }, NULL };

	c = find(argv[2]);
	return c ? c->run(c, 2, help) : no_command(argv[2]);
}
