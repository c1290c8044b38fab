package main

import (
	"net/http"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/experiments/live"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

// What somebody does from a first idea of an experiment to its end.
func TestExperimentCommands(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "shop", "dimensions": 0}, nil)
	r.must(http.MethodPost, cli.BasePath("shop")+"/documents?refresh=true", shopTexts, nil)
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + r.url}}
	variants := ` --variant now --variant text={"preset":"text"} --kb shop`

	c.want(cli.ExitUsage, "", "experiments create first", "--variant")
	c.want(cli.ExitUsage, "", "experiments create first --variant now", "a list of 2 to 8")
	c.want(cli.ExitUsage, "", "experiments create first --variant now --variant new={preset}", "--variant")
	c.want(cli.ExitUsage, "", `experiments create first --variant now --variant new={"preset":"nope"}`,
		"variants[1].request.preset", "nope")
	c.want(cli.ExitUsage, "", "experiments create first --share text=0.9"+variants, "shares of variants add up to 1.4")
	c.want(cli.ExitUsage, "", "experiments create first --share new=0.9"+variants, "the name of a --variant")
	c.want(cli.ExitUsage, "", "experiments create first --start soon"+variants, "2026-12-01T08:00:00Z")
	c.want(cli.ExitUsage, "", "experiments create first --at-most latency_ms=fast"+variants, "a number")
	c.want(cli.ExitNotFound, "", "experiments create first --variant now --variant new --kb nope", "nope")

	needed := "experiments needed --effect 0.02" + variants
	c.want(cli.ExitUsage, "", needed, "events.enabled")
	c.want(cli.ExitOK, "", needed+" --base 0.3 --units-per-day 5000", "users or sessions that take part, of 5000 a day", "days")

	c.want(cli.ExitOK, "", "experiments create first --increase latency_ms=50"+variants, "experiment first: running", "split by user")
	c.want(cli.ExitFailed, "", "experiments create second"+variants, `experiment "first" sets preset`)
	c.want(cli.ExitOK, "", "experiments list", "first", "running", "now, text")
	c.want(cli.ExitOK, "", "experiments show first", `text (0.5): {"preset":"text"}`)
	c.want(cli.ExitUsage, "", "experiments report first", "events.enabled")
	c.want(cli.ExitNotFound, "", "experiments report nope", "does not exist")

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

	c.want(cli.ExitFailed, "", "experiments delete --yes first", "stop it first")
	c.want(cli.ExitOK, "", "experiments stop first --reason enough", "stopped first")
	c.want(cli.ExitOK, "", "experiments show first", "stopped at", "enough")
	c.want(cli.ExitOK, "", "experiments delete --yes first", "deleted")
	c.want(cli.ExitNotFound, "", "experiments show first", "does not exist")
}
