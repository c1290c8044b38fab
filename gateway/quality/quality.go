// Package quality has the resources by which searches are measured and decided between.
//
//	quality.go       Services: what they are made of
//	querysets.go, judgments.go, imports.go  query sets and judgments
//	gradings.go      judgments by a language model
//	evaluations.go, tunings.go  what judgments say of presets
//	experiments.go, events.go   what users say of them
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
	(&libraryService{api, of.Library}).register()
	(&gradingService{api, of.Gradings}).register()
	(&evaluationService{api, of.Evaluations}).register()
	(&tuningService{api, of.Tunings}).register()
	(&experimentService{api, of.Experiments}).register()
	(&eventService{api, of.Events, of.Clicks}).register()
}
