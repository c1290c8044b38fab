// Package search answers a question from knowledge bases. A Request becomes a Plan;
// the question is analyzed and embedded once; the plan's legs run on the engine of
// each knowledge base; their hits are fused, cut, grouped, reranked and presented.
//
// Each step is a file, in this order:
//
//	search.go     Search, as the list of its steps
//	plan.go       the plan of each knowledge base
//	resolve.go    where a knowledge base is, and the engine that answers
//	question.go   the question analyzed, its filter parsed, its vector made
//	rules.go      the query rules that it matches: what is hidden, and after the cut what is pinned
//	execute.go    the legs run on one knowledge base, relaxed where nothing is found
//	legs.go       the query, vector and statistics of each leg
//	fuse.go       one ranking of what the legs found, one of several knowledge bases
//	relevance.go  how probably each hit answers the question, with languages.go
//	cut.go        the thresholds on relevance and on the fused score
//	group.go      one chunk per document, or per likeness
//	secondstage.go the best scored anew by words and cosine
//	rerank.go     the best ordered by a reranker
//	present.go    the page: contents, highlight.go, count.go, neighbours.go
//	apart.go      counts of fields as if they were not filtered, ranked beside the answer
//	fetch.go      chunks read by id, with deferred.go what was left for the page
//	answerset.go  the ranking that totals, facets and pages are made of
//	write.go      the response as JSON
//
// Explain, Analyze and Together take the same steps. What search needs of others it
// names as small interfaces.
package search
