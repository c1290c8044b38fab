// Package search answers a question from knowledge bases. A Request becomes a Plan; the question is parsed and embedded
// once; the plan's legs run on the engine of each knowledge base; their hits are fused, cut, grouped, reranked and
// presented. Each step is a package, and its result is a type that only later steps have:
//
//	plan        the request, and its plan                            plan.Request -> plan.Plan
//	ask         the question, parsed, filtered and embedded          -> ask.Asked
//	retrieve    statistics, legs and evidence of each knowledge base -> []retrieve.Answered
//	relevance   how probably each hit answers the question           -> relevance.Calibrated
//	rank        one order, cut and counted                           -> rank.Ranked
//	refine      the steps after the fusion that read chunks          -> refine.Set
//	present     the page                                             -> answer.Response
//
// relevance and rank compute with values and call no engine or model. plan holds requests and plans, answer holds
// responses, engines sends requests to engines. typing is beside the steps: suggestions and corrections.
//
// The files of this package:
//
//	search.go    Searcher, its dependencies, and Search; steps.go the list of its steps
//	planning.go  the plan of each knowledge base; rewriting.go phrasings by a language model
//	admit.go     the estimated work of a search, and when it may begin
//	run.go       a search in progress, and what a page, an explanation or a count needs of the steps
//	apart.go     counts of fields without their own filter, ranked beside the answer
//	together.go  several requests for one question
//	analyze.go   the plan of a request; explain.go where a chunk ended up; observe.go the legs' observations
//	suggest.go   suggestions and corrections
//	texts.go     texts that no knowledge base holds, scored against a question
//	slow.go      the log of slow searches
//	aliases.go   names of the steps' types that callers know as those of this package
package search
