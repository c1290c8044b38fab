// Package docs carries the documentation, so that the program can show it and search it.
//
// A program that is built with the tag `packed` has it as pages.zip, which `go generate ./docs` makes and which is a
// third as large; any other build has the files as they are here.
package docs

import "io/fs"

// Files are the pages as they are here: guide/en/*.md and guide/zh/*.md, what they show, and
// the reference beside the guide.
func Files() fs.FS { return files() }

// Guide is the user guide: en/*.md, zh/*.md, their order in contents.yaml, and pictures/*.svg.
func Guide() fs.FS { return within(files()) }

// Pages are those of the guide that are text, en/*.md and zh/*.md, and nothing else.
func Pages() fs.FS { return within(pages()) }

// Demo are the pages of the guide that the demo knowledge base holds, named as in Pages.
func Demo() fs.FS { return within(demo()) }

func within(files fs.FS) fs.FS {
	guide, err := fs.Sub(files, "guide")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return guide
}
