package app

import (
	"context"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/engine/postgres"
)

// openPostgres opens the engine on PostgreSQL, if it is configured. Redis, if configured, keeps
// copies of its keyword indexes.
func (a *App) openPostgres(ctx context.Context) error {
	c := &a.Config.Postgres
	if c.URL == "" {
		return nil
	}
	options := postgres.Options{
		URL: c.URL, Schema: c.Schema, PoolSize: c.PoolSize, ExactLimit: c.ExactLimit,
		KeywordBytes: int64(c.KeywordMemory), KeywordWait: c.KeywordWait, Timeout: c.Timeout,
		Tokenizer: a.analyzer, Logger: a.Logger, Embed: a.embedFor,
		Writes: a.writes.of(postgres.Name),
	}
	if a.redis != nil {
		options.Redis = tiered.NewRedis(a.redis, tiered.RedisOptions{TTL: c.KeywordTTL, Log: a.Logger})
	}
	opened, err := postgres.Open(ctx, options)
	if err != nil {
		return err
	}
	a.keywords = opened.Keywords()
	a.engines = append(a.engines, opened)
	return nil
}
