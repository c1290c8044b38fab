// Command mutants tries the small changes of the program that are kept in testdata: each would break what users rely
// on, so that the tests its row names must fail. It runs inside scripts/with-services.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// choice says which mutants of the list are tried, and how.
type choice struct {
	name, kind, file string
	atOnce           int
	verbose          bool
}

func (c *choice) whole() bool { return c.name == "" && c.kind == "" && c.file == "" }

func (c *choice) of(all []Mutant) ([]*Mutant, error) {
	name, err := regexp.Compile(c.name)
	if err != nil {
		return nil, fmt.Errorf("-name: %w", err)
	}
	var chosen []*Mutant
	for i := range all {
		m := &all[i]
		if name.MatchString(m.Name) && (c.kind == "" || m.Kind == c.kind) && strings.HasPrefix(m.File, c.file) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("no mutant is of that name, kind and file")
	}
	return chosen, nil
}

func start(ctx context.Context) error {
	var c choice
	flag.StringVar(&c.name, "name", "", "try those whose name matches the regular expression")
	flag.StringVar(&c.kind, "kind", "", "try those of the kind")
	flag.StringVar(&c.file, "file", "", "try those of the file or the folder")
	flag.IntVar(&c.atOnce, "at-once", 2, "how many are tried at once")
	flag.BoolVar(&c.verbose, "v", false, "print what the tests wrote")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	all, err := read(filepath.Join(root, "internal", "mutants", "testdata"))
	if err != nil {
		return err
	}
	if found := complaints(root, all); len(found) > 0 {
		return errors.New(strings.Join(found, "\n"))
	}
	chosen, err := c.of(all)
	if err != nil {
		return err
	}
	r := &runner{root: root}
	if err := r.unchanged(ctx, chosen, c.atOnce); err != nil {
		return err
	}
	results, err := r.all(ctx, chosen, &c)
	if err != nil {
		return err
	}
	if err := table(os.Stdout, results); err != nil {
		return err
	}
	if found := faults(results, c.whole()); len(found) > 0 {
		return errors.New(strings.Join(found, "\n"))
	}
	return nil
}

// unchanged runs every named test on the program as it is: it must pass, or its failing says nothing.
func (r *runner) unchanged(ctx context.Context, chosen []*Mutant, atOnce int) error {
	var trials []trial
	for _, m := range chosen {
		for _, command := range m.Tests {
			t, err := parseTrial(m.isWeb(), command)
			if err != nil {
				return err
			}
			trials = append(trials, t)
		}
	}
	trials = together(trials)
	return parallel(ctx, len(trials), atOnce, func(i int) error {
		t := &trials[i]
		began := time.Now()
		said, output, err := r.run(ctx, t, program{web: filepath.Join(r.root, "web")})
		if err != nil {
			return err
		}
		if said != survived {
			return fmt.Errorf("%v fails without a mutant:\n%s", t.targets, tail(output))
		}
		tell(began, "unchanged", "passes: "+strings.Join(t.targets, " "))
		return nil
	})
}

func (r *runner) all(ctx context.Context, chosen []*Mutant, c *choice) ([]result, error) {
	results := make([]result, len(chosen))
	err := parallel(ctx, len(chosen), c.atOnce, func(i int) error {
		began := time.Now()
		said, output, err := r.try(ctx, chosen[i])
		results[i] = result{mutant: chosen[i], verdict: said, output: output}
		tell(began, string(said), chosen[i].Name)
		if c.verbose {
			fmt.Fprintln(os.Stderr, output)
		}
		return err
	})
	return results, err
}

func tell(began time.Time, said, name string) {
	fmt.Fprintf(os.Stderr, "%5.1f s  %-9s  %s\n", time.Since(began).Seconds(), said, name)
}

// parallel calls do for the numbers below n, some at once, and gives all their errors.
func parallel(ctx context.Context, n, atOnce int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	failed := make([]error, n)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() == nil {
				failed[i] = do(i)
			}
			return nil
		})
	}
	return errors.Join(group.Wait(), errors.Join(failed...), ctx.Err())
}
