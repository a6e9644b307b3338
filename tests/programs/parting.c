/* SPDX-License-Identifier: MIT */
/*
 * A program with runs that diverge by one planted cause, which enters in its own way: parting WAY
 * [FILE].
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

/* The place where two runs diverge. */
static __attribute__((noinline)) void spin(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i;
}

static uint32_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)now.tv_nsec >> 4 & 1023;
}

static uint32_t value;

static void by_readv(void)
{
	struct iovec to = { &value, 2 };
	int fd = open("/dev/urandom", O_RDONLY);

	if (fd >= 0 && readv(fd, &to, 1) == 2)
		spin(value & 1023);
}

static void by_recvmsg(void)
{
	uint32_t now = clock_now(), got = 0;
	struct iovec to = { &got, sizeof(got) };
	struct msghdr message = { .msg_iov = &to, .msg_iovlen = 1 };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 &&
	    send(ends[0], &now, sizeof(now), 0) > 0 && recvmsg(ends[1], &message, 0) > 0)
		spin(got);
}

static void by_getitimer(void)
{
	struct itimerval set = { .it_value.tv_sec = 100 }, left;

	setitimer(ITIMER_REAL, &set, NULL);
	getitimer(ITIMER_REAL, &left);
	spin((uint64_t)left.it_value.tv_usec & 1023);
}

static void by_shared_memory(void)
{
	volatile uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return;
	if (!fork()) {
		shared[3] = clock_now() + 1;
		_exit(0);
	}
	wait(NULL);
	spin(shared[3]);
}

/* The file's contents from the previous run. */
static void by_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0644);
	uint32_t *mapped = fd >= 0 && ftruncate(fd, 4096) == 0
		? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
		: MAP_FAILED;
	uint32_t n;

	if (mapped == MAP_FAILED)
		return;
	n = mapped[5];
	mapped[5] += 13;
	spin(n);
}

static volatile int flag;

static void *raise_flag(void *with)
{
	usleep(5000);
	flag = 1;
	return with;
}

static void by_thread(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, raise_flag, NULL) == 0) {
		while (!flag)
			sink++;
		pthread_join(other, NULL);
	}
}

static uint32_t handed;

static void *hand_over(void *with)
{
	handed = clock_now();
	return with;
}

/* A value from another thread; the order of the two threads is the same each time. */
static void by_handover(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, hand_over, NULL) == 0) {
		usleep(100000); /* it has ended by then */
		pthread_join(other, NULL);
		spin(handed);
	}
}

static uint16_t came[64], copy[64];

/* The value was read long before, and copied. */
static void far(void)
{
	if (getrandom(came, sizeof(came), 0) != sizeof(came))
		return;
	for (volatile int i = 0; i < 300000; i++)
		sink++;
	memcpy(copy, came, sizeof(copy));
	spin(copy[17] & 1023);
}

static volatile uint64_t a, b;

static __attribute__((noinline)) void one(void)
{
	for (volatile int i = 0; i < 1000; i++)
		a++;
}

static __attribute__((noinline)) void other(void)
{
	for (volatile int i = 0; i < 1000; i++)
		b++;
}

/*
 * Alternates between 0 and 1 from run to run: with random values, many runs in a row could be
 * equal.
 */
static uint8_t turn(void)
{
	int fd = open("parting.turn", O_RDWR | O_CREAT, 0644);
	uint8_t now = 0, next;

	if (fd < 0 || pread(fd, &now, 1, 0) < 0)
		return 0;
	next = now ^ 1;
	if (pwrite(fd, &next, 1, 0) < 0)
		perror("parting.turn");
	close(fd);
	return now;
}

/* Has the same number of instructions of each class in either order. */
static void in_another_order(void)
{
	static void (*const work[2])(void) = { one, other };
	uint8_t bit = turn();

	work[bit]();
	work[!bit]();
}

