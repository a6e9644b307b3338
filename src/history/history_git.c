/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/array.h"
#include "history/history_document.h"
#include "history/history_git.h"

#define NOTES "refs/notes/tare"
/* hash, parents, time, subject */
#define FORMAT "--format=%H%n%P%n%ct%n%s"

static const char *answer(const struct gate_git *g)
{
	return g->out.s ? g->out.s : "";
}

/* 0: there is a repository; 1: there is none. */
static int find_repository(struct gate_git *g, struct tare_error *err)
{
	int ret = gate_git(g, err, "rev-parse", "--git-common-dir", NULL);

	if (ret == -ENOENT)
		return 1;
	if (ret > 0 && !strstr(g->said.s ? g->said.s : "", "not a git repository"))
		return gate_git_failed(g, err, "this repository cannot be used");
	return ret;
}

int history_git_path(char out[PATH_MAX], struct revision_signals *s, struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	int ret = find_repository(&g, err);

	if (ret > 0) {
		ret = tare_fail(err, ENOENT, "there is no git repository here");
		tare_hint(err, "name the file of the history: --db FILE");
		ret = -ENOENT;
	} else if (ret == 0 &&
		   snprintf(out, PATH_MAX, "%s/tare-history.db", answer(&g)) >= PATH_MAX) {
		ret = tare_fail(err, ENAMETOOLONG, "the name of the git directory is too long");
	}
	gate_git_end(&g);
	return ret;
}

/* ---- commits ---- */

/* The next line of *at, without its newline; it becomes a string. */
static char *next_line(char **at)
{
	char *line = *at;
	size_t n = strcspn(line, "\n");

	*at = line + n + (line[n] == '\n');
	line[n] = '\0';
	return line;
}

/* From the output of FORMAT; *at becomes what follows it. */
static int parse_commit(struct history_commit *out, void **strings, char **at)
{
	const char *name = next_line(at), *parents = next_line(at), *seconds = next_line(at),
		   *subject = next_line(at);

	*out = (struct history_commit){
		.name = arena_string(strings, name, strlen(name)),
		.parent = arena_string(strings, parents, strcspn(parents, " ")),
		.subject = arena_string(strings, subject, strnlen(subject, 1000)),
		.time = strtoll(seconds, NULL, 10),
	};
	return out->name && out->parent && out->subject ? 0 : -ENOMEM;
}

/* 0: not known, because history is missing. */
static uint64_t depth_of(struct gate_git *g, const char *commit)
{
	if (gate_git_is_shallow(g) ||
	    gate_git(g, NULL, "rev-list", "--count", "--first-parent", commit, NULL) != 0)
		return 0;
	return strtoull(answer(g), NULL, 10);
}

static bool is_dirty(struct gate_git *g, const char *commit)
{
	if (gate_git(g, NULL, "rev-parse", "--verify", "--quiet", "HEAD", NULL) != 0 ||
	    strcmp(answer(g), commit) != 0)
		return false;
	return gate_git(g, NULL, "status", "--porcelain", "--untracked-files=no", NULL) == 0 &&
		g->out.len;
}

static int no_commit(struct gate_git *g, const char *rev, struct tare_error *err)
{
	tare_fail(err, ENOENT, "there is no commit '%.100s'", rev ? rev : "HEAD");
	tare_hint(err, "%s",
		  gate_git_is_shallow(g) ? GATE_DEEPEN : "git fetch, or git log to find its name");
	return -ENOENT;
}

static int ask_commit(struct gate_git *g, struct history_commit *out, void **strings,
		      const char *rev, struct tare_error *err)
{
	char wanted[300], *at;
	int ret = -1;

	if (snprintf(wanted, sizeof(wanted), "%s^{commit}", rev ? rev : "HEAD") <
	    (int)sizeof(wanted))
		ret = gate_git(g, err, "rev-parse", "--verify", "--quiet", "--end-of-options",
			       wanted, NULL);
	else
		ret = 1;
	if (ret == 0 && g->out.len < sizeof(wanted)) {
		strcpy(wanted, answer(g));
		ret = gate_git(g, err, "log", "-1", "--no-show-signature", "--no-notes", FORMAT,
			       wanted, "--", NULL);
	}
	if (ret != 0)
		return ret > 0 ? no_commit(g, rev, err) : ret;
	at = g->out.s;
	if (!at || parse_commit(out, strings, &at) < 0)
		return tare_fail_nomem(err);
	out->depth = depth_of(g, out->name);
	out->dirty = is_dirty(g, out->name);
	return g->signals->got ? tare_fail(err, EINTR, "stopped by a signal") : 0;
}

