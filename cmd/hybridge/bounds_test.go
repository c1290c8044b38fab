package main

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/fieldcheck"
)

// holdsBounds asks for each value at a bound that openapi.json states of a request, which is taken, and for the one
// beyond, which is refused as that member.
func (r *running) holdsBounds(known map[string]any, seed func()) {
	r.t.Helper()
	tried := 0
	for _, o := range r.api.Operations {
		if slices.Contains(untried, o.ID) {
			continue
		}
		seed()
		for _, e := range r.api.Edges(o, known) {
			tried++
			status, p := r.refusal(o.Method, e.Request)
			refused := status >= 400 && status < 500 && (p.Field == e.Field || strings.HasPrefix(p.Field, e.Field+"[") || strings.HasPrefix(p.Field, e.Field+"."))
			if refused != e.Beyond {
				r.t.Errorf("%s, %s of %s: %d, field %q: %s", o.ID, e.Field, e.Value, status, p.Field, p.Detail)
			}
		}
	}
	r.t.Logf("%d values at bounds", tried)
}

// refusal asks and gives the problem, if it is one.
func (r *running) refusal(method string, asked fieldcheck.Request) (status int, p gateway.Problem) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+asked.Address, strings.NewReader(asked.Body))
	if err != nil {
		r.t.Fatal(err)
	}
	if asked.Type != "" {
		request.Header.Set("Content-Type", asked.Type)
	}
	answer, err := r.http.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = answer.Body.Close()
	_ = json.Unmarshal(text, &p) // what is no problem has no field
	return answer.StatusCode, p
}
