/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "msr/msr_view.h"

static const char *const kinds[] = { "read", "write", "tsc", "rdpmc" };

static uint64_t field_of(const struct msr_bits *f, uint64_t value)
{
	return f->bits ? value >> f->low & ((UINT64_C(1) << f->bits) - 1) : value;
}

static const char *err_name(int err)
{
	return err == -EIO          ? "#GP"
		: err == -ECANCELED ? "not run"
		: err == -EPERM     ? "not allowed"
		: err == -EINVAL    ? "bits not allowed"
		: err == -EBADF     ? "not to be written"
				    : strerror(-err);
}

/* Why an operation was refused; what[0] 0: nothing beyond the error itself. */
static struct tare_error reason_of(const struct tare_msr_op *op, unsigned maker)
{
	struct tare_error why = TARE_ERROR_INIT;

	if (op->err == -EPERM || op->err == -EINVAL)
		msr_op_check(op, maker, &why);
	return why;
}

static void name_of(struct text *out, const struct msr_done *d, const struct tare_msr_op *op,
		    const struct msr_bits *f)
{
	char name[MSR_NAME_ROOM];

	if (op->kind == TARE_MSR_TSC)
		text_add(out, "tsc");
	else if (op->kind == TARE_MSR_RDPMC)
		text_add(out, "rdpmc 0x%x", op->msr);
	else
		text_add(out, "%s%s%s", msr_name(op->msr, d->maker, name), f->bits ? "." : "",
			 f->bits ? f->name : "");
}

/* "cpu 0  IA32_PMC0 = 0x1234" */
void msr_done_text(struct text *out, const struct msr_done *d)
{
	int width = 0;

	for (size_t i = 0; i < d->n; i++) {
		struct text name = { 0 };

		name_of(&name, d, &d->op[i], &d->field[i]);
		width = (int)name.len > width ? (int)name.len : width;
		text_free(&name);
	}
	for (size_t k = 0; k < d->on->n; k++)
		for (size_t i = 0; i < d->n; i++) {
			const struct tare_msr_op *op = &d->op[k * d->n + i];
			const struct msr_row *row = msr_row_of(op->msr, d->maker);
			const struct tare_error why = reason_of(op, d->maker);
			struct text name = { 0 };

			name_of(&name, d, op, &d->field[i]);
			text_add(out, "cpu %-3d %-5s %-*s ", d->on->cpu[k], kinds[op->kind], width,
				 name.s);
			text_free(&name);
			if (op->err && op->kind == TARE_MSR_WRITE)
				text_add(out, "0x%" PRIx64 ": ", field_of(&d->field[i], op->value));
			if (op->err)
				text_add(out, "%s%s%s", err_name(op->err), *why.what ? ": " : "",
					 why.what);
			else
				text_add(out, "0x%" PRIx64, field_of(&d->field[i], op->value));
			if (!op->err && !d->field[i].bits && op->kind <= TARE_MSR_WRITE)
				msr_fields_text(out, row, op->value);
			text_add(out, "\n");
		}
	for (size_t k = 0; d->span && k < d->on->n; k++)
		if (d->span[k][1])
			text_add(out,
				 "cpu %-3d %" PRIu64
				 " cycles of the time stamp counter, first to last\n",
				 d->on->cpu[k], d->span[k][1] - d->span[k][0]);
}

static bool op_refused(const struct tare_msr_op *op)
{
	return op->err && op->err != -EIO;
}

/* In the format of arch/x86/include/asm/msr-trace.h. */
void msr_done_trace(struct text *out, const struct msr_done *d)
{
	for (size_t i = 0; i < d->on->n * d->n; i++) {
		const struct tare_msr_op *op = &d->op[i];

		if (op->kind <= TARE_MSR_WRITE && !op_refused(op))
			text_add(out, "%s_msr: %x, value %" PRIx64 "%s\n", kinds[op->kind], op->msr,
				 (uint64_t)op->value, op->err ? " #GP" : "");
	}
}

static void put_fields(struct json *j, const struct msr_row *row, uint64_t value)
{
	struct msr_bits f;

	if (!row || !msr_field_nth(row, 0, &f))
		return;
	json_object(j, "fields");
	for (size_t i = 0; msr_field_nth(row, i, &f); i++)
		json_uint(j, f.name, field_of(&f, value));
	json_end(j);
}

