package rest

import (
	"context"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// Answer is what Elasticsearch says to one search.
type Answer struct {
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

	searched bool // it answers a search, whatever it found

	Each   func(r smile.Reader) // reads each hit, instead of Hits
	Source func(r smile.Reader) // reads the source of each hit, instead of Hit.Source
	Aggs   func(r smile.Reader) // reads the aggregations, instead of Aggregations
}

// Hit is a hit of a search that nobody reads in another way.
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

// What searches leave out of their answers: each hit's index, and its sort
// values, which are its score and its id once more.
const (
	searchFilter = "filter_path=-hits.hits._index,-hits.hits.sort"
	// MultiSearchFilter is for a request With.
	MultiSearchFilter = "filter_path=-responses.hits.hits._index,-responses.hits.hits.sort"
)

// Read implements Readable.
func (a *Answer) Read(r smile.Reader) {
	*a = Answer{Each: a.Each, Source: a.Source, Aggs: a.Aggs} // a first try may have left a part
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
			if a.Aggs != nil {
				a.Aggs(r)
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
func (a *Answer) readShards(r smile.Reader) {
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

func (a *Answer) readHits(r smile.Reader) {
	for r.Object(); r.More(); {
		switch r.Name() {
		case "total":
			a.Total = int(smile.Member(r, "value"))
		case "hits":
			a.searched = true
			read := a.readHit
			if a.Each != nil {
				read = a.Each
			}
			for r.Array(); r.More(); {
				read(r)
			}
		default:
			r.Skip()
		}
	}
}

func (a *Answer) readHit(r smile.Reader) {
	var h Hit
	for r.Object(); r.More(); {
		switch r.Name() {
		case "_id":
			h.ID = r.Text()
		case "_score":
			h.Score = r.Number()
		case "_source":
			if a.Source != nil {
				a.Source(r)
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

// Err tells whether the answer is whole: what is there of an incomplete one is
// arbitrary.
func (a *Answer) Err() error {
	switch {
	case a.Error != nil:
		return a.Error.Fault(a.Status)
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

// Searched is what an answer to a search is read into.
type Searched interface {
	Readable
	Err() error
}

// Search runs one _search that has to be answered whole.
func (c *Client) Search(ctx context.Context, r Request) (*Answer, error) {
	found := &Answer{}
	return found, c.SearchInto(ctx, r, found)
}

// SearchInto is Search for an answer that is read in a way of its own.
func (c *Client) SearchInto(ctx context.Context, r Request, found Searched) error {
	if err := c.Read(ctx, r.With(searchFilter), found); err != nil {
		return err
	}
	return found.Err()
}

// First gives the first value of a field; empty: there is none.
func (h *Hit) First(field string) string {
	for i := range h.Fields {
		if h.Fields[i].Field == field {
			return h.Fields[i].Value
		}
	}
	return ""
}

// ScoreOf gives the score of a named clause, if the hit matches it.
func (h *Hit) ScoreOf(clause string) (score float32, matched bool) {
	for _, m := range h.Matched {
		if m.Clause == clause {
			return m.Score, true
		}
	}
	return 0, false
}
