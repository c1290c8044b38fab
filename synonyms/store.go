package synonyms

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/versions"
)

// MaxText is the most bytes that the text of a set may have.
const MaxText = versions.MaxText

// Version is one state of a set, as package versions keeps it.
type Version struct {
	Set       string    `json:"set" doc:"A knowledge base, or global."`
	Version   int       `json:"version" doc:"From 1; 0: there is none yet."`
	Rules     int       `json:"rules"`
	Author    string    `json:"author,omitempty" doc:"Name of the key that made it."`
	Comment   string    `json:"comment,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Text      string    `json:"text,omitempty" doc:"Rules in Solr's format, one a line."`
}

// StoreOptions configure a Store.
type StoreOptions struct {
	Path      string // the folder of its file, which must exist
	Tokenizer Tokenizer
	Versions  int // of each set that are kept; versions.Kept when 0
	Logger    *slog.Logger
}

// Store keeps the sets that are edited while the gateway runs, per tenant and with all
// their versions. It is safe for concurrent use.
type Store struct {
	*versions.Store[*Set]
	tokenizer Tokenizer
}

// OpenStore opens or creates the file and compiles the versions in use. A set that no
// longer compiles is logged and skipped.
func OpenStore(ctx context.Context, o StoreOptions) (*Store, error) {
	s := &Store{tokenizer: o.Tokenizer}
	kept, err := versions.Open(ctx, versions.Options[*Set]{
		Folder: o.Path, File: "synonyms.db", Compile: s.compile, Versions: o.Versions, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	s.Store = kept
	return s, nil
}

// compile parses a text. Errors and rules name the set, the version and the line.
func (s *Store) compile(name string, version int, text string) (*Set, int, error) {
	set, err := Parse(fmt.Sprintf("%s (version %d)", name, version), strings.NewReader(text), s.tokenizer)
	return set, set.Len(), err
}

// For returns the edited synonyms of a tenant's knowledge base, its own before those for
// all knowledge bases of the tenant.
func (s *Store) For(tenant, knowledgeBase string) analysis.Expander {
	return both{own: s.InUse(tenant, knowledgeBase), global: s.InUse(tenant, Global)}.expander()
}

// Fingerprint changes with the result of For.
func (s *Store) Fingerprint(tenant, knowledgeBase string) string {
	return s.Store.Fingerprint(tenant, knowledgeBase) + "/" + s.Store.Fingerprint(tenant, Global)
}

// Applied is a synonym that a rule adds to a question.
type Applied struct {
	Source []string `json:"source" doc:"Words of the question."`
	Target []string `json:"target" doc:"The synonym; several words are a phrase."`
	Weight float64  `json:"weight" doc:"The rule's own, in (0, 1]."`
	Rule   string   `json:"rule"`
}

// Try shows what a text, saved or not, would do to a question. cut is how many synonyms
// exceed the limits and are omitted.
func (s *Store) Try(name, text, question string) (applied []Applied, cut int, err error) {
	set, err := Parse(name, strings.NewReader(text), s.tokenizer)
	if err != nil {
		return nil, 0, err
	}
	words := terms(s.tokenizer.Tokens(question))
	applied = []Applied{}
	expansions := set.Expand(words)
	for _, e := range expansions.All {
		applied = append(applied, Applied{Source: words[e.Start:e.End], Target: e.Terms, Weight: e.Weight, Rule: e.Rule})
	}
	return applied, expansions.Cut, nil
}
