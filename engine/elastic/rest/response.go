package rest

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// SearchResponse is the response to one search.
type SearchResponse struct {
	Took     time.Duration
	TimedOut bool
	Shards   struct {
		Failed   int
		Failures []struct {
			Reason Refusal `json:"reason"`
		}
	}
	Total        int
	Hits         []Hit
	Aggregations string // JSON
	// Of one search within an _msearch:
	Status int
	Error  *Refusal

	hasHits bool // there is a list of hits, which may be empty

	ReadHit    func(r smile.Reader) // reads each hit, instead of Hits
	ReadSource func(r smile.Reader) // reads the source of each hit, instead of Hit.Source
	ReadAggs   func(r smile.Reader) // reads the aggregations, instead of Aggregations
}

// Hit is one of the Hits of a SearchResponse.
type Hit struct {
	ID      string
	Score   float32
	Fields  []DocValue
	Source  string        // JSON
	Matched []ClauseScore // with include_named_queries_score
}

// DocValue is one value of a field, as text.
type DocValue struct{ Field, Value string }

// ClauseScore is the score of a named clause.
type ClauseScore struct {
	Clause string
	Score  float32
}

// Filters that omit unneeded parts of responses: each hit's index, and its sort values,
// which are its score and its id once more.
const (
	searchFilter = "filter_path=-hits.hits._index,-hits.hits.sort"
	// MultiSearchFilter is a parameter for Request.With.
	MultiSearchFilter = "filter_path=-responses.hits.hits._index,-responses.hits.hits.sort"
)

// Read implements Readable.
func (a *SearchResponse) Read(r smile.Reader) {
	// Clear what a failed attempt may have left.
	*a = SearchResponse{ReadHit: a.ReadHit, ReadSource: a.ReadSource, ReadAggs: a.ReadAggs}
	for r.Object(); r.More(); {
		switch r.Name() {
		case "took":
			a.Took = time.Duration(r.Number()) * time.Millisecond
		case "timed_out":
			a.TimedOut = r.Value() == "true"
		case "_shards":
			a.readShards(r)
		case "hits":
			a.readHits(r)
		case "aggregations":
			if a.ReadAggs != nil {
				a.ReadAggs(r)
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

// readShards records whether the response is complete.
func (a *SearchResponse) readShards(r smile.Reader) {
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

func (a *SearchResponse) readHits(r smile.Reader) {
	for r.Object(); r.More(); {
		switch r.Name() {
		case "total":
			a.Total = int(smile.Member(r, "value"))
		case "hits":
			a.hasHits = true
			read := a.readHit
			if a.ReadHit != nil {
				read = a.ReadHit
			}
			for r.Array(); r.More(); {
				read(r)
			}
		default:
			r.Skip()
		}
	}
}

func (a *SearchResponse) readHit(r smile.Reader) {
	var h Hit
	for r.Object(); r.More(); {
		switch r.Name() {
		case "_id":
			h.ID = r.Text()
		case "_score":
			h.Score = r.Number()
		case "_source":
			if a.ReadSource != nil {
				a.ReadSource(r)
			} else {
				h.Source = r.Raw()
			}
		case "fields":
			h.readFields(r)
		case "matched_queries":
			for r.Object(); r.More(); {
				h.Matched = append(h.Matched, ClauseScore{r.Name(), r.Number()})
			}
		default:
			r.Skip()
		}
	}
	a.Hits = append(a.Hits, h)
}

func (h *Hit) readFields(r smile.Reader) {
	for r.Object(); r.More(); {
		field := r.Name()
		for r.Array(); r.More(); {
			h.Fields = append(h.Fields, DocValue{field, r.Value()})
		}
	}
}

// Err reports a failed or incomplete search. The contents of an incomplete response are
// arbitrary.
func (a *SearchResponse) Err() error {
	switch {
	case a.Error != nil:
		return a.Error.Fault(a.Status)
	case a.TimedOut:
		return fault.New(fault.Timeout, "Elasticsearch took too long and has a part of the answer only")
	case a.Shards.Failed > 0 && len(a.Shards.Failures) > 0:
		why := &a.Shards.Failures[0].Reason
		return fault.Wrap(fault.Unavailable, why, "%d shards failed: %s", a.Shards.Failed, why.Shown())
	case a.Shards.Failed > 0:
		return fault.New(fault.Unavailable, "%d shards failed", a.Shards.Failed)
	case !a.hasHits:
		return fault.New(fault.Unavailable, "what answered for Elasticsearch does not answer a search")
	default:
		return nil
	}
}

// CheckedReadable is a Readable that can tell whether it is complete.
type CheckedReadable interface {
	Readable
	Err() error
}

// Search runs one _search; an incomplete response is an error.
func (c *Client) Search(ctx context.Context, r Request) (*SearchResponse, error) {
	found := &SearchResponse{}
	return found, c.SearchInto(ctx, r, found)
}

// SearchInto is Search for a response that reads itself.
func (c *Client) SearchInto(ctx context.Context, r Request, found CheckedReadable) error {
	if err := c.Read(ctx, r.With(searchFilter), found); err != nil {
		return err
	}
	return found.Err()
}

// First returns the first value of a field; empty: there is none.
func (h *Hit) First(field string) string {
	for i := range h.Fields {
		if h.Fields[i].Field == field {
			return h.Fields[i].Value
		}
	}
	return ""
}

// ScoreOf returns the score of a named clause, if the hit matches it.
func (h *Hit) ScoreOf(clause string) (score float32, matched bool) {
	for _, m := range h.Matched {
		if m.Clause == clause {
			return m.Score, true
		}
	}
	return 0, false
}
