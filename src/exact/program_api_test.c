/* SPDX-License-Identifier: MIT */
/*
 * A program that runs natively gets an error instead of counts. tests/exact covers programs under
 * the engine.
 */
#include <string.h>
#include "exact/exact.h"
#include "tare/exact.h"
#include "tap.h"

TEST(here_natively)
{
	int64_t out[TARE_EXACT_CLASSES] = { 7, 7 };
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(tare_exact_now(), -1);
	CHECK_EQ(tare_exact_read(out, TARE_EXACT_CLASSES, &err), -ENOTSUP);
	CHECK(strstr(err.what, "does not run under the exact engine"), "%s", err.what);
	CHECK(err.hint[0], "no hint");
	CHECK_EQ(out[0], 7, "written only on success");
	CHECK_EQ(tare_exact_read(out, 1, NULL), -ENOTSUP);
}

static void never(uint64_t instructions, void *context, void *with)
{
	(void)instructions, (void)context, (void)with;
	abort();
}

TEST(here_no_calls)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(tare_exact_every(1, never, NULL, &err), -ENOTSUP);
	CHECK(strstr(err.what, "does not run under the exact engine"), "%s", err.what);
	CHECK_EQ(tare_exact_every(0, NULL, NULL, &err), -ENOTSUP);
	CHECK_EQ(tare_exact_every(1, NULL, NULL, &err), -EINVAL);
	CHECK(strstr(err.what, "no function to call"), "%s", err.what);
	CHECK_EQ(tare_exact_every((1ull << 60) + 1, never, NULL, &err), -EINVAL);
	CHECK(strstr(err.what, "at most 2^60"), "%s", err.what);
}

TEST(here_bad_sizes)
{
	int64_t out[TARE_EXACT_CLASSES];
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(tare_exact_read(out, 0, &err), -EINVAL);
	CHECK_EQ(tare_exact_read(out, TARE_EXACT_CLASSES + 1, &err), -EINVAL);
	CHECK(strstr(err.what, "19 classes asked for"), "%s", err.what);
}

TEST(here_class_names)
{
	for (int c = 0; c < TARE_EXACT_CLASSES; c++)
		CHECK(!strcmp(tare_exact_class_name((enum tare_exact_class)c),
			      exact_class_names[c]),
		      "class %d", c);
	CHECK(!tare_exact_class_name(TARE_EXACT_CLASSES), "one past the last");
	CHECK(!tare_exact_class_name((enum tare_exact_class) - 1), "far past it");
}

TEST_MAIN()
