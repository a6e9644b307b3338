/* SPDX-License-Identifier: MIT */
/* --format kdb: writes the folder. */
#ifndef CLI_BENCH_BENCH_KDB_FOLDER_H
#define CLI_BENCH_BENCH_KDB_FOLDER_H

#include "bench/bench_view.h"

/* Called before the measurement: the folder must not exist, or must be empty. */
int bench_kdb_folder_check(const char *path, struct tare_error *err);
int bench_kdb_folder_write(const char *path, const struct bench_about *b, struct tare_error *err);

#endif
