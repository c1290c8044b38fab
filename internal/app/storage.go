package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/mirror"
	"github.com/hybridge-search/hybridge/engine/postgres"
)

// storage is the engines and their shared parts.
type storage struct {
	engines  []engine.Engine
	standard string         // the engine of new knowledge bases
	mirror   *mirror.Mirror // for knowledge bases on several engines
	redis    *redis.Client  // nil: not configured
	keywords *tiered.Cache  // of the postgres engine; nil without it
}

// engineParts are the dependencies of every engine.
type engineParts struct {
	*Options
	analyzer *tokens.Analyzer
	embed    engine.Embed
	writes   *writeMetrics
}

// open opens the engines that are configured.
func (s *storage) open(ctx context.Context, p *engineParts) (err error) {
	if err := s.openRedis(p.Options); err != nil {
		return err
	}
	if err := s.openEngines(ctx, p); err != nil {
		return err
	}
	if err := s.openPostgres(ctx, p); err != nil {
		return err
	}
	s.standard = cmp.Or(p.defaultEngine(), EmbeddedName)
	s.mirror, err = mirror.Open(ctx, mirror.Options{Path: p.Config.DataDir, Engines: s.engines, Logger: p.Logger})
	return err
}

// openRedis makes the client of Redis, which everything shares. It connects at first use.
func (s *storage) openRedis(o *Options) error {
	if o.Config.Redis.URL == "" {
		return nil
	}
	options, err := tiered.ParseRedisURL(o.Config.Redis.URL)
	if err != nil {
		return err
	}
	redis.SetLogger(RedisLog{Log: o.Logger})
	s.redis = redis.NewClient(options)
	return nil
}

// RedisLog logs at debug level what the client would write to standard error. The users of
// the client report themselves if Redis is unavailable.
type RedisLog struct{ Log *slog.Logger }

// Printf implements the logger of go-redis.
func (r RedisLog) Printf(ctx context.Context, format string, values ...any) {
	r.Log.DebugContext(ctx, "Redis", "detail", fmt.Sprintf(format, values...))
}

// openEngines opens the embedded engine, and Elasticsearch if it is configured.
func (s *storage) openEngines(ctx context.Context, p *engineParts) error {
	local, err := embedded.Open(ctx, embedded.Options{
		Path: p.Config.DataDir, Tokenizer: p.analyzer, Logger: p.Logger, Preload: p.Preload,
		AcceptLoss: p.Config.AcceptLoss, Writes: p.writes.of(EmbeddedName), Embed: p.embed,
	})
	if err != nil {
		return err
	}
	s.engines = append(s.engines, local)
	c := &p.Config.Elasticsearch
	if len(c.URL) == 0 {
		return nil
	}
	options := ElasticOptions(c)
	options.Grace = p.Grace
	options.Tokenizer, options.Logger, options.Embed = p.analyzer, p.Logger, p.embed
	options.Writes = p.writes.of(elastic.Name)
	distributed, err := elastic.New(options)
	if err != nil {
		return err
	}
	s.engines = append(s.engines, distributed)
	return nil
}

// ElasticOptions returns the settings of Elasticsearch as options of the engine.
func ElasticOptions(c *config.Elasticsearch) elastic.Options {
	return elastic.Options{
		URLs: c.URL, APIKey: c.APIKey.Reveal(), Username: c.Username, Password: c.Password.Reveal(),
		TLS: rest.TLS{
			CAFile: c.CAFile, CAFingerprint: c.CAFingerprint, ClientCertFile: c.ClientCertFile, ClientKeyFile: c.ClientKeyFile,
			InsecureSkipVerify: c.InsecureSkipVerify,
		},
		Settings: c.Settings, JSON: !c.Smile,
	}
}

// openPostgres opens the engine on PostgreSQL, if it is configured. Redis, if configured, keeps
// copies of its keyword indexes.
func (s *storage) openPostgres(ctx context.Context, p *engineParts) error {
	c := &p.Config.Postgres
	if c.URL == "" {
		return nil
	}
	options := postgres.Options{
		URL: c.URL, Settings: c.Settings, KeywordBytes: int64(c.KeywordMemory),
		Tokenizer: p.analyzer, Logger: p.Logger, Embed: p.embed,
		Writes: p.writes.of(postgres.Name),
	}
	if s.redis != nil {
		options.Redis = tiered.NewRedis(s.redis, tiered.RedisOptions{TTL: c.KeywordTTL, Log: p.Logger})
	}
	opened, err := postgres.Open(ctx, options)
	if err != nil {
		return err
	}
	s.keywords = opened.Keywords()
	s.engines = append(s.engines, opened)
	return nil
}

// named is the open engine of a name; nil: there is none.
func (s *storage) named(name string) engine.Engine {
	for _, e := range s.engines {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

// over returns the named engines as one.
func (s *storage) over(names []string) (engine.Engine, error) { return s.mirror.Over(names) }

// recordKeeper is the default engine; nil where it keeps no records.
func (s *storage) recordKeeper() engine.RecordKeeper {
	keeper, _ := s.named(s.standard).(engine.RecordKeeper)
	return keeper
}

func (s *storage) close() error {
	var errs []error
	if s.mirror != nil {
		errs = append(errs, s.mirror.Close())
	}
	for _, e := range s.engines {
		errs = append(errs, e.Close())
	}
	if s.redis != nil {
		errs = append(errs, s.redis.Close())
	}
	return errors.Join(errs...)
}
