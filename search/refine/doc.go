// Package refine takes the steps between retrieval and presentation. Each reads the chunks and asks the models that it
// needs, and lets package rank decide.
//
//	set.go          Set, the ranking with the chunks read for it
//	fuse.go         one ranking of the results of all knowledge bases
//	group.go        thresholds, and one of the chunks of a document, or of near-duplicates
//	rules.go        hits pinned by query rules go to the front
//	copies.go       one hit of chunks with the same text
//	secondstage.go  the best scored anew by words and cosine
//	reranking.go    the best ordered by a reranker
//	diversify.go    an answer of dissimilar hits
//	parents.go      one hit of the chunks of a section
package refine
