/* SPDX-License-Identifier: MIT */
/* The CPU that a counted program sees: what cpuid and xgetbv answer. Shared with the engine. */
#ifndef EXACT_ISA_MODEL_H
#define EXACT_ISA_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include "exact/decode/isa_features.h"

enum { ISA_NAME = 64, ISA_LEAVES_MAX = 160 };

/* The subleaf of a leaf that ignores ECX. */
#define ISA_ANY UINT32_MAX

struct isa_leaf {
	uint32_t leaf, subleaf;
	uint32_t out[4]; /* by enum isa_register */
};

struct isa_model {
	char name[ISA_NAME];
	uint32_t n, pad;
	struct isa_leaf leaf[ISA_LEAVES_MAX];
	uint64_t xcr0;               /* XGETBV with ECX 0 */
	uint32_t hwcap, hwcap2;      /* AT_HWCAP, AT_HWCAP2 */
	uint8_t has[ISA_FEATURES_N]; /* by enum isa_feature */
};

/* NULL: the model has no such leaf, and cpuid answers zeros. */
static inline const struct isa_leaf *isa_leaf(const struct isa_model *m, uint32_t leaf,
					      uint32_t subleaf)
{
	for (uint32_t i = 0; i < m->n && i < ISA_LEAVES_MAX; i++)
		if (m->leaf[i].leaf == leaf &&
		    (m->leaf[i].subleaf == ISA_ANY || m->leaf[i].subleaf == subleaf))
			return &m->leaf[i];
	return NULL;
}

#endif
