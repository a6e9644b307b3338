/* SPDX-License-Identifier: MIT */
/* CPU models by name, from a file, and of this machine. */
#ifndef EXACT_ISA_H
#define EXACT_ISA_H

#include <stdbool.h>
#include "base/error.h"
#include "base/text.h"
#include "exact/isa_model.h"

/* This machine, as far as isa_choose() needs it: CPUID is slow in a virtual machine. */
void isa_abilities(struct isa_model *out);
/* All of its leaves. */
void isa_host(struct isa_model *out);
/*
 * "x86-64-v2", "x86-64-v3", "x86-64-v4", short "v2" and so on, "host", or a file of leaves (a name
 * with a '/'). `host`: isa_abilities(). -EINVAL: no such model; -ENOTSUP: the host cannot execute
 * all that the model has, and the error names what is missing.
 */
int isa_choose(struct isa_model *out, const char *name, const struct isa_model *host,
	       struct tare_error *err);
/* x86-64-v3, or the highest lower level that the host has. -ENOTSUP: it has not even v2. */
int isa_choose_usual(struct isa_model *out, const struct isa_model *host, struct tare_error *err);
/* The name of the first extension that `m` has and the host lacks; NULL: none. */
const char *isa_missing(const struct isa_model *m, const struct isa_model *host);
/* As in /proc/cpuinfo. */
const char *isa_feature_name(enum isa_feature f);

/*
 * A file of leaves is what `cpuid -r` prints of one CPU; lines that begin with '#' are comments:
 *
 *	0x00000007 0x00: eax=0x00000000 ebx=0x00000128 ecx=0x00000000 edx=0x00000000
 */
void isa_dump(struct text *out, const struct isa_model *m);
int isa_parse(struct isa_model *out, const char *text, const char *path, struct tare_error *err);

#endif
