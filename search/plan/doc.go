// Package plan holds requests and plans: a Request becomes a Plan. All of it is plain
// values; nothing here asks an engine or a model.
//
//	request.go      Request, the API's parameters; limits.go bounds it, validate.go checks it
//	overrides.go    changes to the preset by a request: textquery.go, threshold.go, signals.go, rewrite.go,
//	                rerank.go, returns.go
//	facets.go       the fields to count
//	plan.go         Plan and Leg
//	shape.go        changes to a plan after its preset made it
//	everything.go   the plan of a request without a question
//	weightmodel.go  the weight of words by features of the question
package plan
