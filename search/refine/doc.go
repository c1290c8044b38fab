// Package refine takes the steps between what was retrieved and what is shown. Each reads what it needs of chunks and
// models, and lets package rank decide by it.
//
//	set.go          Set, the ranking with what was read of it
//	fuse.go         one ranking of what all knowledge bases found
//	group.go        thresholds, and one of the chunks of a document, or of those that are alike
//	rules.go        what query rules pin goes to the front
//	copies.go       one hit of chunks with the same text
//	secondstage.go  the best scored anew by words and cosine
//	reranking.go    the best ordered by a reranker
//	diversify.go    an answer whose hits are unlike each other
//	parents.go      one hit of the chunks of a section
package refine
