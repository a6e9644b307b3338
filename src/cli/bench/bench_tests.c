/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/bench/bench_tests.h"
#include "exact/isa.h"
#include "output/temp_cleanup.h"
#include "bench/bench_object.h"
#include "bench/bench_snippet.h"

enum { HEAD = 1 << 20, COPIES = 100, OBJECT_MAX = 64 << 20 };

static int add_test(struct bench_tests *t, const char *name, const char *path,
		    struct tare_error *err)
{
	struct bench_variant *v = &t->variant[t->n];

	if (t->n == BENCH_VARIANTS) {
		tare_fail(err, E2BIG, "more than %d tests, including each form of a snippet",
			  BENCH_VARIANTS);
		tare_hint(err, "--form written uses only one form");
		return -E2BIG;
	}
	t->name[t->n] = strdup(name);
	t->path[t->n] = realpath(path, NULL);
	if (!t->name[t->n] || !t->path[t->n])
		return tare_fail(err, errno, "%.200s: %s", path, strerror(errno));
	*v = (struct bench_variant){ .name = t->name[t->n], .path = t->path[t->n] };
	t->n++;
	return 0;
}

/* From its creation on, a signal that ends tare removes it. */
static int open_room(struct bench_tests *t, struct tare_error *err)
{
	const char *tmp = getenv("TMPDIR");
	const bool there = t->room.path[0];
	sigset_t before = temp_cleanup_block();
	int ret = bench_room_open(&t->room, tmp && *tmp ? tmp : "/tmp", err);

	if (ret == 0 && !there)
		temp_cleanup_add(t->room.path);
	temp_cleanup_unblock(&before);
	return ret;
}

void bench_tests_leave_room(struct bench_tests *t)
{
	bench_room_close(&t->room);
	temp_cleanup_forget(t->room.path);
}

static int compile(struct bench_tests *t, const struct bench_options *o, const char *source,
		   char *object, size_t size, struct tare_error *err)
{
	const char *named = getenv("CC");
	struct bench_compiler cc = { o->cc ? o->cc : named && *named ? named : "cc", o->cflags };
	int ret = open_room(t, err);

	return ret < 0
		? ret
		: bench_build(&t->room, &cc, source, object, size, &t->said, &t->by_signal, err);
}

/* ---- files ---- */

static bool ends(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);

	return n > e && !strcmp(name + n - e, ending);
}

