package evaluation

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/hybridge-search/hybridge/evaluation/metric"
	"github.com/hybridge-search/hybridge/fault"
)

// Rule says which difference is not accepted, as
//
//	ndcg@10 < -0.005 p<0.05
//
// The difference is between the means; p, which may be omitted, is Holm's.
type Rule struct {
	Metric metric.Metric
	Text   string

	more  bool
	limit float64
	p     float64
}

var ruleForm = regexp.MustCompile(`^\s*(\S+?)\s*([<>])\s*([-+]?\d*\.?\d+)(?:\s+p\s*<\s*(\d*\.?\d+))?\s*$`)

// ParseRule reads a rule.
func ParseRule(text string) (Rule, error) {
	parts := ruleForm.FindStringSubmatch(text)
	if parts == nil {
		return Rule{}, fault.Invalid("rule", text,
			"METRIC < DIFFERENCE, then p<CHANCE if it matters, as ndcg@10 < -0.005 p<0.05")
	}
	m, err := metric.Parse(parts[1])
	if err != nil {
		return Rule{}, err
	}
	r := Rule{Metric: m, Text: text, more: parts[2] == ">", p: 2}
	if r.limit, err = strconv.ParseFloat(parts[3], 64); err != nil || r.limit < -1 || r.limit > 1 {
		return Rule{}, fault.Invalid("rule", text, "a difference of -1 to 1")
	}
	if parts[4] != "" {
		if r.p, err = strconv.ParseFloat(parts[4], 64); err != nil || r.p <= 0 || r.p > 1 {
			return Rule{}, fault.Invalid("rule", text, "a chance above 0, up to 1")
		}
	}
	return r, nil
}

// Check is a rule on one comparison.
type Check struct {
	Rule       string `json:"rule"`
	Set        string `json:"set"`
	System     string `json:"system"`
	Against    string `json:"against"`
	Broken     bool   `json:"broken"`
	Difference string `json:"difference"` // in words
}

// CheckAll looks at every rule in every comparison. A comparison that does not have the rule's metric is an error.
func CheckAll(rules []Rule, all []*Comparison) (checks []Check, err error) {
	for i := range rules {
		for _, c := range all {
			d := c.of(rules[i].Metric.Name)
			if d == nil {
				return nil, fault.New(fault.Internal, "the comparison of %s on %s has no %s", c.System, c.Set, rules[i].Metric.Name)
			}
			checks = append(checks, Check{
				Rule: rules[i].Text, Set: c.Set, System: c.System, Against: c.Against,
				Broken: rules[i].broken(d), Difference: d.String(),
			})
		}
	}
	return checks, nil
}

func (r *Rule) broken(d *Difference) bool {
	beyond := d.Mean.Mean < r.limit
	if r.more {
		beyond = d.Mean.Mean > r.limit
	}
	return beyond && d.Holm < r.p
}

func (c *Comparison) of(name string) *Difference {
	for i := range c.Differences {
		if c.Differences[i].Metric == name {
			return &c.Differences[i]
		}
	}
	return nil
}

// String tells a difference in one line.
func (d *Difference) String() string {
	return fmt.Sprintf("%s %.4f, was %.4f: %+.4f [%+.4f, %+.4f], p %.4f, d %+.2f, %d queries more, %d less",
		d.Metric, d.System, d.Against, d.Mean.Mean, d.Mean.Low, d.Mean.High, d.Holm, d.Effect, d.More, d.Less)
}
