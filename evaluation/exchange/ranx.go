package exchange

import "io"

// ranx reads a JSON object of queries, each an object of documents with their grades or scores, which pytrec_eval has
// too.
func (f *File) ranx(r io.Reader, add func(line int, query, document, value string)) error {
	return f.value(&cleaned{lines: f.lineReader(r)}, func(w *walker) error {
		return w.members(func(line int, query string) error {
			if w.kind() != '{' {
				f.Report.Add(f.Name, Broken, line, "query %s: no object of documents", short(query))
				return w.skip()
			}
			return w.members(func(line int, document string) error {
				var of value
				err := w.decoder.Decode(&of)
				add(line, query, document, string(of))
				return err
			})
		})
	})
}
