/* SPDX-License-Identifier: MIT */
/*
 * elfutils' libdw, loaded on first use, so that runs without symbols pay nothing. libdw.F(...) is
 * libdw's own F().
 */
#ifndef SYMBOLS_LIBDW_H
#define SYMBOLS_LIBDW_H

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include "base/error.h"
#include "base/library.h"

/* clang-format off */
#define LIBDW_FUNCTIONS(F) \
	F(dwfl_begin) F(dwfl_end) F(dwfl_errmsg) F(dwfl_report_offline) F(dwfl_report_end) \
	F(dwfl_module_getelf) F(dwfl_module_getsymtab) F(dwfl_module_getsym_info) \
	F(dwfl_module_info) F(dwfl_module_nextcu) F(dwfl_offline_section_address) \
	F(dwfl_module_getdwarf) F(dwelf_dwarf_gnu_debugaltlink) F(dwelf_elf_gnu_build_id) \
	F(elf_begin) F(elf_end) F(elf_version) F(dwfl_module_eh_cfi) F(dwfl_module_dwarf_cfi) \
	F(dwarf_cfi_addrframe) F(dwarf_next_cfi) F(dwarf_frame_info) F(dwarf_frame_cfa) \
	F(dwarf_frame_register) F(dwarf_ranges) F(dwarf_getsrc_die) F(dwarf_linesrc) \
	F(dwarf_lineno) F(dwarf_child) F(dwarf_siblingof) F(dwarf_tag) F(dwarf_attr) \
	F(dwarf_attr_integrate) F(dwarf_diename) F(dwarf_formstring) F(dwarf_formudata) \
	F(dwarf_formaddr) F(dwarf_formblock) F(dwarf_formref_die) F(dwarf_getlocation) \
	F(dwarf_getlocation_attr) F(dwarf_aggregate_size) F(dwarf_cu_info) F(dwarf_diecu) \
	F(dwarf_srclang) F(dwarf_getsrcfiles) F(dwarf_filesrc) F(elf_getphdrnum) \
	F(gelf_getphdr) F(elf_nextscn) F(gelf_getshdr) F(elf_getshdrstrndx) F(elf_strptr) \
	F(elf_getident) F(elf_rawdata)
/* clang-format on */

struct libdw {
	LIBDW_FUNCTIONS(LIBRARY_POINTER)
	bool usable;
};

extern struct libdw libdw;

/* 0 if the functions may be called. */
int libdw_load(struct tare_error *err);

/*
 * A demangled C++ name, which the caller frees; NULL if it is no C++ name, or if libstdc++ (which
 * every C++ program has) is missing. Needs no libdw_load(): the first name loads libstdc++, because
 * that takes as long as all the rest of a small report.
 */
char *libdw_demangled(const char *name);

#endif
