/* SPDX-License-Identifier: MIT */
/* Demangles Rust's symbol names, "v0" and the form before it. */
#ifndef SYMBOLS_RUST_NAME_H
#define SYMBOLS_RUST_NAME_H

/*
 * For `_ZN...17h<16 digits>E`, the form before v0: the path as perf shows it, without the hash and
 * the suffix that a compiler added after the E. For `_R...`: the path as rustc-demangle writes it
 * in its alternate form, without the hashes of crates and the types of constants. The caller frees
 * it. NULL if it is no such name, if the result is longer than 64 KiB, or out of memory: show the
 * mangled name then. Reads a million bytes at most, including repeated ones by back references, and
 * nests 500 levels at most.
 */
char *rust_name(const char *mangled);

#endif
