package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// leastKilled is the share of the mutants that tests must notice.
const leastKilled = 0.95

type result struct {
	mutant  *Mutant
	verdict verdict
	output  string
}

// table writes what became of the mutants of each kind.
func table(to io.Writer, results []result) error {
	kinds := map[string]map[verdict]int{}
	for _, r := range results {
		if kinds[r.mutant.Kind] == nil {
			kinds[r.mutant.Kind] = make(map[verdict]int)
		}
		kinds[r.mutant.Kind][r.verdict]++
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	columns := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "kind\tkilled\tsurvived\thung\tpercent")
	sum := make(map[verdict]int)
	for _, name := range names {
		row(columns, name, kinds[name])
		for said, n := range kinds[name] {
			sum[said] += n
		}
	}
	row(columns, "all", sum)
	if err := columns.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if r.verdict == survived {
			fmt.Fprintf(to, "survived: %s (%s): %s\n", r.mutant.Name, r.mutant.File,
				cmp.Or(r.mutant.Survives, "no reason given; "+r.mutant.Why))
		}
	}
	return nil
}

func row(to io.Writer, name string, n map[verdict]int) {
	fmt.Fprintf(to, "%s\t%d\t%d\t%d\t%.0f\n", name, n[killed], n[survived], n[hung],
		100*float64(n[killed])/float64(n[killed]+n[survived]+n[hung]+n[broken]))
}

// faults lists the mistakes of the tests and of the list; whole says that every mutant was tried.
func faults(results []result, whole bool) []string {
	var found []string
	kills := 0
	for _, r := range results {
		name, reason := r.mutant.Name, r.mutant.Survives
		switch {
		case r.verdict == killed && reason != "":
			found = append(found, name+" is killed, so that its reason to survive is none any more: "+reason)
		case r.verdict == survived && reason == "":
			found = append(found, name+" survived, and no reason says why")
		case r.verdict == hung:
			found = append(found, name+" hung: its tests need a deadline of their own")
		case r.verdict == broken:
			found = append(found, name+" does not compile:\n"+tail(r.output))
		}
		if r.verdict == killed {
			kills++
		}
	}
	if share := float64(kills) / float64(len(results)); whole && share < leastKilled {
		found = append(found, fmt.Sprintf("%.1f %% of the mutants are killed; at least %.0f %% must be",
			100*share, 100*leastKilled))
	}
	return found
}

// tail is the end of what a run wrote.
func tail(output string) string {
	const most = 3000
	return output[max(0, len(output)-most):]
}
