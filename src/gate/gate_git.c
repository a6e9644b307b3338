/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "base/signal_name.h"
#include "gate/gate_git.h"
#include "gate/gate_view.h"
#include "output/escape.h"

enum {
	NO_PROGRAM = 127,
	ANSWER_MAX = 256 << 20,
	ANCESTORS = 10000, /* that are searched for results */
	OLDER_NOTES = 50, /* that are searched for benchmarks without a result in the nearest one */
	TRIES = 5,
};

#define NOTES "refs/notes/tare"

/* ---- programs ---- */

static int read_back(int fd, struct text *out, struct tare_error *err)
{
	char part[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, part, sizeof(part), at)) > 0 && at < ANSWER_MAX) {
		text_put(out, part, (size_t)n);
		at += n;
	}
	return out->failed ? tare_fail_nomem(err) : 0;
}

static void start(const struct gate_program *p, const int fd[3], const struct revision_signals *s)
{
	setpgid(0, 0);
	for (int i = 0; i < 3; i++)
		dup2(fd[i], i);
	revision_signals_child(s);
	for (char *const *v = p->environment; v && *v; v++)
		putenv(*v);
	if (!p->dir || chdir(p->dir) == 0)
		execvp(p->argv[0], p->argv);
	_exit(NO_PROGRAM);
}

int gate_program_run(const struct gate_program *p, struct revision_signals *s, struct text *out,
		     struct text *said, struct tare_error *err)
{
	char by[SIGNAL_NAME_ROOM];
	int fd[3], pid, status, ret = 0;

	/* files, not pipes: a process that the program leaves running does not delay tare */
	for (int i = 0; i < 3; i++) {
		fd[i] = memfd_create("tare", MFD_CLOEXEC);
		ret = fd[i] < 0 ? -errno : ret;
	}
	if (ret == 0 && p->input)
		ret = file_write_all(fd[0], p->input, strlen(p->input));
	if (ret == 0)
		lseek(fd[0], 0, SEEK_SET);
	pid = ret < 0 ? ret : fork();
	if (pid == 0)
		start(p, fd, s);
	if (pid < 0)
		ret = tare_fail(err, ret < 0 ? -ret : errno, "cannot start %.100s: %s", p->argv[0],
				strerror(ret < 0 ? -ret : errno));
	if (pid > 0) {
		setpgid(pid, pid);
		status = revision_wait(s, pid, true);
		ret = s->got ? tare_fail(err, EINTR, "stopped by %s", signal_name(s->got, by)) : 0;
		if (ret == 0 && out)
			ret = read_back(fd[1], out, err);
		if (ret == 0 && said)
			ret = read_back(fd[2], said, err);
		ret = ret < 0 ? ret : status;
	}
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return ret;
}

