package events_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/events"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/golden"
)

// load brings a log of testdata into l: see week.log for its columns.
func load(t testing.TB, l *events.Log, name string) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "analytics", name))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, file)
	number := 0
	for lines := bufio.NewScanner(file); lines.Scan(); number++ {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		search, did, _ := strings.Cut(line, "|")
		columns := strings.Fields(search)
		q := searched(t, columns, number)
		q.UserQuery = strings.Join(columns[4:], " ")
		if columns[3] != "orphan" {
			l.Record(tenant, q)
		}
		var all []events.Event
		for i, text := range strings.Split(did, ";") {
			if words := strings.Fields(text); len(words) > 0 {
				all = append(all, acted(t, q, words, i))
			}
		}
		if len(all) > 0 {
			accept(t, l, tenant, all...)
		}
	}
}

func searched(t testing.TB, columns []string, number int) *events.Query {
	t.Helper()
	ago, err := time.ParseDuration(strings.Replace(columns[0], "d", "h", 1))
	if strings.HasSuffix(columns[0], "d") {
		ago *= 24
	}
	took, wrong := strconv.ParseFloat(columns[2], 64)
	if err != nil || wrong != nil {
		t.Fatal(columns, err, wrong)
	}
	at := noon.Add(-ago)
	q := &events.Query{
		Timestamp: at, QueryID: events.IDAt(at, uint64(number)), HitIDs: []string{},
		Attributes: events.QueryAttributes{KnowledgeBases: []string{"shop"}, TookMS: took},
	}
	if columns[1] != "-" {
		q.Attributes.SessionID = columns[1]
	}
	hits, paged := strings.CutPrefix(columns[3], "+")
	if paged {
		q.Attributes.Offset = 3
	}
	switch hits {
	case "zero":
		q.Attributes.Empty = "match"
	case "refused":
		q.Attributes.Empty = "nothing_relevant"
	case "failed":
		q.Attributes.Error = fault.Timeout
	case "orphan":
	default:
		for i := range int(hits[0] - '0') {
			q.HitIDs = append(q.HitIDs, fmt.Sprint("shop/", i))
		}
	}
	return q
}

func acted(t testing.TB, q *events.Query, words []string, number int) events.Event {
	t.Helper()
	e := did(q, words[0], fmt.Sprint(number))
	if len(words) == 1 {
		return e
	}
	value, err := strconv.ParseFloat(words[1], 64)
	if err != nil {
		t.Fatal(words, err)
	}
	if words[0] == events.ActionDwell {
		e.Attributes.DwellMS = &value
	} else {
		e.Attributes.Position = &events.Position{Ordinal: int(value)}
	}
	return e
}

// Promise: "within five" (docs/guide/en/events.md).
func TestAnalytics(t *testing.T) {
	l := open(t)
	load(t, l, "week.log")
	scope := access.Scope{Tenant: tenant}
	got, err := l.Analytics(t.Context(), scope, events.AnalyticsRequest{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	golden.JSON(t, "analytics/week.json", got)

	f := func(scope access.Scope, req events.AnalyticsRequest, searches, orphans int) {
		t.Helper()
		got, err := l.Analytics(t.Context(), scope, req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{searches, orphans}, []int{got.Totals.Searches, got.Totals.Orphans}); diff != "" {
			t.Error(diff)
		}
	}
	f(scope, events.AnalyticsRequest{KnowledgeBase: "shop"}, 10, 2)
	f(scope, events.AnalyticsRequest{KnowledgeBase: "other"}, 0, 2)
	f(access.Scope{Tenant: "rival"}, events.AnalyticsRequest{}, 0, 0)
	f(access.Scope{Tenant: tenant, KnowledgeBases: []string{"other"}}, events.AnalyticsRequest{}, 0, 0)
	f(access.Scope{Tenant: tenant, KnowledgeBases: []string{"shop"}}, events.AnalyticsRequest{}, 10, 0)
	f(scope, events.AnalyticsRequest{From: noon.Add(-150 * time.Minute)}, 2, 0)

	_, err = l.Analytics(t.Context(), scope, events.AnalyticsRequest{From: noon})
	refused(t, err, fault.InvalidArgument, "from")
	_, err = l.Analytics(t.Context(), scope, events.AnalyticsRequest{From: noon.AddDate(-2, 0, 0)})
	refused(t, err, fault.InvalidArgument, "from")
	_, err = l.Analytics(t.Context(), scope, events.AnalyticsRequest{Limit: 1001})
	refused(t, err, fault.InvalidArgument, "limit")
}

// TestMomentsBetweenQuestions: the same question within five seconds is a page of the first, another one within five
// minutes says that the first was no good; both by the session.
func TestMomentsBetweenQuestions(t *testing.T) {
	l, started := open(t), noon.Add(-time.Hour)
	number := uint64(0)
	ask := func(session, text string, after time.Duration) {
		number++
		at := started.Add(after)
		l.Record(tenant, &events.Query{
			Timestamp: at, QueryID: events.IDAt(at, number), UserQuery: text, HitIDs: []string{"shop/1"},
			Attributes: events.QueryAttributes{KnowledgeBases: []string{"shop"}, SessionID: session},
		})
	}
	const seconds, minutes = 5 * time.Second, 5 * time.Minute
	ask("s1", "refund", 0)
	ask("s2", "refund", seconds) // another session
	ask("s1", "refund", seconds) // again
	ask("s3", "parcel", 0)
	ask("s3", "parcel", seconds+time.Millisecond) // a search of its own
	ask("s4", "invoice", 0)
	ask("s4", "bill", minutes)
	ask("s5", "login", 0)
	ask("s5", "password", minutes+time.Millisecond)
	got, err := l.Analytics(t.Context(), access.Scope{Tenant: tenant}, events.AnalyticsRequest{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if got.Totals.Searches != 8 || got.Totals.Pages != 1 {
		t.Errorf("%d searches and %d pages, want 8 and 1", got.Totals.Searches, got.Totals.Pages)
	}
	if r := got.Reformulated; len(r) != 1 || r[0].From != "invoice" || r[0].To != "bill" {
		t.Errorf(`reformulated are %+v; want 1 r and r[0].From "invoice" and r[0].To "bill"`, r)
	}
}

// TestAnalyticsWithoutTexts: hashes tell questions apart, and nothing does where they are dropped.
func TestAnalyticsWithoutTexts(t *testing.T) {
	l := open(t)
	tea, again, dropped := asked("", time.Hour), asked("", 2*time.Hour), asked("", 3*time.Hour)
	tea.Attributes.TextHash, again.Attributes.TextHash = "5eed", "5eed"
	l.Record(tenant, tea)
	l.Record(tenant, again)
	l.Record(tenant, dropped)
	got, err := l.Analytics(t.Context(), access.Scope{Tenant: tenant}, events.AnalyticsRequest{})
	if err != nil || got.Totals.Searches != 3 || len(got.Top) != 1 || got.Top[0].TextHash != "5eed" || got.Top[0].Count != 2 {
		t.Errorf(`%+v, %v; want no error and got.Totals.Searches 3 and 1 got.Top and got.Top[0].TextHash "5eed" and got.Top[0].Count 2`, got, err)
	}
}
