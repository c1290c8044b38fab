package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// answer is what Elasticsearch says to one search.
type answer struct {
	Took     int  `json:"took"` // ms
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Failed   int `json:"failed"`
		Failures []struct {
			Reason refusal `json:"reason"`
		} `json:"failures"`
	} `json:"_shards"`
	Hits struct {
		Total struct {
			Value int `json:"value"`
		} `json:"total"`
		Hits []answerHit `json:"hits"`
	} `json:"hits"`
	Aggregations json.RawMessage `json:"aggregations"`
	// Of one search within an _msearch:
	Status int      `json:"status"`
	Error  *refusal `json:"error"`
}

type answerHit struct {
	ID      string             `json:"_id"`
	Score   float32            `json:"_score"`
	Fields  map[string][]any   `json:"fields"`
	Source  json.RawMessage    `json:"_source"`
	Matched map[string]float32 `json:"matched_queries"` // with include_named_queries_score
}

func (a *answer) took() time.Duration { return time.Duration(a.Took) * time.Millisecond }

// err tells whether the answer is whole: what is there of an incomplete one is
// arbitrary.
func (a *answer) err() error {
	switch {
	case a.Error != nil:
		return refusalFault(a.Status, a.Error)
	case a.TimedOut:
		return fault.New(fault.Timeout, "Elasticsearch took too long and has a part of the answer only")
	case a.Shards.Failed > 0 && len(a.Shards.Failures) > 0:
		return fault.Wrap(fault.Unavailable, &a.Shards.Failures[0].Reason, "%d shards failed", a.Shards.Failed)
	case a.Shards.Failed > 0:
		return fault.New(fault.Unavailable, "%d shards failed", a.Shards.Failed)
	case a.Hits.Hits == nil: // an empty list is none of this
		return fault.New(fault.Unavailable, "what answered for Elasticsearch does not answer a search")
	default:
		return nil
	}
}

// search runs one _search that has to be answered whole.
func (e *Engine) search(ctx context.Context, s statement) (*answer, error) {
	found := &answer{}
	if err := e.do(ctx, s, found); err != nil {
		return nil, err
	}
	return found, found.err()
}

// docValues lists the doc values that each hit has to carry.
func (p *plan) docValues() []string {
	var fields []string
	for _, field := range []string{p.t.names.ID, p.t.names.DocumentID, p.t.names.DocumentName} {
		if field != "" {
			fields = append(fields, field)
		}
	}
	for _, facet := range p.facets {
		if facet.kind != absent {
			fields = append(fields, facet.field)
		}
	}
	return fields
}

// chunkID is the chunk's id: of its field or, without one, the document's _id.
func (t *target) chunkID(h *answerHit) string {
	if t.names.ID == "" {
		return h.ID
	}
	return h.first(t.names.ID)
}

// hit decodes a hit, without observations.
func (p *plan) hit(h *answerHit) *engine.Hit {
	f := &engine.Hit{}
	f.ID = p.t.chunkID(h)
	f.DocumentID = h.first(p.t.names.DocumentID)
	f.DocumentName = h.first(p.t.names.DocumentName)
	if len(p.facets) > 0 {
		f.Facets = make(map[string][]string, len(p.facets))
	}
	for i, facet := range p.facets {
		f.Facets[p.req.Facets[i]] = h.facet(facet)
	}
	return f
}

func (h *answerHit) first(field string) string {
	if values := h.Fields[field]; len(values) > 0 {
		return text(values[0])
	}
	return ""
}

func (h *answerHit) facet(c column) []string {
	values := make([]string, 0, len(h.Fields[c.field]))
	for _, v := range h.Fields[c.field] {
		s := text(v)
		if c.kind == encoded {
			s = mappings.DecodeValue(s)
		}
		values = append(values, s)
	}
	return values
}

// text writes a doc value as JSON has it.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
