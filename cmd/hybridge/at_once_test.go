package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// together runs something several times at once.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// editedSets are what people edit with versions: a body of a save, all but its base_version.
var editedSets = map[string]string{
	"/v1/synonyms/k":        `"text": "a, b"`,
	"/v1/rules/k":           `"rules": [{"name": "r", "when": {"match": "exact", "queries": ["q"]}, "pin": [{"chunk_id": "c1"}]}]`,
	cli.PresetsPath + "/p1": `"definition": {"base": "rrf", "top_k": 5}`,
}

// TestOfTwoEditorsOneIsTold: a page that loaded version 1 neither saves over version 2, nor goes back from it, nor
// deletes it; it is told whose that is. Of many who save at once over the same version one succeeds.
func TestOfTwoEditorsOneIsTold(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Keys = []config.Key{{Name: "anna", Key: "anna", Tenant: "acme"}, {Name: "bert", Key: "bert", Tenant: "acme"}}
	b := &bound{running: run(t, c)}
	b.as("anna", http.MethodPost, "/v1/knowledge-bases", `{"id": "k", "dimensions": 0}`, http.StatusCreated)
	for path, body := range editedSets {
		save := func(key string, base, want int) string {
			return b.as(key, http.MethodPut, path, fmt.Sprintf(`{%s, "base_version": %d}`, body, base), want)
		}
		told := func(what, answer string) {
			t.Helper()
			if !strings.Contains(answer, "version 2 is in use, saved by bert at 20") ||
				!strings.Contains(answer, `"field":"base_version"`) {
				t.Errorf("%s %s: %s; want \"version 2 is in use, saved by bert at 20\" in it and `\"field\":\"base_version\"` in it", what, path, brief.Of(answer))
			}
		}
		save("anna", 0, http.StatusOK)
		save("bert", 1, http.StatusOK)
		told("saving", save("anna", 1, http.StatusConflict))
		told("going back of", b.as("anna", http.MethodPost, path+"/rollback", `{"version": 1, "base_version": 1}`, http.StatusConflict))
		if strings.HasPrefix(path, cli.PresetsPath) {
			told("deleting", b.as("anna", http.MethodDelete, path+"?base_version=1", "", http.StatusConflict))
		}
		var won atomic.Int32
		together(8, func(int) {
			if status, _ := b.send("anna", http.MethodPut, path, cli.AsJSON, fmt.Sprintf(`{%s, "base_version": 2}`, body)); status == http.StatusOK {
				won.Add(1)
			}
		})
		if won.Load() != 1 {
			t.Errorf("%s: %d of 8 saved over version 2, want 1", path, won.Load())
		}
		if now := b.as("anna", http.MethodGet, path, "", http.StatusOK); !strings.Contains(now, `"version":3`) {
			t.Errorf("%s: %s, want version 3", path, now)
		}
	}
	b.as("bert", http.MethodDelete, cli.PresetsPath+"/p1?base_version=3", "", http.StatusNoContent)
	preset := func(base, want int) {
		b.as("anna", http.MethodPut, cli.PresetsPath+"/p1", fmt.Sprintf(`{%s, "base_version": %d}`, editedSets[cli.PresetsPath+"/p1"], base), want)
	}
	preset(3, http.StatusConflict)
	preset(0, http.StatusOK)
	preset(1, http.StatusConflict) // the version of the one that was deleted
}

// TestNoSetOutlivesItsKnowledgeBase: what is saved while a knowledge base is being deleted goes with it.
func TestNoSetOutlivesItsKnowledgeBase(t *testing.T) {
	t.Parallel()
	r := run(t, settingsIn(t.TempDir()))
	for i := range 20 {
		kb := fmt.Sprintf("k%d", i)
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": kb, "dimensions": 0}, nil)
		together(5, func(i int) {
			if i == 2 {
				r.must(http.MethodDelete, cli.BasePath(kb), nil, nil)
				return
			}
			r.ask(http.MethodPut, "/v1/synonyms/"+kb, `{"text": "a, b"}`)
		})
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": kb, "dimensions": 0}, nil)
		var set struct{ Version int }
		if r.must(http.MethodGet, "/v1/synonyms/"+kb, nil, &set); set.Version != 0 {
			t.Errorf("%s begins with version %d; want set.Version 0", kb, set.Version)
		}
	}
}

