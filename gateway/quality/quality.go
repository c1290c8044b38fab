// Package quality has the resources that measure and compare searches.
//
//	quality.go       Services: their dependencies; calls.go makes endpoints of their methods
//	querysets.go, judgments.go, imports.go  query sets and judgments
//	gradings.go      judgments by a language model
//	evaluations.go, tunings.go  evaluations of presets by judgments
//	experiments.go, events.go   evaluations of presets by users
package quality

import "github.com/hybridge-search/hybridge/gateway/endpoint"

// Services do the work; where one is nil, there is none.
type Services struct {
	Library     Library // query sets and judgments
	Gradings    Gradings
	Evaluations Evaluations
	Tunings     Tunings
	Experiments Experiments
	Events      Events
	Clicks      Clicks // judgments of events
}

// Register adds the resources.
func Register(api *endpoint.API, of *Services) {
	registerLibrary(api, of.Library)
	registerGradings(api, of.Gradings)
	registerEvaluations(api, of.Evaluations)
	registerTunings(api, of.Tunings)
	registerExperiments(api, of.Experiments)
	registerEvents(api, of.Events, of.Clicks)
}
