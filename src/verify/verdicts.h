/* SPDX-License-Identifier: MIT */
/*
 * What `tare verify` found of each event, kept for later counts on the same machine. A file of lines, oldest first:
 *
 *	tare verdicts 1
 *	EVENT \t MACHINE \t VERDICT \t fixed \t per_fault \t per_syscall \t per_interrupt \t interrupts \t over \t spread \t kinds \t per_turn \t
 *	factor \t share \t samples \t CLASS \t time \t BOOT
 *
 * EVENT is what was opened (verdict_event), MACHINE what it was opened on (verdict_machine): a verdict holds for that CPU model,
 * microcode, kernel and hypervisor, and for no other. CLASS is what an unknown event was found to count. BOOT is told, and is no condition. Numbers are decimal; a file with any other
 * line is refused with the line's number.
 */
#ifndef VERIFY_VERDICTS_H
#define VERIFY_VERDICTS_H

#include "verify/verify.h"
#include "pmu/pmu.h"

enum { VERDICTS_MOST_BYTES = 8 << 20 };

struct verdict {
	char event[96], machine[224];
	char boot[40]; /* boot_id, "" where there is none */
	int64_t time;  /* seconds since 1970 */
	struct verify_result result;
};

struct verdicts {
	struct verdict *entry;
	size_t n;
};

/* "perf hardware 0x1 0x0 0x0 u": what is the same for two names of one event. False: longer than there is room for. */
bool verdict_event(char *out, size_t room, const struct encoding *e);
/* "GenuineIntel-6-85-7 microcode 0x5003604 Linux 6.1.0-18-amd64 ... KVMKVMKVM". `cpu` as machine_cpu() gives it. */
void verdict_machine(char *out, size_t room, const char *root, const char *cpu);
void verdict_boot(char *out, size_t room, const char *root);

/* Of a file's text. verdicts_free() after use, also after an error. -EBADMSG names the line. */
int verdicts_parse(struct verdicts *out, const char *text, size_t len, struct tare_error *err);
/* The newest of this event on this machine; NULL: none. */
const struct verdict *verdicts_find(const struct verdicts *v, const char *event, const char *machine);
/* In place of an older one of the same event on the same machine. -ENOMEM. */
int verdicts_put(struct verdicts *v, const struct verdict *one, struct tare_error *err);
void verdicts_write(struct text *out, const struct verdicts *v);
void verdicts_free(struct verdicts *v);

#endif
