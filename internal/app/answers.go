package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/recall"
	"github.com/hybridge-search/hybridge/search/resultcache"
)

// openRedis makes the client of Redis, which everything shares. It connects at first use.
func (a *App) openRedis(context.Context) error {
	if a.Config.Redis.URL == "" {
		return nil
	}
	options, err := tiered.ParseRedisURL(a.Config.Redis.URL)
	if err != nil {
		return err
	}
	redis.SetLogger(RedisLog{Log: a.Logger})
	a.redis = redis.NewClient(options)
	return nil
}

// RedisLog logs at debug level what the client would write to standard error. The users of
// the client report themselves if Redis is unavailable.
type RedisLog struct{ Log *slog.Logger }

// Printf implements the logger of go-redis.
func (r RedisLog) Printf(ctx context.Context, format string, values ...any) {
	r.Log.DebugContext(ctx, "Redis", "detail", fmt.Sprintf(format, values...))
}

// searcher returns the searcher, behind the result cache unless that is turned off.
func (a *App) searcher(o search.Options, registry prometheus.Registerer) (gateway.Searcher, error) {
	inner := search.New(o)
	a.observer = inner
	a.recall = recall.New(inner, registry)
	c := &a.Config.ResultCache
	if c.TTL == 0 {
		return inner, nil
	}
	fingerprint, err := fingerprintOf(a.Config, a.Version, a.analyzer.Fingerprint())
	if err != nil {
		return nil, err
	}
	options := resultcache.Options{
		TTL: c.TTL, Memory: int64(c.Memory), Fingerprint: fingerprint, Logger: a.Logger, Registry: registry,
		Synonyms: func(kb engine.Ref) string {
			return a.edited.Fingerprint(kb.Tenant, kb.ID) + "/" + a.synonyms.Fingerprint(kb.ID)
		},
		Rules:   func(kb engine.Ref) string { return a.rules.Fingerprint(kb.Tenant, kb.ID) },
		Presets: a.presets.Fingerprint,
	}
	if a.redis != nil { // a nil pointer in an interface is not nil
		options.Redis = a.redis
	}
	a.answers, err = resultcache.New(inner, options)
	return a.answers, err
}

// fingerprintOf covers all settings that answers depend on and plans do not contain. Gateways
// that share Redis share answers if their fingerprints are the same.
func fingerprintOf(c *config.Config, version, tokens string) (string, error) {
	e := &c.Embedding
	models := map[string][]any{}
	for name, m := range c.AllEmbeddings() {
		models[name] = []any{m.URL, m.Model, m.Dimensions, m.QueryPrefix, m.QueryExtra, m.MaxRunes}
	}
	rerankers := map[string][]string{}
	for name, r := range c.AllRerankers() {
		rerankers[name] = []string{r.URL, r.Model, r.Shape}
	}
	data, err := json.Marshal([]any{
		version, tokens,
		e.URL, e.Model, e.Dimensions, e.QueryPrefix, e.QueryExtra, e.MaxRunes, e.Local, models,
		rerankers, c.LLM.URL, c.LLM.Model,
	})
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "write the settings as JSON")
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
