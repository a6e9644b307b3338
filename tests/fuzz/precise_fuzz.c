/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what each vendor's hardware writes of one operation: registers of IBS, fields of a
 * sample (PEBS, the exact engine), records of SPE. Whatever is told has a name, and what has no bit
 * in `has` was left alone.
 */
#include "fuzz.h"
#include "memory/decode/access.h"

static void check(const struct tare_access *a)
{
	must(a->kind <= TARE_ACCESS_FETCH && a->origin <= TARE_FROM_EXACT);
	must(!(a->has & TARE_ACCESS_PLACE) || a->place < TARE_ACCESS_PLACES);
	must(!(a->has & TARE_ACCESS_DISTANCE) || a->distance <= TARE_REMOTE);
	must(!(a->has & TARE_ACCESS_SNOOP) || a->snoop <= TARE_SNOOP_PEER);
	must(!(a->has & TARE_ACCESS_TLB) || a->tlb <= TARE_TLB_HIT);
	must(!(a->has & TARE_ACCESS_PAGE_SIZE) || a->page_size);
	must(!(a->has & TARE_ACCESS_SIZE) || a->size);
	must(!(a->has_latency >> TARE_LATENCIES));
	must(a->has & TARE_ACCESS_ADDRESS || !a->address);
	must(a->has & TARE_ACCESS_TARGET || !a->target);
	must(a->has & TARE_ACCESS_PHYSICAL || !a->physical);
}

static void by_ibs(const uint8_t *bytes, size_t n, bool zen4, enum ibs_kind kind)
{
	static const char *const cpuids[] = { NULL, "AuthenticAMD,25,1,1", "AuthenticAMD,25,17,1",
					      "AuthenticAMD,23,49,0", "AuthenticAMD,26,2,1" };
	const struct ibs_field *f = kind == IBS_OP ? ibs_op_fields : ibs_fetch_fields;
	struct ibs_rules rules = ibs_rules_of(cpuids[n % (sizeof(cpuids) / sizeof(*cpuids))], zen4);
	struct tare_access a = { 0 };
	struct ibs s;

	if (ibs_read(kind, &rules, bytes, n, &s, NULL) < 0)
		return;
	for (; f->name; f++) {
		uint64_t value = ibs_field_value(&s, f);

		if (f->words && (!f->valid || f->valid(&s)) && f->words(&s, value))
			must(*f->words(&s, value));
	}
	for (unsigned i = 0; i < IBS_REGISTERS; i++)
		must(!ibs_register_shown(&s, i) || s.has >> i & 1);
	if (access_from_ibs(&s, &a))
		check(&a);
}

static void by_fields(const uint8_t *bytes, size_t n, bool flag)
{
	struct {
		uint64_t has, data_src, addr, phys_addr, page_size, weight, from, config;
		uint32_t type, misc;
	} in = { 0 };
	struct perfdata_branch branch = { 0 };
	struct perfdata_event ev = { .name = flag ? "exact/accesses/" : "cpu/mem-loads/" };
	struct perfdata_record rec = { .type = PD_RECORD_SAMPLE, .event = &ev };
	struct tare_access a;

	memcpy(&in, bytes, n < sizeof(in) ? n : sizeof(in));
	ev.attr.type = in.type;
	ev.attr.config = in.config;
	branch.from = in.from;
	branch.flags = in.config >> 8;
	rec.has = in.has;
	rec.misc = (uint16_t)in.misc;
	rec.sample.data_src = in.data_src;
	rec.sample.addr = in.addr;
	rec.sample.phys_addr = in.phys_addr;
	rec.sample.data_page_size = in.page_size;
	rec.sample.weight = in.weight;
	rec.sample.branches = &branch;
	rec.sample.n_branches = in.has & 1;
	rec.sample.raw = n > sizeof(in) ? bytes + sizeof(in) : bytes;
	rec.sample.raw_size = n > sizeof(in) ? (uint32_t)(n - sizeof(in)) : 0;
	access_common(&rec, &a);
	if (access_from_sample(&rec, in.misc >> 16 & 1, &a) ||
	    access_from_branch(&rec, in.misc >> 17 & 1, &a))
		check(&a);
}

static void by_spe(const uint8_t *bytes, size_t n, bool known)
{
	static const uint64_t cores[] = { 0x410fd0c0, 0xc00fac40, 0x480fd060 };
	static struct spe_codes codes[3];
	static bool read;
	struct spe_walk w = { .data = bytes, .n = n };
	struct tare_access a;
	struct spe_record r;

	for (unsigned i = 0; !read && i < 3; i++)
		must(spe_codes_of(cores[i], &codes[i]));
	read = true;
	while (spe_next(&w, &r)) {
		access_from_spe(&r, known ? &codes[n % 3] : NULL, &a);
		check(&a);
		must(a.origin == TARE_FROM_SPE && a.exact_ip);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t how = n ? bytes[0] : 0, *copy = malloc(n ? n : 1);

	must(copy);
	memcpy(copy, n ? bytes + 1 : bytes, n ? n - 1 : 0);
	n -= n > 0;
	if ((how & 3) < 2)
		by_ibs(copy, n, how & 4, how & 1 ? IBS_OP : IBS_FETCH);
	else if ((how & 3) == 2)
		by_fields(copy, n, how & 4);
	else
		by_spe(copy, n, how & 4);
	free(copy);
	return 0;
}
