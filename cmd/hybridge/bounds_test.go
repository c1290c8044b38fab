package main

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/internal/fieldcheck"
)

// unbounded are operations whose bounds cannot be asked for here: a model is missing, or what they begin takes too long.
var unbounded = []string{"answer", "grade", "grade-judgment-list"}

// otherBounds are members whose bound is another one than the reference states, and why.
var otherBounds = map[string]string{
	"create-knowledge-base dimensions": "each engine has its own",
	"diff-mapping dimensions":          "each engine has its own",
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
			if refuses(status, answer, e.Field) != e.Beyond {
				r.t.Errorf("%s, %s of %s: %d %.300s", o.ID, e.Field, e.Value, status, answer)
			}
		}
	}
	r.t.Logf("%d values at bounds", tried)
}

var (
	refusedField = regexp.MustCompile(`"code":"(?:invalid_argument|too_large)"(?:,"field":"([^"]*)")?`)
	places       = regexp.MustCompile(`\[[^\]]*\]`)
	dialect      = regexp.MustCompile(`^\{"(code|error|error_code|message)":`)
)

// refuses reports whether an answer, or a part of it, refuses a member.
func refuses(status int, answer, field string) bool {
	field = "." + places.ReplaceAllString(field, "")
	for _, found := range refusedField.FindAllStringSubmatch(answer, -1) {
		if found[1] != "" && strings.HasSuffix(field, "."+places.ReplaceAllString(found[1], "")) {
			return true
		}
	}
	return dialect.MatchString(answer) && (status >= http.StatusBadRequest || !strings.Contains(answer, `"code":0`))
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