// onTwoGateways runs a test on two gateways of the same data with a knowledge base k, each engine by itself.
func onTwoGateways(t *testing.T, do func(t *testing.T, gateways [2]*running)) {
	t.Helper()
	for name, on := range map[string]func(*testing.T, *config.Config) *config.Config{
		"elasticsearch": withElasticsearch, "postgres": withPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := on(t, settingsIn(t.TempDir()))
			second := *first
			second.DataDir = t.TempDir()
			a, b := run(t, first), run(t, &second)
			a.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "engine": name, "dimensions": 2}, nil)
			t.Cleanup(func() { a.must(http.MethodDelete, cli.BasePath("k"), nil, nil) })
			do(t, [2]*running{a, b})
		})
	}
}

// TestOfTwoWhoRenameOneIsTold: query sets and judgment lists, by two gateways. Who names the version that they saw is
// told of a newer one; who names none saves over whatever there is, also where others do so at the same time.
func TestOfTwoWhoRenameOneIsTold(t *testing.T) {
	onTwoGateways(t, func(t *testing.T, g [2]*running) {
		for _, of := range [][2]string{
			{"/v1/query-sets/faq", `"knowledge_bases": ["k"]`}, {"/v1/judgments/people", `"query_set": "faq"`},
		} {
			path, body := of[0], of[1]
			save := func(by *running, name string, base int64) (status int, version int64, text string) {
				status, answer := by.ask(http.MethodPut, path, fmt.Sprintf(`{%s, "name": %q, "base_version": %d}`, body, name, base))
				var saved struct{ Version int64 }
				_ = json.Unmarshal(answer, &saved)
				return status, saved.Version, string(answer)
			}
			_, first, _ := save(g[0], "first", 0)
			status, second, _ := save(g[1], "second", first)
			if status != http.StatusOK || first == 0 || second <= first {
				t.Fatalf("%s: %d, version %d after %d", path, status, second, first)
			}
			for _, base := range []int64{0, first} {
				if status, _, text := save(g[0], "lost", base); status != http.StatusConflict ||
					!strings.Contains(text, `"field":"base_version"`) || !strings.Contains(text, fmt.Sprint(second)) {
					t.Errorf("%s after version %d: %d %s", path, base, status, text)
				}
			}
			var won, over atomic.Int32
			together(8, func(i int) {
				if status, _, _ := save(g[i%2], fmt.Sprint(i), second); status == http.StatusOK {
					won.Add(1)
				}
			})
			together(8, func(i int) {
				if status, answer := g[i%2].ask(http.MethodPut, path, fmt.Sprintf(`{%s, "name": "%d"}`, body, i)); status == http.StatusOK {
					over.Add(1)
				} else {
					t.Errorf("%s without a version: %d %s", path, status, brief.Of(answer))
				}
			})
			if won.Load() != 1 || over.Load() != 8 {
				t.Errorf("%s: %d of 8 saved after the same version, want 1, and %d of 8 after any, want 8", path, won.Load(), over.Load())
			}
		}
	})
}

