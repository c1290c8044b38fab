package gateway

import (
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// guardHost prevents DNS rebinding. A page of any web site can make its own host name resolve
// to 127.0.0.1 and then read a gateway without keys on this machine as its own origin. Its
// requests still carry that host name.
func (s *Server) guardHost(c *fiber.Ctx) error {
	if s.loopback.Load() && !isLoopbackHost(string(c.Request().Host())) {
		return fault.New(fault.Forbidden,
			"without keys only requests to localhost are served; configure keys to serve other host names")
	}
	return c.Next()
}

func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "127.0.0.1" || host == "localhost" {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func isLoopbackAddr(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
