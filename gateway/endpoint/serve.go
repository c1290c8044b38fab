package endpoint

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/access/quota"
	"github.com/hybridge-search/hybridge/lib/quietconn"
)

// Options are the settings of all requests, whatever they ask for.
type Options struct {
	// Keys are the accepted API keys. Without any, everyone is tenant "default", and only a
	// loopback listener is safe.
	Keys []Key
	// StoredKeys are further keys, which change while the server runs; nil: there are none. Once
	// there was one, callers need a key.
	StoredKeys *keys.Keeper
	KeysNeeded bool         // also while there is no key
	Quota      *quota.Meter // nil: nothing bounds what tenants store. Its creator runs it
	// AllowedHosts are the host names, beside those of the loopback, for which requests are
	// served without keys.
	AllowedHosts   []string
	AllowedOrigins []string // such as https://app.example, whose pages may use the API
	// TrustedProxies are the networks of proxies whose X-Forwarded-For says where requests
	// come from.
	TrustedProxies []netip.Prefix
	Limits         Limits
	Now            func() time.Time // nil: time.Now

	Logger     *slog.Logger // nil: nothing is logged
	LogQueries bool
	Audit      *slog.Logger         // nil: nothing is audited
	Tracing    trace.TracerProvider // nil: there are no traces
	Registry   *prometheus.Registry

	// OpenAPI is the document, which routes are added to.
	OpenAPI *huma.OpenAPI
}

// New returns a server without routes.
func New(options Options) *API {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &API{
		Limits:   options.Limits.withDefaults(),
		Log:      options.Logger,
		Document: newDocument(options.OpenAPI),
		quota:    options.Quota,
		changing: map[string]bool{},
	}
	a.Base, a.abort = context.WithCancel(context.Background())
	a.sending = sending{most: a.Limits.AnswerBytes, limit: a.Limits.SendingBytes, by: map[*byte]int{}}
	a.callers = newCallers(&a.Limits, options.Now)
	a.keyring = &keyring{
		given: options.Keys, stored: options.StoredKeys, needed: options.KeysNeeded,
		callers: a.callers, proxies: options.TrustedProxies,
	}
	a.observer = &observer{
		metrics: newRequestMetrics(options.Registry), log: a.Log, logQueries: options.LogQueries,
		audit: options.Audit, tracing: options.Tracing, proxies: options.TrustedProxies, base: a.Base,
	}
	guard := guard{keyed: a.keyring.keyed, origins: options.AllowedOrigins}
	for _, host := range options.AllowedHosts {
		guard.hosts = append(guard.hosts, hostName(host))
	}
	a.App = fiber.New(a.fiberConfig())
	a.observer.refuseUnknownMethods(a.App)
	a.App.Use(a.observer.observe, guardFraming, guard.guardHost)
	if len(options.AllowedOrigins) > 0 {
		a.App.Use(guard.corsAnswers())
	}
	a.App.Use(guard.guardOrigin)
	return a
}

// writeTimeout is how long a client may take to read an answer, or a line of one that
// comes in lines.
const writeTimeout = 2 * time.Minute

// fiberConfig sets Immutable because fiber reuses the buffers of a request and some strings
// outlive the handler in caches, and StreamRequestBody because the size of a body must be
// checked before it is read.
func (a *API) fiberConfig() fiber.Config {
	return fiber.Config{
		Immutable:                    true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		BodyLimit:                    a.Limits.JSONBytes,
		ReadBufferSize:               16 << 10, // also the limit of the headers
		WriteBufferSize:              64 << 10, // enough to send ten hits with all their documents at once
		ReadTimeout:                  a.Limits.Request,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  a.Limits.Idle,
		CaseSensitive:                true,
		StrictRouting:                true,
		DisableStartupMessage:        true,
		ErrorHandler:                 a.observer.refused,
	}
}

// Serve answers requests on the listener until ctx ends. Then it waits for those in flight,
// whose contexts end after Limits.ShutdownGrace.
func (a *API) Serve(ctx context.Context, listener net.Listener) error {
	defer a.abort()
	a.App.Server().CloseOnShutdown = true
	looking, stopLooking := context.WithCancel(context.WithoutCancel(ctx))
	var looker sync.WaitGroup
	looker.Go(func() { a.watched.run(looking) })
	defer looker.Wait()
	defer stopLooking()
	served := make(chan error, 1)
	go func() { served <- a.App.Listener(quietconn.Listener(listener)) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	a.Draining.Store(true)
	// At the end of the grace period the contexts of handlers end; then these have a moment
	// to answer.
	timer := time.AfterFunc(a.Limits.ShutdownGrace, a.abort)
	defer timer.Stop()
	last, cancel := context.WithTimeout(context.Background(), a.Limits.ShutdownGrace+2*time.Second)
	defer cancel()
	err := a.App.ShutdownWithContext(last)
	// This also ends a server that had not yet begun to accept when ctx ended.
	if closing := listener.Close(); closing != nil && !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return errors.Join(err, <-served)
}
