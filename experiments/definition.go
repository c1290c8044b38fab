// Package experiments says which of several ways to search a user gets, and which of them users like better. It is
// arithmetic: it keeps nothing, asks nobody and knows no clock. A caller asks Assign, or TeamDraft, for a search,
// adds what became of it to the unit's Tally, and gives all tallies to Analyze, as often as it likes.
//
// The choice of tests, and what simulated users found of them, is in docs/decisions/0014-experiments.md.
package experiments

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// Limits of a definition.
const (
	maxName       = 256 // bytes
	maxRequest    = 64 << 10
	maxVariants   = 8
	maxGuardRails = 16
	// shareTolerance is how far the sum of shares may be from 1: three times 0.333333 is meant to be all.
	shareTolerance = 1e-5
)

// Unit is whose searches are answered by one variant.
type Unit string

// The units.
const (
	ByUser    Unit = "user"
	BySession Unit = "session"
)

// Mode is how variants are compared.
type Mode string

// The modes.
const (
	Split      Mode = "split"      // each unit gets one variant
	Interleave Mode = "interleave" // each unit gets both in one list, see TeamDraft
)

// Experiment is a definition. It never changes while it runs: another share is another experiment. Its methods are
// safe for concurrent use.
type Experiment struct {
	ID       string    `json:"id" doc:"1 to 64 of a-z, 0-9, _ and -; units are assigned by it."`
	Name     string    `json:"name,omitempty" doc:"For people; at most 256 bytes."`
	Variants []Variant `json:"variants" doc:"2 to 8, the first the one that there is without the experiment; 2 of interleave."`
	// Traffic is the share of units that take part; the others are searched for as if there were no experiment.
	Traffic    float64     `json:"traffic" exclusiveMinimum:"0" maximum:"1" doc:"Share of units that take part, more than 0, at most 1."`
	Unit       Unit        `json:"unit" enum:"user,session" doc:"Whose searches are answered by one variant."`
	Start      time.Time   `json:"start"`
	End        time.Time   `json:"end"`
	Mode       Mode        `json:"mode" enum:"split,interleave" doc:"split: a unit gets one variant; interleave: both in one list."`
	Metric     string      `json:"metric,omitempty" doc:"That decides a split. The default is click_through."`
	GuardRails []GuardRail `json:"guard_rails,omitempty" doc:"What stops the experiment; at most 16."`
}

// Variant is one way to search.
type Variant struct {
	Name  string  `json:"name" doc:"1 to 64 of a-z, 0-9, _ and -."`
	Share float64 `json:"share" exclusiveMinimum:"0" exclusiveMaximum:"1" doc:"Of the units that take part, more than 0; all of them add up to 1."`
	// Request are members of a search that hold in place of the caller's; the package looks at no more than its form.
	Request json.RawMessage `json:"request,omitempty" doc:"Members of a search, such as {\"preset\": \"rrf\"}."`
}

// GuardRail stops an experiment when it is shown, at 95 % for all of them together, that a variant is beyond it.
type GuardRail struct {
	Metric string `json:"metric" doc:"Such as latency_ms, error_rate, zero_result_rate or refused_rate."`
	// AtMost bounds the metric of every variant, in its own unit.
	AtMost *float64 `json:"at_most,omitempty" minimum:"0" maximum:"3.4e38" doc:"What every variant must stay below; rates from 0 to 1, latency in milliseconds."`
	// Increase bounds by how much the metric of a variant may be above that of the first one, in its own unit.
	Increase *float64 `json:"increase,omitempty" minimum:"0" maximum:"3.4e38" doc:"By how much a variant may be above the first one, in the metric's unit."`
}

// validID is the form of ids and names of variants: neither has the separator that Assign puts between them and a unit.
var validID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

const acceptedID = "1 to 64 of a-z, 0-9, _ and -, the first a letter or digit"

