// Package rank orders what was found, drops what is not to be shown and counts the rest. It computes with values and
// asks nobody: what it needs of chunks is read before.
//
//	ranking.go    Base, what was found in one knowledge base, and Ranked, the best candidates of all
//	boosts.go     knowledge bases that count more than others, and what query rules put first
//	cut.go        thresholds on relevance and score
//	grouping.go   one chunk of a document; sift.go takes copies out, shingles.go tells them
//	rescore.go    the second stage
//	choice.go     a diverse order; dominance.go what ranks first whatever legs weigh
//	count.go      documents and facets
package rank
