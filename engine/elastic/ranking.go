package elastic

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/lib/smile"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/scoring"
)

// ranking is the response to a search by the legs of a plan. It may have a thousand hits,
// which are read straight into two slices.
type ranking struct {
	rest.SearchResponse
	p      *plan
	size   int          // of hits that are wanted
	hits   []engine.Hit // with the raw scores of the legs whose clauses are named
	scores []float32    // by which Elasticsearch ranked them
	spare  []scoring.Observation
}

// search runs one _search by the legs of a plan; an incomplete response is an error.
func (p *plan) search(ctx context.Context, e *Engine, r rest.Request, size int) (*ranking, error) {
	found := &ranking{p: p, size: size}
	r.Compact = true
	return found, e.client.SearchInto(ctx, r, found)
}

// Read implements rest.Readable.
func (a *ranking) Read(r smile.Reader) {
	a.hits, a.scores, a.spare = nil, nil, nil // of a failed attempt
	a.ReadHit = a.readHit
	a.SearchResponse.Read(r)
}

// keep drops all but the first n hits.
func (a *ranking) keep(n int) { a.hits, a.scores = a.hits[:n], a.scores[:n] }

func (a *ranking) readHit(r smile.Reader) {
	if a.hits == nil {
		a.hits, a.scores = make([]engine.Hit, 0, a.size), make([]float32, 0, a.size)
	}
	hit, score := a.p.newHit(a.observations()), float32(0)
	for r.Object(); r.More(); {
		switch r.Name() {
		case "_id":
			if id := r.Text(); a.p.t.Names.ID == "" {
				hit.ID = id
			}
		case "_score":
			score = r.Number()
		case "fields":
			a.p.readFields(r, &hit)
		case "matched_queries":
			a.p.readScores(r, hit.Observations)
		default:
			r.Skip()
		}
	}
	a.hits, a.scores = append(a.hits, hit), append(a.scores, score)
}

// observations allocates those of a hit, from one block for all hits.
func (a *ranking) observations() []scoring.Observation {
	n := len(a.p.legs)
	if len(a.spare) < n {
		a.spare = make([]scoring.Observation, max(1, a.size)*n)
	}
	next := a.spare[:n:n]
	a.spare = a.spare[n:]
	return next
}

// newHit makes a hit without values that no leg matches yet.
func (p *plan) newHit(observations []scoring.Observation) (hit engine.Hit) {
	for i := range observations {
		observations[i].Raw = p.legs[i].unmatched()
	}
	hit.Observations = observations
	if len(p.signals) > 0 {
		hit.Signals = make([]float64, len(p.signals))
	}
	if len(p.facets) > 0 {
		hit.Facets = make(map[string][]string, len(p.facets))
		for _, facet := range p.req.Facets {
			hit.Facets[facet] = []string{}
		}
	}
	return hit
}

// readFields reads the doc values of a hit.
func (p *plan) readFields(r smile.Reader, hit *engine.Hit) {
	for r.Object(); r.More(); {
		field, first := r.Name(), true
		for r.Array(); r.More(); first = false {
			value := r.Value()
			if first {
				p.setField(hit, field, value)
			}
			p.addFacets(hit, field, value)
			p.addSignals(hit, field, value)
		}
	}
}

// addFacets adds a doc value to the facets that are read from its field.
func (p *plan) addFacets(hit *engine.Hit, field, value string) {
	for i, facet := range p.facets {
		if facet.field == field && facet.kind != absent {
			name := p.req.Facets[i]
			hit.Facets[name] = append(hit.Facets[name], facet.decode(value))
		}
	}
}

func (p *plan) setField(hit *engine.Hit, field, value string) {
	names := p.t.Names
	if field == names.ID {
		hit.ID = value
	}
	if field == names.DocumentID {
		hit.DocumentID = value
	}
	if field == names.DocumentName {
		hit.DocumentName = value
	}
}

// decode returns the value behind a doc value.
func (c column) decode(value string) string {
	if c.kind == encoded {
		return mappings.DecodeValue(value)
	}
	return value
}

// readScores reads the scores of the named clauses that a hit matches.
func (p *plan) readScores(r smile.Reader, observations []scoring.Observation) {
	for r.Object(); r.More(); {
		name := r.Name()
		score := r.Number()
		for i := range p.legs {
			if p.legs[i].name == name {
				observations[i].Raw = p.legs[i].raw(score)
			}
		}
	}
}

// rankings is the response to an _msearch by the legs of a plan: one ranking per leg, then
// the page of prefetched chunks, if any.
type rankings struct {
	p     *plan
	sizes []int // of each leg's search
	legs  []*ranking
	page  *storage.Page // nil: no chunks are prefetched
}

// Read implements rest.Readable.
func (a *rankings) Read(r smile.Reader) {
	a.legs = nil
	for r.Object(); r.More(); {
		if r.Name() != "responses" {
			r.Skip()
			continue
		}
		for r.Array(); r.More(); {
			switch n := len(a.legs); {
			case n < len(a.sizes):
				a.legs = append(a.legs, &ranking{p: a.p, size: a.sizes[n]})
				a.legs[n].Read(r)
			case a.page != nil:
				a.page.Read(r)
			default:
				r.Skip()
			}
		}
	}
}
