/* SPDX-License-Identifier: MIT */
/* Modifiers. Source: perf-list(1), "EVENT MODIFIERS". */
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include "event/mods.h"

static const struct {
	char letter;
	size_t flag;    /* offset of the bool in struct event_mods */
	bool privilege; /* naming one level excludes the others */
} letters[] = {
	{ 'u', offsetof(struct event_mods, user), true },
	{ 'k', offsetof(struct event_mods, kernel), true },
	{ 'h', offsetof(struct event_mods, hypervisor), true },
	{ 'G', offsetof(struct event_mods, guest), false },
	{ 'H', offsetof(struct event_mods, host), false },
	{ 'I', offsetof(struct event_mods, no_idle), false },
	{ 'P', offsetof(struct event_mods, precise_max), false },
	{ 'S', offsetof(struct event_mods, sample_read), false },
	{ 'D', offsetof(struct event_mods, pinned), false },
	{ 'W', offsetof(struct event_mods, weak), false },
	{ 'e', offsetof(struct event_mods, exclusive), false },
};

static bool *flag_of(struct event_mods *mods, size_t row)
{
	return (bool *)((char *)mods + letters[row].flag);
}

size_t mods_length(const char *s)
{
	size_t n = strspn(s, "ukhGHIpPSDWeb");

	return isalnum((unsigned char)s[n]) || (s[n] && strchr("_.-*?[]!@=", s[n])) ? 0 : n;
}

int mods_parse(const char *s, size_t n, int at, struct event_mods *out, struct tare_error *err)
{
	*out = (struct event_mods){ 0 };
	for (size_t i = 0; i < n; i++) {
		if (s[i] == 'p' && ++out->precise > 3)
			return tare_fail_at(err, at + (int)i, EINVAL,
					    "at most three p: precise levels are 0 to 3");
		if (s[i] == 'b') {
			tare_fail_at(err, at + (int)i, EINVAL,
				     "the modifier b (BPF counters) is not offered");
			tare_hint(err, MODS_HELP);
			return -EINVAL;
		}
		for (size_t row = 0; row < ARRAY_SIZE(letters); row++) {
			if (letters[row].letter != s[i])
				continue;
			if (*flag_of(out, row))
				return tare_fail_at(err, at + (int)i, EINVAL, "'%c' is given twice",
						    s[i]);
			*flag_of(out, row) = true;
			out->given |= letters[row].privilege;
		}
	}
	return 0;
}

int mods_merge(struct event_mods *to, const struct event_mods *group, int at,
	       struct tare_error *err)
{
	struct event_mods more = *group;

	for (size_t row = 0; row < ARRAY_SIZE(letters); row++)
		*flag_of(to, row) |= *flag_of(&more, row);
	to->given |= group->given;
	to->precise += group->precise;
	if (to->precise > 3)
		return tare_fail_at(
			err, at, EINVAL,
			"with the event's own p that makes %u: precise levels are 0 to 3",
			to->precise);
	return 0;
}
