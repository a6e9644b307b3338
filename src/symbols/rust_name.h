/* SPDX-License-Identifier: MIT */
/* Rust's symbol names, "v0" and those before, as people write them. */
#ifndef SYMBOLS_RUST_NAME_H
#define SYMBOLS_RUST_NAME_H

/*
 * Of `_ZN...17h<16 digits>E`, the form before v0: the path as perf shows it, without the hash and what a compiler put behind the E.
 * The path that a symbol `_R...` stands for, as rustc-demangle writes it in its alternate form: without the hashes of
 * crates and the types of constants. To be freed. NULL when it is no such name, when what it stands for is longer than
 * 64 KiB, or out of memory: show the name as it is then. Reads a million bytes at most, back references followed, and
 * goes 500 levels deep.
 */
char *rust_name(const char *mangled);

#endif
