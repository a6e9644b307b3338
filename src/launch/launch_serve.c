/* SPDX-License-Identifier: MIT */
/*
 * Handles two system calls of the command and its descendants, which a seccomp filter passes to
 * tare. For getrandom(2) a thread writes the bytes into the caller's memory; each caller has its
 * own sequence, numbered in the order of first calls. execve(2) continues unchanged, but the thread
 * traces the caller until its new program is set up.
 *
 * Without a listener such a call fails (ENOSYS). So a small helper process remains: when the
 * command has ended, or tare was killed, it lets the calls of remaining processes continue
 * unchanged, and ends after the last of them. Source: seccomp_unotify(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "launch/launch_fix.h"

#ifdef __x86_64__
#define AUDIT_ARCH_HERE AUDIT_ARCH_X86_64
#else
#define AUDIT_ARCH_HERE AUDIT_ARCH_AARCH64
#endif

enum {
	CALLERS_MAX = 1024,
	CHUNK = 256,
	GETRANDOM_MAX = 33554431,
	GLANCES = 300,
	GLANCE_NS = 20000,
	GLANCE_MS = 2
};

struct served {
	int listener, stop;
	int alive[2]; /* a pipe: the helper reads its end */
	/*
	 * the last one received: shared with the helper, which answers it if tare was killed before
	 */
	struct seccomp_notif *call;
	struct determinism *fixed;
	pid_t command;
	struct execs execs;
	pthread_t thread;
	size_t n;
	struct {
		uint32_t tid;
		uint64_t state;
	} caller[CALLERS_MAX];
};

/* splitmix64; see src/exact/engine/random.c. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint64_t *state_of(struct served *s, uint32_t tid)
{
	size_t i = 0;

	while (i < s->n && s->caller[i].tid != tid)
		i++;
	if (i == s->n && s->n < CALLERS_MAX) {
		s->caller[i].tid = tid;
		s->caller[i].state = (uint64_t)i << 40;
		s->n++;
	}
	return &s->caller[i < CALLERS_MAX ? i : CALLERS_MAX - 1].state;
}

/* Is the call still waiting? If not, its thread may have ended, and its number may be reused. */
static bool is_waiting(const struct served *s, uint64_t id)
{
	return ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/*
 * A descriptor of the caller's memory, or a negative errno. The tid may be reused by the time the
 * file is open. If the call is still waiting then, it was not, and the file remains valid for that
 * memory even if the thread ends. Source: seccomp_unotify(2), "Caveats regarding the use of the
 * ID".
 */
static int memory_of(const struct served *s, const struct seccomp_notif *call)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/mem", call->pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EPERM || errno == EACCES ? -ENOSYS : -errno;
	if (is_waiting(s, call->id))
		return fd;
	close(fd);
	return -ESRCH;
}

static int64_t give(struct served *s, const struct seccomp_notif *call, uint64_t to, uint64_t n)
{
	uint64_t *state = state_of(s, call->pid), words[CHUNK / 8], done = 0;
	int memory = memory_of(s, call), code = 0;

	if (memory < 0)
		return memory;
	if (n > GETRANDOM_MAX)
		n = GETRANDOM_MAX;
	while (done < n && is_waiting(s, call->id)) {
		size_t some = n - done < CHUNK ? n - done : CHUNK;
		ssize_t got;

		for (size_t i = 0; i < CHUNK / 8; i++)
			words[i] = next(state);
		got = pwrite(memory, words, some, (off_t)(to + done));
		if (got < 0)
			code = errno == EIO || errno == EINVAL ? EFAULT : errno;
		else
			done += (uint64_t)got;
		if (got < (ssize_t)some)
			break;
	}
	close(memory);
	return done || !code ? (int64_t)done : -code;
}

/* Flags that the kernel accepts. Source: linux, drivers/char/random.c, getrandom(). */
static bool good_flags(uint64_t flags)
{
	unsigned f = (unsigned)flags;

	return !(f & ~(unsigned)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE)) &&
		(f & (GRND_INSECURE | GRND_RANDOM)) != (GRND_INSECURE | GRND_RANDOM);
}

static int send_on(int listener, uint64_t id)
{
	struct seccomp_notif_resp reply = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void answer_exec(struct served *s, const struct seccomp_notif *call)
{
	struct timespec glance = { 0, GLANCE_NS };
	size_t before = s->execs.n;
	int code;

	code = exec_begin(&s->execs, (pid_t)call->pid);
	/*
	 * A traced thread cannot be reaped by others: if the call is still waiting, it is the
	 * caller.
	 */
	if (!is_waiting(s, call->id))
		exec_disown(&s->execs, (pid_t)call->pid);
	else if (code)
		exec_missed(s->fixed, (pid_t)call->pid, code);
	send_on(s->listener, call->id);
	exec_stop(&s->execs, (pid_t)call->pid);
	/* An exec takes about 200 us. A slower one is handled together with other calls. */
	for (int i = 0; i < GLANCES && s->execs.n > before; i++) {
		exec_look(s->fixed, &s->execs, s->command);
		if (s->execs.n > before)
			nanosleep(&glance, NULL);
	}
}

static void answer_random(struct served *s, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp reply = { .id = call->id };
	int64_t ret = good_flags(call->data.args[2])
		? give(s, call, call->data.args[0], call->data.args[1])
		: -EINVAL;

	if (ret < 0)
		reply.error = (int32_t)ret;
	else
		reply.val = ret;
	ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void answer(struct served *s)
{
	memset(s->call, 0, sizeof(*s->call));
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, s->call) < 0)
		return; /* the caller was killed */
	if (s->call->data.nr != SYS_getrandom)
		answer_exec(s, s->call);
	else if (determinism_tried(s->fixed) & FIXED(RANDOM))
		answer_random(s, s->call);
	else
		send_on(s->listener, s->call->id);
}

