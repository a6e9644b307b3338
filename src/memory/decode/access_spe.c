/* SPDX-License-Identifier: MIT */
/*
 * Decodes an Arm SPE record as an access. Its data source code is decoded by data/spe-sources.txt.
 */
#include <stdlib.h>
#include <string.h>
#include "pmu/table.h"
#include "memory/decode/access.h"

/* ---- data/spe-sources.txt ---- */

enum { COLUMNS = 6 };

static bool is(const struct column *c, const char *word)
{
	return c->n == strlen(word) && !memcmp(c->s, word, c->n);
}

static unsigned long column_number(const struct column *c, int base)
{
	char text[24];

	column_copy(c, text, sizeof(text));
	return strtoul(text, NULL, base);
}

/* "41:d0c" */
static bool is_core(const struct column *c, uint64_t midr)
{
	struct column part = { memchr(c->s, ':', c->n), 0 };

	if (!part.s++)
		return false;
	part.n = (size_t)(c->s + c->n - part.s);
	return column_number(c, 16) == (midr >> 24 & 0xff) &&
		column_number(&part, 16) == (midr >> 4 & 0xfff);
}

/* The index of the word in a NULL-terminated list; -1 if it is not there. */
static int word_of(const struct column *c, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (is(c, words[i]))
			return i;
	return -1;
}

bool spe_codes_of(uint64_t midr, struct spe_codes *out)
{
	static const char
		*const place_words[] = { "L1", "L2", "L3", "cache", "memory", "IO", NULL },
		       *const distance_words[] = { "own", "near", "socket", "remote", NULL },
		       *const snoop_words[] = { "peer", "hit", "modified", NULL };
	static const enum tare_access_place places[] = {
		TARE_AT_L1, TARE_AT_L2, TARE_AT_L3, TARE_AT_CACHE, TARE_AT_MEMORY, TARE_AT_IO
	};
	static const enum tare_access_distance distances[] = { TARE_OWN, TARE_NEAR, TARE_SOCKET,
							       TARE_REMOTE };
	static const enum tare_access_snoop snoops[] = { TARE_SNOOP_PEER, TARE_SNOOP_HIT,
							 TARE_SNOOP_MODIFIED };
	const char *p = embedded_text("spe-sources.txt");
	struct column c[COLUMNS], set = { NULL, 0 };
	unsigned line = 0;
	size_t n;

	*out = (struct spe_codes){ 0 };
	while ((n = table_next(&p, &line, c, COLUMNS)) > 0) {
		unsigned long code;
		int place, distance, snoop;

		if (n >= 3 && is(&c[0], "core") && is_core(&c[1], midr))
			set = c[2];
		if (n < COLUMNS || !is(&c[0], "code") || !set.s || c[1].n != set.n ||
		    memcmp(c[1].s, set.s, set.n))
			continue;
		code = column_number(&c[2], 10);
		place = word_of(&c[3], place_words);
		distance = word_of(&c[4], distance_words);
		snoop = word_of(&c[5], snoop_words);
		if (code >= SPE_CODES || place < 0 || distance < 0)
			continue;
		out->code[code].has = TARE_ACCESS_PLACE | TARE_ACCESS_DISTANCE;
		out->code[code].place = places[place];
		out->code[code].distance = distances[distance];
		if (snoop >= 0) {
			out->code[code].has |= TARE_ACCESS_SNOOP;
			out->code[code].snoop = snoops[snoop];
		}
	}
	return set.s != NULL;
}

/* ---- the record ---- */

/* From the events, where there is no data source: less precise, but the same on every core. */
static void level_by_events(uint64_t ev, struct tare_access *a)
{
	if (ev & SPE_EV_LLC_MISS)
		access_served(a, TARE_AT_L3_MISS);
	else if (ev & SPE_EV_LLC_ACCESS)
		access_served(a, TARE_AT_L3);
	else if (ev & SPE_EV_L2D_ACCESS && !(ev & SPE_EV_L2D_MISS))
		access_served(a, TARE_AT_L2);
	else if (ev & SPE_EV_L1D_REFILL)
		access_served(a, TARE_AT_L1_MISS);
	else if (ev & SPE_EV_L1D_ACCESS)
		access_served(a, TARE_AT_L1);
	if (a->has & TARE_ACCESS_PLACE && (a->place == TARE_AT_L1 || a->place == TARE_AT_L2))
		access_distance(a, TARE_OWN);
}

