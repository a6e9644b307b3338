/* SPDX-License-Identifier: MIT */
/* Environments of different sizes are padded to the same size; no variable is lost or changed. */
#include <string.h>
#include "launch/environment.h"
#include "tap.h"

/* What the kernel will put on the stack. */
static size_t on_stack(char *const *argv, char *const *envp, size_t path)
{
	size_t bytes = path + 1;

	for (; *argv; argv++)
		bytes += strlen(*argv) + 1 + sizeof(char *);
	for (; *envp; envp++)
		bytes += strlen(*envp) + 1 + sizeof(char *);
	return bytes;
}

TEST(filled_up_to_a_round_size)
{
	char long_one[ENVIRONMENT_STEP + 100];
	char *argv[] = { "/bin/true", "word", NULL };
	char *none[] = { NULL }, *one[] = { "PWD=/", NULL },
	     *two[] = { "PWD=/a/longer/one", "X=", NULL }, *big[] = { long_one, "HOME=/", NULL };
	char **rows[] = { none, one, two, big };

	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[1] = '=';
	long_one[sizeof(long_one) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct environment e;
		size_t n = 0;

		CHECK_EQ(environment_pad(&e, argv, rows[i], NULL), 0, "row %zu", i);
		for (; rows[i][n]; n++)
			CHECK(e.envp[n] == rows[i][n], "row %zu: variable %zu is kept", i, n);
		CHECK(!strncmp(e.envp[n], ENVIRONMENT_PADDING "=", strlen(ENVIRONMENT_PADDING) + 1),
		      "row %zu", i);
		CHECK(!e.envp[n + 1], "row %zu: nothing more", i);
		CHECK_EQ(on_stack(argv, e.envp, strlen(argv[0])), e.bytes, "row %zu", i);
		CHECK_EQ(e.bytes, (i == 3 ? 2u : 1u) * ENVIRONMENT_STEP, "row %zu", i);
		environment_free(&e);
	}
}

/* Every length is rounded up, also those that need no padding. */
TEST(every_length)
{
	char *argv[] = { "./x", NULL }, room[300];
	char *envp[] = { room, NULL };

	for (size_t n = 2; n < sizeof(room); n++) {
		struct environment e;

		memset(room, 'v', n);
		room[1] = '=';
		room[n] = '\0';
		CHECK_EQ(environment_pad(&e, argv, envp, NULL), 0, "length %zu", n);
		CHECK_EQ(on_stack(argv, e.envp, 3), ENVIRONMENT_STEP, "length %zu", n);
		environment_free(&e);
	}
}

TEST(a_padding_is_replaced)
{
	char *argv[] = { "/bin/true", NULL };
	char *envp[] = { "A=1", ENVIRONMENT_PADDING "=.....", ENVIRONMENT_PADDING "S=kept", "B=2",
			 NULL };
	struct environment e;

	CHECK_EQ(environment_pad(&e, argv, envp, NULL), 0, "padded");
	CHECK(!strcmp(e.envp[0], "A=1"), "first");
	CHECK(!strcmp(e.envp[1], ENVIRONMENT_PADDING "S=kept"),
	      "a name that only begins so is another's");
	CHECK(!strcmp(e.envp[2], "B=2"), "third");
	CHECK(strlen(e.envp[3]) > 1000 && !e.envp[4], "one padding, the last");
	CHECK_EQ(on_stack(argv, e.envp, 9), ENVIRONMENT_STEP, "size");
	environment_free(&e);
}

/* The path found along PATH is on the stack, too. */
TEST(paths_are_part_of_it)
{
	char *argv[] = { "sh", NULL }, *envp[] = { NULL };
	struct environment e;

	setenv("PATH", "/nonexistent:/bin", 1);
	CHECK_EQ(environment_pad(&e, argv, envp, NULL), 0, "padded");
	CHECK_EQ(on_stack(argv, e.envp, strlen("/bin/sh")), ENVIRONMENT_STEP, "with /bin/sh");
	environment_free(&e);
}

TEST_MAIN()
