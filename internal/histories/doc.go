// Package histories finds out whether a knowledge base keeps what it has acknowledged while several clients change
// it at once.
//
//	operation.go       what a client does, and what it is told
//	generate.go        the random operations of each client, from a seed
//	record.go          clients at work, and what each of them saw when
//	model.go           one chunk, and what an operation makes of it
//	check.go           the search for an order in which the chunk of the model would have answered alike
//	report.go          a chunk for which there is none, to be read
//
// An operation on many chunks is atomic by chunk, so it is looked at as one operation on each of them, all with the
// same beginning and end. A history is right when every chunk is linearizable: each operation can be given a moment
// between its beginning and its end so that all answers follow. One whose outcome is unknown may have its moment at
// any later time.
package histories