static void load_store(const struct spe_record *r, const struct spe_codes *codes,
		       struct tare_access *a)
{
	enum { STORE = 1, EXTENDED_MASK = 0xe2, EXTENDED = 0x02, ATOMIC = 4, EXCLUSIVE = 8 };

	a->kind = r->operation & STORE ? TARE_ACCESS_STORE : TARE_ACCESS_LOAD;
	a->has |= TARE_ACCESS_LOCKED;
	if ((r->operation & EXTENDED_MASK) == EXTENDED) {
		a->locked = r->operation & (ATOMIC | EXCLUSIVE);
		if (r->operation & ATOMIC)
			a->kind = TARE_ACCESS_UPDATE;
	}
	if (r->has & SPE_HAS_ADDRESS(SPE_DATA_VIRTUAL)) {
		a->has |= TARE_ACCESS_ADDRESS;
		a->address = spe_address(SPE_DATA_VIRTUAL, r->address[SPE_DATA_VIRTUAL]);
	}
	if (r->has & SPE_HAS_ADDRESS(SPE_DATA_PHYSICAL)) {
		a->has |= TARE_ACCESS_PHYSICAL;
		a->physical = spe_address(SPE_DATA_PHYSICAL, r->address[SPE_DATA_PHYSICAL]);
	}
	if (r->has & SPE_HAS_SOURCE && codes && r->source < SPE_CODES) {
		a->has |= codes->code[r->source].has;
		a->place = codes->code[r->source].place;
		a->distance = codes->code[r->source].distance;
		a->snoop = codes->code[r->source].snoop;
	}
	if (!(r->has & SPE_HAS_EVENTS))
		return;
	if (!(a->has & TARE_ACCESS_PLACE))
		level_by_events(r->events, a);
	/* No data source is as precise: "peer" may be either. */
	if (r->events & SPE_EV_REMOTE)
		access_distance(a, TARE_REMOTE);
	if (r->events & SPE_EV_MODIFIED)
		access_snoop(a, TARE_SNOOP_MODIFIED);
	else if (r->events & SPE_EV_SNOOPED && !(a->has & TARE_ACCESS_SNOOP))
		access_snoop(a, TARE_SNOOP_PEER);
	if (r->events & SPE_EV_TLB_WALK)
		access_tlb(a, TARE_TLB_WALK);
	else if (r->events & SPE_EV_TLB_ACCESS)
		access_tlb(a, TARE_TLB_HIT);
}

void access_from_spe(const struct spe_record *r, const struct spe_codes *codes,
		     struct tare_access *out)
{
	static const enum tare_access_latency latency[] = { TARE_LATENCY_TOTAL, TARE_LATENCY_ISSUE,
							    TARE_LATENCY_TRANSLATION };

	*out = (struct tare_access){ .origin = TARE_FROM_SPE,
				     .event = UINT32_MAX,
				     .exact_ip = true };
	out->ip = spe_address(SPE_PC, r->address[SPE_PC]);
	out->kernel = r->address[SPE_PC] >> 61 & 3; /* the exception level */
	for (size_t i = 0; i < ARRAY_SIZE(latency); i++)
		if (r->has & SPE_HAS_COUNTER(i))
			access_latency(out, latency[i], r->counter[i]);
	if (r->has & SPE_HAS_EVENTS) {
		out->has |= TARE_ACCESS_RETIRED;
		out->retired = r->events & SPE_EV_RETIRED;
	}
	if (!(r->has & SPE_HAS_OPERATION))
		return;
	if (r->class == SPE_LOAD_STORE)
		load_store(r, codes, out);
	if (r->class != SPE_BRANCH)
		return;
	out->kind = TARE_ACCESS_BRANCH;
	if (r->has & SPE_HAS_EVENTS) {
		out->has |= TARE_ACCESS_TAKEN | TARE_ACCESS_MISPREDICTED;
		out->taken = !(r->events & SPE_EV_NOT_TAKEN);
		out->mispredicted = r->events & SPE_EV_MISPREDICTED;
	}
	if (r->has & SPE_HAS_ADDRESS(SPE_TARGET)) {
		out->has |= TARE_ACCESS_TARGET;
		out->target = spe_address(SPE_TARGET, r->address[SPE_TARGET]);
	}
}
