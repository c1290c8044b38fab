package endpoint

import (
	"bytes"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"github.com/hybridge-search/hybridge/fault"
)

// probes are called by machines under any host name, and reveal nothing.
var probes = []string{"/healthz", "/readyz"}

// guard refuses requests by where they come from and go to.
type guard struct {
	keyed   func() bool // whether callers need a key
	hosts   []string    // served without keys, beside those of the loopback; in lower case
	origins []string    // whose pages may use the API
}

// guardHost prevents DNS rebinding. A page of any web site can make its own host name resolve
// to this machine, or to one of its network, and then read a gateway without keys as its own
// origin. Its requests still carry that host name. With keys there is nothing to gain by it.
func (g *guard) guardHost(c *fiber.Ctx) error {
	if g.keyed() || slices.Contains(probes, c.Path()) {
		return c.Next()
	}
	host := string(c.Request().Host())
	if !isLoopbackHost(host) && !slices.Contains(g.hosts, hostName(host)) {
		err := fault.New(fault.Forbidden, "without keys only requests to localhost and to allowed_hosts are served, "+
			"and Host is %q; configure keys to serve every host name", Clip(host))
		err.Field = "Host"
		return err
	}
	return c.Next()
}

// hostName is a Host header without its port, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func isLoopbackHost(host string) bool {
	if host == "127.0.0.1" || host == "localhost" {
		return true
	}
	host = hostName(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// guardOrigin refuses requests that a page of another site makes a browser send, if they could change
// something: the browser may add a key or network access unknown to the page.
func (g *guard) guardOrigin(c *fiber.Ctx) error {
	switch c.Method() {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return c.Next()
	}
	origin := c.Get(fiber.HeaderOrigin)
	if g.allowsOrigin(origin) {
		return c.Next()
	}
	if origin != "" && !sameHost(origin, string(c.Request().Host())) {
		err := fault.New(fault.Forbidden, "Origin is %q; it must be the gateway's own or one of cors.allowed_origins",
			Clip(origin))
		err.Field = fiber.HeaderOrigin
		return err
	}
	if c.Get("Sec-Fetch-Site") == "cross-site" {
		err := fault.New(fault.Forbidden, "Sec-Fetch-Site is cross-site; pages of other sites may not use the gateway "+
			"unless their origin is one of cors.allowed_origins")
		err.Field = "Sec-Fetch-Site"
		return err
	}
	return c.Next()
}

// sameHost compares without the scheme: behind a proxy that ends TLS it is another one.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && withoutPort(u.Host) == withoutPort(host)
}

// withoutPort removes the ports that browsers leave out.
func withoutPort(host string) string {
	host = strings.ToLower(host)
	return strings.TrimSuffix(strings.TrimSuffix(host, ":80"), ":443")
}

func (g *guard) allowsOrigin(origin string) bool {
	return slices.Contains(g.origins, strings.ToLower(origin))
}

// corsAnswers says to browsers that pages of the allowed origins may use the API, with whatever headers
// the clients of the protocols have.
func (g *guard) corsAnswers() fiber.Handler {
	return cors.New(cors.Config{
		AllowOriginsFunc: g.allowsOrigin,
		AllowMethods:     "GET,HEAD,POST,PUT,PATCH,DELETE",
		ExposeHeaders:    "X-Request-Id,Retry-After,Content-Language",
		MaxAge:           600,
	})
}

// guardFraming refuses requests of which a proxy in front may have read another length, or
// another host, than this server does.
func guardFraming(c *fiber.Ctx) error {
	err := framingFault(c.Request().Header.RawHeaders())
	if err == nil {
		return c.Next()
	}
	c.Context().SetConnectionClose() // what follows may be a body or a request
	ExchangeOf(c).Body.failed = true
	return err
}

func framingFault(headers []byte) error {
	hosts, lengths, encodings := 0, 0, 0
	for line := range bytes.Lines(headers) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch name = bytes.TrimSpace(name); {
		case bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			hosts++
		case bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			lengths++
		case bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			encodings++
		}
	}
	switch {
	case hosts > 1:
		return fault.New(fault.InvalidArgument, "the request has more than one Host header")
	case lengths > 1:
		return fault.New(fault.InvalidArgument, "the request has more than one Content-Length header")
	case lengths > 0 && encodings > 0:
		return fault.New(fault.InvalidArgument, "the request has both Content-Length and Transfer-Encoding")
	default:
		return nil
	}
}
