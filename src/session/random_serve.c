/* SPDX-License-Identifier: MIT */
/*
 * getrandom(2), answered by tare: a filter hands the call over, a thread writes the bytes into the caller's memory. Each
 * caller has a sequence of its own, by the order in which callers first ask. A caller that outlives the server is told
 * that there is no such call, and reads /dev/urandom.
 * Source: seccomp_unotify(2).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "session/launch_fix.h"

enum { CALLERS_MAX = 1024, CHUNK = 256, GETRANDOM_MAX = 33554431 };

struct random_server {
	int listener, stop;
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

static uint64_t *state_of(struct random_server *s, uint32_t tid)
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

static int64_t give(struct random_server *s, uint32_t tid, uint64_t to, uint64_t n)
{
	uint64_t *state = state_of(s, tid), words[CHUNK / 8], done = 0;

	if (n > GETRANDOM_MAX)
		n = GETRANDOM_MAX;
	while (done < n) {
		size_t some = n - done < CHUNK ? n - done : CHUNK;
		struct iovec from = { words, some }, there = { (void *)(uintptr_t)(to + done), some };
		ssize_t got;

		for (size_t i = 0; i < CHUNK / 8; i++)
			words[i] = next(state);
		got = process_vm_writev((pid_t)tid, &from, 1, &there, 1, 0);
		if (got < 0)
			return done ? (int64_t)done : errno == EPERM ? -ENOSYS : -errno;
		done += (uint64_t)got;
		if ((size_t)got < some)
			break;
	}
	return (int64_t)done;
}

static void answer(struct random_server *s)
{
	struct seccomp_notif call;
	struct seccomp_notif_resp reply;
	int64_t ret;

	memset(&call, 0, sizeof(call));
	memset(&reply, 0, sizeof(reply));
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return; /* who asked was killed */
	ret = give(s, call.pid, call.data.args[0], call.data.args[1]);
	reply.id = call.id;
	if (ret < 0)
		reply.error = (int32_t)ret;
	else
		reply.val = ret;
	ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void *serve(void *with)
{
	struct random_server *s = with;

	for (;;) {
		struct pollfd fds[2] = { { .fd = s->listener, .events = POLLIN }, { .fd = s->stop, .events = POLLIN } };

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents & POLLIN)
			answer(s);
		else if (fds[0].revents || fds[1].revents)
			break; /* nobody is left to ask; or the command has ended */
	}
	return NULL;
}

void random_pair(struct fixed *f, int pair[2])
{
	pair[0] = pair[1] = -1;
	if (!(fixed_had(f) & FIXED(RANDOM)))
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		pair[0] = pair[1] = -1;
		fixed_miss(f, FIXED_RANDOM, "no socket: %s", strerror(errno));
	}
}

/* In the child: a filter, whose listener goes to the parent; a lone byte says that there is none. */
void random_ask(int end)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
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
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &listener, sizeof(listener));
	}
	if (sendmsg(end, &message, MSG_NOSIGNAL) != 1)
		_exit(127); /* nobody would answer */
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
	struct msghdr message = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t got;
	int fd = -1;

	do
		got = recvmsg(end, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got == 1 && message.msg_controllen >= CMSG_LEN(sizeof(int)) && control.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

struct random_server *random_serve(struct fixed *f, int end)
{
	struct random_server *s = NULL;
	sigset_t all, before;
	int code = EACCES;

	if (end < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (s) {
		s->listener = receive(end);
		s->stop = eventfd(0, EFD_CLOEXEC);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
		if (s->listener >= 0 && s->stop >= 0)
			code = pthread_create(&s->thread, NULL, serve, s);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	close(end);
	if (s && !code)
		return s;
	fixed_miss(f, FIXED_RANDOM, "a seccomp filter with a listener is not permitted here");
	if (s && s->listener >= 0)
		close(s->listener);
	if (s && s->stop >= 0)
		close(s->stop);
	free(s);
	return NULL;
}

void random_close(struct random_server *s)
{
	uint64_t one = 1;

	if (!s)
		return;
	if (write(s->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(s->thread, NULL);
	close(s->stop);
	close(s->listener);
	free(s);
}
