// Package web holds the built web application. Its source is TypeScript in
// src/; a build puts the result into dist/, which is not kept in the
// repository. Without a build the file system has a placeholder only.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files gives the built application: index.html and assets/, or neither. What is in assets/ is compressed by gzip,
// where its name says so.
func Files() (fs.FS, error) { return fs.Sub(dist, "dist") }