// Check refuses invalid experiments. Its errors are of kind InvalidArgument and name the field, as variants[1].share.
func (e *Experiment) Check() error {
	if !validID.MatchString(e.ID) {
		return fault.Invalid("id", e.ID, acceptedID)
	}
	if len(e.Name) > maxName || !utf8.ValidString(e.Name) {
		return fault.Invalid("name", e.Name, "at most 256 bytes of UTF-8")
	}
	if !(e.Traffic > 0 && e.Traffic <= 1) {
		return fault.Invalid("traffic", e.Traffic, "more than 0, at most 1")
	}
	if e.Unit != ByUser && e.Unit != BySession {
		return fault.Invalid("unit", string(e.Unit), "user or session")
	}
	if e.Mode != Split && e.Mode != Interleave {
		return fault.Invalid("mode", string(e.Mode), "split or interleave")
	}
	if err := e.checkTime(); err != nil {
		return err
	}
	if e.Metric != "" && metricOf(e.Metric) == nil {
		return fault.Invalid("metric", e.Metric, "one of "+metricNames())
	}
	if e.Metric != "" && e.Mode == Interleave {
		return fault.Invalid("metric", e.Metric, "left out where mode is interleave, which credited clicks decide")
	}
	if err := e.checkVariants(); err != nil {
		return err
	}
	return e.checkGuardRails()
}

func (e *Experiment) checkTime() error {
	if e.Start.IsZero() {
		return fault.Invalid("start", "", "a time as RFC 3339 has it")
	}
	if !e.End.After(e.Start) {
		return fault.Invalid("end", e.End.Format(time.RFC3339), "later than start")
	}
	return nil
}

func (e *Experiment) checkVariants() error {
	n := len(e.Variants)
	if e.Mode == Interleave && n != 2 {
		return fault.Invalid("variants", fault.Length(n), "a list of 2 where mode is interleave")
	}
	if n < 2 || n > maxVariants {
		return fault.Invalid("variants", fault.Length(n), "a list of 2 to 8")
	}
	sum := 0.0
	for i := range e.Variants {
		v, at := &e.Variants[i], fmt.Sprintf("variants[%d].", i)
		if err := v.check(); err != nil {
			return err.Within(at)
		}
		if slices.ContainsFunc(e.Variants[:i], func(o Variant) bool { return o.Name == v.Name }) {
			return fault.Invalid(at+"name", v.Name, "another name than those of the variants before it")
		}
		sum += v.Share
	}
	if math.Abs(sum-1) > shareTolerance {
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: "variants",
			Detail: fmt.Sprintf("the shares of variants add up to %v; they must add up to 1", math.Round(sum*1e6)/1e6),
		}
	}
	if e.Mode == Interleave && math.Abs(e.Variants[0].Share-0.5) > shareTolerance {
		return fault.Invalid("variants[0].share", e.Variants[0].Share, "0.5 where mode is interleave: both are in every list")
	}
	return nil
}

func (v *Variant) check() *fault.Error {
	if !validID.MatchString(v.Name) {
		return fault.Invalid("name", v.Name, acceptedID)
	}
	if !(v.Share > 0 && v.Share < 1) {
		return fault.Invalid("share", v.Share, "more than 0 and less than 1")
	}
	if len(v.Request) == 0 {
		return nil
	}
	if len(v.Request) > maxRequest {
		return fault.Invalid("request", fmt.Sprintf("%d bytes", len(v.Request)), "at most 65536 bytes of JSON")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(v.Request, &members); err != nil || members == nil {
		return fault.Invalid("request", string(v.Request), "a JSON object")
	}
	return nil
}

func (e *Experiment) checkGuardRails() error {
	if n := len(e.GuardRails); n > maxGuardRails {
		return fault.Invalid("guard_rails", fault.Length(n), "a list of at most 16")
	}
	for i := range e.GuardRails {
		g := &e.GuardRails[i]
		at := fmt.Sprintf("guard_rails[%d].", i)
		if metricOf(g.Metric) == nil {
			return fault.Invalid(at+"metric", g.Metric, "one of "+metricNames())
		}
		if (g.AtMost == nil) == (g.Increase == nil) {
			return &fault.Error{
				Kind: fault.InvalidArgument, Field: at + "at_most",
				Detail: fmt.Sprintf("guard_rails[%d] needs at_most or increase, and not both", i),
			}
		}
		if x := g.AtMost; x != nil && !(*x >= 0 && *x <= math.MaxFloat32) {
			return fault.Invalid(at+"at_most", *x, "a finite number >= 0")
		}
		if x := g.Increase; x != nil && !(*x >= 0 && *x <= math.MaxFloat32) {
			return fault.Invalid(at+"increase", *x, "a finite number >= 0")
		}
		if g.Increase != nil && e.Mode == Interleave {
			return fault.Invalid(at+"increase", *g.Increase, "left out where mode is interleave, as no list is of one variant")
		}
	}
	return nil
}

// Runs reports whether units are assigned at a time: from Start on, before End.
func (e *Experiment) Runs(at time.Time) bool { return !at.Before(e.Start) && at.Before(e.End) }
