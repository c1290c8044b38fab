package tokens

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/jieba"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shared is one Analyzer for all tests: loading takes half a second.
var shared *Analyzer

func TestMain(m *testing.M) {
	flag.Parse()
	shared = newAnalyzer("")
	os.Exit(m.Run())
}

// newAnalyzer has the words of a user dictionary, if any.
func newAnalyzer(userDictionary string) *Analyzer {
	s, err := jieba.Open(jieba.Options{UserDictionary: userDictionary})
	if err != nil {
		panic(err)
	}
	return New(s)
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "user.txt")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// join is the texts of tokens, with spaces between them.
func join(terms []string) string { return strings.Join(terms, " ") }

func texts(tokens []analysis.Token) []string {
	terms := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i] = t.Text
	}
	return terms
}

// golden compares a value's JSON with a file below testdata.
func golden(t *testing.T, name string, got any) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s differs (run with -update to accept):\n%s", path, b.String())
	}
}

// readTexts reads a file of one text per line, each a JSON string so that any
// rune can be written.
func readTexts(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}
