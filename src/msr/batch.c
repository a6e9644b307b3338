/* SPDX-License-Identifier: MIT */
/* Parses operations. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "msr/batch.h"

enum { WORDS_ON_A_LINE = 40, WORD_ROOM = 96 };

static int field_value(const struct msr_row *row, const struct msr_bits *f, uint64_t value,
		       struct tare_error *err)
{
	struct msr_bits high;
	char name[MSR_NAME_ROOM + 8];

	if (f->bits >= 64 || !(value >> f->bits))
		return 0;
	tare_fail(err, ERANGE, "%s has %u bit%s: 0x%llx does not fit", f->name, f->bits,
		  f->bits == 1 ? "" : "s", (unsigned long long)value);
	snprintf(name, sizeof(name), "%s_HIGH", f->name);
	for (size_t i = 0; msr_field_nth(row, i, &high); i++)
		if (!strcmp(high.name, name) && !(value >> f->bits >> high.bits))
			tare_hint(err, "the upper bits stand apart: %s=0x%llx %s=0x%llx", f->name,
				  (unsigned long long)(value & ((UINT64_C(1) << f->bits) - 1)),
				  high.name, (unsigned long long)(value >> f->bits));
	return -ERANGE;
}

int msr_word_parse(struct msr_word *out, const char *word, unsigned maker, struct tare_error *err)
{
	size_t n = strcspn(word, "="), dot = strcspn(word, ".");
	char name[WORD_ROOM];
	const struct msr_row *row;
	int ret;

	*out = (struct msr_word){ 0 };
	if (n == 0)
		return tare_fail(err, EINVAL, "'%.40s' names no register", word);
	if (n >= sizeof(name))
		return tare_fail(err, EINVAL, "'%.40s...' is too long for a register's name", word);
	out->has_value = word[n] == '=';
	if (out->has_value) {
		ret = num_parse(word + n + 1, &out->value, err);
		if (ret < 0)
			return ret;
	}
	out->one_field = dot < n;
	snprintf(name, sizeof(name), "%.*s", (int)(out->one_field ? dot : n), word);
	ret = msr_by_name(name, maker, &out->msr, err);
	if (ret < 0 || !out->one_field)
		return ret;
	row = msr_row_of(out->msr, maker);
	if (!row)
		return tare_fail(err, ENOENT,
				 "register 0x%x is not known, so neither are its fields", out->msr);
	snprintf(name, sizeof(name), "%.*s", (int)(n - dot - 1), word + dot + 1);
	ret = msr_field_by_name(row, name, &out->field, err);
	return ret < 0 || !out->has_value ? ret : field_value(row, &out->field, out->value, err);
}

/* Parse "EVENT=0xc5" with the fields of that row, and add it to *value. */
static int add_field(const struct msr_row *row, const char *word, uint64_t *value,
		     struct tare_error *err)
{
	size_t n = strcspn(word, "=");
	char name[WORD_ROOM];
	struct msr_bits f;
	uint64_t v;
	int ret;

	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1), word);
	ret = msr_field_by_name(row, name, &f, err);
	if (ret == 0)
		ret = num_parse(word + n + 1, &v, err);
	if (ret == 0)
		ret = field_value(row, &f, v, err);
	if (ret == 0)
		*value |= v << f.low;
	return ret;
}

static int write_value(struct tare_msr_op *op, char words[][WORD_ROOM], size_t n, unsigned maker,
		       struct tare_error *err)
{
	const struct msr_row *row = msr_row_of(op->msr, maker);
	uint64_t value = 0;
	int ret = 0;

	if (n == 1 && !strchr(words[0], '=')) {
		ret = num_parse(words[0], &value, err);
		op->value = value;
		return ret;
	}
	if (!row)
		return tare_fail(
			err, ENOENT,
			"register 0x%x is not known, so neither are its fields: write NUMBER VALUE",
			op->msr);
	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = strchr(words[i], '=')
			? add_field(row, words[i], &value, err)
			: tare_fail(err, EINVAL, "'%.40s' is neither one value nor FIELD=VALUE",
				    words[i]);
	op->value = value;
	return ret;
}