int history_git_commit(struct history_commit *out, void **strings, const char *rev,
		       struct revision_signals *s, struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	int ret = find_repository(&g, err);

	if (ret == 0) {
		ret = ask_commit(&g, out, strings, rev, err);
	} else if (ret > 0 && rev) {
		*out = (struct history_commit){ .name = arena_string(strings, rev, strlen(rev)),
						.parent = "",
						.subject = "",
						.time = (int64_t)time(NULL) };
		ret = out->name ? 0 : tare_fail_nomem(err);
	} else if (ret > 0) {
		tare_fail(err, ENOENT, "there is no git repository here");
		tare_hint(err, "--commit NAME names the version");
		ret = -ENOENT;
	}
	gate_git_end(&g);
	return ret;
}

/* ---- notes ---- */

struct names {
	char **name; /* hashes, in the answer of git */
	size_t n, room;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The last word of each line, sorted. */
static int sort_names(struct names *out, char *lines, struct tare_error *err)
{
	while (*lines) {
		char *line = next_line(&lines), *blank = strrchr(line, ' ');

		if (!array_reserve(&out->name, &out->room, out->n + 1, sizeof(*out->name)))
			return tare_fail_nomem(err);
		out->name[out->n++] = blank ? blank + 1 : line;
	}
	if (out->n)
		qsort(out->name, out->n, sizeof(*out->name), compare_names);
	return 0;
}

struct ancestor {
	const char *name;
	uint64_t depth;
};

struct ancestors { /* that have notes; the nearest first */
	struct ancestor *of;
	size_t n, room;
	char *lines;
};

/* *lines is owned by the caller. */
static int git_lines(struct gate_git *g, char **lines, int ret, struct tare_error *err)
{
	if (ret > 0)
		return gate_git_failed(g, err, "cannot read the notes");
	if (ret == 0) {
		*lines = text_take(&g->out);
		ret = *lines ? 0 : tare_fail_nomem(err);
	}
	return ret;
}

static int find_ancestors(struct gate_git *g, const struct names *notes, struct ancestors *out,
			  struct tare_error *err)
{
	bool shallow = gate_git_is_shallow(g);
	uint64_t depth = 1;
	char *at;
	int ret = git_lines(g, &out->lines,
			    gate_git(g, err, "rev-list", "--first-parent", "HEAD", "--", NULL),
			    err);

	if (ret < 0)
		return ret;
	for (const char *s = out->lines; *s; s++)
		depth += *s == '\n';
	for (at = out->lines; *at; depth--) {
		char *name = next_line(&at);

		if (!bsearch(&name, notes->name, notes->n, sizeof(name), compare_names))
			continue;
		if (!array_reserve(&out->of, &out->room, out->n + 1, sizeof(*out->of)))
			return tare_fail_nomem(err);
		out->of[out->n++] = (struct ancestor){ name, shallow ? 0 : depth };
	}
	return 0;
}

/* One answer of git has all: FORMAT and the note of each, ended by a NUL. */
static int take_notes(struct gate_git *g, const struct ancestors *from, struct history_batch *to,
		      struct tare_error *err)
{
	struct text input = { 0 };
	char *at, *end;
	int ret;

