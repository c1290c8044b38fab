package main

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/internal/fieldcheck"
)

// unbounded are operations whose bounds cannot be asked for here: a model is missing, or queries for tuning.
var unbounded = []string{"answer", "grade", "grade-judgment-list", "openai-embeddings", "start-tuning"}

// otherBounds are members whose bounds are not those of the reference alone, and why.
var otherBounds = map[string]string{
	"create-knowledge-base dimensions":              "each engine has its own",
	"diff-mapping dimensions":                       "each engine has its own",
	"meilisearch-facet-search hitsPerPage":          "facets have no hits",
	"meilisearch-facet-search limit":                "facets have no hits",
	"meilisearch-facet-search page":                 "facets have no hits",
	"meilisearch-search offset":                     "it must end within the first 10,000 hits",
	"meilisearch-search page":                       "it must end within the first 10,000 hits",
	"judge-clicks thresholds":                       "each is above the one before",
	"judge-clicks thresholds[0]":                    "each is above the one before, the first above 0",
	"save-judgment-list max_grade":                  "that of a list that is there stays",
	"save-preset definition.provenance.interval[0]": "there are two, the lower one first",
	"needed-experiment goal.units_per_day":          "0 stands for what the log has, which is empty here",
	"create-experiment guard_rails[0].increase":     "it stands in place of at_most",
	"needed-experiment goal.power":                  "0 is the default, others are 0.5 or more",
	"needed-experiment goal.base":                   "0 is none, which a rate needs",
	"rollback-preset base_version":                  "its version ended",
}

// holdsBounds asks for each value at a bound that openapi.json states of a request, which is taken, and for the one
// beyond, which is refused as that member.
func (r *running) holdsBounds(known map[string]any, seed func()) {
	r.t.Helper()
	tried := 0
	var operations []*fieldcheck.Operation // a search first: others have its members within
	for _, o := range r.api.Operations {
		if o.ID == "search" {
			operations = append([]*fieldcheck.Operation{o}, operations...)
		} else {
			operations = append(operations, o)
		}
	}
	for _, o := range operations {
		if slices.Contains(untried, o.ID) || slices.Contains(unbounded, o.ID) {
			continue
		}
		seed()
		for _, e := range r.api.Edges(o, known) {
			if otherBounds[o.ID+" "+e.Field] != "" {
				continue
			}
			tried++
			status, answer := r.answered(o.Method, e.Request)
			if refuses(status, answer, e.Field, !e.Beyond) != e.Beyond {
				r.t.Errorf("%s, %s of %s: %d %.300s", o.ID, e.Field, e.Value, status, answer)
			}
		}
	}
	r.t.Logf("%d values at bounds", tried)
}

var (
	refusedField = regexp.MustCompile(`"code":"([a-z_]+)","field":"([^"]*)"`)
	places       = regexp.MustCompile(`\[[^\]]*\]`)
	ownForm      = regexp.MustCompile(`^\{"(code|error|error_code|message)":`)
)

// refuses reports whether an answer, or a part of it, refuses a member; sound: a value that it may have, which may still
// not be what is stored.
func refuses(status int, answer, field string, sound bool) bool {
	field = "." + places.ReplaceAllString(field, "")
	for _, found := range refusedField.FindAllStringSubmatch(answer, -1) {
		other := sound && (found[1] == "conflict" || found[1] == "not_found")
		if !other && strings.HasSuffix(field, "."+places.ReplaceAllString(found[2], "")) {
			return true
		}
	}
	return ownForm.MatchString(answer) && (status >= http.StatusBadRequest || !strings.Contains(answer, `"code":0`))
}

// answered asks and gives the answer.
func (r *running) answered(method string, asked fieldcheck.Request) (status int, answer string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+asked.Address, strings.NewReader(asked.Body))
	if err != nil {
		r.t.Fatal(err)
	}
	if asked.Type != "" {
		request.Header.Set("Content-Type", asked.Type)
	}
	response, err := r.http.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode, string(text)
}