static int one_line(struct tare_msr_op *op, char words[][WORD_ROOM], size_t n, unsigned maker,
		    struct tare_error *err)
{
	static const struct {
		const char *word;
		uint16_t kind;
		size_t least, most; /* number of words after it */
	} kinds[] = { { "read", TARE_MSR_READ, 1, 1 },
		      { "write", TARE_MSR_WRITE, 2, WORDS_ON_A_LINE },
		      { "tsc", TARE_MSR_TSC, 0, 0 },
		      { "rdpmc", TARE_MSR_RDPMC, 1, 1 } };
	uint64_t number;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(words[0], kinds[i].word))
			continue;
		if (n - 1 < kinds[i].least || n - 1 > kinds[i].most) {
			tare_fail(err, EINVAL, "%s with %zu word%s after it", words[0], n - 1,
				  n == 2 ? "" : "s");
			tare_hint(
				err,
				"read NAME; write NAME VALUE; write NAME FIELD=VALUE...; tsc; rdpmc INDEX");
			return -EINVAL;
		}
		*op = (struct tare_msr_op){ .kind = kinds[i].kind };
		if (op->kind == TARE_MSR_TSC)
			return 0;
		if (op->kind == TARE_MSR_RDPMC) {
			ret = num_parse(words[1], &number, err);
			if (ret == 0 && number > UINT32_MAX)
				ret = tare_fail(err, ERANGE, "an index of rdpmc has 32 bits: %.40s",
						words[1]);
			op->msr = (uint32_t)number;
			return ret;
		}
		ret = msr_by_name(words[1], maker, &op->msr, err);
		if (ret == 0 && op->kind == TARE_MSR_WRITE)
			ret = write_value(op, words + 2, n - 2, maker, err);
		return ret;
	}
	tare_fail(err, EINVAL, "'%.40s' is no operation", words[0]);
	tare_hint(err, "read NAME; write NAME VALUE; write NAME FIELD=VALUE...; tsc; rdpmc INDEX");
	return -EINVAL;
}

/* Words of one line, up to its end or a comment. */
static int split(const char *p, size_t len, char words[][WORD_ROOM], size_t *n,
		 struct tare_error *err)
{
	const char *end = p + len;

	for (*n = 0; p < end && *p != '#';) {
		const char *from = p;

		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		while (p < end && *p != '#' && !isspace((unsigned char)*p))
			p++;
		if (*n == WORDS_ON_A_LINE)
			return tare_fail(err, EINVAL, "more than %d words", WORDS_ON_A_LINE);
		if ((size_t)(p - from) >= WORD_ROOM)
			return tare_fail(err, EINVAL, "a word of %zu letters: %.20s...",
					 (size_t)(p - from), from);
		memcpy(words[*n], from, (size_t)(p - from));
		words[(*n)++][p - from] = '\0';
	}
	return 0;
}

int msr_batch_parse(struct msr_batch *out, const char *text, unsigned maker, struct tare_error *err)
{
	char words[WORDS_ON_A_LINE][WORD_ROOM];
	unsigned line = 0;

	out->n = 0;
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n"), n;
		int ret;

		line++;
		ret = split(p, len, words, &n, err);
		if (ret == 0 && n) {
			if (out->n == TARE_MSR_OPS_MAX)
				return tare_fail(err, E2BIG,
						 "line %u: a batch has at most %d operations", line,
						 TARE_MSR_OPS_MAX);
			ret = one_line(&out->op[out->n], words, n, maker, err);
			out->line[out->n++] = line;
		}
		if (ret < 0) {
			tare_prefix(err, "line %u: ", line);
			return ret;
		}
		p += len + (p[len] == '\n');
	}
	if (out->n == 0)
		return tare_fail(err, EINVAL, "no operation is in it");
	return 0;
}

void msr_op_text(struct text *out, const struct tare_msr_op *op, unsigned maker)
{
	char name[MSR_NAME_ROOM];

	msr_name(op->msr, maker, name);
	switch (op->kind) {
	case TARE_MSR_READ:
		text_add(out, "read %s", name);
		break;
	case TARE_MSR_WRITE:
		text_add(out, "write %s 0x%llx", name, (unsigned long long)op->value);
		break;
	case TARE_MSR_TSC:
		text_add(out, "tsc");
		break;
	case TARE_MSR_RDPMC:
		text_add(out, "rdpmc 0x%x", op->msr);
		break;
	}
}
