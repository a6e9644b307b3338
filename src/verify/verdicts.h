/* SPDX-License-Identifier: MIT */
/*
 * The verdicts of `tare verify` on each event, kept for later counts on the same machine. A text
 * file of lines, oldest first:
 *
 *	tare verdicts 1
 *	EVENT \t MACHINE \t VERDICT \t fixed \t per_fault \t per_syscall \t per_interrupt \t interrupts \t over \t spread \t kinds \t per_turn \t
 *	factor \t share \t samples \t CLASS \t time \t BOOT
 *
 * EVENT is the opened event (verdict_event), MACHINE the machine it was opened on
 * (verdict_machine). A verdict is valid for that CPU model, microcode, kernel and hypervisor only.
 * CLASS is what an unknown event was found to count. BOOT is informative only. Numbers are decimal;
 * a file with any other line is rejected with the line number.
 */
#ifndef VERIFY_VERDICTS_H
#define VERIFY_VERDICTS_H

#include "verify/verify.h"
#include "pmu/pmu.h"

enum { VERDICTS_MOST_BYTES = 8 << 20 };

struct verdict {
	char event[96], machine[224];
	char boot[40]; /* boot_id, "" where there is none */
	int64_t time;  /* seconds since the Epoch */
	struct verify_result result;
};

struct verdicts {
	struct verdict *entry;
	size_t n;
};

/* "perf hardware 0x1 0x0 0x0 u": the same for two names of one event. False: it does not fit. */
bool verdict_event(char *out, size_t room, const struct encoding *e);
/*
 * "GenuineIntel-6-85-7 microcode 0x5003604 Linux 6.1.0-18-amd64 ... KVMKVMKVM". `cpu` is from
 * machine_cpu().
 */
void verdict_machine(char *out, size_t room, const char *root, const char *cpu);
void verdict_boot(char *out, size_t room, const char *root);

/*
 * Parses a file's text. Call verdicts_free() afterwards, also after an error. -EBADMSG names the
 * line.
 */
int verdicts_parse(struct verdicts *out, const char *text, size_t len, struct tare_error *err);
/* The newest for this event on this machine; NULL: none. */
const struct verdict *verdicts_find(const struct verdicts *v, const char *event,
				    const char *machine);
/* Replaces an older one for the same event on the same machine. -ENOMEM. */
int verdicts_put(struct verdicts *v, const struct verdict *one, struct tare_error *err);
void verdicts_write(struct text *out, const struct verdicts *v);
void verdicts_free(struct verdicts *v);

#endif
