/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "profile/callchain_cache.h"
#include "base/set.h"
#include "tap.h"

static struct callchain_cache chains;

static uint32_t node_of(const struct callchain_cache_key *key)
{
	return callchain_cache_node(callchain_cache_at(&chains, key), key);
}

TEST(a_chain_is_known_by_all_of_its_words)
{
	uint64_t words[4] = { 10, 20, 30, 40 };
	struct callchain_cache_key key = { { 1, 2, 3, 4 }, words, 4 };
	struct chain *at = callchain_cache_at(&chains, &key);

	CHECK_EQ(node_of(&key), SET_NONE, "not kept yet");
	callchain_cache_keep(at, &key, 7);
	CHECK_EQ(node_of(&key), 7u, "kept");
	for (unsigned i = 0; i < CALLCHAIN_CACHE_HEAD; i++) {
		key.head[i] ^= 1ull << 63;
		CHECK_EQ(callchain_cache_node(at, &key), SET_NONE, "word %u of the head", i);
		key.head[i] ^= 1ull << 63;
	}
	for (unsigned i = 0; i < 4; i++) {
		words[i]++;
		CHECK_EQ(callchain_cache_node(at, &key), SET_NONE, "word %u of the chain", i);
		words[i]--;
	}
	key.n = 3;
	CHECK_EQ(callchain_cache_node(at, &key), SET_NONE, "a shorter one");
	key.n = 4;
	CHECK_EQ(callchain_cache_node(at, &key), 7u, "the same again");
	callchain_cache_free(&chains);
	CHECK_EQ(node_of(&key), SET_NONE, "forgotten");
}

TEST(a_place_takes_the_next_chain)
{
	uint64_t words[CALLCHAIN_CACHE_MOST] = { 0 };
	struct callchain_cache_key none = { .n = 0 },
				   most = { { 0 },
					    words,
					    CALLCHAIN_CACHE_MOST - CALLCHAIN_CACHE_HEAD },
				   over = { { 0 },
					    words,
					    CALLCHAIN_CACHE_MOST - CALLCHAIN_CACHE_HEAD + 1 };
	struct chain *at = callchain_cache_at(&chains, &none);

	callchain_cache_keep(at, &none, 0);
	CHECK_EQ(callchain_cache_node(at, &none), 0u, "no callers, node 0");
	callchain_cache_keep(at, &most, 2);
	CHECK_EQ(callchain_cache_node(at, &most), 2u, "the longest");
	CHECK_EQ(callchain_cache_node(at, &none), SET_NONE, "in place of the first");
	callchain_cache_keep(at, &over, 3);
	CHECK_EQ(callchain_cache_node(at, &over), SET_NONE, "too long");
	CHECK_EQ(callchain_cache_node(at, &most), 2u, "and nothing has changed");
	callchain_cache_keep(at, &none, 5);
	CHECK_EQ(callchain_cache_node(at, &none), 5u, "a short one where a long one was");
	callchain_cache_free(&chains);
}

TEST_MAIN()