// TestOfTwoJudgesOneIsTold: two people judge the same hits at the same time, by two gateways; none of their grades is
// lost unseen, and an undo takes back its own alone.
func TestOfTwoJudgesOneIsTold(t *testing.T) {
	onTwoGateways(t, func(t *testing.T, g [2]*running) {
		g[0].must(http.MethodPut, "/v1/query-sets/faq", `{"knowledge_bases": ["k"]}`, nil)
		g[0].must(http.MethodPost, "/v1/query-sets/faq/queries", `{"queries": [{"id": "q", "text": "when"}]}`, nil)
		g[0].must(http.MethodPut, "/v1/judgments/people", `{"query_set": "faq"}`, nil)
		const path = "/v1/judgments/people/judgments"
		type outcome struct {
			Stored int
			Time   string
			Failed []struct{ Code, Detail string }
		}
		judge := func(i, n int, more string) (o outcome) {
			g[i%2].must(http.MethodPost, path, fmt.Sprintf(
				`{"judgments": [{"query_id": "q", "document_id": "d%d", "grade": %d, "judge": "judge%d"}]%s}`, n, i%3, i, more), &o)
			return o
		}
		for n := range 5 {
			var stored atomic.Int32
			together(6, func(i int) {
				o := judge(i, n, `, "only_new": true`)
				stored.Add(int32(o.Stored)) //nolint:gosec // 0 or 1
				if o.Stored == 0 && (len(o.Failed) != 1 || o.Failed[0].Code != "conflict" || !strings.HasPrefix(o.Failed[0].Detail, "it is judged already")) {
					t.Errorf(`refused: %+v; want o.Stored other than 0 or 1 o.Failed and o.Failed[0].Code "conflict" and one that begins with "it is judged already"`, o)
				}
			})
			if stored.Load() != 1 {
				t.Errorf("%d grades of the same document were taken, want 1", stored.Load())
			}
		}
		mine := judge(0, 9, "")
		theirs := judge(1, 9, "")
		undo := func(time string) (deleted struct{ Deleted int }) {
			g[0].must(http.MethodPost, path+"/delete", fmt.Sprintf(
				`{"judgments": [{"query_id": "q", "document_id": "d9", "time": %q}]}`, time), &deleted)
			return deleted
		}
		if n := undo(mine.Time).Deleted; n != 0 || mine.Time == theirs.Time {
			t.Errorf("an undo took back %d grades of somebody else", n)
		}
		if n := undo(theirs.Time).Deleted; n != 1 {
			t.Errorf("an undo took back %d grades, want 1", n)
		}
	})
}

// TestOfTwoExperimentsInTheWayOneBegins: two gateways make experiments that set the same member of the same searches,
// at the same time. At most one is acknowledged, and what was refused is not there; who stops one that is being stopped
// is told how it ended.
func TestOfTwoExperimentsInTheWayOneBegins(t *testing.T) {
	onTwoGateways(t, func(t *testing.T, g [2]*running) {
		const path = "/v1/experiments"
		begun := 0
		for round := range 6 {
			var mu sync.Mutex
			var made []string
			together(6, func(i int) {
				id := fmt.Sprintf("x%d-%d", round, i)
				status, answer := g[i%2].ask(http.MethodPost, path, fmt.Sprintf(`{"id": %q, "knowledge_bases": ["k"], "traffic": 1, "unit": "user", "mode": "split",
					"variants": [{"name": "a", "share": 0.5, "request": {"preset": "text"}}, {"name": "b", "share": 0.5, "request": {"preset": "vector"}}],
					"start": "2026-01-01T00:00:00Z", "end": "2036-01-01T00:00:00Z"}`, id))
				if status != http.StatusCreated && status != http.StatusConflict {
					t.Errorf("%d %s; want status StatusCreated or status StatusConflict", status, brief.Of(answer))
				}
				if status == http.StatusCreated {
					mu.Lock()
					made = append(made, id)
					mu.Unlock()
				}
			})
			begun += len(made)
			var list struct {
				Experiments []struct{ ID, State string }
			}
			g[0].must(http.MethodGet, path, nil, &list)
			if len(made) > 1 || len(list.Experiments) != len(made) {
				t.Errorf("acknowledged: %v, there are %v", made, list.Experiments)
			}
			for _, e := range list.Experiments {
				var mu sync.Mutex
				ends := map[string]bool{}
				together(6, func(i int) {
					status, answer := g[i%2].ask(http.MethodPost, path+"/"+e.ID+"/stop", fmt.Sprintf(`{"reason": "reason %d"}`, i))
					var stopped struct{ Stopped struct{ At, Reason string } }
					if err := json.Unmarshal(answer, &stopped); err != nil || status != http.StatusOK {
						t.Errorf("stopping: %d %s; want no error and status StatusOK", status, brief.Of(answer))
					}
					mu.Lock()
					ends[stopped.Stopped.At+stopped.Stopped.Reason] = true
					mu.Unlock()
				})
				if len(ends) != 1 {
					t.Errorf("it was stopped by %v; want 1 ends", ends)
				}
				g[1].must(http.MethodDelete, path+"/"+e.ID, nil, nil)
			}
		}
		if begun == 0 {
			t.Error("none ever began")
		}
	})
}

