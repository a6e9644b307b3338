/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include "diverge/initial_stack.h"

enum { WORD = 8, RANDOM_BYTES = 16 };

struct stack {
	const uint8_t *bytes;
	size_t words;
	uint64_t at, end;
	size_t argc, envp, auxv,
		behind; /* in words: where each list starts; the word after the last list */
	uint64_t random, execfn; /* 0: missing */
};

static uint64_t word(const struct stack *s, size_t i)
{
	uint64_t v;

	memcpy(&v, s->bytes + i * WORD, sizeof(v));
	return v;
}

/* For a list of increasing pointers, all above the lists: the word after its end; 0: not such a
 * list. */
static size_t behind_pointers(const struct stack *s, size_t i)
{
	for (uint64_t last = s->at; i < s->words; i++) {
		uint64_t p = word(s, i);

		if (!p)
			return i + 1;
		if (p <= last)
			return 0;
		last = p;
	}
	return 0;
}

static bool read_lists(struct stack *s)
{
	if (!s->words)
		return false;
	s->argc = (size_t)word(s, 0);
	s->envp = behind_pointers(s, 1);
	if (!s->argc || s->envp != s->argc + 2)
		return false;
	s->auxv = behind_pointers(s, s->envp);
	if (!s->auxv)
		return false;
	for (size_t i = s->auxv; i + 1 < s->words; i += 2) {
		if (word(s, i) == AT_RANDOM)
			s->random = word(s, i + 1);
		if (word(s, i) == AT_EXECFN)
			s->execfn = word(s, i + 1);
		if (word(s, i) == AT_NULL) {
			s->behind = i + 2;
			return true;
		}
	}
	return false;
}

/* Finds the pointer of the list that ends at `end` to the string that contains `address`. The
 * strings are in the order of the list. */
static bool string_of(const struct stack *s, size_t list, size_t end, uint64_t address, size_t *out)
{
	bool found = false;

	for (size_t i = list; i + 1 < end && word(s, i) <= address; i++) {
		*out = i;
		found = true;
	}
	return found;
}

static void name_variable(const struct stack *s, uint64_t string, struct initial_stack_place *out)
{
	size_t from = (size_t)(string - s->at), n = 0;

	if (string >= s->end)
		return;
	while (from + n < s->words * WORD && s->bytes[from + n] > ' ' &&
	       s->bytes[from + n] < 0x7f && s->bytes[from + n] != '=')
		n++;
	if (n && from + n < s->words * WORD && s->bytes[from + n] == '=')
		snprintf(out->name, sizeof(out->name), "%.*s",
			 (int)(n < sizeof(out->name) ? n : sizeof(out->name) - 1),
			 (const char *)s->bytes + from);
}

static bool in_strings(const struct stack *s, uint64_t address, struct initial_stack_place *out)
{
	uint64_t variables = word(s, s->envp), arguments = word(s, 1);
	size_t i;

	if (s->execfn && address >= s->execfn) { /* the last string */
		out->part = INITIAL_STACK_NAME;
		return true;
	}
	if (!s->execfn || address < arguments)
		return false;
	if (variables && address >= variables) {
		if (!string_of(s, s->envp, s->auxv, address, &i))
			return false;
		out->part = INITIAL_STACK_VARIABLE;
		name_variable(s, word(s, i), out);
		return true;
	}
	if (!string_of(s, 1, s->envp, address, &i))
		return false;
	out->part = INITIAL_STACK_ARGUMENT;
	out->number = (unsigned)(i - 1);
	return true;
}

bool initial_stack_find(const uint8_t *stack, size_t n, uint64_t at, uint64_t address,
			struct initial_stack_place *out)
{
	struct stack s = {
		.bytes = stack, .words = n / WORD, .at = at, .end = at + n / WORD * WORD
	};
	size_t i;

	*out = (struct initial_stack_place){ 0 };
	if (address < at || !read_lists(&s))
		return false;
	if (s.random && address - s.random < RANDOM_BYTES) {
		out->part = INITIAL_STACK_RANDOM;
		return true;
	}
	i = (size_t)((address - at) / WORD);
	if (i >= s.behind)
		return in_strings(&s, address, out);
	out->part = i < s.auxv ? INITIAL_STACK_POINTERS : INITIAL_STACK_VECTOR;
	if (i >= s.auxv)
		out->number = (unsigned)word(&s, s.auxv + (i - s.auxv) / 2 * 2);
	return true;
}
