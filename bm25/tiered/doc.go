// Package tiered keeps BM25 indexes of chunks that live in a database: in memory
// (L1), in Redis (L2) and in the database itself (L3), so that one is built from
// the chunks only when no tier has it.
//
// The chunks and a log of deletions are the truth. Every change raises the
// generation of its knowledge base, and an index of generation g becomes one of
// generation h by applying what the log has between them. So a stored index is
// never wrong, at worst old, and Cache.At answers with exactly the generation
// asked for or not at all.
//
// What is stored is a base and the deltas that continue it. A small change writes
// nothing at first (it is read from the log again), then a delta; when the deltas
// have grown to a quarter of the base, a new base. Merging and storing happen
// beside the index in service.
//
// Scores depend on the live chunks of the generation alone: deleted chunks leave
// the statistics at once (bm25.Options.LiveStatistics is always set). Every
// gateway gives the same scores, bit for bit, whichever tier its index came from.
//
//	contract.go          what a database provides: Source, Store, Locker
//	cache.go, flight.go  At: memory, or one flight for all who wait
//	memory.go            L1: least recently used, bounded by bytes
//	redis.go             L2: a copy of what the database has, behind a breaker
//	blob.go              the stored form
//	keep.go              merging and storing in the background
//	state.go, metrics.go what is told about it
package tiered
