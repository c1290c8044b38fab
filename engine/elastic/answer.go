package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// answer is what Elasticsearch says to one search.
type answer struct {
	Took     int // ms
	TimedOut bool
	Shards   struct {
		Failed   int
		Failures []struct {
			Reason refusal `json:"reason"`
		}
	}
	Total        int
	Hits         []answerHit
	Aggregations string // JSON
	// Of one search within an _msearch:
	Status int
	Error  *refusal

	searched bool // it answers a search, whatever it found

	each   func(r smile.Reader) // reads each hit, instead of Hits
	source func(r smile.Reader) // reads the source of each hit, instead of answerHit.Source
	aggs   func(r smile.Reader) // reads the aggregations, instead of Aggregations
}

// answerHit is a hit of a search that nobody reads in another way.
type answerHit struct {
	ID      string
	Score   float32
	Fields  []docValue
	Source  string        // JSON
	Matched []clauseScore // with include_named_queries_score
}

// docValue is one value of a field, as text.
type docValue struct{ field, value string }

// clauseScore is the score of a named clause.
type clauseScore struct {
	clause string
	score  float32
}

// What searches leave out of their answers: each hit's index, and its sort
// values, which are its score and its id once more.
const (
	searchFilter = "filter_path=-hits.hits._index,-hits.hits.sort"
	legsFilter   = "filter_path=-responses.hits.hits._index,-responses.hits.hits.sort"
)

// read implements readable.
func (a *answer) read(r smile.Reader) {
	*a = answer{each: a.each, source: a.source, aggs: a.aggs} // a first try may have left a part
	for r.Object(); r.More(); {
		switch r.Name() {
		case "took":
			a.Took = int(r.Number())
		case "timed_out":
			a.TimedOut = r.Value() == "true"
		case "_shards":
			a.readShards(r)
		case "hits":
			a.readHits(r)
		case "aggregations":
			if a.aggs != nil {
				a.aggs(r)
			} else {
				a.Aggregations = r.Raw()
			}
		case "status":
			a.Status = int(r.Number())
		case "error":
			smile.Decode(r, &a.Error)
		default:
			r.Skip()
		}
	}
}

// readShards keeps what says whether the answer is whole.
func (a *answer) readShards(r smile.Reader) {
	for r.Object(); r.More(); {
		switch r.Name() {
		case "failed":
			a.Shards.Failed = int(r.Number())
		case "failures":
			smile.Decode(r, &a.Shards.Failures)
		default:
			r.Skip()
		}
	}
}

func (a *answer) readHits(r smile.Reader) {
	for r.Object(); r.More(); {
		switch r.Name() {
		case "total":
			a.Total = int(readMember(r, "value"))
		case "hits":
			a.searched = true
			read := a.readHit
			if a.each != nil {
				read = a.each
			}
			for r.Array(); r.More(); {
				read(r)
			}
		default:
			r.Skip()
		}
	}
}

func (a *answer) readHit(r smile.Reader) {
	var h answerHit
	for r.Object(); r.More(); {
		switch r.Name() {
		case "_id":
			h.ID = r.Text()
		case "_score":
			h.Score = r.Number()
		case "_source":
			if a.source != nil {
				a.source(r)
			} else {
				h.Source = r.Raw()
			}
		case "fields":
			h.readFields(r)
		case "matched_queries":
			for r.Object(); r.More(); {
				h.Matched = append(h.Matched, clauseScore{r.Name(), r.Number()})
			}
		default:
			r.Skip()
		}
	}
	a.Hits = append(a.Hits, h)
}

func (h *answerHit) readFields(r smile.Reader) {
	for r.Object(); r.More(); {
		field := r.Name()
		for r.Array(); r.More(); {
			h.Fields = append(h.Fields, docValue{field, r.Value()})
		}
	}
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
	case !a.searched:
		return fault.New(fault.Unavailable, "what answered for Elasticsearch does not answer a search")
	default:
		return nil
	}
}

// search runs one _search that has to be answered whole.
func (e *Engine) search(ctx context.Context, s statement) (*answer, error) {
	found := &answer{}
	return found, e.answered(ctx, s, found)
}

// answered is search for an answer that is read in a way of its own.
func (e *Engine) answered(ctx context.Context, s statement, found interface {
	readable
	err() error
},
) error {
	if err := e.do(ctx, s.with(searchFilter), found); err != nil {
		return err
	}
	return found.err()
}

// docValues lists the doc values that each hit has to carry.
func (p *plan) docValues() []string {
	fields := slices.Clip(p.made.values)
	for _, facet := range p.facets {
		if facet.kind != absent {
			fields = append(fields, facet.field)
		}
	}
	return fields
}

func (h *answerHit) first(field string) string {
	for i := range h.Fields {
		if h.Fields[i].field == field {
			return h.Fields[i].value
		}
	}
	return ""
}

// matched gives the score of a named clause, if the hit matches it.
func (h *answerHit) matched(clause string) (score float32, matched bool) {
	for _, m := range h.Matched {
		if m.clause == clause {
			return m.score, true
		}
	}
	return 0, false
}

// text writes a value as JSON has it, a string as it is.
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
