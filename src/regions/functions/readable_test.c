/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "regions/functions/readable.h"
#include "tap.h"

/* As c++filt prints them; the name is the part between from and to. */
static const struct {
	const char *readable, *name;
} cases[] = {
	{ "main", "main" },
	{ "", "" },
	{ "json::S::get(int)", "json::S::get" },
	{ "int json::tm<int>(int)", "json::tm<int>" },
	{ "unsigned long json::tm<unsigned long>(unsigned long)", "json::tm<unsigned long>" },
	{ "int const& json::cr<int>(int const&)", "json::cr<int>" },
	{ "std::map<int, int, std::less<int>, std::allocator<std::pair<int const, int> > >* json::mm<int>(int)",
	  "json::mm<int>" },
	{ "decltype(auto) json::da<int>(int&)", "json::da<int>" },
	{ "decltype ({parm#1}+{parm#2}) json::ad<int, long>(int, long)", "json::ad<int, long>" },
	{ "decltype (({parm#1}.f)()) json::ad<int, long>(int, long)", "json::ad<int, long>" },
	{ "decltype_of(int)", "decltype_of" },
	{ "int (*json::fp<int>(int))(char)", "json::fp<int>" },
	{ "int (*(*json::fpp<int>(int))(int))(char)", "json::fpp<int>" },
	{ "int (json::S::*json::mp<int>(int))(char)", "json::mp<int>" },
	{ "int (&json::arr<3>(int)) [3]", "json::arr<3>" },
	{ "int json::en<(json::E)1>()", "json::en<(json::E)1>" },
	{ "int json::big<((3)>(2))>(int)", "json::big<((3)>(2))>" },
	{ "int (anonymous namespace)::an<int>(int)", "(anonymous namespace)::an<int>" },
	{ "(anonymous namespace)::Q (anonymous namespace)::aq<int>(int)",
	  "(anonymous namespace)::aq<int>" },
	{ "(anonymous namespace)::hidden(int)", "(anonymous namespace)::hidden" },
	{ "json::st[abi:cxx11](int)", "json::st[abi:cxx11]" },
	{ "int json::S::operator()<int>(int)", "json::S::operator()<int>" },
	{ "json::S::operator()(int)", "json::S::operator()" },
	{ "json::S::operator[](unsigned long)", "json::S::operator[]" },
	{ "json::S::operator int*()", "json::S::operator int*" },
	{ "json::S::operator std::function<void ()>() const",
	  "json::S::operator std::function<void ()>" },
	{ "json::S::operator unsigned long<unsigned long>() const",
	  "json::S::operator unsigned long<unsigned long>" },
	{ "json::S& json::S::operator<< <int>(int)", "json::S::operator<< <int>" },
	{ "bool json::S::operator< <int>(int) const", "json::S::operator< <int>" },
	{ "bool json::operator> <int>(json::S, int)", "json::operator> <int>" },
	{ "json::S::operator->() const", "json::S::operator->" },
	{ "int json::operator-<int>(json::S, int)", "json::operator-<int>" },
	{ "operator new(unsigned long)", "operator new" },
	{ "operator delete[](void*)", "operator delete[]" },
	{ "int my::operators<int>(int)", "my::operators<int>" },
	{ "auto json::lam<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
	  "json::lam<int>(int)::{lambda(auto:1)#1}::operator()<int>" },
	{ "json::S::f(int) const::{lambda()#1}::operator()() const",
	  "json::S::f(int) const::{lambda()#1}::operator()" },
	{ "non-virtual thunk to json::S::f()", "json::S::f" },
	/* Input that no demangler produces must not cause an endless loop. */
	{ "int f<(", "f<(" },
	{ "((((", "" },
	{ "operator<", "operator<" },
	{ "a<b", "a<b" },
};

TEST(the_name_without_return_type_and_arguments)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *from, *to;
		char *name;

		readable_parts(cases[i].readable, &from, &to);
		name = strndup(from, (size_t)(to - from));
		CHECK_STR(name, cases[i].name);
		free(name);
	}
}

TEST_MAIN()