int gate_git(struct gate_git *g, struct tare_error *err, ...)
{
	char no_hooks[] = "core.hooksPath=/dev/null", name[] = "user.name=tare",
	     mail[] = "user.email=tare@localhost", language[] = "LC_ALL=C",
	     *environment[] = { language, NULL },
	     *argv[24] = { "git", "-c", no_hooks, "-c", name, "-c", mail };
	const struct gate_program p = { .argv = argv,
					.environment = environment,
					.input = g->input };
	size_t n = g->identity ? 7 : 3;
	va_list more;
	int status;

	va_start(more, err);
	while (n + 1 < ARRAY_SIZE(argv) && (argv[n] = va_arg(more, char *)))
		n++;
	va_end(more);
	text_free(&g->out);
	text_free(&g->said);
	status = gate_program_run(&p, g->signals, &g->out, &g->said, err);
	if (status < 0)
		return status;
	while (g->out.len && g->out.s[g->out.len - 1] == '\n')
		g->out.s[--g->out.len] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return tare_fail(err, ENOENT, "git is not installed");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static const char *answer(const struct gate_git *g)
{
	return g->out.s ? g->out.s : "";
}

int gate_git_failed(const struct gate_git *g, struct tare_error *err, const char *what)
{
	const char *said = g->said.s ? g->said.s : "", *fatal = strstr(said, "fatal: "),
		   *error = strstr(said, "error: ");
	struct text line = { 0 };

	said = error ? error : fatal ? fatal : said;
	escape(&line, said, strcspn(said, "\n"));
	tare_fail(err, EIO, "%s: git: %.300s", what, line.len ? line.s : "no reason given");
	text_free(&line);
	return -EIO;
}

void gate_git_end(struct gate_git *g)
{
	text_free(&g->out);
	text_free(&g->said);
}

/* ---- revisions ---- */

bool gate_git_is_shallow(struct gate_git *g)
{
	return gate_git(g, NULL, "rev-parse", "--is-shallow-repository", NULL) == 0 &&
		!strcmp(answer(g), "true");
}

/* 0: found; 1: there is no such revision. */
static int commit_of(struct gate_git *g, const char *rev, char out[REVISION_COMMIT_BYTES],
		     struct tare_error *err)
{
	char wanted[300];
	int ret;

	if (snprintf(wanted, sizeof(wanted), "%s^{commit}", rev) >= (int)sizeof(wanted))
		return 1;
	ret = gate_git(g, err, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted,
		       NULL);
	if (ret == 0 && g->out.len < REVISION_COMMIT_BYTES && g->out.len)
		strcpy(out, g->out.s);
	return ret < 0 ? ret : ret != 0;
}

static int default_branch(struct gate_git *g, char out[REVISION_COMMIT_BYTES], const char **name,
			  struct tare_error *err)
{
	static const char *const names[] = { "refs/remotes/origin/HEAD", "refs/remotes/origin/main",
					     "refs/remotes/origin/master", "refs/heads/main",
					     "refs/heads/master" };
	int ret = 1;

	for (size_t i = 0; ret == 1 && i < ARRAY_SIZE(names); i++) {
		ret = commit_of(g, names[i], out, err);
		*name = names[i];
	}
	return ret;
}

static int no_revision(struct gate_git *g, const char *rev, struct tare_error *err)
{
	tare_fail(err, ENOENT, "--base: there is no revision '%.100s'", rev);
	tare_hint(err, "%s",
		  gate_git_is_shallow(g)
			  ? GATE_DEEPEN
			  : "git fetch origin, or git log --oneline to find its name");
	return -ENOENT;
}

/*
 * The merge base; if HEAD is part of the branch itself, its parent, or HEAD if there are
 * uncommitted changes. "": there is none.
 */
static int merge_base(struct gate_git *g, struct gate_base *b, const char *rev,
		      struct tare_error *err)
{
	char branch[REVISION_COMMIT_BYTES] = "";
	const char *name = rev;
	int ret = rev ? commit_of(g, rev, branch, err) : default_branch(g, branch, &name, err);

	if (ret == 1 && rev)
		return no_revision(g, rev, err);
	if (ret < 0)
		return ret;
	if (ret == 0) {
		ret = gate_git(g, err, "merge-base", b->head, branch, NULL);
		if (ret > 0) {
			tare_fail(err, ENOENT, "HEAD and %.100s have no common ancestor%s", name,
				  gate_git_is_shallow(g) ? " in this clone" : "");
			tare_hint(err, "%s",
				  gate_git_is_shallow(g) ? GATE_DEEPEN
							 : "name another one: --base REV");
			return -ENOENT;
		}
		if (ret == 0 && g->out.len < REVISION_COMMIT_BYTES)
			strcpy(b->merge_base, answer(g));
		if (ret < 0 || strcmp(b->merge_base, b->head) != 0)
			return ret;
	}
	if (b->dirty) {
		strcpy(b->merge_base, b->head);
		return 0;
	}
	b->merge_base[0] = '\0';
	ret = commit_of(g, "HEAD^", b->merge_base, err);
	b->shallow = ret == 1 && gate_git_is_shallow(g);
	return ret < 0 ? ret : 0;
}

/* ---- notes ---- */

static int parse_note(struct gate_git *g, struct gate_records *out, const char *commit,
		      struct tare_error *err)
{
	char name[80];
	int ret;

	snprintf(name, sizeof(name), "the note of %.12s", commit);
	ret = gate_records_parse(out, answer(g), g->out.len, name, err);
	if (ret < 0)
		tare_hint(err,
			  "see it: git notes --ref=tare show %.12s; correct it: edit, or remove",
			  commit);
	return ret;
}

static bool has_result(const struct gate_records *r, const char *benchmark)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->record[i].accept[0] && !strcmp(r->record[i].benchmark, benchmark))
			return true;
	return false;
}