/* A child diverges, tells its parent, which diverges because of it, and ends long after. */
static void by_child(void)
{
	uint32_t n = 0;
	int ends[2];

	if (pipe(ends) < 0)
		return;
	if (!fork()) {
		n = clock_now() & 127;
		spin(n);
		if (write(ends[1], &n, sizeof(n)) == sizeof(n))
			usleep(100000);
		_exit(0);
	}
	if (read(ends[0], &n, sizeof(n)) == sizeof(n)) {
		for (uint32_t i = 0; i < n; i++)
			sink += 2;
		for (volatile int i = 0; i < 200000; i++)
			sink++;
	}
	wait(NULL);
}

/* A value that a child got from its parent; the parent itself does not diverge. */
static void by_parent(void)
{
	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		return;
	if (!fork()) {
		spin(value & 1023);
		_exit(0);
	}
	wait(NULL);
}

/* Each of 64 runs diverges from all others at a different place, far from there. */
static __attribute__((noinline)) void take_turns(void)
{
	int fd = open("parting.turns", O_RDWR | O_CREAT, 0644);
	uint32_t now = 0, next;

	if (fd < 0 || pread(fd, &now, sizeof(now), 0) < 0)
		return;
	next = now + 1;
	if (pwrite(fd, &next, sizeof(next), 0) < 0)
		perror("parting.turns");
	close(fd);
	for (uint32_t i = 0; i < 64; i++) {
		spin(16000);
		if (i == now * 37 % 64)
			sink++;
	}
}

struct beside {
	int there[2], end[2]; /* pipes */
};

static void *wait_for_end(void *with)
{
	const struct beside *b = with;
	char byte = 0;

	return write(b->there[1], &byte, 1) == 1 && read(b->end[0], &byte, 1) == 0 ? with : NULL;
}

/* With another thread, which waits until it has passed. */
static void by_turns_beside(void)
{
	struct beside b;
	pthread_t other;
	char byte;

	if (pipe(b.there) < 0 || pipe(b.end) < 0 ||
	    pthread_create(&other, NULL, wait_for_end, &b) || read(b.there[0], &byte, 1) != 1)
		return;
	take_turns();
	close(b.end[1]);
	pthread_join(other, NULL);
}

/* On one of two processors, alternating. */
static void by_processor(void)
{
	cpu_set_t may, only;
	int cpu[2], n = 0;

	sched_getaffinity(0, sizeof(may), &may);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &may))
			cpu[n++] = i;
	if (n < 2)
		return;
	CPU_ZERO(&only);
	CPU_SET(cpu[turn()], &only);
	sched_setaffinity(0, sizeof(only), &only);
	spin((uint64_t)sched_getcpu() * 10);
}

/* By an argument that it passes to itself. */
static void by_exec(const char *self)
{
	char text[16];

	/* the same number of digits each time */
	snprintf(text, sizeof(text), "%u", 1000 + clock_now());
	execl(self, self, "given", text, (char *)NULL);
}

/* The same after a child, which is a separate thread. */
static void by_exec_after_child(const char *self)
{
	if (!fork())
		_exit(0);
	wait(NULL);
	by_exec(self);
}

static void by_argument(const char *text)
{
	uint64_t n = 0;

	while (*text)
		n = n * 10 + (uint64_t)(*text++ - '0');
	spin(n);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : "parting.data";
	static const struct {
		const char *name;
		void (*go)(void);
	} ways[] = {
		{ "readv", by_readv },         { "recvmsg", by_recvmsg },
		{ "getitimer", by_getitimer }, { "shared", by_shared_memory },
		{ "thread", by_thread },       { "far", far },
		{ "order", in_another_order }, { "child", by_child },
		{ "cpu", by_processor },       { "parent", by_parent },
		{ "handover", by_handover },   { "beside", by_turns_beside },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(way, ways[i].name))
			ways[i].go();
	if (!strcmp(way, "file"))
		by_file(more);
	if (!strcmp(way, "exec"))
		by_exec(argv[0]);
	if (!strcmp(way, "child-exec"))
		by_exec_after_child(argv[0]);
	if (!strcmp(way, "given"))
		by_argument(more);
	if (!strcmp(way, "named") && getenv(more))
		by_argument(getenv(more) + 6);
	return 0;
}
