// Package docs carries the user guide, so that the program can show and search its own
// documentation.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed guide
var guide embed.FS

//go:embed guide/en/*.md guide/zh/*.md
var pages embed.FS

// Guide is the user guide: en/*.md, zh/*.md, their order in contents.yaml, and pictures/*.svg.
func Guide() fs.FS { return within(guide) }

// Pages are those of the guide that are text, en/*.md and zh/*.md, and nothing else.
func Pages() fs.FS { return within(pages) }

func within(files embed.FS) fs.FS {
	sub, err := fs.Sub(files, "guide")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return sub
}