/* A note may have accepted changes alone. */
static bool has_results(const struct gate_records *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->record[i].accept[0])
			return true;
	return false;
}

static bool some_lack(const struct gate_base *b, const struct gate_wanted *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->benchmark[i]->only_times && !has_result(&b->results, w->benchmark[i]->name))
			return true;
	return false;
}

/* From a note older than the nearest one: the wanted benchmarks that have no result yet. */
static int add_older(struct gate_base *b, const struct gate_wanted *w, const char *commit,
		     struct gate_records *note, struct tare_error *err)
{
	size_t known = b->results.n;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < note->n; i++) {
		struct gate_record *r = &note->record[i];
		struct gate_records before = { b->results.record, known, 0 };
		bool wanted = false;

		for (size_t k = 0; k < w->n; k++)
			wanted |= !strcmp(w->benchmark[k]->name, r->benchmark);
		if (!wanted || r->accept[0] || has_result(&before, r->benchmark))
			continue;
		strcpy(r->older, commit);
		ret = gate_records_add(&b->results, r, err);
	}
	return ret;
}

static int take_note(struct gate_git *g, struct gate_base *b, const struct gate_wanted *w,
		     const char *commit, struct tare_error *err)
{
	struct gate_records note = { 0 };
	int ret = gate_git(g, err, "notes", "--ref=" NOTES, "show", commit, NULL);

	if (ret > 0)
		return gate_git_failed(g, err, "cannot read a note");
	if (ret == 0)
		ret = parse_note(g, &note, commit, err);
	if (ret == 0 && b->commit[0])
		ret = add_older(b, w, commit, &note, err);
	if (ret == 0 && !b->commit[0] && has_results(&note)) {
		b->results = note;
		strcpy(b->commit, commit);
		return 0;
	}
	gate_records_free(&note);
	return ret;
}

/*
 * The results of the nearest ancestor of `from` (or `from` itself) that has some. Wanted benchmarks
 * without a result there have that of an older ancestor.
 */
static int nearest(struct gate_git *g, struct gate_base *b, const struct gate_wanted *w,
		   const char *from, struct tare_error *err)
{
	char most[32], *notes, *at;
	struct text ancestors = { 0 };
	int ret = gate_git(g, err, "notes", "--ref=" NOTES, "list", NULL), older = 0;

	if (ret < 0)
		return ret;
	notes = strdup(ret == 0 ? answer(g) : "");
	snprintf(most, sizeof(most), "-n%d", ANCESTORS);
	ret = notes ? 0 : tare_fail_nomem(err);
	if (ret == 0 && *notes)
		ret = gate_git(g, err, "rev-list", most, from, NULL);
	if (ret == 0 && *notes)
		text_add(&ancestors, "%s", answer(g));
	at = ancestors.s ? ancestors.s : "";
	/* a line of the list: NOTE COMMIT */
	for (size_t len; ret == 0 && *at; at += len + (at[len] == '\n')) {
		char commit[REVISION_COMMIT_BYTES + 1];

		len = strcspn(at, "\n");
		snprintf(commit, sizeof(commit), " %.*s", (int)len, at);
		if (b->commit[0] && (older == OLDER_NOTES || !some_lack(b, w)))
			break;
		if (!strstr(notes, commit))
			continue;
		older += b->commit[0] != '\0';
		ret = take_note(g, b, w, commit + 1, err);
	}
	text_free(&ancestors);
	free(notes);
	return ret;
}

