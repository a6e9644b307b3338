/* SPDX-License-Identifier: MIT */
/*
 * Debug files that a program's file names (.gnu_debuglink, .gnu_debugaltlink, its build id, split
 * DWARF). These names come from an untrusted file, so tare opens them itself and gives libdw the
 * descriptor: only regular ELF files of at most DEBUG_FILE_MOST bytes, and only with the right
 * build id, or if there is none, the right checksum.
 */
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include "symbols/libdw.h"

#define DEBUG_FILE_MOST (UINT64_C(16) << 30) /* bytes */

/*
 * The callbacks for every dwfl_begin(), after libdw_load(). They search where libdw does:
 * /usr/lib/debug/.build-id, the program's folder, its .debug, and below /usr/lib/debug. They do not
 * use the network, except as in debug_servers.h.
 */
const Dwfl_Callbacks *debug_file_calls(void);

/*
 * May libdw open the split DWARF file of the skeleton unit `die`? libdw opens it itself, so all
 * candidates are checked first: each existing one has to be a regular file. `folders`: those of the
 * ELF files that may contain the unit; NULL-terminated.
 */
bool debug_file_split_is_safe(Dwarf_Die *die, const char *const *folders);

#endif
