/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/rust_name.h"
#include "base/error.h"
#include "tap.h"

/*
 * The output of the crate rustc-demangle 0.1.26 by format!("{:#}"), except for control characters.
 * The first ones are the examples of the rustc book, "v0 Symbol Format".
 */
static const struct {
	int line;
	const char *mangled;
	const char *name; /* NULL: not demangled */
} rows[] = {
	{ __LINE__, "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
	  "<std::path::PathBuf>::new" },
	{ __LINE__, "_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example" },
	{ __LINE__, "_RC4f128", "f128" },
	{ __LINE__, "_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo", "<mycrate::Example>::foo" },
	{ __LINE__, "_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
	  "<mycrate::Example as mycrate::Trait>::foo" },
	{ __LINE__, "_RNvYNtCs15kBYyAo9fc_7mycrate7ExampleNtB4_5Trait7exampleB4_",
	  "<mycrate::Example as mycrate::Trait>::example" },
	{ __LINE__, "_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}" },
	{ __LINE__, "_RNCNvCsgStHSCytQ6I_7mycrate4mains_0B3_", "mycrate::main::{closure#1}" },
	{ __LINE__, "_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_", "mycrate::example::<i32, 1>" },
	{ __LINE__, "_RNvNtNtCsgOH4LzxkuMq_7mycrateu8gdel_5qa6escher4bach",
	  "mycrate::gödel::escher::bach" },
	{ __LINE__, "_RINvCs7qp2U7fqm6G_7mycrate7exampleFG0_RL1_hRL0_tEuEB2_",
	  "mycrate::example::<for<'a, 'b> fn(&'a u8, &'b u16)>" },
	{ __LINE__, "_RINvCs7qp2U7fqm6G_7mycrate7exampleKy12345678_EB2_",
	  "mycrate::example::<305419896>" },
	{ __LINE__, "_RNvNvMCsd9PVOYlP1UU_7mycrateINtB4_7ExamplepKpE3foo14EXAMPLE_STATIC",
	  "<mycrate::Example<_, _>>::foo::EXAMPLE_STATIC" },
	{ __LINE__, "_RINvCs7qp2U7fqm6G_7mycrate7exampleAtj8_EB2_",
	  "mycrate::example::<[u16; 8]>" },
	{ __LINE__, "_RINvCs7qp2U7fqm6G_7mycrate7exampleNtB2_7ExampleBw_EB2_",
	  "mycrate::example::<mycrate::Example, mycrate::Example>" },
	{ __LINE__, "_RINvMsY_NtCseXNvpPnDBDp_3std4pathNtB6_4Path3neweECs7qp2U7fqm6G_7mycrate",
	  "<std::path::Path>::new::<str>" },
	/* the form before v0, as in Debian's perf 6.1 */
	{ __LINE__, "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	{ __LINE__,
	  "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
	  "<Test + 'static as foo::Bar<Test>>::bar" },
	{ __LINE__, "_ZN8my_crate4a.b.3foo17h930b740aa94f1d3aE.llvm.12345", "my_crate::a.b.::foo" },
	{ __LINE__, "_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h930b740aa94f1d3aE",
	  "main::{{closure}}" },
	{ __LINE__, "_ZN3foo17h930b740aa94f1d3bE.cold", "foo" },
	{ __LINE__, "_ZN3fp117h0123456789abcdefE.llvm.1234ABCD.cold", "fp1" },
	{ __LINE__, "_ZN3fo917h0123456789abcdefE.llvm.ABC@x", "fo9" },
	{ __LINE__, "_ZN12_$RF$$BP$mut3bar17h930b740aa94f1d3aE", "&*mut::bar" },
	{ __LINE__, "_ZN9a$SP$b$C$3bar17h930b740aa94f1d3aE", "a@b,::bar" },
	{ __LINE__, "_ZN4$LP$4$RP$17h0123456789abcdefE", "(::)" },
	{ __LINE__, "_ZN7a$u7e$b3bar17h930b740aa94f1d3cE", "a~b::bar" },
	{ __LINE__, "_ZN8bad$XX$y3bar17h930b740aa94f1d3aE", "bad$XX$y::bar" },
	{ __LINE__, "_ZN10$u41$x$u3$3bar17h930b740aa94f1d3aE", "Ax$u3$::bar" },
	{ __LINE__, "_ZN6$u1f$a3bar17h930b740aa94f1d3cE", "$u1f$a::bar" },
	{ __LINE__, "_ZN6$u80$a3bar17h930b740aa94f1d3cE", "$u80$a::bar" },
	{ __LINE__, "_ZN6$u7E$a3bar17h930b740aa94f1d3cE", "$u7E$a::bar" },
	{ __LINE__, "_ZN4_$LT3bar17h930b740aa94f1d3cE", "$LT::bar" },
	{ __LINE__, "_ZN6__$LT$3bar17h930b740aa94f1d3cE", "__<::bar" },
	{ __LINE__, "_ZN1_3bar17h930b740aa94f1d3cE", "_::bar" },
	{ __LINE__, "_ZN7a...b..3bar17h930b740aa94f1d3cE", "a::.b::::bar" },
	{ __LINE__, "_ZN2x.3bar17h930b740aa94f1d3cE", "x.::bar" },
	{ __LINE__, "_ZN5a:b:c3bar17h930b740aa94f1d3cE", "a:b:c::bar" },
	{ __LINE__, "_ZN3fo817h1111122222333345E", "fo8" },
	{ __LINE__, "_ZN17h930b740aa94f1d3b17h930b740aa94f1d3bE", "h930b740aa94f1d3b" },
	{ __LINE__, "_ZN3fo717h1111122222333334E", NULL },
	{ __LINE__, "_ZN3foo3bar17h0000000000000000E", NULL },
	{ __LINE__, "_ZN7x..y..z3bar17h930B740aa94f1d3aE", NULL },
	{ __LINE__, "_ZN17h930b740aa94f1d3aE", NULL },
	{ __LINE__, "_ZN3foo17h930b740aa94f1d3E9E", NULL },
	{ __LINE__, "_ZN3foo3barE", NULL },
	{ __LINE__, "_ZN4a-bc3bar17h0123456789abcdefE", NULL },
	{ __LINE__, "_ZN3fo317h930b740aa94f1d3bEv", NULL },
	{ __LINE__, "_ZN3fo417h930b740aa94f1d3b3barE", NULL },
	{ __LINE__, "_ZN03fp317h0123456789abcdefE", NULL },
	{ __LINE__, "_ZNK3fp217h0123456789abcdefE", NULL },
	{ __LINE__, "_ZN3fp417h0123456789abcdef$E", NULL },
	{ __LINE__, "_ZN7$u10ffff17h0123456789abcdefE", NULL },
	{ __LINE__, "_ZN99999999999999999999a17h0123456789abcdefE", NULL },
	{ __LINE__, "_ZN", NULL },
	{ __LINE__, "_ZNE", NULL },
	/* identifiers */
	{ __LINE__, "_RNvC6_123foo3bar", "123foo::bar" },
	{ __LINE__, "_RNvC1au7f_5gaa", NULL }, /* one byte short of its length */
	{ __LINE__, "_RNvC1au6f_5gaa", "a::føø" },
	{ __LINE__, "_RNvC1au7___ylb7e", "a::α_ω" },
	{ __LINE__, "_RNvC1au6n84amf", "a::铁锈" },
	{ __LINE__, "_RNvC1au4fq9h", "a::🤦" },
	{ __LINE__, "_RNvC1au6_2xaedc", "a::ρυστ" },
	{ __LINE__, "_RNvC1au2a_", NULL },
	{ __LINE__, "_RNvC1au3a_A", "a::punycode{a-A}" }, /* digits are lower case */
	{ __LINE__, "_RNvC1au6_99999a", "a::punycode{99999a}" },
	{ __LINE__, "_RNvC1au6f_a_bc", "a::punycode{f_a-bc}" }, /* a control character, U+0080 */
	{ __LINE__, "_RNSC1as0_5inner", "a::{shim:inner#2}" },
	{ __LINE__, "_RNKC1as_1x", "a::{K:x#1}" },
	{ __LINE__, "_RNkC1as_0", "a" },
	{ __LINE__, "_RNvC1asZZZZZZZZZZZZ_1b", NULL }, /* beyond 64 bits */
	/* types */
	{ __LINE__, "_RMC1aTabcdefhijlmnopstuvxyzE",
	  "<(i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, _, i16, u16, (), ..., i64, u64, !)>" },
	{ __LINE__, "_RMC1ag", NULL },
	{ __LINE__, "_RMC1aTE", "<()>" },
	{ __LINE__, "_RMC1aTuE", "<((),)>" },
	{ __LINE__, "_RMC1aFUKCRhQL_cOuEPl",
	  "<unsafe extern \"C\" fn(&u8, &mut char, *mut ()) -> *const i32>" },
	{ __LINE__, "_RMC1aFK11rust_intrinScEz", "<extern \"rust-intrin\" fn([char]) -> !>" },
	{ __LINE__, "_RMC1aFK0Eu", NULL },
	{ __LINE__, "_RMC1aFG9_RL9_hEu",
	  "<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k> fn(&'b u8)>" },
	{ __LINE__, "_RMC1aFG0_RL2_hEu", NULL }, /* a third lifetime where two are bound */
	{ __LINE__, "_RMC1aDG_INtC1c2FnTRL0_hEEp6OutputuEL_",
	  "<dyn for<'a> c::Fn<(&'a u8,), Output = ()>>" },
	{ __LINE__, "_RMC1aDNtC1c4SendNtC1c4SyncEL_", "<dyn c::Send + c::Sync>" },
	{ __LINE__, "_RMC1aDNtC1c4Iterp4Itemlp1BhEL_", "<dyn c::Iter<Item = i32, B = u8>>" },
	{ __LINE__, "_RMC1aWmRm1_m9_", "<u32 is 1..=9>" },
	{ __LINE__, "_RMC1aWmORm1_m2_Rm4_m5_E", "<u32 is 1..=2 | 4..=5>" },
	{ __LINE__, "_RMC1aWPuN", "<*const () is !null>" },
	{ __LINE__, "_RIC1aL_E", "a::<'_>" },
	/* constants */
	{ __LINE__, "_RIC1aKhff_Kan80_Ko10000000000000000_Kyffffffffffffffff_Kb1_Kb0_E",
	  "a::<255, -128, 0x10000000000000000, 18446744073709551615, true, false>" },
	{ __LINE__, "_RIC1aKb2_E", NULL },
	{ __LINE__, "_RIC1aKc61_Kc27_Kc22_Kca_Kc7f_Kc1f926_E",
	  "a::<'a', '\\'', '\"', '\\n', '\\u{7f}', '🤦'>" },
	{ __LINE__, "_RIC1aKcd800_E", NULL },
	{ __LINE__, "_RIC1aKc110000_E", NULL },
	{ __LINE__, "_RIC1aKRe612262_KRe2761_KRec3a9_KRe5c1b_KRe_E",
	  "a::<\"a\\\"b\", \"'a\", \"é\", \"\\\\\\u{1b}\", \"\">" },
	{ __LINE__, "_RIC1aKRe6_E", NULL },
	{ __LINE__, "_RIC1aKRec3_E", NULL },
	{ __LINE__, "_RIC1aKRec080_E", NULL },
	{ __LINE__, "_RIC1aKReeda080_E", NULL },
	{ __LINE__, "_RIC1aKRef4908080_E", NULL },
	{ __LINE__, "_RIC1aKe61_KRRe61_KQj1_KAj1_j2_EKTj1_EKTj1_j2_EKAEE",
	  "a::<{*\"a\"}, {&\"a\"}, {&mut 1}, {[1, 2]}, {(1,)}, {(1, 2)}, {[]}>" },
	{ __LINE__, "_RIC1aKVNtC1b1SUKVNtC1b1STj1_j2_EKVNtC1b1SS1xj1_1yRe61_EE",
	  "a::<{b::S}, {b::S(1, 2)}, {b::S { x: 1, y: \"a\" }}>" },
	{ __LINE__, "_RIC1aKVC1bxE", NULL },
	/* suffixes */
	{ __LINE__, "_RNvC1a1f.cold", "a::f.cold" },
	{ __LINE__, "_RNvC1a1f.llvm.123ABC", "a::f" },
	{ __LINE__, "_RNvC1a1f.llvm.12@3", "a::f" },
	{ __LINE__, "_RNvC1a1f.llvm.xyz", "a::f.llvm.xyz" },
	{ __LINE__, "_RNvC1a1f.\x1b", NULL },
	{ __LINE__, "_RNvC1a1f-", NULL },
	{ __LINE__, "_RNvC1a1fC1", NULL },
	/* not valid */
	{ __LINE__, "", NULL },
	{ __LINE__, "_", NULL },
	{ __LINE__, "_R", NULL },
	{ __LINE__, "_RB_", NULL },
	{ __LINE__, "_RNvB0_1a", NULL },
	{ __LINE__, "_RNvB_1a", NULL }, /* refers to itself, endlessly */
	{ __LINE__, "_RELOC", NULL },
	{ __LINE__, "_R0C1a", NULL },
	{ __LINE__, "_ZN1a1fE", NULL },
	{ __LINE__, "_RNvC1a4\x1b[0m", NULL },
};

