package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/analysis/tokens"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/searches"
	"github.com/hybridge-search/hybridge/lib/admission"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/recall"
	"github.com/hybridge-search/hybridge/search/rerank"
	"github.com/hybridge-search/hybridge/search/resultcache"
	"github.com/hybridge-search/hybridge/search/rewrite"
)

// searching is the searcher and its layers.
type searching struct {
	options  search.Options
	searcher searches.Searcher     // by which users search
	answers  *resultcache.Searcher // nil: turned off
	observer *search.Searcher      // below it
	recall   *recall.Measurer
}

// searchWait limits the time that a search waits for its turn.
const searchWait = 5 * time.Second

// workPerProcessor is the work of larger searches at a time: with eight times as much, ordinary
// searches beside it took six times as long.
const workPerProcessor = 4

// searchOptions returns the options of every search.
func searchOptions(o *Options, analyzer *tokens.Analyzer, c *content, m *models, edits *customization) search.Options {
	limits := &o.Config.Limits
	options := search.Options{
		Catalog: c.catalog, Analyzer: analyzer, Synonyms: allSynonyms{files: edits.synonyms, edited: edits.edited},
		Rules:    ruleSets{edits.rules},
		Planners: edits.planners, Saved: edits.presets, DefaultPreset: o.Config.DefaultPreset, Bank: m.bank,
		AnswerBytes: int64(limits.AnswerBytes), MakingBytes: int64(limits.SendingBytes),
		Admission: admission.New(admission.Options{
			Light: limits.Searches, Heavy: cmp.Or(limits.SearchWork, workPerProcessor*runtime.GOMAXPROCS(0)),
			Beside:     max(1, runtime.GOMAXPROCS(0)-1),
			LightQueue: 1024, HeavyQueue: 8, Keys: 1024, Wait: searchWait,
		}),
		Slow: search.SlowLog{
			Logger: o.Logger, After: o.Config.Log.SlowSearch, Queries: o.Config.Log.Queries, About: endpoint.RequestAttrs,
		},
	}
	if m.standard != nil { // a nil pointer in an interface is not nil
		options.Embedder = m.standard
	}
	options.Embedders = map[string]search.Embedder{}
	for name, model := range m.further {
		options.Embedders[name] = model
	}
	AddServices(&options, o.Config)
	return options
}

// AddServices adds the models beside the engines: rerankers, and the rewriter.
func AddServices(o *search.Options, c *config.Config) {
	o.Rerankers = map[string]search.Reranker{}
	for name, r := range c.AllRerankers() {
		o.Rerankers[name] = rerank.New(rerank.Options{
			URL: r.URL, Model: r.Model, APIKey: r.APIKey.Reveal(), Timeout: r.Timeout, Shape: r.Shape,
		})
	}
	if l := &c.LLM; l.URL != "" {
		o.Rewriter = rewrite.New(rewrite.Options{
			URL: l.URL, Model: l.Model, APIKey: l.APIKey.Reveal(), Timeout: l.Timeout, Kept: l.Kept, KeptFor: l.KeptFor,
		})
	}
}

// open makes the searcher, behind the result cache unless that is turned off.
func (s *searching) open(
	o *Options, tokens string, edits *customization, shared *redis.Client, registry prometheus.Registerer,
) error {
	s.options.Registry = registry
	s.observer = search.New(s.options)
	s.recall = recall.New(s.observer, registry)
	s.searcher = s.observer
	c := &o.Config.ResultCache
	if c.TTL == 0 {
		return nil
	}
	fingerprint, err := fingerprintOf(o.Config, o.Version, tokens)
	if err != nil {
		return err
	}
	options := resultcache.Options{
		TTL: c.TTL, Memory: int64(c.Memory), Fingerprint: fingerprint, Logger: o.Logger, Registry: registry,
		Synonyms: func(kb engine.Ref) string {
			return edits.edited.Fingerprint(kb.Tenant, kb.ID) + "/" + edits.synonyms.Fingerprint(kb.ID)
		},
		Rules:   func(kb engine.Ref) string { return edits.rules.Fingerprint(kb.Tenant, kb.ID) },
		Presets: edits.presets.Fingerprint,
	}
	if shared != nil { // a nil pointer in an interface is not nil
		options.Redis = shared
	}
	s.answers, err = resultcache.New(s.observer, options)
	s.searcher = s.answers
	return err
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
