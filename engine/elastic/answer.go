package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
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

	searched bool        // it answers a search, whatever it found
	ranked   *rankedHits // takes the hits, where it is set
	aggs     readable    // reads the aggregations, where it is set
	lists    hitLists
}

// hitLists are what hits are made of, of all of them one behind the other.
type hitLists struct {
	values []docValue
	scores []clauseScore
	own    *ownChunks // takes the chunks of own documents, where it is set
}

// empty keeps the memory.
func (l *hitLists) empty() hitLists {
	if l.own != nil {
		l.own.empty()
	}
	return hitLists{l.values[:0], l.scores[:0], l.own}
}

// answerHit shares the text of the answer, and the lists of all its hits.
type answerHit struct {
	ID      string
	Score   float32
	Fields  []docValue
	Source  string        // JSON; empty where hitLists took the chunk
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
func (a *answer) read(r reader) {
	// A first try may have left a part.
	*a = answer{ranked: a.ranked, aggs: a.aggs, Hits: a.Hits[:0], lists: a.lists.empty()}
	for r.object(); r.more(); {
		switch r.name() {
		case "took":
			a.Took = int(r.number())
		case "timed_out":
			a.TimedOut = r.value() == "true"
		case "_shards":
			a.readShards(r)
		case "hits":
			a.readHits(r)
		case "aggregations":
			if a.aggs != nil {
				a.aggs.read(r)
			} else {
				a.Aggregations = r.raw()
			}
		case "status":
			a.Status = int(r.number())
		case "error":
			decodeValue(r, &a.Error)
		default:
			r.skip()
		}
	}
}

// readShards keeps what says whether the answer is whole.
func (a *answer) readShards(r reader) {
	for r.object(); r.more(); {
		switch r.name() {
		case "failed":
			a.Shards.Failed = int(r.number())
		case "failures":
			decodeValue(r, &a.Shards.Failures)
		default:
			r.skip()
		}
	}
}

func (a *answer) readHits(r reader) {
	for r.object(); r.more(); {
		switch r.name() {
		case "total":
			a.Total = int(readMember(r, "value"))
		case "hits":
			a.searched = true
			a.readEach(r)
		default:
			r.skip()
		}
	}
}

func (a *answer) readEach(r reader) {
	if a.ranked != nil {
		a.ranked.clear()
	}
	for r.array(); r.more(); {
		if a.ranked != nil {
			a.ranked.add(r)
			continue
		}
		if cap(a.Hits) == 0 {
			a.expect(hitsOfPage)
		}
		a.Hits = append(a.Hits, answerHit{})
		a.lists.read(r, &a.Hits[len(a.Hits)-1])
	}
}

// hitsOfPage is how many hits most answers with content have at most.
const hitsOfPage = 10

// expect makes room for n hits, as nobody says how many there are.
func (a *answer) expect(n int) {
	a.Hits = make([]answerHit, 0, n)
	a.lists.scores = make([]clauseScore, 0, 2*n)
}

// read reads one hit.
func (l *hitLists) read(r reader, h *answerHit) {
	values, scores := len(l.values), len(l.scores)
	for r.object(); r.more(); {
		switch r.name() {
		case "_id":
			h.ID = r.string()
		case "_score":
			h.Score = r.number()
		case "_source":
			if !l.own.take(r) {
				h.Source = r.raw()
			}
		case "fields":
			l.readFields(r)
		case "matched_queries":
			for r.object(); r.more(); {
				l.scores = append(l.scores, clauseScore{r.name(), r.number()})
			}
		default:
			r.skip()
		}
	}
	h.Fields, h.Matched = l.values[values:], l.scores[scores:]
}

func (l *hitLists) readFields(r reader) {
	for r.object(); r.more(); {
		field := r.name()
		for r.array(); r.more(); {
			l.values = append(l.values, docValue{field, r.value()})
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
	if err := e.do(ctx, s.with(searchFilter), found); err != nil {
		return nil, err
	}
	return found, found.err()
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

// chunkID is the chunk's id: of its field or, without one, the document's _id.
func (t *target) chunkID(h *answerHit) string {
	if t.names.ID == "" {
		return h.ID
	}
	return h.first(t.names.ID)
}

// fill makes the hit of a chunk, without observations.
func (p *plan) fill(f *engine.Hit, h *answerHit) {
	f.ID = p.t.chunkID(h)
	f.DocumentID, f.DocumentName = h.first(p.t.names.DocumentID), h.first(p.t.names.DocumentName)
	if len(p.facets) > 0 {
		f.Facets = make(map[string][]string, len(p.facets))
	}
	for i, facet := range p.facets {
		f.Facets[p.req.Facets[i]] = h.facet(facet)
	}
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

func (h *answerHit) facet(c column) []string {
	values := []string{}
	for _, v := range h.Fields {
		switch {
		case v.field != c.field:
		case c.kind == encoded:
			values = append(values, mappings.DecodeValue(v.value))
		default:
			values = append(values, v.value)
		}
	}
	return values
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
