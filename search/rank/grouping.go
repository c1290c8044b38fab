package rank

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// GroupByDocument keeps the first, which is the best, chunk of each document.
func (set *Ranked) GroupByDocument() {
	seen := make(map[documentKey]bool, len(set.Entries))
	var kept []scoring.Fused
	for i := range set.Entries {
		e := &set.Entries[i]
		if document := set.Document(e); !seen[document] {
			seen[document] = true
			kept = append(kept, *e)
		}
	}
	set.Entries = kept
}

// SharedDocuments are those with more than one chunk in the ranking.
func (set *Ranked) SharedDocuments() map[documentKey]bool {
	shared := make(map[documentKey]bool, len(set.Entries))
	for i := range set.Entries {
		document := set.Document(&set.Entries[i])
		_, again := shared[document]
		shared[document] = again
	}
	return shared
}

// Among gives the entries of these documents.
func (set *Ranked) Among(window []scoring.Fused, documents map[documentKey]bool) []scoring.Fused {
	var those []scoring.Fused
	for i := range window {
		if documents[set.Document(&window[i])] {
			those = append(those, window[i])
		}
	}
	return those
}

// Likeness is equal for chunks of a knowledge base that are alike in the fields. A
// chunk that was not read is like no other.
func Likeness(e *scoring.Fused, chunk *engine.Chunk, fields []string) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(int(e.Source)))
	if chunk == nil {
		return b.String() + strconv.Quote(e.ID())
	}
	for _, field := range fields {
		b.WriteByte(' ')
		for _, text := range fieldValues(chunk, field) {
			b.WriteString(strconv.Quote(text))
		}
	}
	return b.String()
}

// fieldValues are the texts of a field as it was written.
func fieldValues(chunk *engine.Chunk, field string) []string {
	switch {
	case field == engine.FieldQuestion && chunk.QA != nil:
		return []string{chunk.Question}
	case field == engine.FieldAnswer && chunk.QA != nil:
		return []string{chunk.Answer}
	case field == engine.FieldText:
		return []string{chunk.Title, chunk.Content}
	}
	var texts []string
	for _, v := range chunk.Values(field) {
		texts = append(texts, fmt.Sprint(v.V))
	}
	return texts
}
