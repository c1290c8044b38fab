// Package enginetest is the suite that every engine passes: searches as data
// (testdata/*.json), invariants that hold for any search, and random documents
// compared between two engines. An engine's test is a Harness and one call.
//
// Every case makes knowledge bases under random names, so the suite can run
// against a server that holds other data. Chunks are written with Refresh, and
// what a delete or a replacement did must be visible to the next search.
//
//	enginetest.go   Harness, Run, the tokenizer
//	base.go         one knowledge base of a case, with every search checked
//	check.go        what holds for the result of any search
//	cases.go        testdata/*.json
//	case_*.go       behaviour that is easier told in Go
//	versus.go       two engines over random documents
package enginetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/internal/skips"
)

// Harness describes an engine to the suite.
type Harness struct {
	// New opens an engine whose text is tokenised by Words. The suite calls
	// it once per Run, runs cases beside each other, and closes the engine.
	New func(t *testing.T) engine.Engine
	// Exceptions names cases that this engine does not pass, with the reason.
	// Every entry is a debt; a name that is no case fails.
	Exceptions map[string]string
	// Only limits Run to cases whose names begin like one of these; nil: all of them.
	Only []string
}

// Run holds an engine to the contract.
func Run(t *testing.T, harness Harness) {
	t.Helper()
	cases := append(dataCases(t), goCases()...)
	refuseUnknown(t, harness.Exceptions, cases)
	s := open(t, harness)
	for _, c := range cases {
		if !harness.wants(c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if reason, excepted := harness.Exceptions[c.name]; excepted {
				skips.ByDesign(t, s.engine.Name()+" does not pass this: "+reason)
			}
			t.Parallel() // as an engine is used
			c.run(t, s)
		})
	}
}

func (h *Harness) wants(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return h.Only == nil || slices.ContainsFunc(h.Only, begins)
}

func goCases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{
		searchCases(), sumCases(), signalCases(), bm25Cases(), filterCases(), vectorCases(), severalVectorsCases(),
		storeCases(), listCases(), oddCases(), statisticsCases(), exactCases(), wordsCases(), boostCases(),
		generationCases(), randomCases(), loadCases(), recordsCases(), changeCases(),
	} {
		all = append(all, group...)
	}
	return all
}

func refuseUnknown(t *testing.T, exceptions map[string]string, cases []testCase) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range cases {
		if known[c.name] {
			t.Errorf("two cases are named %q", c.name)
		}
		known[c.name] = true
	}
	for name := range exceptions {
		if !known[name] {
			t.Errorf("exception %q names no case; the cases are %s", name, strings.Join(sortedKeys(known), ", "))
		}
	}
}

func open(t *testing.T, harness Harness) *suite {
	t.Helper()
	s := &suite{engine: harness.New(t)}
	t.Cleanup(func() {
		if err := s.engine.Close(); err != nil {
			t.Errorf("closing %s: %v", s.engine.Name(), err)
		}
	})
	return s
}
