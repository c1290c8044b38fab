package experiments_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/hybridge-search/hybridge/experiments"
)

// A gateway asks for the variant of each search, and adds what became of it to the tally of its user.
func Example() {
	begin := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	e := &experiments.Experiment{
		ID: "balanced-2026-12", Traffic: 1, Unit: experiments.ByUser, Mode: experiments.Split,
		Start: begin, End: begin.AddDate(0, 0, 14),
		Variants: []experiments.Variant{
			{Name: "text", Share: 0.5, Request: json.RawMessage(`{"preset":"text"}`)},
			{Name: "balanced", Share: 0.5, Request: json.RawMessage(`{"preset":"balanced"}`)},
		},
	}
	if err := e.Check(); err != nil {
		panic(err)
	}
	needed, err := e.Needed(experiments.Goal{Base: 0.5, Effect: 0.1, UnitsPerDay: 200})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d users find a tenth, in %.0f days: %v\n", needed.Units, needed.Days, needed.Fits)

	tallies := map[string]*experiments.Tally{}
	for i := range 2000 {
		user := fmt.Sprint("user-", i)
		variant, in := e.Assign(user)
		if !in {
			continue
		}
		seen := experiments.Impression{Hits: 10, Latency: 20}
		if i%5 < 2 || variant.Name == "balanced" && i%5 == 2 { // two of five click, or three
			seen.Clicks = []int{1}
		}
		tallies[user] = &experiments.Tally{Variant: variant.Name}
		tallies[user].Add(&seen)
	}
	report, err := experiments.Analyze(e, maps.Values(tallies), begin.AddDate(0, 0, 10))
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Verdict.Reason)
	// Output:
	// 1545 users find a tenth, in 8 days: true
	// balanced is better than every other variant in click_through
}
