// Package resultcache caches answers of searches for a while: in memory and, if
// configured, in Redis, which gateways share.
//
// The key of an answer is everything that it depends on: tenant, request, plan, saved
// preset, synonyms, query rules, the program's configuration, and the generation of each
// knowledge base, which its engine is asked for at every search. So an answer is never found
// once the data has changed; it only expires. An answer whose basis was edited during its
// computation is not cached. Answers over a knowledge base whose
// engine cannot tell its generation are not cached, nor degraded or explained ones.
//
// Requests for the same answer at the same time share one computation, which goes
// on for as long as one of them waits. Whatever fails in Redis, the answer is
// computed.
//
//	cache.go    Searcher: a search.Searcher with a cache
//	key.go      everything that an answer depends on
//	flight.go   one computation for many requests
//	kept.go     the cached form of an answer
//	memory.go, redis.go   the two tiers
//	metrics.go  where answers came from
package resultcache
