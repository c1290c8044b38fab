// Package search is the way of a question to its answer: a Request becomes a
// Plan, the question is analysed and embedded once, the plan's legs run on an
// engine, their hits are fused, cut, grouped, highlighted and counted.
//
// Each step is a function of values in a file of its own; only legs do I/O.
// What search needs from others it names here as small interfaces.
package search
