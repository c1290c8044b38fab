package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/gateway/quality"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/search"
)

func TestUsersDecideEmbedded(t *testing.T) {
	t.Parallel()
	usersDecide(t, settingsIn(t.TempDir()))
}

func TestUsersDecideElasticsearch(t *testing.T) {
	t.Parallel()
	usersDecide(t, withElasticsearch(t, settingsIn(t.TempDir())))
}

// usersDecide lets simulated users search, click and decide between two searches over HTTP, three crowds each in an
// experiment of its own. One side finds what was asked for, the other one finds it last.
func usersDecide(t *testing.T, c *config.Config) {
	c.Events.Enabled = true
	r := run(t, c)
	r.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	t.Cleanup(r.http.CloseIdleConnections)
	var lines strings.Builder
	for i := range 12 { // the more often a chunk has the word, the better it is
		fmt.Fprintf(&lines, `{"id": "c%02d", "document_id": "d%d", "content": "An answer.%s", "metadata": {"rank": %d}}`+"\n",
			i, i, strings.Repeat(" A refund.", 12-i), i)
	}
	seeds := []uint64{1, 2, 3}
	for _, seed := range seeds {
		kb := fmt.Sprint("kb", seed)
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": kb, "dimensions": 0}, nil)
		r.must(http.MethodPost, cli.BasePath(kb)+"/documents?refresh=true", lines.String(), nil)
		worse := `{"signals": [{"number": {"field": "metadata.rank", "shape": "linear", "pivot": 12}, "weight": 50}]}`
		begin := time.Now().UTC()
		r.must(http.MethodPost, "/v1/experiments", fmt.Sprintf(`{"id": "lists-%d", "mode": "interleave", "unit": "user",
			"traffic": 1, "start": %q, "end": %q, "knowledge_bases": [%q], "variants": [
			{"name": "worse", "share": 0.5, "request": %s}, {"name": "better", "share": 0.5}]}`,
			seed, begin.Format(time.RFC3339Nano), begin.AddDate(0, 0, 1).Format(time.RFC3339Nano), kb, worse), nil)
	}
	for _, seed := range seeds {
		crowd(r, seed)
	}
	for _, seed := range seeds {
		var report experiments.Report
		eventually(t, "all searches are counted", func() bool {
			report = experiments.Report{}
			r.must(http.MethodGet, fmt.Sprintf("/v1/experiments/lists-%d/report", seed), nil, &report)
			return report.Variants[0].Searches == searchesOfCrowd && report.Preference.Wins+report.Preference.Losses > 10
		})
		if v := report.Verdict; v.Outcome != experiments.Won || v.Winner != "better" {
			t.Errorf(`seed %d: %+v, %+v; want v.Outcome Won and v.Winner "better"`, seed, v, report.Preference)
		}
	}
}

const searchesOfCrowd = 80

// crowd are users who search once each, and tell what they click.
func crowd(r *running, seed uint64) {
	r.t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	var clicks []events.Event
	for i := range searchesOfCrowd {
		client := fmt.Sprintf("user-%d-%d", seed, i)
		answer := r.search(search.Request{
			Query: "refund", KnowledgeBases: []string{fmt.Sprint("kb", seed)}, ClientID: client,
		})
		answers := make([]bool, len(answer.Hits))
		for rank := range answer.Hits {
			answers[rank] = answer.Hits[rank].ID < "c04"
		}
		clicked := byPosition(random, answers)
		if i%2 == 1 {
			clicked = cascading(random, answers)
		}
		for _, rank := range clicked {
			hit := &answer.Hits[rank]
			clicks = append(clicks, events.Event{
				Timestamp: time.Now().UTC(), EventID: fmt.Sprintf("%d-%d-%d", seed, i, rank), QueryID: answer.QueryID,
				ClientID: client, ActionName: events.ActionClick, Attributes: events.EventAttributes{
					Object: &events.Object{ObjectID: events.HitID(hit.KnowledgeBase, hit.ID)},
				},
			})
		}
	}
	r.must(http.MethodPost, "/v1/events", quality.EventBatch{Events: clicks}, nil)
}

// byPosition looks at each rank with probability 1/rank, and clicks what answers (Craswell, Zoeter, Taylor, Ramsey, "An
// experimental comparison of click position-bias models", WSDM 2008).
func byPosition(random *rand.Rand, answers []bool) (clicks []int) {
	for rank, does := range answers {
		attraction := 0.05
		if does {
			attraction = 0.9
		}
		if random.Float64() < attraction/float64(rank+1) {
			clicks = append(clicks, rank)
		}
	}
	return clicks
}

// cascading goes from the top down until it is content or tired: the dynamic Bayesian network of Chapelle and Zhang
// ("A dynamic Bayesian network click model for web search ranking", WWW 2009).
func cascading(random *rand.Rand, answers []bool) (clicks []int) {
	for rank, does := range answers {
		attraction, satisfaction := 0.1, 0.1
		if does {
			attraction, satisfaction = 0.7, 0.7
		}
		if random.Float64() < attraction {
			clicks = append(clicks, rank)
			if random.Float64() < satisfaction {
				break
			}
		}
		if random.Float64() > 0.85 {
			break
		}
	}
	return clicks
}
