/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include "base/error.h"
#include "perfdata/dump/precise_view.h"

/* perf's names; from bit 12 on those of newer versions. */
static const char *const event_words[] = {
	[0] = "EXCEPTION-GEN",
	[1] = "RETIRED",
	[2] = "L1D-ACCESS",
	[3] = "L1D-REFILL",
	[4] = "TLB-ACCESS",
	[5] = "TLB-REFILL",
	[6] = "NOT-TAKEN",
	[7] = "MISPRED",
	[8] = "LLC-ACCESS",
	[9] = "LLC-REFILL",
	[10] = "REMOTE-ACCESS",
	[11] = "ALIGNMENT",
	[16] = "TXN",
	[17] = "SVE-PARTIAL-PRED",
	[18] = "SVE-EMPTY-PRED",
	[19] = "L2D-ACCESS",
	[20] = "L2D-MISS",
	[21] = "HITM",
	[22] = "RECENTLY-FETCHED",
	[23] = "DATA-SNOOPED",
	[24] = "STREAMING-SVE",
	[25] = "SMCU",
};

static void events(struct text *out, uint64_t v)
{
	text_add(out, "EV");
	for (unsigned bit = 0; bit < ARRAY_SIZE(event_words); bit++)
		if (v >> bit & 1 && event_words[bit])
			text_add(out, " %s", event_words[bit]);
}

static void load_store(struct text *out, unsigned v)
{
	static const struct {
		uint8_t mask, value;
		const char *words;
	} rows[] = {
		{ 0xfe, 0x00, " GP-REG" },     { 0xfe, 0x04, " SIMD-FP" },
		{ 0xfe, 0x10, " UNSPEC-REG" }, { 0xfe, 0x30, " NV-SYSREG" },
		{ 0xfe, 0x14, " MTE-TAG" },    { 0xfe, 0x20, " MEMCPY" },
		{ 0xff, 0x25, " MEMSET" },
	};

	text_add(out, v & 1 ? "ST" : "LD");
	if ((v & 0xe2) == 0x02) {
		text_add(out, "%s%s%s", v & 4 ? " AT" : "", v & 8 ? " EXCL" : "",
			 v & 16 ? " AR" : "");
		return;
	}
	if ((v & 0x0a) == 0x08) {
		text_add(out, " EVLEN %u%s%s", 32u << (v >> 4 & 7), v & 4 ? " PRED" : "",
			 v & 0x80 ? " SG" : "");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if ((v & rows[i].mask) == rows[i].value)
			text_add(out, "%s", rows[i].words);
}

static void operation(struct text *out, unsigned class, uint64_t v)
{
	switch (class) {
	case SPE_OTHER:
		if ((v & 0x89) == 0x08)
			text_add(out, "SVE-OTHER EVLEN %u%s%s", 32u << (v >> 4 & 7),
				 v & 2 ? " FP" : "", v & 4 ? " PRED" : "");
		else
			text_add(out, "OTHER%s", v & 1 ? " COND-SELECT" : " INSN-OTHER");
		break;
	case SPE_LOAD_STORE:
		load_store(out, (unsigned)v & 0xff);
		break;
	case SPE_BRANCH:
		text_add(out, "B%s%s", v & 1 ? " COND" : "", (v & 0xfe) == 2 ? " IND" : "");
		break;
	default:
		text_add(out, "OP-TYPE 0x%" PRIx64 " (%u)", v, class);
	}
}

static void address(struct text *out, unsigned index, uint64_t v)
{
	uint64_t low = v << 8 >> 8;

	switch (index) {
	case SPE_PC:
	case SPE_TARGET:
	case SPE_PREVIOUS_TARGET:
		text_add(out, "%s 0x%" PRIx64 " el%u ns=%u",
			 index == SPE_PC               ? "PC"
				 : index == SPE_TARGET ? "TGT"
						       : "PREV-TGT",
			 low, (unsigned)(v >> 61 & 3), (unsigned)(v >> 63));
		break;
	case SPE_DATA_VIRTUAL:
		text_add(out, "VA 0x%" PRIx64, v);
		break;
	case SPE_DATA_PHYSICAL:
		text_add(out, "PA 0x%" PRIx64 " ns=%u ch=%u pat=%x", low, (unsigned)(v >> 63),
			 (unsigned)(v >> 62 & 1), (unsigned)(v >> 56 & 15));
		break;
	default:
		text_add(out, "ADDR 0x%" PRIx64 " (%u)", v, index);
	}
}

void spe_view_packet(struct text *out, const struct spe_packet *p)
{
	static const char *const counters[] = { " TOT", " ISSUE", " XLAT" };

	switch (p->kind) {
	case SPE_BAD:
		text_add(out, "Bad packet!");
		break;
	case SPE_PAD:
		text_add(out, "PAD");
		break;
	case SPE_END:
		text_add(out, "END");
		break;
	case SPE_TIMESTAMP:
		text_add(out, "TS %" PRIu64, p->payload);
		break;
	case SPE_EVENTS:
		events(out, p->payload);
		break;
	case SPE_SOURCE:
		text_add(out, "DATA-SOURCE %" PRIu64, p->payload);
		break;
	case SPE_CONTEXT:
		text_add(out, "CONTEXT 0x%" PRIx64 " el%u", p->payload, p->index + 1u);
		break;
	case SPE_OPERATION:
		operation(out, p->index, p->payload);
		break;
	case SPE_ADDRESS:
		address(out, p->index, p->payload);
		break;
	case SPE_COUNTER:
		text_add(out, "LAT %" PRIu64 "%s", p->payload,
			 p->index < ARRAY_SIZE(counters) ? counters[p->index] : "");
		break;
	}
}

size_t spe_view(struct text *out, const uint8_t *data, size_t n, uint64_t base)
{
	enum { BYTES = 16 };
	size_t at = 0;

	while (at < n) {
		struct spe_packet p = spe_packet(data, n, at);
		size_t end = at + p.size, shown;

		if (!p.size)
			break;
		while (p.kind == SPE_PAD && end < n && data[end] == 0)
			end++;
		shown = end - at < BYTES ? end - at : BYTES;
		text_add(out, "    %08" PRIx64 " ", base + at);
		for (size_t i = 0; i < shown; i++)
			text_add(out, " %02x", data[at + i]);
		text_add(out, "%*s", (int)(3 * (BYTES - shown)) + 5,
			 shown < end - at ? "..  " : "");
		spe_view_packet(out, &p);
		text_add(out, "\n");
		at = end;
	}
	return at;
}
