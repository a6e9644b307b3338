/* SPDX-License-Identifier: MIT */
/*
 * Debug files that a program's file names (.gnu_debuglink, .gnu_debugaltlink, its build id, split DWARF). These names come from an
 * untrusted file, so tare opens them itself and gives libdw the descriptor: only regular ELF files of at most
 * DEBUG_FILE_MOST bytes, and only with the wanted build id, or without one the wanted checksum.
 */
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include "symbols/libdw.h"

#define DEBUG_FILE_MOST (UINT64_C(16) << 30) /* bytes */

/*
 * The callbacks for every dwfl_begin(), after libdw_load(). They look where libdw looks: /usr/lib/debug/.build-id, the
 * program's folder, its .debug, and below /usr/lib/debug. No network, but see debug_servers.h.
 */
const Dwfl_Callbacks *debug_file_calls(void);

/*
 * May libdw open what the skeleton unit `die` names as its split DWARF file? libdw opens that one itself, so its candidates are
 * examined before: each that is there has to be a regular file. `folders`: of the ELF files that the unit may be in; NULL ends them.
 */
bool debug_file_split_is_safe(Dwarf_Die *die, const char *const *folders);

#endif
