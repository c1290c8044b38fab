package endpoint

import (
	"crypto/sha256"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/hybridge-search/hybridge/fault"
)

// wrongAddresses are remembered, and as many keys known from an address.
const wrongAddresses = 10_000

// callers bound what each key, and all of them together, ask for. Safe for concurrent use.
type callers struct {
	limits *Limits
	now    func() time.Time
	all    *caller
	keys   sync.Map // name of a key → *caller
	wrong  *lru.Cache[netip.Addr, *rate.Limiter]
	known  *lru.Cache[knownKey, struct{}] // right keys, by who used them
}

type knownKey struct {
	address netip.Addr
	hash    [sha256.Size]byte
}

type caller struct {
	rate       *rate.Limiter
	concurrent int64
	running    atomic.Int64
	policy     string
}

func newCallers(l *Limits, now func() time.Time) *callers {
	c := &callers{limits: l, now: now, all: newCaller("gateway", l.Rate, l.Concurrent)}
	c.wrong, _ = lru.New[netip.Addr, *rate.Limiter](wrongAddresses) // the size is a constant > 0
	c.known, _ = lru.New[knownKey, struct{}](wrongAddresses)
	return c
}

func newCaller(name string, perSecond, concurrent int) *caller {
	return &caller{
		rate: rate.NewLimiter(rate.Limit(perSecond), perSecond), concurrent: int64(concurrent),
		policy: fmt.Sprintf(`"%s";q=%d;w=1`, name, perSecond),
	}
}

// admit counts a request of a key until release is called, and tells the client its limits in
// the headers of draft-ietf-httpapi-ratelimit-headers.
func (cs *callers) admit(c *fiber.Ctx, key string) (release func(), err error) {
	found, ok := cs.keys.Load(key)
	if !ok {
		found, _ = cs.keys.LoadOrStore(key, newCaller("key", cs.limits.KeyRate, cs.limits.KeyConcurrent))
	}
	own := found.(*caller)
	now := cs.now()
	for _, who := range []*caller{own, cs.all} {
		if !who.rate.AllowN(now, 1) {
			wait := max(1, int(math.Ceil((1-who.rate.TokensAt(now))/float64(who.rate.Limit()))))
			who.tell(c, 0, wait)
			c.Set(fiber.HeaderRetryAfter, strconv.Itoa(wait))
			return nil, fault.New(tooManyRequests,
				"%s requests a second are allowed (limits.key_rate for a key, limits.rate for all); come again in %d s",
				strconv.Itoa(who.rate.Burst()), wait)
		}
	}
	ownRunning, allRunning := own.running.Add(1), cs.all.running.Add(1)
	release = func() { own.running.Add(-1); cs.all.running.Add(-1) }
	own.tell(c, int(own.rate.TokensAt(now)), 1)
	if ownRunning > own.concurrent || allRunning > cs.all.concurrent {
		release()
		return nil, fault.New(tooManyRequests, "too many requests are being answered at a time (limits.key_concurrent for a "+
			"key, limits.concurrent for all)")
	}
	return release, nil
}

// owe counts further requests of a key.
func (cs *callers) owe(key string, n int) {
	now := cs.now()
	if own, ok := cs.keys.Load(key); ok {
		own.(*caller).rate.ReserveN(now, min(n, own.(*caller).rate.Burst()))
	}
	cs.all.rate.ReserveN(now, min(n, cs.all.rate.Burst()))
}

// tell sets the headers: the remaining requests, and the seconds until there are more.
func (w *caller) tell(c *fiber.Ctx, left, seconds int) {
	name, _, _ := strings.Cut(w.policy, ";")
	headers := &c.Response().Header
	headers.Set("RateLimit-Policy", w.policy)
	headers.Set("RateLimit", name+";r="+strconv.Itoa(max(left, 0))+";t="+strconv.Itoa(seconds))
}

// mayTry reports whether a key from this address is checked. An address that tried many
// wrong ones may only use keys that it used before: guesses are refused whether right or not.
func (cs *callers) mayTry(address netip.Addr, hash [sha256.Size]byte) bool {
	tried, ok := cs.wrong.Get(address)
	return !ok || tried.TokensAt(cs.now()) >= 1 || cs.known.Contains(knownKey{address, hash})
}

// tried notes whether a key was right.
func (cs *callers) tried(address netip.Addr, hash [sha256.Size]byte, right bool) {
	if right {
		if _, known := cs.known.Get(knownKey{address, hash}); !known {
			cs.known.Add(knownKey{address, hash}, struct{}{})
		}
		return
	}
	tried, ok := cs.wrong.Get(address)
	if !ok {
		tried = rate.NewLimiter(1, cs.limits.WrongKeys)
		cs.wrong.Add(address, tried)
	}
	tried.AllowN(cs.now(), 1)
}
