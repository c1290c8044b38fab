// Package rank orders what was found, drops what is not to be shown and counts the rest. It computes with values and
// asks nobody: what it needs of chunks is read before.
//
//	base.go       what was found in one knowledge base, as far as ranking goes by it
//	ranking.go    Ranked, the best candidates of all knowledge bases
//	boosts.go     knowledge bases that count more than others; pinning.go what query rules put first
//	cut.go        thresholds on relevance and score; recut.go those on the score of a reranker
//	grouping.go   one chunk of a document; sift.go takes copies out, shingles.go and similar.go tell them
//	rescore.go, wordweights.go  the second stage
//	choice.go     a diverse order; dominance.go what ranks first whatever legs weigh
//	count.go      documents and facets
package rank
