// Package retrieve asks the engine of each knowledge base for the legs of its plan: what was asked becomes a Retrieval
// for each of them.
//
//	execute.go    Retriever and Retrieval: the legs run, relaxed where nothing is found
//	legs.go       the query, vector and statistics of each leg; weighing.go weighs them
//	languages.go  the languages of a knowledge base; relevance.go makes an estimator of them
//	evidence.go   evidence in place of cosines, where chunks are in other languages than the question
//	pool.go       several knowledge bases scored as one
//	fusing.go     one ranking of what the legs of a knowledge base found; pins.go what query rules pin in it
//	reading.go    chunks, with the scores that were left to be read with a page
//	describe.go   what engines would be asked
//	observe.go    what the legs said, for the tuner
//	later.go      what later steps ask of a Retrieval; legs counted and timed
package retrieve
