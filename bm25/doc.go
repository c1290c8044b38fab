// Package bm25 is an in-process full-text index over analysed chunks. It
// evaluates a textquery.Query to the score that Elasticsearch 8 gives: Lucene's
// BM25 with the factor k1 + 1 and field lengths rounded to one byte.
//
// An Index is a list of immutable segments and a bit per deleted chunk. One
// writer at a time makes segments and marks deletes, one at a time merges small
// neighbours; readers take a Snapshot, which never changes, and need no lock.
//
//	build.go, merge.go     tokens → segment, segments → segment
//	beside.go              merges while writers and readers go on
//	segment.go, packing.go postings in bit-packed blocks of 128, a bound on each
//	plan.go, formula.go    a query and the snapshot's statistics → weights
//	scorer.go, phrase.go   term and phrase scorers over one segment
//	window.go, maxscore.go windows of chunks, pruning, the best k
//	words.go               terms by prefix, chunks by their first terms
//	write.go, read.go      the stored form
//
// As in Lucene, deleted chunks count in the statistics until a merge drops them;
// Compact drops them all. With Options.LiveStatistics they never count.
package bm25