TEST(names)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *name = rust_name(rows[i].mangled);

		CHECK_STR(name ? name : "(none)", rows[i].name ? rows[i].name : "(none)",
			  "row at line %d", rows[i].line);
		free(name);
	}
}

TEST(ends_early_at_every_byte)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t n = 0; n < strlen(rows[i].mangled); n++) {
			char *cut = strndup(rows[i].mangled, n);

			free(rust_name(cut)); /* checked by the sanitizers */
			free(cut);
		}
}

/* Each level is twice the previous one: 40 of them would take 10^12 steps. */
TEST(doubling_is_given_up)
{
	char s[1024] = "_RMC1a", digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
	size_t n = strlen(s), level = n - 2;

	for (int i = 0; i < 40; i++)
		s[n++] = 'T';
	n += (size_t)sprintf(&s[n], "uuE");
	/*
	 * Innermost first: the tuple that began at `level + 39` has ended; the enclosing one refers
	 * to it again.
	 */
	for (size_t at = level + 39; at > level; at--)
		n += (size_t)sprintf(&s[n], "B%c_E", digits[at - 1]);
	CHECK(rust_name(s) == NULL, "64 KiB are the most");

	/* With five levels it is valid. */
	char *small = rust_name("_RMC1aTTTTTuuEB7_EB6_EB5_EB4_E");

	CHECK(small != NULL);
	CHECK_EQ(strlen(small ? small : ""),
		 strlen("<") + 32 * strlen("()") + 31 * strlen("(, )") + strlen(">"));
	free(small);
}

TEST(deep_is_given_up)
{
	static char s[4096];
	char *name;

	memcpy(s, "_RMC1a", 6);
	memset(s + 6, 'S', 400);
	s[406] = 'u';
	name = rust_name(s);
	CHECK_EQ(strlen(name ? name : ""), (size_t)804, "400 levels");
	free(name);
	memset(s + 6, 'S', 4000);
	s[4006] = 'u';
	CHECK(rust_name(s) == NULL, "4000 levels");
}

/* 60 KB of output, but 20,000 times 100,000 digits to read. */
TEST(reading_is_bounded)
{
	static char s[200000];
	size_t n = 0;

	n += (size_t)sprintf(&s[n], "_RMC1aTNkC1as");
	memset(&s[n], '0', 100000);
	n += 100000;
	n += (size_t)sprintf(&s[n], "_0");
	for (int i = 0; i < 20000; i++)
		n += (size_t)sprintf(&s[n], "B4_");
	sprintf(&s[n], "E");
	CHECK(rust_name(s) == NULL);
}

TEST_MAIN()
