package gateway

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// pages are the paths of the web application. All answer index.html, which shows the page by
// its path.
var pages = []string{
	"/compare",
	"/evaluate", "/evaluate/:evaluation", "/judge/:list", "/tune/:tuning", "/analytics",
	"/experiments", "/experiments/:experiment",
	"/knowledge-bases", "/knowledge-bases/:kb", "/documents/:kb/:document",
	"/mappings",
	"/synonyms",
	"/rules",
	"/presets",
	"/keys", "/settings", "/audit",
	"/playground",
}

// docsPage is the path of the page that shows the API.
const docsPage = "/docs"

const (
	indexFile = "index.html"
	docsFile  = "docs.html"
	// assets holds files with the hash of the content in the name.
	assets = "assets/"
	// pagePolicy lets a page load scripts, styles, fonts and answers only from the gateway,
	// and keeps text from becoming code.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
	// docsPolicy is of the page that shows the API, which is made by a library that sets styles and markup.
	docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// file is one file of the web application, as it is sent.
type file struct {
	content     func() []byte
	compressed  func() []byte // by gzip; nil if that does not help
	contentType string
	etag        string
	immutable   bool
	policy      string
}

// errNoUI is the error of a binary without the web application.
var errNoUI = fault.New(fault.NotFound, "the web application is not in this binary; "+
	"build it where Node.js is installed, the API is complete without it")

// registerUI serves the web application. At / a browser gets the page, and clients that ask for
// JSON get the list of routes.
func registerUI(api *endpoint.API, application fs.FS) {
	files := map[string]*file{}
	if hasUI(application) {
		var err error
		if files, err = readUI(application); err != nil {
			api.Log.Warn("the web application is not served", "error", err)
		}
	}
	api.App.Use(func(c *fiber.Ctx) error { return orPage(c, c.Next(), files[indexFile]) })
	api.App.Get("/", func(c *fiber.Ctx) error {
		if !wantsPage(c) || files[indexFile] == nil {
			return c.Next()
		}
		return files[indexFile].send(c, "/")
	})
	for _, page := range pages {
		api.App.Get(page, func(c *fiber.Ctx) error { return files[indexFile].send(c, page) })
	}
	api.App.Get(docsPage, func(c *fiber.Ctx) error { return files[docsFile].send(c, docsPage) })
	for name, f := range files {
		if name != indexFile && name != docsFile {
			api.App.Get("/"+name, func(c *fiber.Ctx) error { return f.send(c, "/"+assets) })
		}
	}
}

// wantsPage reports whether a browser asks, at addresses that answer browsers and programs differently.
func wantsPage(c *fiber.Ctx) bool {
	c.Vary(fiber.HeaderAccept)
	return strings.Contains(c.Get(fiber.HeaderAccept), "text/html")
}

// apiRoots are the paths below which an unknown address is always answered by a problem document.
var apiRoots = []string{"/v1", "/api", "/mcp", "/assets"}

// orPage sends a browser the index, with status 404, where err says that no route matches; the
// application then says that there is no such page. In all other cases it returns err.
func orPage(c *fiber.Ctx, err error, index *file) error {
	var f *fiber.Error
	if !errors.As(err, &f) || f.Code != http.StatusNotFound || index == nil {
		return err
	}
	reading := c.Method() == http.MethodGet || c.Method() == http.MethodHead
	ofAPI := slices.ContainsFunc(apiRoots, func(root string) bool { return isBelow(c.Path(), root) })
	if !reading || ofAPI || !wantsPage(c) {
		return err
	}
	c.Status(http.StatusNotFound)
	index.write(c)
	return nil
}

func isBelow(address, root string) bool {
	rest, found := strings.CutPrefix(address, root)
	return found && (rest == "" || rest[0] == '/')
}

// hasUI reports whether the binary has the web application.
func hasUI(application fs.FS) bool {
	if application == nil {
		return false
	}
	_, err := fs.Stat(application, indexFile)
	return err == nil
}

// readUI reads the files into memory.
func readUI(ui fs.FS) (map[string]*file, error) {
	files := map[string]*file{}
	err := fs.WalkDir(ui, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		content, err := fs.ReadFile(ui, name)
		if err != nil {
			return err
		}
		if plain, packed := strings.CutSuffix(name, packedEnding); packed {
			files[plain], err = newPackedFile(plain, content)
			return err
		}
		files[name] = newFile(name, content)
		return nil
	})
	return files, err
}

func newFile(name string, content []byte) *file {
	f := describedFile(name, content)
	f.content = func() []byte { return content }
	f.compressed = sync.OnceValue(func() []byte { return pack(content) })
	return f
}

// packedEnding is the extension of files that are stored compressed, by gzip.
const packedEnding = ".gz"

// newPackedFile is a file that is compressed already; who does not accept it so gets it unpacked. That the whole of it
// can be is tested where it is built: it costs a start of the gateway more than all else that is read there.
func newPackedFile(name string, packed []byte) (*file, error) {
	if _, err := gzip.NewReader(bytes.NewReader(packed)); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "unpack %s", name)
	}
	f := describedFile(name, packed)
	f.compressed = func() []byte { return packed }
	f.content = func() []byte {
		content, _ := unpack(packed) // it is part of the binary
		return content
	}
	return f, nil
}

func describedFile(name string, content []byte) *file {
	hash := sha256.Sum256(content)
	policy := pagePolicy
	if name == docsFile {
		policy = docsPolicy
	}
	return &file{
		contentType: contentTypeOf(name), immutable: strings.HasPrefix(name, assets), policy: policy,
		etag: `"` + hex.EncodeToString(hash[:8]) + `"`,
	}
}

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// pack compresses by gzip. It returns nil if that does not help.
func pack(content []byte) []byte {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(content)
		err = errors.Join(err, writer.Close())
	}
	if err != nil || packed.Len() > len(content)*9/10 {
		return nil
	}
	return packed.Bytes()
}

// contentTypeOf avoids the machine's tables for common types, as these differ.
func contentTypeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	if known := mime.TypeByExtension(path.Ext(name)); known != "" {
		return known
	}
	return fiber.MIMEOctetStream
}

// send answers with the file, or 304 when the client has it.
func (f *file) send(c *fiber.Ctx, route string) error {
	endpoint.ExchangeOf(c).Route = route
	if f == nil {
		return errNoUI
	}
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if f.immutable {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	}
	c.Set(fiber.HeaderETag, f.etag)
	if c.Get(fiber.HeaderIfNoneMatch) == f.etag {
		f.describe(c)
		c.Status(fiber.StatusNotModified)
		return nil
	}
	f.write(c)
	return nil
}

func (f *file) describe(c *fiber.Ctx) {
	c.Set(fiber.HeaderContentType, f.contentType)
	c.Set(fiber.HeaderContentSecurityPolicy, f.policy)
	c.Vary(fiber.HeaderAcceptEncoding)
}

// write sends the content, compressed if the client accepts that.
func (f *file) write(c *fiber.Ctx) {
	f.describe(c)
	if strings.Contains(c.Get(fiber.HeaderAcceptEncoding), "gzip") {
		if packed := f.compressed(); packed != nil {
			c.Set(fiber.HeaderContentEncoding, "gzip")
			c.Response().SetBodyRaw(packed)
			return
		}
	}
	c.Response().SetBodyRaw(f.content())
}
