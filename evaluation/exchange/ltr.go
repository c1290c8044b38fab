package exchange

import (
	"io"
	"strings"
)

const qidPrefix = "qid:"

// ltr reads lines for learning to rank, as SVMrank and RankLib have them: grade qid:query 1:0.3 … # document. Of a
// comment the first word is the document; Quepid writes the query behind it. Lines that are comments say nothing.
func (f *File) ltr(r io.Reader, all *judgments) error {
	return f.Lines(r, func(line int, text string) error {
		if strings.HasPrefix(text, "#") {
			return nil
		}
		features, comment, _ := strings.Cut(text, "#")
		fields := strings.Fields(features)
		if len(fields) < 2 || !strings.HasPrefix(fields[1], qidPrefix) {
			f.Report.Add(f.Name, Broken, line, "%s: no grade and qid", short(text))
			return nil
		}
		document := ""
		if words := strings.Fields(comment); len(words) > 0 {
			document = words[0]
		}
		all.add(line, strings.TrimPrefix(fields[1], qidPrefix), document, fields[0])
		return nil
	})
}
