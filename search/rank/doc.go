// Package rank orders the hits, drops those that must not be shown and counts the rest. It computes with values and
// calls no engine or model: the chunks it needs are read before.
//
//	ranking.go    Base, what was found in one knowledge base, and Ranked, the best candidates of all
//	boosts.go     knowledge bases that count more than others, and what query rules put first
//	cut.go        thresholds on relevance and score
//	grouping.go   one chunk of a document; sift.go takes copies out, shingles.go tells them
//	rescore.go    the second stage
//	choice.go     a diverse order; dominance.go what ranks first whatever legs weigh
//	count.go      documents and facets
package rank
