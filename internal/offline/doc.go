// Package offline measures and tunes presets on retrieval sets of files, apart from any gateway and its data:
// `hybridge eval`, `hybridge tune` and the program that writes docs/relevance.md.
//
//	evaluator.go   sets, engine and model of one evaluation; figures of systems on sets
//	tuning.go      the search for better weights
//	perquery.go    weights that follow from the question
package offline
