// Package docs carries the user guide, so that the program can search its own
// documentation.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed guide
var files embed.FS

// Guide is the user guide: en/*.md and zh/*.md.
func Guide() fs.FS {
	guide, err := fs.Sub(files, "guide")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return guide
}