static int read_accepted(struct gate_git *g, struct gate_records *out, const char *from,
			 const char *to, struct tare_error *err)
{
	char range[2 * REVISION_COMMIT_BYTES + 4];
	int ret;

	snprintf(range, sizeof(range), "%s%s%s", from, *from ? ".." : "", to);
	ret = gate_git(g, err, "log", *from ? "-n10000" : "-n1", "--reverse", "--no-notes",
		       "--notes=" NOTES, "--format=%N", range, NULL);
	return ret == 0 ? parse_note(g, out, to, err) : ret < 0 ? ret : 0;
}

/*
 * Changes that were accepted since the baseline, the latest one last. For a benchmark with an older
 * baseline, also those between the two baselines.
 */
static int find_accepted(struct gate_git *g, struct gate_base *b, struct tare_error *err)
{
	const char *from = b->commit[0] ? b->commit : b->merge_base, *last = "";
	struct gate_records all = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < b->results.n; i++) {
		const char *older = b->results.record[i].older;

		if (!*older || !strcmp(older, last))
			continue;
		last = older;
		gate_records_free(&all);
		ret = read_accepted(g, &all, older, from, err);
		for (size_t k = 0; ret == 0 && k < all.n; k++) {
			const struct gate_record *r = &all.record[k];
			bool of_it = false;

			for (size_t m = 0; m < b->results.n; m++)
				of_it |= !strcmp(b->results.record[m].older, older) &&
					!strcmp(b->results.record[m].benchmark, r->benchmark);
			if (r->accept[0] && of_it)
				ret = gate_records_add(&b->accepted, r, err);
		}
	}
	gate_records_free(&all);
	return ret < 0 ? ret : read_accepted(g, &b->accepted, from, b->head, err);
}

/* 0: HEAD is a commit; 1: it is not, and b->none says why. */
static int find_head(struct gate_git *g, struct gate_base *b, struct tare_error *err)
{
	int ret = gate_git(g, err, "rev-parse", "--git-dir", NULL);
	const char *lack = "there is no git repository here";

	if (ret == -ENOENT) {
		lack = "git is not installed";
	} else if (ret > 0 && !strstr(g->said.s ? g->said.s : "", "not a git repository")) {
		return gate_git_failed(g, err, "this repository cannot be used");
	} else if (ret == 0) {
		lack = "there is no commit yet";
		ret = commit_of(g, "HEAD", b->head, err);
	}
	if (ret < 0 && ret != -ENOENT)
		return ret;
	snprintf(b->none, sizeof(b->none),
		 "%s: keep a result with --format json -o FILE, and compare with --baseline FILE",
		 lack);
	return ret != 0;
}

