/* SPDX-License-Identifier: MIT */
/*
 * Unit tests that speak TAP: each TEST runs in a fork with a timeout, so that a crash or a hang is
 * one failed line. A skip names its reason; TARE_EXPECT=NEED,... turns the skip of that need into a
 * failure, on machines that are meant to have it. Usage:
 *
 *	TEST(name) { CHECK_EQ(f(1), 2, "f of %d", 1); }
 *	TEST_MAIN()
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* gcc says so by macros, clang by features. */
#if defined(__has_feature)
#define TAP_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define TAP_THREAD_SANITIZER  __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define TAP_ADDRESS_SANITIZER 1
#else
#define TAP_ADDRESS_SANITIZER 0
#endif
#ifdef __SANITIZE_THREAD__
#define TAP_THREAD_SANITIZER 1
#else
#define TAP_THREAD_SANITIZER 0
#endif
#endif

enum { TAP_FAILED = 1, TAP_SKIPPED = 77, TAP_SECONDS = 240, TAP_MAX = 512 };

struct tap_test {
	const char *name;
	void (*run)(void);
};

static struct tap_test tap_tests[TAP_MAX];
static int tap_count, tap_failures;

#define TEST(id)                                                                                   \
	static void test_##id(void);                                                               \
	__attribute__((constructor)) static void tap_add_##id(void)                                \
	{                                                                                          \
		if (tap_count == TAP_MAX)                                                          \
			abort();                                                                   \
		tap_tests[tap_count++] = (struct tap_test){ #id, test_##id };                      \
	}                                                                                          \
	static void test_##id(void)

__attribute__((format(printf, 3, 4), unused)) static bool tap_check(bool ok, const char *where,
								    const char *fmt, ...)
{
	if (!ok) {
		va_list ap;

		tap_failures++;
		printf("# %s: ", where);
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		printf("\n");
	}
	return ok;
}

#define TAP_STR_(x)   #x
#define TAP_STR(x)    TAP_STR_(x)
#define TAP_WHERE     __FILE__ ":" TAP_STR(__LINE__)
#define CHECK(c, ...) tap_check((c), TAP_WHERE, "" #c "; " __VA_ARGS__)

/* Integers of any type, compared as 64 bits and shown signed and in hex. */
#define CHECK_EQ(a, b, ...)                                                                        \
	do {                                                                                       \
		int64_t a_ = (int64_t)(a), b_ = (int64_t)(b);                                      \
		if (!tap_check(a_ == b_, TAP_WHERE, "%s is %lld (%#llx), not %lld (%#llx)", #a,    \
			       (long long)a_, (unsigned long long)a_, (long long)b_,               \
			       (unsigned long long)b_))                                            \
			printf("#   " __VA_ARGS__), printf("\n");                                  \
	} while (0)

#define CHECK_STR(a, b, ...)                                                                       \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (!tap_check(a_ && b_ && !strcmp(a_, b_), TAP_WHERE,                             \
			       "%s is\n#   \"%s\", not\n#   \"%s\"", #a, a_ ? a_ : "(null)",       \
			       b_ ? b_ : "(null)"))                                                \
			printf("#   " __VA_ARGS__), printf("\n");                                  \
	} while (0)

/* Leave this test, saying which need this machine does not meet and why. */
__attribute__((format(printf, 2, 3), noreturn, unused)) static void tap_skip(const char *need,
									     const char *fmt, ...)
{
	const char *expect = getenv("TARE_EXPECT");
	size_t n = strlen(need);
	va_list ap;

	printf("# needs %s: ", need);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	for (const char *p = expect; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (!strncmp(p, need, n) && (p[n] == ',' || !p[n])) {
			printf("# TARE_EXPECT names %s: not skipped but failed\n", need);
			fflush(stdout);
			_exit(TAP_FAILED);
		}
	fflush(stdout);
	_exit(TAP_SKIPPED);
}

/*
 * Of cases that a generator makes up, one in how many is tried: each; one in TARE_CASES where
 * instructions are emulated or watched.
 */
static unsigned tap_one_in(void)
{
	const char *of = getenv("TARE_CASES");
	int n = of ? atoi(of) : 1;

	return n > 1 ? (unsigned)n : 1;
}

/* So many of them. */
__attribute__((unused)) static unsigned tap_cases(unsigned all)
{
	return all / tap_one_in();
}

/* Whether this one, where each takes long. */
__attribute__((unused)) static bool tap_tried(unsigned i)
{
	return i % tap_one_in() == 0;
}

/*
 * Whether `wrong` of so many tries are few enough, where `share` of them may be: of a part of the
 * cases by chance more, up to three deviations.
 */
__attribute__((unused)) static bool tap_seldom(double wrong, double tries, double share)
{
	double over = wrong - share * tries;

	return over <= 0 || (tap_one_in() > 1 && over * over <= 9 * share * tries);
}

static int tap_run(const struct tap_test *t)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(TAP_SECONDS);
		t->run();
		fflush(stdout);
		_exit(tap_failures ? TAP_FAILED : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return TAP_FAILED;
	if (WIFSIGNALED(status))
		printf("# died by signal %d%s\n", WTERMSIG(status),
		       WTERMSIG(status) == SIGALRM ? " (timeout)" : "");
	return WIFEXITED(status) ? WEXITSTATUS(status) : TAP_FAILED;
}

/* With arguments, runs only the tests named. */
static int tap_main(int argc, char **argv)
{
	int failed = 0, n = 0;

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a test that dies has said what it had found */
	for (int i = 0; i < tap_count; i++) {
		bool wanted = argc < 2;

		for (int a = 1; a < argc; a++)
			wanted |= !strcmp(argv[a], tap_tests[i].name);
		if (!wanted)
			continue;

		int ret = tap_run(&tap_tests[i]);

		n++;
		failed += ret != 0 && ret != TAP_SKIPPED;
		printf("%s %d %s%s\n", ret == 0 || ret == TAP_SKIPPED ? "ok" : "not ok", n,
		       tap_tests[i].name, ret == TAP_SKIPPED ? " # SKIP see the line above" : "");
	}
	printf("1..%d\n", n);
	return failed ? 1 : 0;
}

#define TEST_MAIN()                                                                                \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return tap_main(argc, argv);                                                       \
	}

#endif
