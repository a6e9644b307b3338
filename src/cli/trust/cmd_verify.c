/* SPDX-License-Identifier: MIT */
/* tare verify [KIND]: checks whether counts on this machine can be trusted. */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "cli/trust/verify.h"

extern const struct command verify_counts, verify_faults, verify_launch, verify_skid;

/* One row each. */
const struct command *const verify_kinds[] = {
	&verify_counts, &verify_faults, &verify_launch, &verify_skid, NULL,
};

static const char *kind_name(const struct command *kind)
{
	return kind->name + strlen("verify ");
}

static int show_kinds(const struct command *self)
{
	printf("%s\n\nusage: tare verify [KIND] [OPTION]...\n%s.\n\n", self->example, self->about);
	for (const struct command *const *k = verify_kinds; *k; k++)
		printf("  %-10s %s\n", kind_name(*k), (*k)->about);
	printf("\n'tare verify KIND --help' begins with an example. All options: man tare-verify\n");
	return fflush(stdout) ? EXIT_CANNOT_MEASURE : 0;
}

static int no_kind(const struct command *self, const char *name)
{
	struct tare_error err = TARE_ERROR_INIT;
	const char *names[16] = { 0 };
	struct text near = { 0 };
	size_t n = 0;

	for (const struct command *const *k = verify_kinds; *k && n < ARRAY_SIZE(names); k++)
		names[n++] = kind_name(*k);
	tare_fail(&err, EINVAL, "there is no '%.64s' to verify", name);
	text_nearest(&near, name, names, n, 1);
	if (near.len)
		tare_hint(&err, "did you mean 'tare verify %s'? 'tare verify --help' lists them",
			  near.s);
	else
		tare_hint(&err, "'tare verify --help' lists them");
	text_free(&near);
	complain(self, &err, NULL);
	return EXIT_CANNOT_MEASURE;
}

static int run_verify(const struct command *self, int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return show_kinds(self);
	if (argc == 1 || argv[1][0] == '-') /* default: whether counts are correct */
		return verify_counts.run(&verify_counts, argc, argv);
	for (const struct command *const *k = verify_kinds; argc > 1 && *k; k++)
		if (!strcmp(argv[1], kind_name(*k)))
			return (*k)->run(*k, argc - 1, argv + 1);
	return no_kind(self, argv[1]);
}

const struct command cmd_verify = {
	.name = "verify",
	.about = "check whether counts can be trusted on this machine",
	.args = "[KIND] [OPTION]...",
	.example = "  tare verify\n  tare verify launch -- ./prog",
	.topic = TOPIC_TRUST,
	.run = run_verify,
};