static void *serve(void *with)
{
	struct served *s = with;

	for (;;) {
		struct pollfd fds[2] = { { .fd = s->listener, .events = POLLIN },
					 { .fd = s->stop, .events = POLLIN } };

		if (poll(fds, 2, s->execs.n ? GLANCE_MS : -1) < 0 && errno != EINTR)
			break;
		exec_look(s->fixed, &s->execs, s->command);
		if (fds[0].revents & POLLIN)
			answer(s);
		else if (fds[0].revents || fds[1].revents)
			break; /* no process is left that could call; or the command has ended */
	}
	return NULL;
}

/* ---- the helper process ---- */

__attribute__((noreturn)) static void stand_by(int listener, int alive, struct seccomp_notif *call)
{
	struct pollfd fds[1] = { { .fd = 4, .events = POLLIN } };
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* not setsid(): a session has its own scheduling group, which may wait for a long time */
	setpgid(0, 0);
	/*
	 * Close all of tare's descriptors, such as pipes that are read to their end, and counters.
	 */
	if (dup3(listener, 98, O_CLOEXEC) < 0 || dup3(alive, 99, O_CLOEXEC) < 0 ||
	    dup2(98, 4) < 0 || dup2(99, 3) < 0)
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	syscall(SYS_close_range, 5u, ~0u, 0u);
	while (read(3, &byte, 1) < 0 && errno == EINTR)
		;
	send_on(4, call->id); /* usually already answered */
	while (poll(fds, 1, -1) > 0 && fds[0].revents & POLLIN) {
		memset(call, 0, sizeof(*call));
		if (ioctl(4, SECCOMP_IOCTL_NOTIF_RECV, call) == 0)
			send_on(4, call->id);
	}
	_exit(0);
}

/* A grandchild, which tare need not wait for. */
static bool leave_by(struct served *s)
{
	int status = -1;
	pid_t pid;

	if (pipe2(s->alive, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		close(s->alive[1]);
		pid = fork();
		if (pid == 0)
			stand_by(s->listener, s->alive[0], s->call);
		_exit(pid < 0);
	}
	close(s->alive[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && status == 0;
}

/* ---- the filter ---- */

static bool is_needed(const struct determinism *f)
{
	return determinism_tried(f) & (FIXED(RANDOM) | FIXED(VDSO));
}

static void miss(struct determinism *f, const char *why)
{
	determinism_miss(f, FIXED_RANDOM, "%s", why);
	determinism_miss(f, FIXED_VDSO, "%s", why);
}

void serve_pair(struct determinism *f, int pair[2])
{
	pair[0] = pair[1] = -1;
	if (is_needed(f) && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		pair[0] = pair[1] = -1;
		miss(f, strerror(errno));
	}
}

/*
 * In the child: install a filter and send its listener to the parent; a single byte means that it
 * failed.
 */
void serve_ask(int end)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		/* a 32-bit program has other numbers */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_HERE, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 0;
	struct iovec one = { &byte, 1 };
	struct msghdr message = { .msg_iov = &one, .msg_iovlen = 1 };
	int listener;

	if (end < 0)
		return;
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
					SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &listener, sizeof(listener));
	}
	if (sendmsg(end, &message, MSG_NOSIGNAL) != 1)
		_exit(127); /* there would be no listener */
	close(end);
	if (listener >= 0)
		close(listener);
}

static int receive(int end)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte;
	struct iovec one = { &byte, 1 };
	struct msghdr message = { .msg_iov = &one,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t got;
	int fd = -1;

	do
		got = recvmsg(end, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got == 1 && message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
	    control.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

static void free_all(struct served *s)
{
	const int fds[] = { s->listener, s->stop, s->alive[1] };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (s->call != MAP_FAILED)
		munmap(s->call, sizeof(*s->call));
	free(s);
}

struct served *serve_begin(struct determinism *f, int end, pid_t command)
{
	struct served *s = NULL;
	sigset_t all, before;
	int code = EACCES;

	if (end < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (s) {
		s->fixed = f;
		s->command = command;
		s->alive[0] = s->alive[1] = -1;
		s->listener = receive(end);
		s->stop = eventfd(0, EFD_CLOEXEC);
		s->call = mmap(NULL, sizeof(*s->call), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		sigfillset(&all);
		/* signals are for the caller's thread */
		pthread_sigmask(SIG_SETMASK, &all, &before);
		if (s->listener >= 0 && s->stop >= 0 && s->call != MAP_FAILED && leave_by(s))
			code = pthread_create(&s->thread, NULL, serve, s);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	close(end);
	if (s && !code)
		return s;
	miss(f, "a seccomp filter with a listener is not permitted here");
	if (s)
		free_all(s);
	return NULL;
}

void serve_end(struct served *s)
{
	uint64_t one = 1;

	if (!s)
		return;
	if (write(s->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(s->thread, NULL);
	free_all(s);
}
