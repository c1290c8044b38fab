// Package bank tells how well a chunk answers a question, on a scale that is the same
// for every question, knowledge base and language.
//
// A cosine is not: those of one model crowd in a narrow range, which differs by the
// languages of question and chunk. The bank is the same topics in several languages, a
// question and a passage of each. The means of its questions and of its passages represent
// what texts of a language share; what a question and a chunk share beyond that is
// evidence.
package bank

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

//go:embed texts/*.jsonl
var files embed.FS

// Topic is a question and a passage that answers it.
type Topic struct {
	Topic    string `json:"topic"` // its name, the same in every language
	Question string `json:"question"`
	Passage  string `json:"passage"`
}

// Topics returns the bank by language (ISO 639-1), the same topics in the same order
// in each.
func Topics() (map[string][]Topic, error) {
	entries, err := files.ReadDir("texts")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "list the bank's languages")
	}
	all := map[string][]Topic{}
	for _, entry := range entries {
		name := entry.Name()
		text, err := files.ReadFile(path.Join("texts", name))
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "read the bank's %s", name)
		}
		topics, err := parse(text)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "the bank's %s", name)
		}
		all[strings.TrimSuffix(name, path.Ext(name))] = topics
	}
	return all, nil
}

// Has reports whether the bank has a language (ISO 639-1).
func Has(language string) bool {
	_, err := fs.Stat(files, path.Join("texts", language+".jsonl"))
	return language != "" && err == nil
}

func parse(text []byte) ([]Topic, error) {
	var topics []Topic
	for line := range bytes.Lines(text) {
		var t Topic
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}