// TestOneIDIsMadeOnce: two gateways make a knowledge base of one id, on the same engine or on two.
func TestOneIDIsMadeOnce(t *testing.T) {
	t.Parallel()
	first := withPostgres(t, withElasticsearch(t, settingsIn(t.TempDir())))
	second := *first
	second.DataDir = t.TempDir()
	g := [2]*running{run(t, first), run(t, &second)}
	for name, engines := range map[string][2]string{
		"postgres": {"postgres", "postgres"}, "elasticsearch": {"elasticsearch", "elasticsearch"}, "both": {"elasticsearch", "postgres"},
	} {
		made := 0
		for round := range 4 {
			id := fmt.Sprint(name, round)
			var here, by atomic.Int32
			together(4, func(i int) {
				status, answer := g[i%2].ask(http.MethodPost, "/v1/knowledge-bases", fmt.Sprintf(`{"id": %q, "engine": %q, "dimensions": 2}`, id, engines[i%2]))
				if status == http.StatusCreated {
					here.Add(1)
					by.Store(int32(i % 2))
				} else if status != http.StatusConflict {
					t.Errorf("%d %s; want status StatusConflict", status, brief.Of(answer))
				}
			})
			made += int(here.Load())
			maker := by.Load() // the other one may take seconds to see what it made
			status, answer := g[maker].ask(http.MethodDelete, cli.BasePath(id), "")
			if here.Load() > 1 || (status == http.StatusNoContent) != (here.Load() == 1) {
				t.Errorf("%s was made %d times, and then: %d %s", id, here.Load(), status, brief.Of(answer))
			}
			if status, _ := g[1-maker].ask(http.MethodDelete, cli.BasePath(id), ""); status == http.StatusNoContent {
				t.Errorf("%s was there twice; want status other than StatusNoContent", id)
			}
		}
		if made == 0 {
			t.Errorf("%s: none was ever made; want made other than 0", name)
		}
	}
}

// TestCommandsSayWhichVersionTheySaw: show tells it, and save, rollback and delete take it.
func TestCommandsSayWhichVersionTheySaw(t *testing.T) {
	t.Parallel()
	s := run(t, settingsIn(t.TempDir()))
	s.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "k", "dimensions": 0}, nil)
	c := command{t: t, folder: t.TempDir(), environ: []string{"HYBRIDGE_SERVER=" + s.url}}
	for _, of := range []struct{ command, set, first, second string }{
		{"synonyms", "k", "a, b", "c, d"},
		{"rules", "k", "[]", "[]"},
		{"presets", "mine", `{"base": "rrf"}`, `{"base": "linear"}`},
	} {
		c.want(cli.ExitOK, of.first, of.command+" save "+of.set+" - --base 0", "version 1")
		c.want(cli.ExitOK, "", of.command+" show "+of.set, "save with --base 1")
		c.want(cli.ExitOK, of.second, of.command+" save "+of.set+" - --base 1", "version 2")
		c.want(cli.ExitFailed, of.first, of.command+" save "+of.set+" - --base 1", "version 2 is in use, saved at 20")
		c.want(cli.ExitFailed, "", of.command+" rollback --base 1 "+of.set+" 1", "version 2 is in use")
		c.want(cli.ExitOK, "", of.command+" rollback --base 2 "+of.set+" 1", "version 3")
	}
	c.want(cli.ExitFailed, "", "presets delete --base 2 mine", "version 3 is in use")
	c.want(cli.ExitOK, "", "presets delete --base 3 mine", "deleted")
	c.want(cli.ExitOK, "", "query-sets create faq --kb k", "created")
	c.want(cli.ExitFailed, "", "query-sets create faq --kb k", "exists already")
}
