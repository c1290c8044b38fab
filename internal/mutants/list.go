package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mutant is one small change of the program that its tests must notice. Texts that begin with a tab are written as
// "|2-": only then does YAML take it for a part of them.
type Mutant struct {
	Name   string   `yaml:"name"`
	File   string   `yaml:"file"`   // from the root, Go or web/src/*.ts
	Before string   `yaml:"before"` // once in the file
	After  string   `yaml:"after"`
	Why    string   `yaml:"why"` // what breaks
	Kind   string   `yaml:"kind"`
	Tests  []string `yaml:"tests"` // commands of which one must fail, see parseTrial
	// Survives is why no test can notice it.
	Survives string `yaml:"survives"`
}

func (m *Mutant) isWeb() bool { return strings.HasPrefix(m.File, "web/") }

// read gives the rows of every list in the folder.
func read(folder string) ([]Mutant, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewDecoder(bytes.NewReader(data))
		decoder.KnownFields(true)
		var rows []Mutant
		if err := decoder.Decode(&rows); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// mutated is the file of the project at root with the change in it.
func (m *Mutant) mutated(root string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(data, []byte(m.Before)); m.Before == "" || n != 1 {
		return nil, fmt.Errorf("%s has the text of before %d times; it must have it once", m.File, n)
	}
	return bytes.Replace(data, []byte(m.Before), []byte(m.After), 1), nil
}

// complaints are the faults of a list, whatever its tests say.
func complaints(root string, all []Mutant) []string {
	var found []string
	seen := map[string]bool{}
	for i := range all {
		m := &all[i]
		for _, err := range []error{m.complete(), m.applies(root), m.testable(root)} {
			if err != nil {
				found = append(found, fmt.Sprintf("mutant %q: %v", m.Name, err))
			}
		}
		if seen[m.Name] {
			found = append(found, fmt.Sprintf("mutant %q: there are two of this name", m.Name))
		}
		seen[m.Name] = true
	}
	return found
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (m *Mutant) complete() error {
	switch {
	case !kebab.MatchString(m.Name):
		return errors.New("its name must be of small letters, digits and hyphens")
	case m.Why == "" || m.Kind == "":
		return errors.New("it must say why and kind")
	case len(m.Tests) == 0:
		return errors.New("it names no tests")
	case m.isWeb() && !slices.Contains([]string{".ts", ".tsx"}, filepath.Ext(m.File)):
		return fmt.Errorf("its file is %s; of web it must be TypeScript", m.File)
	case !m.isWeb() && (filepath.Ext(m.File) != ".go" || strings.HasSuffix(m.File, "_test.go")):
		return fmt.Errorf("its file is %s; it must be a Go file that is no test", m.File)
	}
	return nil
}

func (m *Mutant) applies(root string) error {
	if m.Before == m.After {
		return errors.New("before and after are the same")
	}
	_, err := m.mutated(root)
	return err
}

func (m *Mutant) testable(root string) error {
	for _, command := range m.Tests {
		t, err := parseTrial(m.isWeb(), command)
		if err == nil {
			err = t.exists(root)
		}
		if err != nil {
			return fmt.Errorf("tests %q: %w", command, err)
		}
	}
	return nil
}
