// Package answer holds what a search says: the Response with its hits, and what they are explained by. All of it is
// plain values, which the steps of a search fill in.
//
//	response.go  Response, Hit and their parts; write.go writes them as JSON, size.go bounds their bytes
//	stages.go    what the steps after the fusion add to a hit: rules, reranker, second stage, diversity, section
//	degraded.go  what took no part, and why
//	accounts.go  how the weight of a leg and the relevance of hits came about
//	analyze.go   what a search would do; explain.go where a chunk ended up
package answer