	for (size_t i = 0; i < from->n; i++)
		text_add(&input, "%s\n", from->of[i].name);
	if (input.failed)
		return tare_fail_nomem(err);
	g->input = input.s;
	ret = gate_git(g, err, "log", "-z", "--no-walk=unsorted", "--stdin", "--no-show-signature",
		       "--no-notes", "--notes=" NOTES, FORMAT "%n%N", NULL);
	g->input = NULL;
	text_free(&input);
	if (ret != 0)
		return ret > 0 ? gate_git_failed(g, err, "cannot read the notes") : ret;
	at = g->out.s;
	end = at + g->out.len;
	for (size_t i = 0; ret == 0 && i < from->n && at < end; i++) {
		struct gate_records records = { 0 };
		struct history_commit commit;
		char *next = at + strlen(at) + 1, name[80];

		if (parse_commit(&commit, &to->strings, &at) < 0)
			return tare_fail_nomem(err);
		commit.depth = from->of[i].depth;
		snprintf(name, sizeof(name), "the note of %.12s", commit.name);
		if (strcmp(commit.name, from->of[i].name) != 0)
			ret = tare_fail(err, EIO, "cannot read %s", name);
		if (ret == 0)
			ret = gate_records_parse(&records, at, strlen(at), name, err);
		if (ret == 0)
			ret = history_add_records(to, &records, &commit, err);
		gate_records_free(&records);
		at = next;
	}
	return ret;
}

/* The oldest first, as if each had been added when it was measured. */
static void reverse(struct ancestors *a)
{
	for (size_t i = 0, k = a->n; i + 1 < k--; i++) {
		struct ancestor kept = a->of[i];

		a->of[i] = a->of[k];
		a->of[k] = kept;
	}
}

int history_git_notes(struct history_batch *to, struct revision_signals *s, struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	struct ancestors ancestors = { 0 };
	struct names notes = { 0 };
	char *lines = NULL;
	int ret = find_repository(&g, err);

	if (ret > 0)
		ret = tare_fail(err, ENOENT, "--notes: there is no git repository here");
	if (ret == 0)
		ret = git_lines(&g, &lines,
				gate_git(&g, err, "notes", "--ref=" NOTES, "list", NULL), err);
	if (ret == 0)
		ret = sort_names(&notes, lines, err);
	if (ret == 0 && notes.n)
		ret = find_ancestors(&g, &notes, &ancestors, err);
	if (ret == 0 && !ancestors.n) {
		tare_fail(err, ENODATA, "HEAD and its ancestors have no notes of tare gate");
		tare_hint(err, "tare gate run --store, or git fetch origin " NOTES ":" NOTES);
		ret = -ENODATA;
	}
	reverse(&ancestors);
	if (ret == 0)
		ret = take_notes(&g, &ancestors, to, err);
	free(ancestors.of);
	free(ancestors.lines);
	free(notes.name);
	free(lines);
	gate_git_end(&g);
	return ret;
}

/* ---- reachable commits ---- */

int history_git_reachable(struct history_reachable *out, struct revision_signals *s,
			  struct tare_error *err)
{
	struct gate_git g = { .signals = s };
	struct names names = { 0 };
	int ret = find_repository(&g, err);

	*out = (struct history_reachable){ 0 };
	if (ret > 0) {
		ret = tare_fail(err, ENOENT, "--unreachable: there is no git repository here");
	} else if (ret == 0 && gate_git_is_shallow(&g)) {
		tare_fail(err, EINVAL, "--unreachable: this clone does not have all commits");
		tare_hint(err, "%s", GATE_DEEPEN);
		ret = -EINVAL;
	}
	if (ret == 0) {
		ret = gate_git(&g, err, "rev-list", "--all", "HEAD", "--", NULL);
		if (ret > 0) /* there is no HEAD yet */
			ret = gate_git(&g, err, "rev-list", "--all", NULL);
		if (ret > 0)
			ret = gate_git_failed(&g, err, "cannot list the commits");
	}
	if (ret == 0) {
		out->lines = text_take(&g.out);
		ret = out->lines ? sort_names(&names, out->lines, err) : tare_fail_nomem(err);
	}
	out->name = names.name;
	out->n = names.n;
	gate_git_end(&g);
	return ret;
}

bool history_is_reachable(const struct history_reachable *r, const char *commit)
{
	return history_short(commit) != 12 ||
		(r->n && bsearch(&commit, r->name, r->n, sizeof(*r->name), compare_names));
}

void history_reachable_free(struct history_reachable *r)
{
	free(r->name);
	free(r->lines);
	*r = (struct history_reachable){ 0 };
}
