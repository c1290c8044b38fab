// Package docs carries the documentation, so that the program can show it and search it.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed guide growth/*.svg *.md
var files embed.FS

//go:embed guide/en/*.md guide/zh/*.md
var pages embed.FS

// Few enough that a model on a processor embeds them in less than a minute.
//
//go:embed guide/*/quickstart.md guide/*/concepts.md guide/*/embedded.md guide/*/elasticsearch.md
//go:embed guide/*/postgres.md guide/*/searching.md guide/*/filters.md guide/*/presets.md
//go:embed guide/*/relevance.md guide/*/chinese.md guide/*/backup.md
var demo embed.FS

// Files are the pages as they are here: guide/en/*.md and guide/zh/*.md, what they show, and
// the reference beside the guide.
func Files() fs.FS { return files }

// Guide is the user guide: en/*.md, zh/*.md, their order in contents.yaml, and pictures/*.svg.
func Guide() fs.FS { return within(files) }

// Pages are those of the guide that are text, en/*.md and zh/*.md, and nothing else.
func Pages() fs.FS { return within(pages) }

// Demo are the pages of the guide that the demo knowledge base holds, named as in Pages.
func Demo() fs.FS { return within(demo) }

func within(files embed.FS) fs.FS {
	guide, err := fs.Sub(files, "guide")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return guide
}
