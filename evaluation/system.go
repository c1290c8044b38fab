package evaluation

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// depth is the number of hits that each query asks for; recall@100 needs 100.
const depth = 100

// System is a way to search that is measured. Request is sent for every query, with its
// text, vector and knowledge base.
type System struct {
	Name    string
	Request search.Request
}

// Preset returns the system of an unchanged preset.
func Preset(name string) System { return System{Name: name, Request: search.Request{Preset: name}} }

// ParseSystem reads NAME={request}: a label and the members of a search request in JSON, as
// `rrf of 15={"preset":"rrf","candidates":15}`.
func ParseSystem(text string) (System, error) {
	const accepted = `NAME={"preset":"…", …}, a label and the members of a search request`
	name, members, found := strings.Cut(text, "=")
	if !found || name == "" {
		return System{}, fault.Invalid("system", text, accepted)
	}
	system := System{Name: name}
	decoder := json.NewDecoder(strings.NewReader(members))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&system.Request); err != nil {
		return System{}, fault.Wrap(fault.InvalidArgument, err, "system %s must be %s", name, accepted)
	}
	return system, nil
}

// request returns the search request of a query.
func (s *System) request(kb string, q *Query) search.Request {
	req := s.Request
	req.Query, req.Vector, req.Plain = q.Text, q.Vector, true
	req.Queries, req.KnowledgeBases = q.Queries, []string{kb}
	if req.TopK == nil {
		n := depth
		req.TopK = &n
	}
	none := 0
	req.Highlight = &search.Highlight{Fragments: &none}
	return req
}

// request builds a system's request for a query of the set: for one more hit if one will be dropped.
func (s *Set) request(system *System, kb string, q *Query) search.Request {
	req := system.request(kb, q)
	if s.own[q.ID] && *req.TopK < search.MaxTopK {
		req.TopK = new(*req.TopK + 1)
	}
	return req
}

// Planners adds the reference plans to the presets.
func Planners(presets map[string]search.Planner) map[string]search.Planner {
	all := maps.Clone(presets)
	maps.Copy(all, references())
	return all
}

// References names the reference plans, in the order of the table.
func References() []string { return slices.Sorted(maps.Keys(references())) }
