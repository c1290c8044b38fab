package gateway

import "github.com/hybridge-search/hybridge/gateway/endpoint"

// What callers of New need of the machine.
type (
	// Key is an API key: what it may see and do.
	Key = endpoint.Key
	// Limits bound the size and the time of requests.
	Limits = endpoint.Limits
	// Problem is an error as the API tells it.
	Problem = endpoint.Problem
	// RefusedChunk is a chunk that was not changed.
	RefusedChunk = endpoint.RefusedChunk
)

// DefaultTenant is the tenant of all requests if no key is configured.
const DefaultTenant = endpoint.DefaultTenant

// ProblemOf tells an error as the API does, for programs that tell theirs in the same form.
var ProblemOf = endpoint.ProblemOf

// RequestAttrs are what tells, in another line of the log, which request a context is of.
var RequestAttrs = endpoint.RequestAttrs
