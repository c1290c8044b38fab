package exchange

import (
	"encoding/json"
	"io"
)

// rated is a query of RRE's ratings with the gains of documents.
type rated struct {
	line      int
	text      string
	documents []ratedDocument
}

type ratedDocument struct {
	line     int
	id, gain string
}

// ratings reads RRE's file: groups of queries, in topics or not, each with relevant documents. Quepid writes queries in
// place of groups.
type ratings struct {
	file *File
	walk *walker
	name string // of the placeholder that is the query
	take func(*rated)
}

const usualPlaceholder = "$query"

// rre gives each query to take.
func (f *File) rre(r io.Reader, take func(*rated)) error {
	return f.value(&cleaned{lines: f.lineReader(r)}, func(w *walker) error {
		all := &ratings{file: f, walk: w, name: usualPlaceholder, take: take}
		return all.groups()
	})
}

// groups reads the object that has topics, groups or queries.
func (a *ratings) groups() error {
	return a.walk.members(func(_ int, name string) error {
		switch name {
		case "query_placeholder":
			return a.walk.decoder.Decode(&a.name)
		case "topics":
			return a.walk.elements(func(int) error { return a.groups() })
		case "query_groups", "queries":
			return a.walk.elements(a.group)
		default:
			return a.walk.skip()
		}
	})
}

// asked is a query as templates get it.
type asked struct {
	Placeholders map[string]json.RawMessage `json:"placeholders"`
}

// group reads the queries that have the same relevant documents.
func (a *ratings) group(line int) error {
	if kind := a.walk.kind(); kind != '{' {
		a.file.Report.Add(a.file.Name, Broken, line, "no object of a query or a group")
		return a.walk.skip()
	}
	var all []asked
	var documents []ratedDocument
	err := a.walk.members(func(_ int, name string) (err error) {
		switch name {
		case "queries":
			return a.walk.decoder.Decode(&all)
		case "placeholders":
			all = append(all, asked{})
			return a.walk.decoder.Decode(&all[len(all)-1].Placeholders)
		case "relevant_documents":
			documents, err = a.documents()
			return err
		default:
			return a.walk.skip()
		}
	})
	if err != nil {
		return err
	}
	for i := range all {
		text := a.text(all[i].Placeholders)
		if text == "" {
			a.file.Report.Add(a.file.Name, NoText, line, "no placeholder %s", short(a.name))
			continue
		}
		a.take(&rated{line, text, documents})
	}
	return nil
}

// text returns a query's text: the value of its placeholder, or of the only one.
func (a *ratings) text(placeholders map[string]json.RawMessage) (text string) {
	raw, named := placeholders[a.name]
	if !named && len(placeholders) == 1 {
		for _, raw = range placeholders {
		}
	}
	_ = json.Unmarshal(raw, &text) // what is no text is none
	return text
}

// documents reads gains: {"document": {"gain": 3}} as RRE documents them, or {"3": ["document"]}.
func (a *ratings) documents() (all []ratedDocument, err error) {
	w := a.walk
	err = w.members(func(line int, name string) error {
		if w.kind() == '[' {
			return w.elements(func(int) error {
				var document id
				err := w.decoder.Decode(&document)
				at := w.at()
				all = append(all, ratedDocument{at, a.file.firstID(at, document), name})
				return err
			})
		}
		if w.kind() != '{' {
			var gain value
			err := w.decoder.Decode(&gain)
			all = append(all, ratedDocument{line, name, string(gain)})
			return err
		}
		var of struct {
			Gain value `json:"gain"`
		}
		err := w.decoder.Decode(&of)
		all = append(all, ratedDocument{line, name, string(of.Gain)})
		return err
	})
	return all, err
}