static int look_at(const char *path, bool *program, struct tare_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *head = NULL;
	ssize_t n = 0;
	int ret = 0;

	if (fd < 0 || fstat(fd, &st) < 0) {
		ret = tare_fail(err, errno, "%.200s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		ret = tare_fail(err, EINVAL, "%.200s is not a regular file", path);
	} else {
		head = malloc(HEAD);
		n = head ? pread(fd, head, HEAD, 0) : 0;
		switch (head ? bench_object_kind(head, n > 0 ? (size_t)n : 0) : OBJECT_NONE) {
		case OBJECT_PROGRAM:
			*program = true;
			break;
		case OBJECT_SHARED:
			*program = false;
			break;
		case OBJECT_FOREIGN:
			ret = tare_fail(err, EINVAL, "%.200s is for another processor", path);
			break;
		case OBJECT_RELOCATABLE:
			ret = tare_fail(err, EINVAL, "%.200s is not linked", path);
			tare_hint(err, "cc -shared -o test.so %.100s", path);
			break;
		default:
			ret = tare_fail(
				err, EINVAL,
				"%.200s is neither C (.c), nor assembly (.S, .s), nor a shared object",
				path);
		}
	}
	free(head);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int add_file(struct bench_tests *t, const struct bench_options *o, const char *file,
		    size_t n_files, struct tare_error *err)
{
	char object[BENCH_PATH];
	bool program = false;
	int ret;

	if (ends(file, ".c") || ends(file, ".S") || ends(file, ".s")) {
		if (access(file, R_OK) < 0)
			return tare_fail(err, errno, "%.200s: %s", file, strerror(errno));
		ret = compile(t, o, file, object, sizeof(object), err);
		if (ret == -EINVAL && t->said.s && strstr(t->said.s, "tare/bench.h"))
			tare_hint(
				err,
				"tare/bench.h comes with tare's headers; in its source tree: --cflags -Iinclude");
		if (ret == 0)
			ret = add_test(t, file, object, err);
	} else {
		ret = look_at(file, &program, err);
		if (ret == 0)
			ret = add_test(t, file, file, err);
	}
	if (ret < 0)
		return ret;
	if (program && (n_files > 1 || o->function))
		return tare_fail(err, EINVAL, "%.200s is a program: it is measured alone%s", file,
				 o->function ? ", by its own execute_test()" : "");
	t->variant[t->n - 1].program = program;
	t->variant[t->n - 1].function = o->function;
	return 0;
}

/* ---- snippets ---- */

static int build_text(struct bench_tests *t, const struct bench_options *o,
		      const struct text *source, const char *ending, char *object, size_t size,
		      struct tare_error *err)
{
	char path[BENCH_PATH];
	int ret = open_room(t, err);

	if (ret == 0)
		ret = bench_room_write(&t->room, source, ending, path, sizeof(path), err);
	return ret < 0 ? ret : compile(t, o, path, object, size, err);
}

static bool same_text(const char *one, const char *other)
{
	char *bytes[2] = { NULL };
	size_t n[2], at[2], size[2];
	bool same = file_read(NULL, one, OBJECT_MAX, &bytes[0], &n[0], NULL) == 0 &&
		file_read(NULL, other, OBJECT_MAX, &bytes[1], &n[1], NULL) == 0;

	for (size_t i = 0; same && i < 2; i++)
		same = bench_object_text(bytes[i], n[i], &at[i], &size[i]);
	same = same && size[0] == size[1] && !memcmp(bytes[0] + at[0], bytes[1] + at[1], size[0]);
	free(bytes[0]);
	free(bytes[1]);
	return same;
}

/* The same instructions with and without the code: the compiler removed it, so there is nothing
 * to measure. */
static int check_not_removed(struct bench_tests *t, const struct bench_options *o,
			     const struct bench_snippet *s, const char *before, const char *object,
			     struct tare_error *err)
{
	struct bench_snippet nothing = *s;
	char without[BENCH_PATH];
	struct text source = { 0 };
	size_t said = t->said.len;
	int ret;

	nothing.code = ";";
	bench_snippet_c(&source, &nothing, before);
	ret = build_text(t, o, &source, ".c", without, sizeof(without), err);
	text_free(&source);
	if (t->said.len > said) { /* diagnostics about the empty code */
		t->said.len = said;
		t->said.s[said] = '\0';
	}
	if (ret == -EINVAL) { /* the snippet does not compile without the code */
		*err = (struct tare_error)TARE_ERROR_INIT;
		return 0;
	}
	if (ret < 0 || !same_text(object, without))
		return ret;
	tare_fail(err, ENODATA, "'%.150s': the compiler removed it, so there is nothing to measure",
		  s->code);
	tare_hint(
		err,
		"keep(x) makes the compiler compute x; hide(x), before it, hides the value of x from the compiler");
	return -ENODATA;
}

/*
 * The loop's own instructions execute while the copies wait for each other; with fewer than COPIES
 * copies they could take part of the time.
 */
static bool may_choose_rounds(const struct bench_options *o, const struct bench_snippet *s)
{
	return !o->loop_given && !o->ops && !o->cold && o->engine != BENCH_ENGINE_EXACT &&
		o->engine != BENCH_ENGINE_MSR && s->unroll >= COPIES && bench_snippet_may_loop(s);
}

/* One mistake in the code must not be reported a hundred times: compile it again as a single
 * copy. */
static int add_snippet(struct bench_tests *t, const struct bench_options *o,
		       struct bench_snippet *s, bool is_c, const char *before, const char *name,
		       struct tare_error *err)
{
	char object[BENCH_PATH];
	struct text source = { 0 };
	int ret;

	for (int again = 0;; again++) {
		if (is_c)
			bench_snippet_c(&source, s, before);
		else
			bench_snippet_assembly(&source, s);
		ret = build_text(t, o, &source, is_c ? ".c" : ".S", object, sizeof(object), err);
		text_free(&source);
		if (ret != -EINVAL || again || s->unroll == 1)
			break;
		text_free(&t->said);
		s->unroll = 1;
		s->in_turn = false;
	}
	if (ret == -EINVAL && t->said.len) {
		tare_fail(err, EINVAL, "'%.150s' does not %s: see the compiler's messages", s->code,
			  is_c ? "compile" : "assemble");
		if (t->said.s && strstr(t->said.s, "ambiguous operand size"))
			tare_hint(err,
				  "give the size of memory operands, such as: inc qword ptr [r14]");
	}
	if (ret == 0 && s->unroll == 1 && o->unroll != 1 && !is_c) {
		tare_fail(err, EINVAL, "'%.150s' assembles, but not %u times in a row", s->code,
			  o->unroll ? (unsigned)o->unroll : COPIES);
		tare_hint(err,
			  "use labels 1:, 2: ... and 1b, 1f, because one file has many copies");
		return -EINVAL;
	}
	if (ret == 0 && is_c)
		ret = check_not_removed(t, o, s, before, object, err);
	if (ret == 0)
		ret = add_test(t, name, object, err);
	if (ret == 0)
		t->variant[t->n - 1].ops = (uint64_t)s->unroll * (s->loop ? s->loop : 1);
	if (ret == 0 && !is_c && may_choose_rounds(o, s))
		t->snippet[t->n - 1] = *s;
	return ret;
}

int bench_tests_loop(struct bench_tests *t, const struct bench_options *o, size_t v,
		     uint32_t rounds, struct tare_error *err)
{
	struct bench_snippet s = t->snippet[v];
	char object[BENCH_PATH];
	struct text source = { 0 };
	int ret;

	s.loop = rounds;
	s.bare_baseline = true;
	bench_snippet_assembly(&source, &s);
	ret = build_text(t, o, &source, ".S", object, sizeof(object), err);
	text_free(&source);
	free(t->looped[v]);
	t->looped[v] = ret == 0 ? realpath(object, NULL) : NULL;
	if (ret == 0 && !t->looped[v])
		ret = tare_fail(err, errno, "%.200s: %s", object, strerror(errno));
	return ret;
}

/*
 * The width of the vector registers: that of the CPU model, if the exact engine gives the test one.
 * The model lacks the instructions for wider registers.
 */
static unsigned vector_bytes(const struct bench_options *o)
{
	unsigned here = bench_vector_bytes(), there;
	struct isa_model m, host;
	int ret;

	if (!o->deterministic || !(determinism_tried(&o->fixed) & FIXED(ISA)) ||
	    o->engine != BENCH_ENGINE_EXACT)
		return here;
	isa_abilities(&host);
	ret = o->fixed.isa[0] ? isa_choose(&m, o->fixed.isa, &host, NULL)
			      : isa_choose_usual(&m, &host, NULL);
	if (ret < 0)
		return here;
	there = m.has[ISA_AVX512VL] && m.has[ISA_AVX512BW] ? 64 : m.has[ISA_AVX] ? 32 : 16;
	return there < here ? there : here;
}

static int add_code(struct bench_tests *t, const struct bench_options *o, size_t i,
		    const char *before, struct tare_error *err)
{
	struct bench_snippet s = {
		.code = o->code[i],
		.init = o->init,
		.att = o->att >= 0 ? o->att
				   : bench_snippet_is_att(o->code[i]) ||
				(o->init && bench_snippet_is_att(o->init)),
		.unroll = o->unroll  ? (uint32_t)o->unroll
			: o->is_c[i] ? 1
				     : COPIES,
		.loop = (uint32_t)o->loop,
		.vector = vector_bytes(o),
	};
	struct text turns = { 0 }, name = { 0 };
	bool can = !o->is_c[i] && o->form != BENCH_FORM_WRITTEN && s.unroll > 1 &&
		bench_snippet_turns(&s, &turns);
	int ret = 0;

	if (o->form == BENCH_FORM_IN_TURN && !can) {
		tare_fail(err, EINVAL, "'%.150s' has no register that can be replaced by others",
			  o->code[i]);
		tare_hint(
			err,
			"use one instruction with its result in a register, and without a flag (adc), second register or memory that the next copy reads");
		ret = -EINVAL;
	}
	if (ret == 0 && o->form != BENCH_FORM_IN_TURN)
		ret = add_snippet(t, o, &s, o->is_c[i], before, o->code[i], err);
	if (ret == -EINVAL && o->is_c[i] && t->said.len &&
	    !strpbrk(o->code[i], ";{}")) { /* it may be of type void */
		text_add(&name, "%s;", o->code[i]);
		text_free(&t->said);
		s.code = name.s;
		s.unroll = o->unroll ? (uint32_t)o->unroll : 1;
		*err = (struct tare_error)TARE_ERROR_INIT;
		ret = name.failed ? tare_fail_nomem(err)
				  : add_snippet(t, o, &s, true, before, o->code[i], err);
	}
	if (ret == 0 && can) {
		s.in_turn = true;
		text_add(&name, "%s (in turn)", o->code[i]);
		ret = name.failed ? tare_fail_nomem(err)
				  : add_snippet(t, o, &s, false, NULL, name.s, err);
		if (!t->turns)
			t->turns = text_take(&turns);
	}
	text_free(&turns);
	text_free(&name);
	return ret;
}

/* string.h, <string.h>, "own.h"; anything else is placed before the function unchanged. */
static void put_include(struct text *out, const char *words)
{
	static const char of_names[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";

	if (!words[strspn(words, of_names)])
		text_add(out, "#include <%s>\n", words);
	else
		text_add(out, *words == '<' || *words == '"' ? "#include %s\n" : "%s\n", words);
}

int bench_tests_make(struct bench_tests *t, const struct bench_options *o, char *const *files,
		     size_t n_files, struct tare_error *err)
{
	struct text before = { 0 };
	int ret = 0;

	for (size_t i = 0; i < o->n_include; i++)
		put_include(&before, o->include[i]);
	for (size_t i = 0; ret == 0 && i < n_files; i++)
		ret = add_file(t, o, files[i], n_files, err);
	for (size_t i = 0; ret == 0 && i < o->n_code; i++)
		ret = add_code(t, o, i, before.s, err);
	for (size_t i = 0; i < t->n; i++) {
		t->variant[i].ops = o->ops ? o->ops : t->variant[i].ops;
		t->variant[i].bytes = o->bytes;
	}
	text_free(&before);
	return ret;
}

void bench_tests_free(struct bench_tests *t)
{
	bench_tests_leave_room(t);
	for (size_t i = 0; i < BENCH_VARIANTS; i++) {
		free(t->path[i]);
		free(t->name[i]);
		free(t->looped[i]);
	}
	free(t->turns);
	text_free(&t->said);
	*t = (struct bench_tests){ 0 };
}
