// Package plan holds what a search is asked and what is planned of it: a Request becomes a Plan. All of it is plain
// values; nothing here asks an engine or a model.
//
//	request.go      Request, what the API takes; limits.go bounds it, validate.go checks it
//	overrides.go    what a request may change of its preset: textquery.go, threshold.go, signals.go, rewrite.go,
//	                rerank.go, returns.go
//	filter.go       the filter of a request as conditions for engines; facets.go the fields to count
//	plan.go         Plan and Leg
//	shape.go        what changes a plan after its preset made it
//	everything.go   the plan of a request without a question
//	weightmodel.go  the weight of words by features of the question
package plan
