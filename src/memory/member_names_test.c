/* SPDX-License-Identifier: MIT */
/*
 * The member at a byte of a variable, from a DWARF 5 unit that this file writes itself. It has what
 * compilers write and what none would: types that contain themselves. Source: DWARF 5, 7.5, "Format
 * of Debugging Information".
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "symbols/symbols.h"
#include "base/error.h"
#include "tap.h"

/* clang-format off: a debugging information entry a row */
#define LINE(text)                     text "\n"
#define WORD(text)                     LINE(".4byte " text)
#define REF(label)                     WORD(".L" label " - .Lunit")
#define NAME(text)                     LINE(".asciz \"" text "\"")
#define CODE(n)                        LINE(".uleb128 " #n)
#define AT(label)                      LINE(".L" label ":")
#define VARIABLE(name, type, location) CODE(2) NAME(name) REF(type) location
/* DW_OP_addr */
#define ADDR(address) LINE(".uleb128 9; .byte 3; .8byte " #address)
/* DW_OP_addrx */
#define ADDRX(index) LINE(".uleb128 2; .byte 0xa1, " #index)
/* DW_OP_plus_uconst */
#define ADDRX_PLUS(index, n) LINE(".uleb128 4; .byte 0xa1, " #index ", 0x23, " #n)
/* DW_OP_deref: an address that must be loaded */
#define ADDRX_OTHER(index)           LINE(".uleb128 3; .byte 0xa1, " #index ", 0x06")
#define ARRAY(label, of, count)      AT(label) CODE(4) REF(of) CODE(5) LINE(".8byte " #count) CODE(0)
#define STRUCT(label, size, members) AT(label) CODE(6) LINE(".8byte " #size) members CODE(0)
#define MEMBER(name, type, at)       CODE(7) NAME(name) REF(type) LINE(".8byte " #at)
#define ROUND(label, name, type, at, next)                                                         \
	AT(label) CODE(9) NAME(name) REF(type) LINE(".8byte " #at) REF(next)
#define BASE(type, at) CODE(11) REF(type) LINE(".byte " #at)
/* dup, deref, lit24, minus, deref, plus */
#define VIRTUAL(type)                                                                              \
	CODE(12) REF(type) LINE(".byte 1; .uleb128 6; .byte 0x12, 0x06, 0x48, 0x1c, 0x06, 0x22")
#define BITS(name, bits, first) CODE(13) NAME(name) REF("long") LINE(".byte " #bits ", " #first)
#define OLD_BITS(name, size, bits, offset, at)                                                     \
	CODE(14) NAME(name) REF("long") LINE(".byte " #size ", " #bits ", " #offset ", " #at)
#define BOUNDS(low, high) CODE(15) LINE(".byte " #low ", " #high)
#define ABBREVIATION(n, tag, children, attributes)                                                 \
	LINE(".uleb128 " #n ", " #tag "; .byte " #children) LINE(".uleb128 " attributes ", 0, 0")

__asm__(LINE(".pushsection .debug_abbrev, \"\", %progbits") AT("abbreviations")
		ABBREVIATION(1, 0x11, 1, "0x73, 0x17") /* unit: addr_base */
	/* variable: name, type, location */
	ABBREVIATION(2, 0x34, 0, "0x03, 0x08, 0x49, 0x13, 0x02, 0x18")
		ABBREVIATION(3, 0x16, 0, "0x49, 0x13") /* typedef */
	ABBREVIATION(4, 0x01, 1, "0x49, 0x13")         /* array */
	ABBREVIATION(5, 0x21, 0, "0x37, 0x07")         /* its range: count */
	ABBREVIATION(6, 0x13, 1, "0x0b, 0x07")         /* structure: size */
	/* member: name, type, place */
	ABBREVIATION(7, 0x0d, 0, "0x03, 0x08, 0x49, 0x13, 0x38, 0x07")
		ABBREVIATION(8, 0x24, 0, "0x0b, 0x0b") /* base type */
	/* member, with a sibling */
	ABBREVIATION(9, 0x0d, 0, "0x03, 0x08, 0x49, 0x13, 0x38, 0x07, 0x01, 0x13")
		ABBREVIATION(10, 0x21, 0, "0x49, 0x13") /* a range as a type */
	/* base class: type, place */
	ABBREVIATION(11, 0x1c, 0, "0x49, 0x13, 0x38, 0x0b")
	/* virtual base class: its location is computed */
	ABBREVIATION(12, 0x1c, 0, "0x49, 0x13, 0x4c, 0x0b, 0x38, 0x18")
	/* bit field: bits, first */
	ABBREVIATION(13, 0x0d, 0, "0x03, 0x08, 0x49, 0x13, 0x0d, 0x0b, 0x6b, 0x0b")
	/* DWARF 3: storage, bits, offset from the top, location */
	ABBREVIATION(14, 0x0d, 0,
		     "0x03, 0x08, 0x49, 0x13, 0x0b, 0x0b, 0x0d, 0x0b, 0x0c, 0x0b, 0x38, 0x0b")
	/* range: lower and upper bound */
	ABBREVIATION(15, 0x21, 0, "0x22, 0x0b, 0x2f, 0x0b") LINE(".byte 0") LINE(".popsection")

		LINE(".pushsection .debug_addr, \"\", %progbits") WORD(".Laddr_end - .Laddr_begin")
			AT("addr_begin") LINE(".2byte 5; .byte 8, 0") AT("addresses")
				LINE(".8byte 0x7000000001000, 0x7000000002000, 0x7000000003000") AT(
					"addr_end") LINE(".popsection")

					LINE(".pushsection .debug_info, \"\", %progbits") AT(
						"unit") WORD(".Lend - .Lbegin") AT("begin")
						LINE(".2byte 5; .byte 1, 8") WORD(
							".Labbreviations") CODE(1) WORD(".Laddresses")
							AT("long") CODE(8) LINE(".byte 8") STRUCT(
								"hot", 24,
								MEMBER("hits", "long", 0)
									MEMBER("more", "long", 8))
								ARRAY("hots", "hot",
								      4) ARRAY("huge", "hot",
									       0x0aaaaaaaaaaaaaaa)
									ARRAY("beyond", "hot",
									      0x7fffffffffffffff)
	/* typedefs of one another */
	AT("here") CODE(3) REF("there") AT("there") CODE(3) REF("here") ARRAY("of_here", "here", 4)
		ARRAY("itself", "itself", 4) AT("range") CODE(10) REF("range") ARRAY(
			"ranges", "range", 4) STRUCT("russian", 8, MEMBER("doll", "russian", 0))
			STRUCT("outer", 16,
			       MEMBER("a", "here", 0) MEMBER("b", "of_here", 0)
				       MEMBER("c", "long",
					      8)) STRUCT("far", 64,
							 MEMBER("top", "long", 0xffffffffffffffff)
								 MEMBER("low", "long", 8))
				VARIABLE("plain", "hot", ADDR(0x7000000000100))
					VARIABLE("indexed", "hots",
						 ADDRX(0)) VARIABLE("second", "hot", ADDRX(1))
						VARIABLE("merged", "hot", ADDRX_PLUS(1, 64))
							VARIABLE("elsewhere", "hot", ADDRX_OTHER(2))
								VARIABLE("nowhere", "hot", ADDRX(7))
									VARIABLE("huge", "huge", ADDR(0x7000000000200)) VARIABLE("beyond", "beyond", ADDR(0x7000000000300)) VARIABLE("here", "here", ADDR(0x7000000000400)) VARIABLE("of_here", "of_here", ADDR(0x7000000000500)) VARIABLE("itself", "itself", ADDR(0x7000000000600)) VARIABLE("russian",
																																									       "russian", ADDR(0x7000000000700)) VARIABLE("outer", "outer", ADDR(0x7000000000800)) VARIABLE("ring",
																																																					    "ring", ADDR(0x7000000000900)) VARIABLE("far",
																																																										    "far",
																																																										    ADDR(
																																																											    0x7000000000a00)) VARIABLE("ranges",
																																																														       "ranges", ADDR(0x7000000000b00)) VARIABLE("range",
																																																																				 "range", ADDR(0x7000000000c00)) AT("byte") CODE(8) LINE(".byte 1") STRUCT("empty",
																																																																													   1,
																																																																													   "") STRUCT("derived",
																																																																														      16,
																																																																														      BASE("empty",
																																																																															   0) MEMBER("first", "long", 0) MEMBER("second", "long", 8)) STRUCT("base",
																																																																																							     16,
																																																																																							     MEMBER("wide", "long", 0) MEMBER("end", "byte", 8)) STRUCT("reuses",
																																																																																															16,
																																																																																															BASE("base",
																																																																																															     0) MEMBER("tail", "byte", 9)) STRUCT("beside",
																																																																																																				  24,
																																																																																																				  MEMBER("none",
																																																																																																					 "empty", 0) MEMBER("there", "base", 0) MEMBER("behind", "byte", 9)) STRUCT("virtual", 32, MEMBER("own", "long", 8) VIRTUAL("base")) STRUCT("bits",
																																																																																																																						    4, BITS("a", 4, 0) BITS("b", 4, 4) BITS("c", 12, 8)) STRUCT("old_bits", 4,
																																																																																																																														OLD_BITS(
																																																																																																																															"a", 4, 4, 28, 0) OLD_BITS("b",
																																																																																																																																		   4,
																																																																																																																																		   12, 16, 0) OLD_BITS("wrong",
																																																																																																																																				       4, 12, 30, 0)) AT("grid") CODE(4) REF("hot") CODE(5) LINE(".8byte 2") BOUNDS(0, 2) CODE(0) AT("from_1") CODE(4) REF("hot") BOUNDS(1, 4) CODE(0) VARIABLE("derived", "derived", ADDR(0x7000000010000)) VARIABLE("reuses",
																																																																																																																																																														      "reuses",
																																																																																																																																																														      ADDR(0x7000000010100)) VARIABLE("beside",
																																																																																																																																																																		      "beside",
																																																																																																																																																																		      ADDR(0x7000000010200)) VARIABLE("virtual",
																																																																																																																																																																						      "virtual",
																																																																																																																																																																						      ADDR(0x7000000010300))
										VARIABLE(
											"bits",
											"bits",
											ADDR(
												0x7000000010400)) VARIABLE("old_bits",
															   "old_bits",
															   ADDR(0x7000000010500))
											VARIABLE(
												"grid",
												"grid",
												ADDR(0x7000000010600))
												VARIABLE(
													"from_1",
													"from_1",
													ADDR(0x7000000010700))
	/* Members that form a cycle; anything after them cannot be found. */
	STRUCT("ring", 64,
	       ROUND("first", "first", "long", 0, "second")
		       ROUND("second", "second", "long", 8, "first")) CODE(0) AT("end")
		LINE(".popsection"));
/* clang-format on */

TEST(fields)
{
	static const struct {
		int line;
		uint64_t address, at;
		const char *field; /* NULL: none expected */
		bool hole, last;
	} rows[] = {
		{ __LINE__, 0x7000000000100, 0, ".hits" },
		{ __LINE__, 0x7000000000100, 15, ".more" },
		{ __LINE__, 0x7000000000100, 16, NULL, true }, /* a hole */
		{ __LINE__, 0x7000000000100, 24, NULL },
		{ __LINE__, 0x7000000000101, 0, NULL },
		{ __LINE__, 0x7000000001000, 24, "[1].hits" },
		{ __LINE__, 0x7000000001000, 95, "[3]", true },
		{ __LINE__, 0x7000000001000, 96, NULL },
		{ __LINE__, 0x7000000002000, 8, ".more" },
		{ __LINE__, 0x7000000002040, 0, ".hits" },
		{ __LINE__, 0x7000000003000, 0, NULL }, /* its content is the address */
		{ __LINE__, 0x7000000000200, 0xfffffffffffffff, "[48038396025285290].more" },
		{ __LINE__, 0x7000000000400, 0, NULL },
		{ __LINE__, 0x7000000000500, 0, NULL },
		{ __LINE__, 0x7000000000600, 0, NULL },
		{ __LINE__, 0x7000000000800, 8, ".c" },
		{ __LINE__, 0x7000000000900, 8, ".second" },
		{ __LINE__, 0x7000000000900, 40, NULL },
		{ __LINE__, 0x7000000000a00, 8, ".low" },
		{ __LINE__, 0x7000000000b00, 0, NULL },
		{ __LINE__, 0x7000000000c00, 0, NULL },
		/* an empty base class has one byte, with nothing in it */
		{ __LINE__, 0x7000000010000, 0, ".first" },
		{ __LINE__, 0x7000000010000, 8, ".second" },
		{ __LINE__, 0x7000000010100, 8, ".end" },
		/* in the padding that the base class does not use */
		{ __LINE__, 0x7000000010100, 9, ".tail" },
		{ __LINE__, 0x7000000010100, 10, NULL, true },
		{ __LINE__, 0x7000000010200, 0, ".there.wide" },
		{ __LINE__, 0x7000000010200, 9, ".behind" },
		{ __LINE__, 0x7000000010200, 10, ".there", true },
		{ __LINE__, 0x7000000010300, 8, ".own" },
		/* the object stores the offset of its virtual base class */
		{ __LINE__, 0x7000000010300, 16, NULL, true },
		{ __LINE__, 0x7000000010400, 0, ".a" },
		{ __LINE__, 0x7000000010400, 0, ".b", false, true },
		{ __LINE__, 0x7000000010400, 1, ".c", false, true },
		{ __LINE__, 0x7000000010400, 2, ".c" },
		{ __LINE__, 0x7000000010400, 3, NULL, true },
		{ __LINE__, 0x7000000010500, 0, ".a" },
		{ __LINE__, 0x7000000010500, 0, ".b", false, true },
		{ __LINE__, 0x7000000010500, 1, ".b" },
		{ __LINE__, 0x7000000010500, 2, NULL, true },
		{ __LINE__, 0x7000000010600, 5 * 24 + 8, "[1][2].more" },
		{ __LINE__, 0x7000000010600, 2 * 24, "[0][2].hits" },
		/* arrays begin at 1; DWARF versions list different languages */
		{ __LINE__, 0x7000000010700, 24, NULL },
	};
	struct tare_error err = TARE_ERROR_INIT;
	struct symbols *s;
	struct symbol_field out;

	if (symbols_probe(&err) < 0)
		tap_skip("symbols", "%s", err.what);
	CHECK_EQ(symbols_open(&s, "this program", open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
			      &err),
		 0, "%s", err.what);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool is = symbols_field(s, rows[i].address, rows[i].at, rows[i].last, &out);

		CHECK_EQ(is, rows[i].field != NULL, "row at line %d: %s", rows[i].line, out.name);
		if (is && rows[i].field)
			CHECK_STR(out.name, rows[i].field, "row at line %d", rows[i].line);
		CHECK(out.hole || !rows[i].hole, "row at line %d", rows[i].line);
		CHECK(!is || out.part[out.parts - 1].end == strlen(out.name), "row at line %d",
		      rows[i].line);
	}
	/* Ends at any depth, and a name that does not fit is not cut. */
	CHECK(!symbols_field(s, 0x7000000000700, 0, false, &out), "%s", out.name);
	CHECK_STR(out.variable, "russian", "the variable is named if its part is not");
	symbols_field(s, 0x7000000000300, 1000, false, &out);
	symbols_close(s);
}

TEST_MAIN()
