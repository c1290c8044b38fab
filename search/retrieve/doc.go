// Package retrieve asks the engine of each knowledge base for the legs of its plan. Each step gives a type that only
// later steps have:
//
//	target     a knowledge base, measured, with its pool  legs.go, pool.go
//	prepared   its legs for one set of text rules         legs.go; weighing.go weighs them
//	Answered   the engine's answer, with evidence         execute.go; relaxed where nothing is found
//	Retrieval  the answer, ranked                         fusing.go
//
// The other files:
//
//	languages.go  the languages of a knowledge base; relevance.go makes an estimator of them
//	evidence.go   evidence in place of cosines, where chunks are in other languages than the question
//	pins.go       the hits that query rules pin
//	reading.go    chunks, with the scores that are read with a page
//	describe.go   the requests to engines
//	observe.go    the legs' observations, for the tuner
//	later.go      a Retrieval's answers to later steps; legs counted and timed
package retrieve
