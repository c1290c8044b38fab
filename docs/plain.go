//go:build !packed

package docs

import (
	"embed"
	"io/fs"
)

//go:embed guide growth/*.svg *.md
var allFiles embed.FS

//go:embed guide/en/*.md guide/zh/*.md
var pageFiles embed.FS

// Few enough that a model on a processor embeds them in less than a minute.
//
//go:embed guide/*/quickstart.md guide/*/concepts.md guide/*/embedded.md guide/*/elasticsearch.md
//go:embed guide/*/postgres.md guide/*/searching.md guide/*/filters.md guide/*/presets.md
//go:embed guide/*/relevance.md guide/*/chinese.md guide/*/backup.md
var demoFiles embed.FS

func files() fs.FS { return allFiles }
func pages() fs.FS { return pageFiles }
func demo() fs.FS  { return demoFiles }