int gate_base_find(struct gate_base *b, const struct gate_wanted *w, enum gate_source from,
		   struct revision_signals *s, struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	int ret = 0;

	memset(b, 0, sizeof(*b));
	ret = find_head(&g, b, err);
	if (ret > 0 && w->rev)
		ret = tare_fail(err, ENOENT, "--base: there is no git repository with a commit");
	if (ret != 0) {
		gate_git_end(&g);
		return ret < 0 ? ret : 0;
	}
	b->none[0] = '\0';
	ret = gate_git(&g, err, "status", "--porcelain", "--untracked-files=no", NULL);
	b->dirty = ret == 0 && g.out.len;
	if (ret >= 0 && from != GATE_FROM_FILE)
		ret = merge_base(&g, b, w->rev, err);
	if (ret >= 0 && b->merge_base[0] && from == GATE_FROM_NOTES)
		ret = nearest(&g, b, w, b->merge_base, err);
	if (ret >= 0)
		ret = find_accepted(&g, b, err);
	if (ret == 0 && from == GATE_FROM_NOTES && !b->results.n)
		snprintf(b->none, sizeof(b->none), "%s",
			 gate_git_is_shallow(&g)
				 ? GATE_DEEPEN
				 : "git fetch origin " NOTES ":" NOTES
				   "; or store results in the base: tare gate run --store; or "
				   "measure the base now: --measure-base");
	gate_git_end(&g);
	return ret;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

int gate_newer_source(const char *program, const char *since, struct text *out,
		      struct revision_signals *s, struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	struct timespec newest;
	struct stat st;
	int ret;

	if (stat(program, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	newest = st.st_mtim;
	ret = gate_git(&g, err, "ls-files", "-z", "--", program, NULL);
	if (ret == 0 && !g.out.len)
		ret = gate_git(&g, err, "diff", "--name-only", "--relative", "-z", since, "--",
			       NULL);
	else if (ret == 0)
		text_free(&g.out);
	for (size_t at = 0; ret == 0 && at < g.out.len; at += strlen(g.out.s + at) + 1)
		if (lstat(g.out.s + at, &st) == 0 && is_later(&st.st_mtim, &newest)) {
			newest = st.st_mtim;
			text_free(out);
			text_add(out, "%s", g.out.s + at);
		}
	gate_git_end(&g);
	return ret < 0 ? ret : 0;
}

void gate_base_free(struct gate_base *b)
{
	gate_records_free(&b->results);
	gate_records_free(&b->accepted);
}

static bool replaces(const struct gate_record *newer, const struct gate_record *r)
{
	return !strcmp(newer->benchmark, r->benchmark) && !newer->accept[0] == !r->accept[0] &&
		(newer->accept[0] || gate_record_alike(newer, r));
}

/* The note of HEAD with these records. */
static int merged(struct gate_git *g, const struct gate_records *records, struct text *out,
		  struct tare_error *err)
{
	struct gate_records old = { 0 };
	int ret = gate_git(g, err, "notes", "--ref=" NOTES, "show", "HEAD", NULL);

	if (ret == 0)
		ret = parse_note(g, &old, "HEAD", err);
	for (size_t i = 0; ret >= 0 && i < old.n; i++) {
		bool stays = true;

		for (size_t k = 0; k < records->n; k++)
			stays &= !replaces(&records->record[k], &old.record[i]);
		if (stays)
			gate_record_line(out, &old.record[i]);
	}
	for (size_t i = 0; i < records->n; i++)
		gate_record_line(out, &records->record[i]);
	gate_records_free(&old);
	return ret < 0 ? ret : out->failed ? tare_fail_nomem(err) : 0;
}

/*
 * git replaces a notes ref without checking its old value. Without a lock of tare's own, two gates
 * could lose each other's records.
 */
static int lock_notes(struct gate_git *g, struct tare_error *err)
{
	char path[PATH_MAX];
	int fd;

	if (gate_git(g, err, "rev-parse", "--git-common-dir", NULL) != 0)
		return gate_git_failed(g, err, "cannot store results");
	snprintf(path, sizeof(path), "%.3900s/tare-notes.lock", answer(g));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX) < 0) {
		tare_fail(err, errno, "cannot lock %.200s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -err->code;
	}
	return fd;
}

int gate_notes_add(const struct gate_records *records, struct revision_signals *s,
		   struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	struct text note = { 0 };
	int lock, ret;

	lock = lock_notes(&g, err);
	if (lock < 0)
		return gate_git_end(&g), lock;
	g.identity = gate_git(&g, NULL, "var", "GIT_COMMITTER_IDENT", NULL) != 0;
	ret = merged(&g, records, &note, err);
	g.input = note.s;
	/* another program may have git's own lock */
	for (int i = 0; ret == 0 && i < TRIES; i++) {
		if (i)
			usleep(200000);
		ret = gate_git(&g, err, "notes", "--ref=" NOTES, "add", "-f", "-F", "-", "HEAD",
			       NULL);
		if (ret <= 0)
			break;
		ret = i + 1 < TRIES ? 0 : gate_git_failed(&g, err, "cannot store the note of HEAD");
	}
	close(lock);
	text_free(&note);
	gate_git_end(&g);
	return ret;
}
