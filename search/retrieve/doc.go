// Package retrieve asks the engine of each knowledge base for the legs of its plan: a question becomes a Retrieval
// for each of them.
//
//	execute.go    Retriever and Retrieval: the legs run, relaxed where nothing is found
//	legs.go       the query, vector and statistics of each leg; weighing.go weighs them
//	languages.go  the languages of a knowledge base; relevance.go makes an estimator of them
//	evidence.go   evidence in place of cosines, where chunks are in other languages than the question
//	pool.go       several knowledge bases scored as one
//	fusing.go     one ranking of the hits of a knowledge base; pins.go the hits that query rules pin in it
//	reading.go    chunks, with the scores that are read with a page
//	describe.go   the requests to engines
//	observe.go    the legs' observations, for the tuner
//	later.go      a Retrieval's answers to later steps; legs counted and timed
package retrieve
