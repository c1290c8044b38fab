// Package resultcache keeps answers of searches for a while: in memory and, where
// there is one, in Redis, which gateways share.
//
// An answer is kept under everything that it depends on: tenant, request, plan,
// synonyms, what the program is configured with, and the generation of each
// knowledge base, asked of its engine at every search. So an answer is never found
// after a change of the data; it only grows old. Of a knowledge base whose engine
// cannot tell its generation nothing is kept.
//
// Many requests that wait for one answer share one computation, which goes on as
// long as one of them waits. Answers that are degraded or explained are not kept.
// Whatever is wrong with Redis, the answer is computed.
//
//	cache.go    Searcher: a search.Searcher that remembers
//	answer.go   what it keeps, as a response and as bytes
//	key.go      what an answer depends on
//	flight.go   one computation for many
//	memory.go, redis.go   the two tiers
//	metrics.go  what became of requests
package resultcache