void msr_done_json(struct text *out, const struct msr_done *d)
{
	struct json j = { 0 };
	char name[MSR_NAME_ROOM];

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/msr/1");
	json_string(&j, "via", d->via);
	json_array(&j, "cpus");
	for (size_t k = 0; k < d->on->n; k++) {
		json_object(&j, NULL);
		json_int(&j, "cpu", d->on->cpu[k]);
		if (d->span && d->span[k][1]) {
			json_uint(&j, "tsc_first", d->span[k][0]);
			json_uint(&j, "tsc_last", d->span[k][1]);
		}
		json_array(&j, "operations");
		for (size_t i = 0; i < d->n; i++) {
			const struct tare_msr_op *op = &d->op[k * d->n + i];
			const struct msr_bits *f = &d->field[i];
			const struct tare_error why = reason_of(op, d->maker);

			json_object(&j, NULL);
			json_string(&j, "kind", kinds[op->kind]);
			if (op->kind <= TARE_MSR_WRITE)
				json_string(&j, "register", msr_name(op->msr, d->maker, name));
			json_uint(&j, "number", op->msr);
			if (f->bits)
				json_string(&j, "field", f->name);
			json_uint_if(&j, "value", !op->err, field_of(f, op->value));
			if (op->err && op->kind == TARE_MSR_WRITE)
				json_uint(&j, "asked", field_of(f, op->value));
			if (op->err)
				json_string(&j, "error", err_name(op->err));
			if (*why.what)
				json_string(&j, "reason", why.what);
			if (!op->err && op->kind <= TARE_MSR_WRITE && !f->bits)
				put_fields(&j, msr_row_of(op->msr, d->maker), op->value);
			json_end(&j);
		}
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

/* ---- plans ---- */

static void counters_words(struct text *out, const struct msr_cpu *cpu)
{
	text_add(out, "%s: %u programmable", cpu->name, cpu->programmable);
	if (cpu->fixed)
		text_add(out, " and %u fixed", cpu->fixed);
	text_add(out, " counters of %u bits", cpu->width);
	if (cpu->maker == TARE_MSR_INTEL)
		text_add(out, ", architectural performance monitoring %u", cpu->version);
}

void msr_plan_text(struct text *out, const struct msr_plan *p, const struct msr_cpu *cpu,
		   const struct msr_event *ev, const struct style *style)
{
	int width = 0;
	enum msr_phase phase = MSR_PHASES;
	char name[MSR_NAME_ROOM];

	counters_words(out, cpu);
	text_add(out, "\n\n");
	for (size_t i = 0; i < p->n_events; i++)
		width = (int)strlen(ev[i].name) > width ? (int)strlen(ev[i].name) : width;
	for (size_t i = 0; i < p->n_events; i++)
		text_add(out, "  %-*s  %s\n", width, ev[i].name,
			 msr_name(p->place[i].counter, cpu->maker, name));
	for (size_t i = 0; i < p->n; i++) {
		const struct msr_step *s = &p->step[i];

		if (s->phase != phase)
			text_add(out, "\n%s%s%s\n", ink_on(style, INK_STRONG),
				 msr_phase_name(s->phase), ink_off(style));
		phase = s->phase;
		text_add(out, "  %-5s %-25s 0x%x", kinds[s->op.kind],
			 msr_name(s->op.msr, cpu->maker, name), s->op.msr);
		if (msr_step_is_saved(p, i)) {
			text_add(out, "  previous value");
		} else if (s->op.kind == TARE_MSR_WRITE) {
			text_add(out, "  0x%" PRIx64, (uint64_t)s->op.value);
			msr_fields_text(out, msr_row_of(s->op.msr, cpu->maker), s->op.value);
		}
		text_add(out, "\n");
	}
}

void msr_plan_json(struct text *out, const struct msr_plan *p, const struct msr_cpu *cpu,
		   const struct msr_event *ev)
{
	struct json j = { 0 };
	char name[MSR_NAME_ROOM];

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/msr-plan/1");
	json_object(&j, "cpu");
	json_string(&j, "name", cpu->name);
	json_string(&j, "maker", cpu->maker == TARE_MSR_INTEL ? "Intel" : "AMD");
	json_uint(&j, "version", cpu->version);
	json_uint(&j, "programmable", cpu->programmable);
	json_uint(&j, "fixed", cpu->fixed);
	json_uint(&j, "width", cpu->width);
	json_end(&j);
	json_array(&j, "events");
	for (size_t i = 0; i < p->n_events; i++) {
		json_object(&j, NULL);
		json_string(&j, "event", ev[i].name);
		json_string(&j, "counter", msr_name(p->place[i].counter, cpu->maker, name));
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "steps");
	for (size_t i = 0; i < p->n; i++) {
		const struct msr_step *s = &p->step[i];
		bool saved = msr_step_is_saved(p, i);

		json_object(&j, NULL);
		json_string(&j, "phase", msr_phase_name(s->phase));
		json_string(&j, "kind", kinds[s->op.kind]);
		json_string(&j, "register", msr_name(s->op.msr, cpu->maker, name));
		json_uint(&j, "number", s->op.msr);
		if (s->op.kind == TARE_MSR_WRITE && !saved)
			json_uint(&j, "value", s->op.value);
		if (saved)
			json_bool(&j, "saved", true);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

/* ---- what there is ---- */

static void numbers_of(const struct msr_row *row, char room[MSR_NAME_ROOM])
{
	if (row->count > 1)
		snprintf(room, MSR_NAME_ROOM, "0x%x..0x%x", row->number,
			 row->number + (row->count - 1) * row->step);
	else
		snprintf(room, MSR_NAME_ROOM, "0x%x", row->number);
}

static void row_name(const struct msr_row *row, char room[MSR_NAME_ROOM])
{
	if (row->count > 1)
		snprintf(room, MSR_NAME_ROOM, "%s0..%u", row->name, row->count - 1);
	else
		snprintf(room, MSR_NAME_ROOM, "%s", row->name);
}

void msr_list_text(struct text *out, unsigned maker)
{
	const struct msr_row *row;
	char name[MSR_NAME_ROOM], number[MSR_NAME_ROOM];

	text_add(out, "%-26s %-23s %-18s %s\n", "register", "number", "may be written",
		 "what it is");
	for (size_t i = 0; (row = msr_row_nth(i)); i++) {
		char bits[24] = "-";

		if (!(row->maker & maker))
			continue;
		row_name(row, name);
		numbers_of(row, number);
		if (row->write)
			snprintf(bits, sizeof(bits), "0x%" PRIx64, row->write);
		text_add(out, "%-26s %-23s %-18s %s\n", name, number, bits, row->about);
	}
}

void msr_list_json(struct text *out, unsigned maker)
{
	const struct msr_row *row;
	struct msr_bits f;
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/msr-list/1");
	json_array(&j, "registers");
	for (size_t i = 0; (row = msr_row_nth(i)); i++) {
		if (!(row->maker & maker))
			continue;
		json_object(&j, NULL);
		json_string(&j, "name", row->name);
		json_uint(&j, "number", row->number);
		json_uint(&j, "count", row->count);
		json_uint(&j, "step", row->step);
		json_uint(&j, "write", row->write);
		json_string(&j, "about", row->about);
		json_array(&j, "fields");
		for (size_t k = 0; msr_field_nth(row, k, &f); k++) {
			json_object(&j, NULL);
			json_string(&j, "name", f.name);
			json_uint(&j, "low", f.low);
			json_uint(&j, "bits", f.bits);
			json_end(&j);
		}
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

void msr_row_text(struct text *out, const struct msr_row *row, uint32_t msr)
{
	char name[MSR_NAME_ROOM];
	struct msr_bits f;

	text_add(out, "%s  0x%x  %s\n", msr_name(msr, row->maker, name), msr, row->about);
	if (row->write)
		text_add(out, "  bits that may be written: 0x%" PRIx64 "\n", row->write);
	else
		text_add(out, "  read only\n");
	for (size_t i = 0; msr_field_nth(row, i, &f); i++) {
		bool may = row->write >> f.low & 1;

		if (f.bits == 1)
			text_add(out, "  %-18s bit %-6u", f.name, f.low);
		else
			text_add(out, "  %-18s bits %u..%-2u", f.name, f.low, f.low + f.bits - 1);
		text_add(out, "%s\n", row->write && !may ? "  never written" : "");
	}
}

/* ---- rates ---- */

static uint64_t difference(const struct msr_tick *t, unsigned bits)
{
	uint64_t d = t->value - t->before;

	return bits < 64 ? d & ((UINT64_C(1) << bits) - 1) : d;
}

/* Bits of a register that counts up; 0 for a field, or any other register. */
static unsigned counting_bits(const struct msr_tick *t)
{
	return t->field->bits ? 0 : msr_counts_up(msr_row_of(t->msr, t->maker));
}

void msr_tick_text(struct text *out, const struct msr_tick *t, const struct style *style)
{
	unsigned bits = counting_bits(t);
	char name[MSR_NAME_ROOM], whole[2 * MSR_NAME_ROOM];
	double rate;
	uint64_t d;

	if (t->first && bits)
		return;
	snprintf(whole, sizeof(whole), "%s%s%s", msr_name(t->msr, t->maker, name),
		 t->field->bits ? "." : "", t->field->bits ? t->field->name : "");
	text_add(out, "%10.3f  cpu %-3d  %-25s ", t->time_s, t->cpu, whole);
	if (!bits) {
		text_add(out, "0x%" PRIx64, field_of(t->field, t->value));
		if (!t->field->bits)
			msr_fields_text(out, msr_row_of(t->msr, t->maker), t->value);
		text_add(out, "\n");
		return;
	}
	d = difference(t, bits);
	rate = (double)d / t->seconds;
	put_count(out, style, d);
	text_add(out, "  %.4g %s/s\n",
		 rate >= 1e9           ? rate / 1e9
			 : rate >= 1e6 ? rate / 1e6
			 : rate >= 1e3 ? rate / 1e3
				       : rate,
		 rate >= 1e9           ? "G"
			 : rate >= 1e6 ? "M"
			 : rate >= 1e3 ? "k"
				       : "");
}

void msr_tick_json(struct json *j, const struct msr_tick *t)
{
	unsigned bits = counting_bits(t);
	char name[MSR_NAME_ROOM];

	json_object(j, NULL);
	json_real(j, "time_s", t->time_s);
	json_int(j, "cpu", t->cpu);
	json_string(j, "register", msr_name(t->msr, t->maker, name));
	json_uint(j, "number", t->msr);
	if (t->field->bits)
		json_string(j, "field", t->field->name);
	json_uint(j, "value", field_of(t->field, t->value));
	if (bits && !t->first) {
		json_uint(j, "difference", difference(t, bits));
		json_real(j, "per_second", (double)difference(t, bits) / t->seconds);
	}
	json_end(j);
}
