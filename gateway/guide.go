package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/guide"
	"github.com/hybridge-search/hybridge/locale"
)

const (
	// guidePolicy lets the pages of the guide load styles and pictures of the gateway, and send a search
	// to it. They have no script.
	guidePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
		"frame-ancestors 'none'"
	// picturePolicy is of a picture that is looked at by itself, which has its own styles in it.
	picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'none'"
)

// manual is the guide as it is served.
type manual struct {
	*guide.Guide
	files map[string]*file // by address
}

// registerGuide serves the user guide. Like the web application it holds no secrets and needs no key.
// It is read when it is first asked for, so that it costs no start anything.
func registerGuide(api *endpoint.API, open func() (*guide.Guide, error)) {
	if open == nil {
		return
	}
	read := sync.OnceValues(func() (*manual, error) { return readManual(open) })
	api.App.Get(strings.TrimSuffix(guide.Root, "/"), toGuide)
	api.App.Get(guide.Root, toGuide)
	api.App.Get(guide.Root+"*", func(c *fiber.Ctx) error {
		endpoint.ExchangeOf(c).Route = guide.Root
		m, err := read()
		if err != nil {
			return fault.Wrap(fault.Internal, err, "read the guide")
		}
		ctx, cancel := context.WithTimeout(api.Base, api.Limits.Request)
		defer cancel()
		return m.answer(ctx, c)
	})
}

// toGuide leads to the guide in the reader's language.
func toGuide(c *fiber.Ctx) error {
	endpoint.ExchangeOf(c).Route = guide.Root
	c.Vary(fiber.HeaderAcceptLanguage)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	return c.Redirect(guide.First(locale.Match(c.Get(fiber.HeaderAcceptLanguage)).Tag()), http.StatusFound)
}

func readManual(read func() (*guide.Guide, error)) (*manual, error) {
	g, err := read()
	if err != nil {
		return nil, err
	}
	m := &manual{Guide: g, files: map[string]*file{}}
	for address, content := range g.Files() {
		m.files[address] = newFile(address, content)
		m.files[address].policy = picturePolicy
	}
	for address, content := range g.Pages() {
		m.files[address] = guidePage(content)
	}
	return m, nil
}

func guidePage(content []byte) *file {
	f := newFile(indexFile, content)
	f.policy = guidePolicy
	return f
}

// answer sends a page or a file, makes the answer to a question, or says that there is no such page.
func (m *manual) answer(ctx context.Context, c *fiber.Ctx) error {
	address, err := url.PathUnescape(c.Path())
	if err != nil {
		address = c.Path()
	}
	if f := m.files[address]; f != nil {
		return f.send(c, guide.Root)
	}
	for _, code := range guide.Languages() {
		switch address {
		case guide.SearchAddress(code):
			return guidePage(m.Search(ctx, code, c.Query("q"))).send(c, guide.Root)
		case strings.TrimSuffix(guide.First(code), "/"):
			return c.Redirect(guide.First(code), http.StatusMovedPermanently)
		}
	}
	if page := strings.TrimSuffix(address, ".md"); m.files[page] != nil {
		return c.Redirect(page, http.StatusMovedPermanently) // the name of the file
	}
	c.Status(http.StatusNotFound)
	guidePage(m.NotFound(ctx, address)).write(c)
	return nil
}
