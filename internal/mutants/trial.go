package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// trial is what a row's tests say to run: packages, or files of web/unit.
type trial struct {
	web     bool
	targets []string
	run     string // -run of Go, -g of the web's
	skip    string
}

// parseTrial reads "./access/quota ./gateway -run ^TestX$ -skip Slow", or "unit/search.spec.ts -g page" of the web.
func parseTrial(web bool, command string) (trial, error) {
	t := trial{web: web}
	words := strings.Fields(command)
	for i := 0; i < len(words); i++ {
		target := t.option(words[i])
		switch {
		case target != nil && i+1 < len(words):
			i++
			*target = words[i]
		case web && strings.HasPrefix(words[i], "unit/"), !web && strings.HasPrefix(words[i], "./"):
			t.targets = append(t.targets, words[i])
		default:
			return t, fmt.Errorf("%q is neither a package (./PACKAGE; unit/FILE of the web) nor -run or -skip (-g)", words[i])
		}
	}
	if len(t.targets) == 0 {
		return t, fmt.Errorf("it names no package")
	}
	return t, nil
}

func (t *trial) option(word string) *string {
	switch {
	case !t.web && word == "-run", t.web && word == "-g":
		return &t.run
	case !t.web && word == "-skip":
		return &t.skip
	}
	return nil
}

var testName = regexp.MustCompile(`(?m)^func (Test\w+|Example\w*|Fuzz\w+)\(`)

// exists complains of a target that is not there, and of a pattern that none of the tests in it has.
func (t *trial) exists(root string) error {
	var names []string
	for _, target := range t.targets {
		if t.web {
			if _, err := os.Stat(filepath.Join(root, "web", target)); err != nil {
				return err
			}
			continue
		}
		found, err := testsOf(filepath.Join(root, target))
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	if t.web {
		return nil
	}
	// Each of several patterns must be of a test: a half that no test has is one that was renamed.
	for one := range strings.SplitSeq(t.run, "|") {
		name, _, _ := strings.Cut(strings.Trim(one, "()"), "/")
		pattern, err := regexp.Compile(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(names, pattern.MatchString) {
			return fmt.Errorf("no test is called %q", name)
		}
	}
	return nil
}

func testsOf(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no tests: %w", folder, err)
	}
	var names []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, found := range testName.FindAllSubmatch(data, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names, nil
}

// together makes one trial of those of the same targets, so that the program as it is has to be linked once for each.
func together(trials []trial) []trial {
	var merged []trial
	for _, t := range trials {
		same := slices.IndexFunc(merged, func(o trial) bool {
			return o.web == t.web && o.skip == t.skip && slices.Equal(o.targets, t.targets)
		})
		switch {
		case same < 0:
			merged = append(merged, t)
		case t.run == "" || merged[same].run == "":
			merged[same].run = ""
		case !slices.Contains(strings.Split(merged[same].run, "|"), t.run):
			merged[same].run += "|" + t.run
		}
	}
	return merged
}
