package main

import (
	"net/http"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/search"
)

// What somebody does from a first idea of an experiment to its end.
func TestExperimentCommands(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, basePath("shop")+"/documents?refresh=true", shopTexts, nil)
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
	variants := ` --variant now --variant text={"preset":"text"} --kb shop`

	c.want(exitUsage, "", "experiments create first", "--variant")
	c.want(exitUsage, "", "experiments create first --variant now", "a list of 2 to 8")
	c.want(exitUsage, "", "experiments create first --variant now --variant new={preset}", "--variant")
	c.want(exitUsage, "", `experiments create first --variant now --variant new={"preset":"nope"}`,
		"variants[1].request.preset", "nope")
	c.want(exitUsage, "", "experiments create first --share text=0.9"+variants, "shares of variants add up to 1.4")
	c.want(exitUsage, "", "experiments create first --share new=0.9"+variants, "the name of a --variant")
	c.want(exitUsage, "", "experiments create first --start soon"+variants, "2026-12-01T08:00:00Z")
	c.want(exitUsage, "", "experiments create first --at-most latency_ms=fast"+variants, "a number")
	c.want(exitNotFound, "", "experiments create first --variant now --variant new --kb nope", "nope")

	needed := "experiments needed --effect 0.02" + variants
	c.want(exitUsage, "", needed, "events.enabled")
	c.want(exitOK, "", needed+" --base 0.3 --units-per-day 5000", "users or sessions that take part, of 5000 a day", "days")

	c.want(exitOK, "", "experiments create first --increase latency_ms=50"+variants, "experiment first: running", "split by user")
	c.want(exitFailed, "", "experiments create second"+variants, `experiment "first" sets preset`)
	c.want(exitOK, "", "experiments list", "first", "running", "now, text")
	c.want(exitOK, "", "experiments show first", `text (0.5): {"preset":"text"}`)
	c.want(exitUsage, "", "experiments report first", "events.enabled")
	c.want(exitNotFound, "", "experiments report nope", "does not exist")

	var e live.Experiment
	r.must(http.MethodGet, "/v1/experiments/first", nil, &e)
	presets := map[string]bool{}
	for _, client := range []string{"anna", "bert", "carl", "dora", "emil", "fritz", "gina", "hugo"} {
		answer := r.search(search.Request{Query: "refund", KnowledgeBases: []string{"shop"}, ClientID: client})
		variant, _ := e.Assign(client)
		if want := []search.InExperiment{{ID: "first", Variant: variant.Name}}; !slices.Equal(answer.Experiments, want) {
			t.Errorf("%s is part of %v, want %v", client, answer.Experiments, want)
		}
		presets[answer.Preset] = true
	}
	if len(presets) != 2 {
		t.Errorf("all are answered by %v; want 2 presets", presets)
	}

	c.want(exitFailed, "", "experiments delete --yes first", "stop it first")
	c.want(exitOK, "", "experiments stop first --reason enough", "stopped first")
	c.want(exitOK, "", "experiments show first", "stopped at", "enough")
	c.want(exitOK, "", "experiments delete --yes first", "deleted")
	c.want(exitNotFound, "", "experiments show first", "does not exist")
}
