// Package engines is how the steps of a search ask engines: which engine holds a knowledge base, one function that
// every question to an engine passes, and what becomes of its errors.
//
//	resolve.go  Subject, a knowledge base with the engine that answers and the plan for it, found in the Catalog
//	calls.go    Ask, with the names of steps and calls in traces; metrics.go counts them
//	faults.go   errors of a context that has ended, time limits of optional steps, a second try where storage moved
package engines
