/* SPDX-License-Identifier: MIT */
/* Names the file that a system call reads or examines. */
#ifndef DIVERGENCE_FILE_H
#define DIVERGENCE_FILE_H

#include "diverge/divergence_cause.h"

/*
 * The file of the system call at d->run[0].step[step], as the program named it; "" if it is not
 * known. Makes up to three more runs. `code` reads code of the program.
 */
int divergence_file(struct divergence *d, size_t step, struct diverge_plan *plan, code_at_fn *code,
		    void *with, char out[FILE_NAME_MAX], struct tare_error *err);

#endif
