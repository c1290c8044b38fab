// Package refine takes the steps between what was retrieved and what is shown. Each reads what it needs of chunks and
// models, and lets package rank decide by it.
//
//	answerset.go    Set, the ranking with what was read of it; fetch.go reads its chunks
//	fuse.go         one ranking of what all knowledge bases found
//	steps.go        thresholds, and one chunk of a document; group.go one of those that are alike
//	rules.go        what query rules pin goes to the front
//	copies.go       one hit of chunks with the same text
//	secondstage.go  the best scored anew by words and cosine
//	reranking.go    the best ordered by a reranker
//	diversify.go    an answer whose hits are unlike each other
//	parents.go      one hit of the chunks of a section
package refine
