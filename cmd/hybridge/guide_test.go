package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/docs"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/experiments"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/presets"
)

// example is a block of code in the guide.
type example struct{ page, language, text string }

var (
	fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	inline = regexp.MustCompile("`([^`]+)`")
)

// readGuide gives the blocks of code of the guide, and what is in code formatting elsewhere, by page.
func readGuide(t *testing.T) (blocks []example, spans map[string][]string) {
	t.Helper()
	spans = map[string][]string{}
	err := fs.WalkDir(docs.Pages(), ".", func(page string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(docs.Pages(), page)
		for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
			blocks = append(blocks, example{page, m[1], m[2]})
		}
		for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			spans[page] = append(spans[page], strings.Join(strings.Fields(m[1]), " "))
		}
		return err
	})
	if err != nil || len(blocks) == 0 {
		t.Fatalf("%d blocks of code, %v; want no error and some blocks", len(blocks), err)
	}
	return blocks, spans
}

// TestGuideCommands parses the command lines that the guide names.
func TestGuideCommands(t *testing.T) {
	t.Parallel()
	blocks, spans := readGuide(t)
	checked := 0
	f := func(page, script string) {
		t.Helper()
		for _, words := range commandsOf(script) {
			if words[0] != "hybridge" || len(words) == 1 {
				continue
			}
			checked++
			if err := parseCommand(words[1:]); err != nil {
				t.Errorf("%s: %q: %v", brief.Of(page), words, err)
			}
		}
	}
	for _, b := range blocks {
		if b.language == "sh" {
			f(b.page, b.text)
		}
	}
	for page, texts := range spans {
		for _, text := range texts {
			f(page, text)
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands were found; want checked at least 100", checked)
	}
}

// parseCommand does what comes before a command runs, and looks whether presets and engines exist.
func parseCommand(args []string) error {
	command, rest, err := (&cli.Program{Groups: groups, Stdout: io.Discard, Stderr: io.Discard}).RootCommand().Find(args)
	if err != nil {
		return err
	}
	command.InitDefaultHelpFlag()
	if err := command.ParseFlags(rest); err != nil {
		return err
	}
	if command.HasSubCommands() && command.Flags().NArg() > 0 {
		return fmt.Errorf("%s has no command %v", command.Name(), command.Flags().Args())
	}
	engines := []string{app.EmbeddedName, elastic.Name, postgres.Name}
	known := append(slices.Collect(maps.Keys(presets.Builtin())), "support") // which the guide saves
	accepted := map[string][]string{"engine": engines, "engines": engines, "preset": known}
	for flag, names := range accepted {
		if err := checkNames(command, flag, names); err != nil {
			return err
		}
	}
	return nil
}

func checkNames(command *cobra.Command, flag string, accepted []string) error {
	found := command.Flags().Lookup(flag)
	if found == nil {
		return nil
	}
	for name := range strings.SplitSeq(strings.Trim(found.Value.String(), "[]"), ",") {
		if name != "" && !slices.Contains(accepted, name) {
			return fmt.Errorf("--%s is %s; it must be one of %v", flag, name, accepted)
		}
	}
	return nil
}

var (
	hereDocument = regexp.MustCompile(`(?s)<<'END'\n.*?\nEND`)
	shellWord    = regexp.MustCompile(`(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"|&;])+|\|\||&&|[|;\n]`)
)

// commandsOf splits what the guide shows of a shell: words, quotes, pipes, comments and lines that go on.
func commandsOf(script string) (commands [][]string) {
	script = strings.ReplaceAll(hereDocument.ReplaceAllString(script, ""), "\\\n", " ")
	script = regexp.MustCompile(`(?m)(^|\s)#.*$`).ReplaceAllString(script, "")
	var words []string
	for _, word := range append(shellWord.FindAllString(script, -1), "\n") {
		if !strings.ContainsAny(word[:1], "|&;\n") {
			words = append(words, unquote(word))
			continue
		}
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	return commands
}

func unquote(word string) string {
	var within rune
	return strings.Map(func(r rune) rune {
		switch {
		case within == 0 && (r == '\'' || r == '"'):
			within = r
			return -1
		case r == within:
			within = 0
			return -1
		}
		return r
	}, word)
}

// experimentOf checks JSON; an experiment by its rules, as it begins on a day that comes, or has been.
func experimentOf(text string) (isExperiment bool, err error) {
	if !strings.Contains(text, `"variants": [`) {
		if !json.Valid([]byte(text)) {
			err = errors.New("no JSON")
		}
		return false, err
	}
	var e experiments.Experiment
	return true, errors.Join(json.Unmarshal([]byte(text), &e), e.Check())
}

// TestGuideRequests sends the searches of the guide to a gateway. What the gateway asks beside its engine is away.
func TestGuideRequests(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Reranker.URL, c.LLM.URL = "http://127.0.0.1:9/rerank", "http://127.0.0.1:9/v1/chat/completions"
	r := run(t, c)
	for _, id := range []string{"docs", "shop", "faq", "articles"} {
		r.must(http.MethodPost, "/v1/knowledge-bases", map[string]string{"id": id}, nil)
	}
	blocks, _ := readGuide(t)
	checked := 0
	f := func(page, path, body string) {
		t.Helper()
		checked++
		if status, answer := r.ask(http.MethodPost, path, body); status != http.StatusOK {
			t.Errorf("%s: %s %s: %d %s; want status StatusOK", brief.Of(page), path, brief.Of(body), status, brief.Of(answer))
		}
	}
	for _, b := range blocks {
		switch b.language {
		case "json":
			if isExperiment, err := experimentOf(b.text); err != nil {
				t.Errorf("%s: %v: %s", brief.Of(b.page), err, b.text)
			} else if !isExperiment && strings.Contains(b.text, `"knowledge_bases": [`) {
				f(b.page, "/v1/search", b.text)
			}
		case "sh":
			for _, words := range commandsOf(b.text) {
				if path, body := searchOf(words); path != "" {
					f(b.page, path, body)
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d requests were found; want checked at least 30", checked)
	}
}

// searchOf is where curl sends a search, and what.
func searchOf(words []string) (path, body string) {
	data := slices.Index(words, "-d")
	if words[0] != "curl" || data < 0 {
		return "", ""
	}
	for _, word := range words {
		at, isOurs := strings.CutPrefix(word, "http://127.0.0.1:8080")
		if isOurs && slices.Contains([]string{
			"/v1/search", "/v1/search/batch", "/v1/context", "/v1/compare", "/v1/suggest",
		}, at) {
			path = at
		}
	}
	return path, words[data+1]
}

// TestGuideSettings holds the settings and variables that the guide names to those that there are.
func TestGuideSettings(t *testing.T) {
	t.Parallel()
	names, sections := map[string]bool{}, map[string]bool{}
	for _, s := range config.Settings() {
		names[s.Key], names[s.Env()] = true, true
		section, _, _ := strings.Cut(s.Key, ".")
		sections[strings.TrimSuffix(section, "[]")] = true
	}
	for _, variable := range []string{"HYBRIDGE_SERVER", "HYBRIDGE_KEY", "HYBRIDGE_CONFIG", "HYBRIDGE_URL", "HYBRIDGE_API_KEY"} {
		names[variable] = true
	}
	blocks, spans := readGuide(t)
	dotted := regexp.MustCompile(`^([a-z_]+)(\.[a-z_]+)+$`)
	for page, texts := range spans {
		for _, text := range texts {
			isFile := slices.Contains([]string{".db", ".yml"}, filepath.Ext(text))
			if m := dotted.FindStringSubmatch(text); m != nil && sections[m[1]] && !isFile && !names[text] {
				t.Errorf("%s: there is no setting %s", brief.Of(page), text)
			}
			if strings.HasPrefix(text, config.EnvPrefix) && !names[text] {
				t.Errorf("%s: there is no variable %s", brief.Of(page), text)
			}
		}
	}
	for _, b := range blocks {
		var top map[string]any
		if b.language != "yaml" {
			continue
		}
		if err := yaml.Unmarshal([]byte(b.text), &top); err != nil {
			t.Errorf("%s: %v", brief.Of(b.page), err)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(top)), func(key string) bool { return !sections[key] }) {
			loads(t, b)
		}
	}
}

func loads(t *testing.T, settings example) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hybridge.yaml")
	if err := os.WriteFile(file, []byte(settings.text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(file, nil, nil); err != nil {
		t.Errorf("%s: %v in\n%s", brief.Of(settings.page), err, settings.text)
	}
}

// TestGuideNamesAllPresets finds every preset in the table of presets.
func TestGuideNamesAllPresets(t *testing.T) {
	t.Parallel()
	_, spans := readGuide(t)
	for _, page := range []string{"en/presets.md", "zh/presets.md"} {
		for name := range presets.Builtin() {
			if !slices.Contains(spans[page], name) {
				t.Errorf("%s lacks %s", brief.Of(page), name)
			}
		}
	}
}
