// Package answer holds responses: the Response with its hits, and their explanations. All of it is
// plain values, which the steps of a search fill in.
//
//	response.go  Response, Hit and their parts; write.go writes them as JSON, size.go bounds their bytes
//	stages.go    additions to a hit by steps after the fusion: rules, reranker, second stage, diversity, section
//	degraded.go  failed parts, and why
//	accounts.go  explanations of the weight of a leg and the relevance of hits
//	analyze.go   the plan of a request; explain.go where a chunk ended up
package answer
