/* SPDX-License-Identifier: MIT */
/* Shared by the files of the supervisor process: supervise.c, collect.c, execs.c, command.c. */
#ifndef EXACT_SUPERVISE_H
#define EXACT_SUPERVISE_H

#include <signal.h>
#include "exact/supervisor.h"
#include "exact/thread.h"

enum { WATCHED_MAX = 1024 };

/* members.c: a thread of the command. */
struct member {
	/*
	 * its process's directory in /proc: stays valid for this process even if the pid is reused
	 */
	int dir;
	uint64_t place; /* address of the shared state */
};

/* A thread's rights. */
struct rights {
	uint32_t uid, gid;  /* effective */
	uint64_t permitted; /* capabilities */
};

struct supervisor {
	const struct launch *l;
	struct shared_state *b;
	pid_t command;
	bool command_executed; /* it is in its exec stop */
	bool command_started, command_ended, end_said;
	bool damaged;      /* the shared state is damaged: see damage.c */
	struct report end; /* of the command */
	/* private copies of the shared state's, which could be changed there */
	uint32_t n_past, n_uncounted;
	uint64_t uncounted_hash;
	char reason[REASON_MAX];
	/* never in the shared state */
	uint32_t stops_over, stops_found;
	char layout_lost[24];
	struct {
		pid_t tid;
		uint32_t thread;
		struct rights rights; /* before the exec */
	} watched[WATCHED_MAX];       /* threads about to exec */
	unsigned n_watched;
	struct parking {
		pid_t tid, pid;
		uint32_t process;
		bool parked;
		uint64_t told_ms;   /* when it was last interrupted */
		uint64_t parked_ms; /* when it was parked */
		/* threads of processes that die, to show their own state in the core: park.c */
	} * parking;
	unsigned n_parking;
	size_t room_for_parking;
	struct snapshots *snapshots;
	struct sigaction former; /* what tare does with SIGCHLD, for the command */
};

/*
 * supervise.c: reports to tare; the first reason why something was not counted, up to REASON_MAX
 * bytes, possibly from the shared state.
 */
void send_report(const struct supervisor *s, const struct report *r);
void note_reason(struct supervisor *s, const char *reason);
/* Continue a traced thread from a stop (next_stop()) that is not ours, as if it was not traced. */
void pass_on(pid_t tid, int stop);

/* collect.c: counts that ended threads and processes leave in the shared state. */
enum looks { LOOK_FOR_ENDED, LOOK_FOR_KILLED, ALL_GONE /* no process is left */ };
void look_at_death(struct supervisor *s, pid_t pid, int sig);
unsigned sweep(struct supervisor *s, enum looks looks);
bool has_ended(pid_t tid); /* or is a zombie, or dies */
struct exact_left look_at_left(struct shared_state *b);
void fold_threads(struct supervisor *s, uint32_t process);
uint32_t lineage_of(const struct process *p);
void leave_lineage(struct supervisor *s, uint32_t lineage);
int64_t new_lineage(struct supervisor *s);

/* execs.c: exec. */
void watch_execs(struct supervisor *s);
void unwatch(struct supervisor *s, unsigned i);
int watched_index(const struct supervisor *s, pid_t tid);
void on_exec(struct supervisor *s, pid_t pid);

/* snapshots.c: which translated code a process begins with, and whether it keeps its own. */
void snapshots_choose(struct supervisor *s, struct process *p, pid_t pid);

/* park.c: threads of processes that dump core. */
void park_threads(struct supervisor *s);
bool park_stop(struct supervisor *s, pid_t tid, int status);
void park_end(struct supervisor *s, pid_t tid);
bool cores_are_piped(void);

/*
 * members.c: does thread `tid` of process `pid` belong to the command? 0: yes; -EPERM: no; other
 * -errno: unknown.
 */
bool members_begin(int shared_fd);
int member_open(struct member *m, pid_t pid, pid_t tid);
bool member_has(const struct member *m, pid_t tid); /* it is still a thread of that process */
void member_close(struct member *m);
bool rights_of(struct rights *r, pid_t tid);
bool rights_gained(const struct rights *before, const struct rights *now); /* by an exec */

/*
 * command.c: start the command, traced; if that fails, report why and exit. Then close the
 * command's descriptors.
 */
void start_command(struct supervisor *s);
void forget_descriptors(const struct launch *l);

#endif
