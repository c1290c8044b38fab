package rules_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/rules"
)

// spaced makes a word of whatever stands between spaces, in lower case.
type spaced struct{}

func (spaced) ParsePlain(query string) analysis.Query {
	return analysis.ParsePlain(query, func(text string) (all []analysis.Token) {
		for _, word := range strings.Fields(strings.ToLower(text)) {
			if strings.Trim(word, "?!.") != "" {
				all = append(all, analysis.Token{Text: strings.Trim(word, "?!.")})
			}
		}
		return all
	})
}

// expander has the synonyms of single words.
type expander map[string]string

func (x expander) Expand(words []string) (found analysis.Expansions) {
	for i, word := range words {
		if synonym := x[word]; synonym != "" {
			found.All = append(found.All, analysis.Expansion{Start: i, End: i + 1, Terms: strings.Fields(synonym), Weight: 1})
		}
	}
	return found
}

func rule(name, match, phrase string) string {
	return fmt.Sprintf(`{"name": %q, "when": {"match": %q, "queries": [%q]}, "pin": [{"chunk_id": "c"}]}`, name, match, phrase)
}

func list(all ...string) string { return "[" + strings.Join(all, ",") + "]" }

func TestMatch(t *testing.T) {
	set, err := rules.Parse(list(
		rule("wide", "expanded", "machine learning course"), rule("part", "expanded", "learning course"),
		rule("words", "contains", "a course"), rule("short", "contains", "course"), rule("all", "exact", "A course?"),
		strings.Replace(rule("off", "contains", "course"), `"when"`, `"enabled": false, "when"`, 1),
	), spaced{})
	if err != nil || set.Len() != 6 {
		t.Fatalf("%d rules, %v; want no error and set.Len() 6", set.Len(), err)
	}
	f := func(question, want string) {
		t.Helper()
		var got []string
		for _, r := range set.Match(strings.Fields(question), expander{"ml": "machine learning", "class": "course"}) {
			got = append(got, r.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", question, got, want)
		}
	}
	f("a course", "words short all")
	f("is this a course in cooking", "words short")
	f("machine learning course", "wide part short")
	f("an ml class", "wide part")
	f("ml and a class", "")
	f("learning machine course", "short")
	f("", "")
	if (*rules.Set)(nil).Match([]string{"a"}, nil) != nil || len(set.Match([]string{"ml", "class"}, nil)) != 0 {
		t.Error("no set, or no synonyms, match")
	}
}

func TestRefused(t *testing.T) {
	f := func(text, field, part string) {
		t.Helper()
		_, err := rules.Parse(text, spaced{})
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.InvalidArgument || e.Field != field || !strings.Contains(e.Detail, part) {
			t.Errorf("%.200s: %v, want an invalid argument at %s with %q", text, err, field, part)
		}
	}
	good := rule("a", "exact", "q")
	with := func(old, replaced string) string {
		return list(good, strings.Replace(rule("b", "exact", "q"), old, replaced, 1))
	}
	targets := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"chunk_id": "c%d"}`, i)
		}
		return list(all...)
	}
	many := make([]string, 1001)
	for i := range many {
		many[i] = rule(fmt.Sprint(i), "exact", "q")
	}
	f(list(many...), "rules", "at most 1000")
	f(with(`"b"`, `""`), "rules[1].name", "1 to 256 bytes")
	f(with(`"b"`, `"`+strings.Repeat("x", 257)+`"`), "rules[1].name", "1 to 256 bytes")
	f(with(`"b"`, `"a"`), "rules[1].name", "no other rule")
	f(with(`"exact"`, `"prefix"`), "rules[1].when.match", "exact, contains or expanded")
	f(with(`["q"]`, `[]`), "rules[1].when.queries", "1 to 50")
	f(with(`["q"]`, `["`+strings.Repeat(`x","`, 50)+`x"]`), "rules[1].when.queries", "1 to 50")
	f(with(`["q"]`, `["q", ""]`), "rules[1].when.queries[1]", "1 to 1000 bytes")
	f(with(`["q"]`, `["`+strings.Repeat("x", 1001)+`"]`), "rules[1].when.queries[0]", "1 to 1000 bytes")
	f(with(`["q"]`, `["q", "r", "q"]`), "rules[1].when.queries[2]", "once")
	f(with(`["q"]`, `["?!"]`), "rules[1].when.queries[0]", "letters or digits")
	f(with(`[{"chunk_id": "c"}]`, `[]`), "rules[1].pin", "at least one")
	f(with(`[{"chunk_id": "c"}]`, targets(11)), "rules[1].pin", "at most 10")
	f(with(`"pin"`, `"hide": `+targets(101)+`, "pin"`), "rules[1].hide", "at most 100")
	f(with(`{"chunk_id": "c"}`, `{}`), "rules[1].pin[0]", "either a chunk_id or a document_id")
	f(with(`{"chunk_id": "c"}`, `{"chunk_id": "c", "document_id": "d"}`), "rules[1].pin[0]", "either")
	f(with(`{"chunk_id": "c"}`, `{"chunk_id": "c"}, {"chunk_id": "c"}`), "rules[1].pin[1]", "once")
	f(with(`"pin"`, `"hide": [{"document_id": "c"}, {"chunk_id": "c"}], "pin"`), "rules[1].hide[1]", "does not pin")
	f(with(`"pin"`, `"note": "`+strings.Repeat("x", 1001)+`", "pin"`), "rules[1].note", "1000 bytes")
	if _, err := rules.Parse(with(`"pin"`, `"hide": `+targets(100)+`, "pin"`), spaced{}); err != nil {
		t.Errorf("100 hides: %v", err)
	}
}

// A set of the largest size, and the longest question, cost milliseconds; no more than MaxMatched
// rules apply.
func TestHostileQuestions(t *testing.T) {
	var all []string
	for i := range 1000 {
		phrase := strings.Repeat("a ", 1+i%400) + fmt.Sprint("b", i)
		if i%2 == 0 {
			phrase = strings.Repeat("a ", 1+i%400)
		}
		all = append(all, rule(fmt.Sprint(i), []string{"contains", "expanded"}[i/2%2], phrase))
	}
	set, err := rules.Parse(list(all...), spaced{})
	if err != nil {
		t.Fatal(err)
	}
	question := slices.Repeat([]string{"a"}, 16_000)
	started := time.Now()
	matched := set.Match(question, expander{"a": "a a"})
	if took := time.Since(started); took > 5*time.Second || len(matched) != rules.MaxMatched {
		t.Errorf("%d rules after %s; want took at most 5 * time.Second and MaxMatched matched", len(matched), took)
	}
}

func TestTextOfRules(t *testing.T) {
	read, err := rules.Read(list(rule("a", "exact", "q")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := rules.Text(read)
	again, failed := rules.Read(text)
	if err != nil || failed != nil || len(again) != 1 || again[0].Name != "a" || again[0].Pin[0].ChunkID != "c" {
		t.Errorf(`%s, %v, %v; want no error and no failed and 1 again and again[0].Name "a" and again[0].Pin[0].ChunkID "c"`, text, err, failed)
	}
	if none, err := rules.Read(""); err != nil || none == nil {
		t.Errorf("no text: %v, %v; want no error and a none", none, err)
	}
	if text, err := rules.Text(nil); err != nil || text != "[]" {
		t.Errorf(`no rules: %s, %v; want no error and text "[]"`, text, err)
	}
	if _, err := rules.Read("{"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("no JSON: %v; want an error of kind Corrupt", err)
	}
}
