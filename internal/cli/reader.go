package cli

import (
	"io"

	"github.com/hybridge-search/hybridge/locale"
)

// localized is a writer whose readers read a language: the language travels with the writer, so that no
// command passes it on.
type localized struct {
	io.Writer
	language *locale.Language
}

func (l *localized) readBy() *locale.Language { return l.language }

// readerOf gives the language of those who read a writer.
func readerOf(w io.Writer) *locale.Language {
	if l, ok := w.(interface{ readBy() *locale.Language }); ok {
		return l.readBy()
	}
	return nil
}

// plainWriter gives the writer itself, which may be a terminal.
func plainWriter(w any) any {
	if l, ok := w.(*localized); ok {
		return l.Writer
	}
	return w
}
