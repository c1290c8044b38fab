// Package search answers a question from knowledge bases. A Request becomes a Plan; the question is parsed and embedded
// once; the plan's legs run on the engine of each knowledge base; their hits are fused, cut, grouped, reranked and
// presented. Each step is a package, and what it gives is a type that only later steps have:
//
//	plan        what is asked, and what is planned of it             plan.Request -> plan.Plan
//	ask         the question, parsed, filtered and embedded          -> ask.Asked
//	retrieve    statistics, legs and evidence of each knowledge base -> []retrieve.Retrieval
//	relevance   how probably each hit answers the question           -> relevance.Calibrated
//	rank        one order, what is cut and what is counted           -> rank.Ranked
//	refine      the steps after the fusion that read chunks          -> refine.Set
//	present     the page                                             -> answer.Response
//
// relevance and rank compute with values and ask nobody. plan and answer hold what is asked and said, engines is how
// every step asks an engine. typing is beside the steps: suggestions and corrections.
//
// The files of this package:
//
//	search.go    Searcher, what it is made of, and Search; steps.go the list of its steps
//	planning.go  the plan of each knowledge base; rewriting.go phrasings by a language model
//	admit.go     how much work a search is, and when it may begin
//	run.go       a search under way, and what a page, an explanation or a count needs of the steps
//	apart.go     counts of fields without their own filter, ranked beside the answer
//	together.go  several requests for one question
//	analyze.go   what a request would do; explain.go where a chunk ended up; observe.go what the legs say
//	suggest.go   suggestions and corrections
//	texts.go     texts that no knowledge base holds, scored against a question
//	slow.go      the log of slow searches
//	aliases.go   names of the steps' types that callers know as those of this package
package search
