//go:build packed

package docs

import (
	_ "embed"
	"io/fs"
)

// `go generate ./docs` makes it.
//
//go:embed pages.zip
var packed archive

func files() fs.FS { return packed.with("") }
func pages() fs.FS { return packed.with(isPage) }
func demo() fs.FS  { return packed.with(isDemo) }
