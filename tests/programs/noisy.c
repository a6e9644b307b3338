/* SPDX-License-Identifier: MIT */
/*
 * A deterministic program except for one planted cause: noisy CAUSE. The value from that cause
 * decides the number of rounds of a loop.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile uint64_t sink;

/* The place where two runs diverge. */
static __attribute__((noinline)) void spin(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i;
}

static uint64_t address(void)
{
	return (uint64_t)(uintptr_t)&address >> 12 & 1023;
}

static uint64_t stack(void)
{
	uint64_t here;

	return (uint64_t)(uintptr_t)&here >> 4 & 1023;
}

static uint64_t first_variable(void)
{
	return environ[0] ? (uint64_t)environ[0][0] * 7 : 0;
}

static uint64_t variables(void)
{
	uint64_t n = 0;

	while (environ[n])
		n++;
	return n * 200;
}

static uint64_t random_bytes(void)
{
	uint16_t n = 0;

	return getrandom(&n, sizeof(n), 0) == sizeof(n) ? n & 1023 : 5000;
}

static uint64_t urandom(void)
{
	uint16_t n = 0;
	int fd = open("/dev/urandom", O_RDONLY);

	if (fd < 0 || read(fd, &n, sizeof(n)) != sizeof(n))
		return 5000;
	close(fd);
	return n & 1023;
}

static uint64_t at_random(void)
{
	uint16_t n = 5000;
	const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);

	if (bytes)
		memcpy(&n, bytes, sizeof(n));
	return n & 1023;
}

static uint64_t pid(void)
{
	char text[16];

	return (uint64_t)snprintf(text, sizeof(text), "%d", (int)getpid()) * 100;
}

static uint64_t clock_read(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec >> 5 & 1023;
}

static uint64_t file(void)
{
	char bytes[2] = "";
	int fd = open("noisy.data", O_RDONLY);

	if (fd < 0 || read(fd, bytes, 2) != 2)
		return 5000;
	close(fd);
	return (uint64_t)(uint8_t)bytes[0] * 3;
}

static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc() >> 4 & 1023;
#else
	return clock_read();
#endif
}

/* Decides long after the value was read. */
static uint64_t late(void)
{
	static volatile uint64_t kept;

	kept = clock_read();
	spin(100000);
	return kept;
}

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

static uint64_t signalled(void)
{
	struct itimerval soon = { .it_value.tv_usec = 1000 };

	signal(SIGALRM, count_signal);
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!signals)
		sink++;
	return 0;
}

static volatile int ready;

static void *get_ready(void *with)
{
	ready = 1;
	return with;
}

static uint64_t thread(void)
{
	pthread_t other;
	uint64_t n = 0;

	if (pthread_create(&other, NULL, get_ready, NULL))
		return 5000;
	while (!ready)
		n++;
	pthread_join(other, NULL);
	return n & 1023;
}

static uint64_t child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit((int)(clock_read() & 127));
	waitpid(pid, &status, 0);
	return (uint64_t)WEXITSTATUS(status) * 5;
}

/* The opposite of setarch: addresses are random again. */
static uint64_t own_personality(void)
{
	personality(0);
	execl("/proc/self/exe", "noisy", "address", (char *)NULL);
	return 5000;
}

static uint64_t cwd(void)
{
	char name[5000];

	return getcwd(name, sizeof(name)) ? strlen(name) * 50 : 0;
}

static uint64_t locale(void)
{
	const char *zone = getenv("TZ");

	return zone ? strlen(zone) * 100 : 0;
}

/* The position of the entry "m" in its directory. */
static uint64_t place_in_directory(void)
{
	DIR *d = opendir("noisy.dir");
	const struct dirent *e;
	uint64_t n = 1;

	while (d && (e = readdir(d)) && strcmp(e->d_name, "m"))
		n++;
	return n * 100;
}

/* The value that it reads. */
static uint64_t input(void)
{
	uint64_t n = 0;

	while (getchar() != EOF)
		n += 100;
	return n;
}

static uint64_t none(void)
{
	return 100;
}

static const struct {
	const char *name;
	uint64_t (*value)(void);
} causes[] = {
	{ "none", none },           { "address", address },
	{ "stack", stack },         { "order", first_variable },
	{ "random", random_bytes }, { "urandom", urandom },
	{ "at-random", at_random }, { "pid", pid },
	{ "clock", clock_read },    { "file", file },
	{ "ticks", ticks },         { "late", late },
	{ "signal", signalled },    { "thread", thread },
	{ "child", child },         { "own-personality", own_personality },
	{ "variables", variables }, { "cwd", cwd },
	{ "locale", locale },       { "readdir", place_in_directory },
	{ "input", input },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(causes) / sizeof(*causes); i++)
		if (!strcmp(argv[1], causes[i].name)) {
			spin(1000);
			spin(causes[i].value());
			return 0;
		}
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		printf("%s\n", causes[i].name);
	return 2;
}
