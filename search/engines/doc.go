// Package engines is the way of a search's steps to engines: which engine holds a knowledge base, one function for
// all calls of engines, and the handling of their errors.
//
//	resolve.go  Subject, a knowledge base with the engine that answers and the plan for it, found in the Catalog
//	optional.go what engines may do beyond the contract, asserted here alone
//	calls.go    Ask, with the names of steps and calls in traces; metrics.go counts them
//	faults.go   errors of a context that has ended, time limits of optional steps, a second try where storage moved
package engines
