/* SPDX-License-Identifier: MIT */
/* Rust's "v0" symbol names, as people write them. */
#ifndef ANALYZE_RUST_NAME_H
#define ANALYZE_RUST_NAME_H

/*
 * The path that a symbol `_R...` stands for, as rustc-demangle writes it in its alternate form: without the hashes of
 * crates and the types of constants. To be freed. NULL when it is no such name, when what it stands for is longer than
 * 64 KiB, or out of memory: show the name as it is then. Reads a million bytes at most, back references followed, and
 * goes 500 levels deep.
 */
char *rust_name(const char *mangled);

#endif
