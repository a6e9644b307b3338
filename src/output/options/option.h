/* SPDX-License-Identifier: MIT */
/*
 * Options as rows. A row says what an option's value is, within which limits, and to which member
 * of the command's options struct it goes; option.c parses all of them. A file of rows names that
 * struct first:
 *
 *	#define OPTIONS struct msr_options
 *
 *	static const struct option_row msr_opts[] = {
 *		{ 'a', "all-cpus", NULL, "on all CPUs that are online", FLAG(all_cpus) },
 *		{ 'n', "times", "N", "watch: that many intervals", NUMBER(ticks, 1, UINT64_MAX) },
 *		{ 0 },
 *	};
 */
#ifndef OUTPUT_OPTIONS_OPTION_H
#define OUTPUT_OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"
#include "base/error.h"
#include "output/command.h"

enum option_kind {
	OPTION_SPECIAL, /* `set` parses it */
	OPTION_REFUSED, /* `refusal` says why */
	OPTION_BLOCK,   /* no option: `rows`, of a struct that is a member of this one */

	/* Without a value. */
	OPTION_VALUE, /* a bool or an enum becomes `value` */
	OPTION_COUNT, /* an unsigned becomes one more */

	/* With one. If it is left out ("[N]"), that means `value`, the first word, or `absent`. */
	OPTION_NUMBER,   /* an integer of any type: least..most */
	OPTION_DURATION, /* a uint64_t of ns: least..; a bare number is of `unit_ns` */
	OPTION_PERCENT,  /* a double: 0..most */
	OPTION_WORD,     /* an enum: `value` + the index in `words` */
	OPTION_TEXT,     /* a const char *; one of `words`, if any; with a noun not empty */
	OPTION_INPUT,    /* likewise; a file that is read, so that no output replaces it */
	OPTION_INPUTS,   /* `most` of these: an array of const char *, and a size_t */
	OPTION_TEXTS,    /* the same of texts */
	OPTION_CPUS,     /* a struct cpus; not empty */
};

struct option_row {
	char letter;      /* or 0 */
	const char *name; /* long name, or NULL */
	/* As shown: "EVENTS"; NULL: takes none; "[SEP]": may be left out (--name=SEP). */
	const char *arg;
	const char *about; /* one line; NULL hides it from --help */

	enum option_kind kind;
	size_t at;        /* the member's offset */
	size_t size;      /* and how many bytes it has */
	size_t given;     /* 0, or the offset of a bool that becomes true */
	size_t number_at; /* of lists: the offset of their number */

	uint64_t least, most, unit_ns;
	int64_t value;
	const char *noun;           /* what the value is, for messages: "format" */
	const char *const *words;   /* ends with NULL */
	const char *absent;         /* a text that was left out */
	const char *refusal, *hint; /* for a number outside its limits; NULL: names them */
	const struct option_row *rows;
	/* Gets the member and the argument (NULL if none). Its message names the value. */
	int (*set)(void *member, const char *arg, struct tare_error *err);
};

#define OPTION_MEMBER(m) (((OPTIONS *)0)->m)
/* Does not compile where the member is of another type. */
#define OPTION_AT(type, m)                                                                         \
	.at = offsetof(OPTIONS, m) + 0 * sizeof(_Generic(OPTION_MEMBER(m), type : 0))
#define OPTION_IS_INTEGER(m) (0 * sizeof(OPTION_MEMBER(m) << 1))
/* Does not compile where the member has no room for the limit. */
#define OPTION_FITS(size, limit)                                                                   \
	(0 * sizeof(char[(size) == 8 || (uint64_t)(limit) >> (8 * (size)-1) <= 1 ? 1 : -1]))
#define OPTION_INTEGER(m, limit)                                                                   \
	.at = offsetof(OPTIONS, m), .size = sizeof(OPTION_MEMBER(m)) + OPTION_IS_INTEGER(m),       \
	.most = (limit) + OPTION_FITS(sizeof(OPTION_MEMBER(m)), limit)
#define OPTION_WORDS(...)                                                                          \
	.words = (const char *const[])                                                             \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

#define FLAG(m) .kind = OPTION_VALUE, OPTION_AT(bool, m), .size = sizeof(bool), .value = 1

#define VALUE(m, v) .kind = OPTION_VALUE, OPTION_INTEGER(m, 0), .value = (v)
#define COUNT(m)    .kind = OPTION_COUNT, OPTION_AT(unsigned, m)

#define NUMBER(m, least_, most_) .kind = OPTION_NUMBER, OPTION_INTEGER(m, most_), .least = (least_)
#define DURATION(m, unit, least_)                                                                  \
	.kind = OPTION_DURATION, OPTION_AT(uint64_t, m), .unit_ns = (unit), .least = (least_)
#define PERCENT(m, most_) .kind = OPTION_PERCENT, OPTION_AT(double, m), .most = (most_)
/* noun_ NULL: as a list of words only. WORD_FROM: the first word has the value `first`. */
#define WORD(m, noun_, ...) WORD_FROM(m, 0, noun_, __VA_ARGS__)
#define WORD_FROM(m, first, noun_, ...)                                                            \
	.kind = OPTION_WORD, OPTION_INTEGER(m, 0), .value = (first), .noun = (noun_),              \
	OPTION_WORDS(__VA_ARGS__)
#define TEXT(m, noun_)         .kind = OPTION_TEXT, OPTION_AT(const char *, m), .noun = (noun_)
#define TEXT_OF(m, noun_, ...) TEXT(m, noun_), OPTION_WORDS(__VA_ARGS__)
#define OUTPUT_FILE(m)         TEXT(m, "file")
#define DIRECTORY(m)           TEXT(m, "directory")
#define INPUT_FILE(m)          .kind = OPTION_INPUT, OPTION_AT(const char *, m), .noun = "file"
#define OPTION_LIST(m, n, most_)                                                                   \
	OPTION_AT(const char **, m), .number_at = offsetof(OPTIONS, n), .most = (most_)
#define INPUTS(m, n, most_, noun_) .kind = OPTION_INPUTS, OPTION_LIST(m, n, most_), .noun = (noun_)
#define TEXTS(m, n, most_, noun_)  .kind = OPTION_TEXTS, OPTION_LIST(m, n, most_), .noun = (noun_)
#define CPUS(m)                    .kind = OPTION_CPUS, OPTION_AT(struct cpus, m)

#define SPECIAL(m, function) .kind = OPTION_SPECIAL, .at = offsetof(OPTIONS, m), .set = (function)
/* `function` gets the whole struct. */
#define SPECIAL_ALL(function) .kind = OPTION_SPECIAL, .set = (function)
#define REFUSED(why, instead) .kind = OPTION_REFUSED, .refusal = (why), .hint = (instead)
#define BLOCK_ROW(m, rows_)                                                                        \
	{                                                                                          \
		.kind = OPTION_BLOCK, .at = offsetof(OPTIONS, m), .rows = (rows_)                  \
	}
/* After one of these. The bool is not the first member. */
#define GIVEN(m) .given = offsetof(OPTIONS, m) + 0 * sizeof(char[offsetof(OPTIONS, m) ? 1 : -1])

#endif
