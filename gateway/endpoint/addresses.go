package endpoint

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// proxies are the networks whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// addressOf is where a request comes from: of those that trusted proxies have passed on, the
// last address of X-Forwarded-For that is not one of theirs.
func (p proxies) addressOf(c *fiber.Ctx) netip.Addr {
	remote, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	remote = remote.Unmap()
	if !p.trusts(remote) {
		return remote
	}
	var hops []string
	for _, header := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(header), ",")...)
	}
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			return remote // what stands before it cannot be trusted
		}
		if remote = hop.Unmap(); !p.trusts(remote) {
			return remote
		}
	}
	return remote
}

func (p proxies) trusts(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}
