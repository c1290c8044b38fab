package rules

import (
	"fmt"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/fault"
)

// check refuses invalid sets. Errors name the place.
func check(all []Rule) error {
	if n := len(all); n > MaxRules {
		return fault.Invalid("rules", fault.Length(n), "at most 1000 rules")
	}
	names := make(map[string]bool, len(all))
	for i := range all {
		r, at := &all[i], fmt.Sprintf("rules[%d].", i)
		switch {
		case !fits(r.Name, MaxNameBytes) || r.Name == "":
			return fault.Invalid(at+"name", r.Name, "a name of 1 to 256 bytes of UTF-8")
		case names[r.Name]:
			return fault.Invalid(at+"name", r.Name, "a name that no other rule of the set has")
		case !fits(r.Note, MaxNoteBytes):
			return fault.Invalid(at+"note", r.Note, "at most 1000 bytes of UTF-8")
		case len(r.Pin)+len(r.Hide) == 0:
			return fault.Invalid(at+"pin", "empty, and so is hide", "at least one chunk or document, here or in hide")
		}
		names[r.Name] = true
		if err := r.When.check(at + "when."); err != nil {
			return err
		}
		if err := r.checkTargets(at); err != nil {
			return err
		}
	}
	return nil
}

func (w *When) check(at string) error {
	if m := w.Match; m != Exact && m != Contains && m != Expanded {
		return fault.Invalid(at+"match", string(m), "exact, contains or expanded")
	}
	if n := len(w.Queries); n < 1 || n > MaxQueries {
		return fault.Invalid(at+"queries", fault.Length(n), "a list of 1 to 50 phrases")
	}
	seen := make(map[string]bool, len(w.Queries))
	for i, query := range w.Queries {
		place := fmt.Sprintf("%squeries[%d]", at, i)
		switch {
		case !fits(query, MaxQueryBytes) || query == "":
			return fault.Invalid(place, query, "a phrase of 1 to 1000 bytes of UTF-8")
		case seen[query]:
			return fault.Invalid(place, query, "a phrase that the rule has once")
		}
		seen[query] = true
	}
	return nil
}

// checkTargets refuses lists that are too long, repeat themselves or contradict each other.
func (r *Rule) checkTargets(at string) error {
	if n := len(r.Pin); n > MaxPins {
		return fault.Invalid(at+"pin", fault.Length(n), "at most 10 chunks and documents")
	}
	if n := len(r.Hide); n > MaxHides {
		return fault.Invalid(at+"hide", fault.Length(n), "at most 100 chunks and documents")
	}
	pinned := make(map[Target]bool, len(r.Pin))
	for i, t := range r.Pin {
		place := fmt.Sprintf("%spin[%d]", at, i)
		if err := t.check(place); err != nil {
			return err
		}
		if pinned[t] {
			return fault.Invalid(place, t.id(), "a chunk or document that the rule pins once")
		}
		pinned[t] = true
	}
	hidden := make(map[Target]bool, len(r.Hide))
	for i, t := range r.Hide {
		place := fmt.Sprintf("%shide[%d]", at, i)
		if err := t.check(place); err != nil {
			return err
		}
		switch {
		case hidden[t]:
			return fault.Invalid(place, t.id(), "a chunk or document that the rule hides once")
		case pinned[t]:
			return fault.Invalid(place, t.id(), "a chunk or document that the rule does not pin")
		}
		hidden[t] = true
	}
	return nil
}

func (t Target) check(at string) error {
	if (t.ChunkID == "") == (t.DocumentID == "") || !fits(t.ChunkID, MaxNameBytes) || !fits(t.DocumentID, MaxNameBytes) {
		return fault.Invalid(at, fmt.Sprintf("chunk_id %q, document_id %q", t.ChunkID, t.DocumentID),
			"either a chunk_id or a document_id, of 1 to 256 bytes of UTF-8")
	}
	return nil
}

// id returns the id of the chunk or of the document, whichever is set.
func (t Target) id() string { return t.ChunkID + t.DocumentID }

func fits(text string, most int) bool { return len(text) <= most && utf8.ValidString(text) }
