/* SPDX-License-Identifier: MIT */
/*
 * Stubs for architectures where the exact engine has no translator: every entry point reports that.
 */
#include <stddef.h>
#include <string.h>
#include "exact/exact.h"
#include "exact/isa.h"

static int absent(struct tare_error *err)
{
	int ret = tare_fail(err, ENOTSUP, "exact: the exact engine counts x86-64 programs only");

	tare_hint(err, "--engine perf, on a machine with a PMU");
	return ret;
}

int exact_probe(struct tare_error *err)
{
	return absent(err);
}

int exact_check(struct tare_error *err)
{
	return absent(err);
}

int exact_launch(struct exact **out, char *const argv[], char *const envp[],
		 const struct exact_options *o, struct tare_error *err)
{
	(void)argv, (void)envp, (void)o;
	*out = NULL;
	return absent(err);
}

pid_t exact_pid(const struct exact *x)
{
	(void)x;
	return -1;
}

int exact_fd(const struct exact *x)
{
	(void)x;
	return -1;
}

int exact_wait(struct exact *x, int timeout_ms, struct exact_end *end, struct tare_error *err)
{
	(void)x, (void)timeout_ms, (void)end;
	return absent(err);
}

int exact_counts(struct exact *x, int64_t out[EXACT_CLASSES], struct tare_error *err)
{
	(void)x, (void)out;
	return absent(err);
}

void exact_partial(struct exact *x, struct exact_partial *out)
{
	(void)x;
	*out = (struct exact_partial){ 0 };
}

void exact_slow(struct exact *x, struct exact_slow *out)
{
	(void)x;
	*out = (struct exact_slow){ 0 };
}

int exact_profile(struct exact *x, struct exact_profile *out, struct tare_error *err)
{
	(void)x;
	*out = (struct exact_profile){ 0 };
	return absent(err);
}

bool exact_damaged(const struct exact *x)
{
	(void)x;
	return false;
}

const char *exact_isa_beyond(struct exact *x, char program[24])
{
	(void)x;
	(void)program;
	return NULL;
}

void isa_abilities(struct isa_model *out)
{
	memset(out, 0, sizeof(*out));
}

void isa_host(struct isa_model *out)
{
	memset(out, 0, sizeof(*out));
}

void isa_dump(struct text *out, const struct isa_model *m)
{
	(void)out;
	(void)m;
}

int isa_choose(struct isa_model *out, const char *name, const struct isa_model *host,
	       struct tare_error *err)
{
	(void)out;
	(void)name;
	(void)host;
	return absent(err);
}

int isa_choose_usual(struct isa_model *out, const struct isa_model *host, struct tare_error *err)
{
	return isa_choose(out, "", host, err);
}

const char *exact_layout_lost(const struct exact *x)
{
	(void)x;
	return NULL;
}

const char *exact_clock_beyond(const struct exact *x)
{
	(void)x;
	return NULL;
}

bool exact_turns_beyond(const struct exact *x, char *to, size_t room)
{
	(void)x;
	(void)room;
	to[0] = '\0';
	return false;
}

bool exact_gainer(const struct exact *x, char *to, size_t room)
{
	(void)x;
	if (room)
		to[0] = '\0';
	return false;
}

uint32_t exact_warm(const struct exact *x)
{
	(void)x;
	return 0;
}

unsigned exact_stops(const struct exact *x)
{
	(void)x;
	return 0;
}

int exact_samples(struct exact *x, exact_sample_fn *each, void *with, struct tare_error *err)
{
	(void)x, (void)each, (void)with;
	return absent(err);
}

size_t exact_lengths(const uint8_t *code, size_t size, uint8_t *length, size_t n)
{
	(void)code, (void)size, (void)length, (void)n;
	return 0;
}

size_t exact_adds(const uint8_t *code, size_t size, uint8_t adds[EXACT_CLASSES])
{
	(void)code, (void)size, (void)adds;
	return 0;
}

bool exact_effects(const uint8_t *code, size_t size, struct exact_effects *out)
{
	(void)code, (void)size, (void)out;
	return false;
}

size_t exact_processes(struct exact *x, struct exact_process *out, size_t n)
{
	(void)x, (void)out, (void)n;
	return 0;
}

size_t exact_threads(struct exact *x, struct exact_thread *out, size_t n)
{
	(void)x, (void)out, (void)n;
	return 0;
}

void exact_signalled(const struct exact *x, int number)
{
	(void)x;
	(void)number;
}

void exact_close(struct exact *x)
{
	(void)x;
}
