package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/convert"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/rerank"
)

var (
	validTenant      = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	validPrefix      = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	validFingerprint = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	validHost        = regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z._-]{0,251}[0-9A-Za-z])?$`)
	validExtension   = regexp.MustCompile(`^\.[a-z0-9_+-]+$`)
	validSchema      = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
)

// problems collects everything that is wrong, so that one start reports all of it.
type problems []error

// want adds a problem unless the value is fine. The tag of the setting says what is
// accepted.
func (p *problems) want(fine bool, key string, value any) {
	if !fine {
		*p = append(*p, fault.Invalid(key, value, settingOf(key).Accept))
	}
}

// conflict adds a problem between settings.
func (p *problems) conflict(key, format string, args ...any) {
	err := fault.New(fault.InvalidArgument, format, args...)
	err.Field = key
	*p = append(*p, err)
}

// Validate checks all values and whether they fit together. The error joins everything that
// is wrong.
func (c *Config) Validate() error {
	var p problems
	c.checkServer(&p)
	c.checkElasticsearch(&p)
	c.checkPostgres(&p)
	c.checkEmbedding(&p)
	c.checkSearch(&p)
	c.checkIngest(&p)
	c.checkEvents(&p)
	c.checkLimits(&p)
	c.checkKeys(&p)
	for _, name := range sortedNames(c.Presets) {
		c.checkPreset(&p, name)
	}
	return errors.Join(p...)
}

func (c *Config) checkServer(p *problems) {
	_, port, err := net.SplitHostPort(c.Listen)
	number, portErr := strconv.Atoi(port)
	p.want(err == nil && portErr == nil && number >= 0 && number <= math.MaxUint16, "listen", c.Listen)
	_, err = c.ProxyNetworks()
	p.want(err == nil, "trusted_proxies", strings.Join(c.TrustedProxies, ", "))
	c.checkDoors(p)
	p.want(c.DataDir != "", "data_dir", c.DataDir)
	p.want(slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level), "log.level", c.Log.Level)
	p.want(slices.Contains([]string{"text", "json"}, c.Log.Format), "log.format", c.Log.Format)
	p.want(c.Log.SlowSearch >= 0, "log.slow_search", c.Log.SlowSearch)
	t := &c.Tracing
	p.want(t.URL == "" || isURL(t.URL), "tracing.url", hidePassword(t.URL))
	p.want(t.Sample >= 0 && t.Sample <= 1, "tracing.sample", t.Sample)
}

// ProxyNetworks are TrustedProxies; an address is a network of one.
func (c *Config) ProxyNetworks() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range c.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if address, failed := netip.ParseAddr(text); failed == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, fault.Invalid("trusted_proxies", text, settingOf("trusted_proxies").Accept)
		}
		all = append(all, network)
	}
	return all, nil
}

// checkDoors checks what says who may come in by which name.
func (c *Config) checkDoors(p *problems) {
	for _, host := range c.AllowedHosts {
		address := net.ParseIP(strings.Trim(host, "[]")) != nil
		p.want(address || validHost.MatchString(host), "allowed_hosts", host)
	}
	for i, origin := range c.CORS.AllowedOrigins {
		u, err := url.Parse(origin)
		fine := err == nil && isURL(origin) && origin == u.Scheme+"://"+u.Host
		p.want(fine, "cors.allowed_origins", hidePassword(origin))
		c.CORS.AllowedOrigins[i] = strings.ToLower(origin) // as browsers write them
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		p.conflict("tls.cert", "of tls.cert and tls.key only one is set; they belong together")
	}
}

// NeedsStoredKeys reports whether only stored keys can keep strangers out: others can reach the
// gateway, it has no keys of its own, and it is not to be open.
func (c *Config) NeedsStoredKeys() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	return (err != nil || !loopback(host)) && len(c.Keys) == 0 && !c.OpenWithoutKeys
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c *Config) checkEvents(p *problems) {
	e := &c.Events
	p.want(slices.Contains([]string{"keep", "hash", "drop"}, e.Text), "events.text", e.Text)
	p.want(e.HashKey == "" || len(e.HashKey.Reveal()) >= 16, "events.hash_key", e.HashKey)
	p.want(e.RetentionDays >= 1 && e.RetentionDays <= 3650, "events.retention_days", e.RetentionDays)
	p.want(e.SpoolBytes >= 1<<20 && e.SpoolBytes <= 1<<40, "events.spool_bytes", e.SpoolBytes)
	p.want(len(e.Application) <= 256, "events.application", e.Application)
}

func (c *Config) checkElasticsearch(p *problems) {
	es := &c.Elasticsearch
	for _, node := range es.URL {
		p.want(isURL(node), "elasticsearch.url", hidePassword(node))
	}
	p.want(validPrefix.MatchString(es.IndexPrefix), "elasticsearch.index_prefix", es.IndexPrefix)
	p.want(es.Timeout > 0, "elasticsearch.timeout", es.Timeout)
	p.want(es.ExactLimit >= 1, "elasticsearch.exact_limit", es.ExactLimit)
	if es.APIKey != "" && es.Username != "" {
		p.conflict("elasticsearch.api_key", "elasticsearch.api_key and elasticsearch.username are both set; keep one")
	}
	if (es.Username == "") != (es.Password == "") {
		p.conflict("elasticsearch.username", "of elasticsearch.username and elasticsearch.password only one is set; "+
			"they belong together")
	}
	es.checkTLS(p)
}

func (es *Elasticsearch) checkTLS(p *problems) {
	p.want(es.CAFingerprint == "" || validFingerprint.MatchString(strings.ReplaceAll(es.CAFingerprint, ":", "")),
		"elasticsearch.ca_fingerprint", es.CAFingerprint)
	if es.CAFile != "" && es.CAFingerprint != "" {
		p.conflict("elasticsearch.ca_file", "elasticsearch.ca_file and elasticsearch.ca_fingerprint are both set; keep one")
	}
	if es.InsecureSkipVerify && (es.CAFile != "" || es.CAFingerprint != "") {
		p.conflict("elasticsearch.insecure_skip_verify",
			"elasticsearch.insecure_skip_verify is true and an authority is set; keep the authority")
	}
	if (es.ClientCertFile == "") != (es.ClientKeyFile == "") {
		p.conflict("elasticsearch.client_cert_file",
			"of elasticsearch.client_cert_file and elasticsearch.client_key_file only one is set; they belong together")
	}
}

func (c *Config) checkPostgres(p *problems) {
	pg := &c.Postgres
	p.want(pg.URL == "" || hasScheme(pg.URL, "postgres", "postgresql"), "postgres.url", hideDatabasePassword(pg.URL))
	p.want(validSchema.MatchString(pg.Schema), "postgres.schema", pg.Schema)
	p.want(pg.PoolSize >= 2 && pg.PoolSize <= 1000, "postgres.pool_size", pg.PoolSize)
	p.want(pg.ExactLimit >= 1, "postgres.exact_limit", pg.ExactLimit)
	p.want(pg.KeywordMemory >= 1<<20 && pg.KeywordMemory <= 1<<40, "postgres.keyword_memory", pg.KeywordMemory)
	p.want(pg.KeywordTTL > 0, "postgres.keyword_ttl", pg.KeywordTTL)
	p.want(pg.Timeout > 0, "postgres.timeout", pg.Timeout)
	p.want(pg.KeywordWait > 0, "postgres.keyword_wait", pg.KeywordWait)
}

func (c *Config) checkEmbedding(p *problems) {
	e := &c.Embedding
	p.want(e.URL == "" || isURL(e.URL), "embedding.url", hidePassword(e.URL))
	if e.URL != "" && e.Model == "" {
		p.conflict("embedding.model", "embedding.url is set and embedding.model is not; name the model to use there")
	}
	e.check(p, "embedding.")
	p.want(len(c.Embeddings) <= maxEmbeddings, "embeddings", len(c.Embeddings))
	all := c.AllEmbeddings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		service := all[name]
		at := "embeddings[" + name + "]."
		p.want(isURL(service.URL), at+"url", hidePassword(service.URL))
		service.check(p, at)
		if !isModelName(name) || name == e.Model {
			p.conflict("embeddings",
				"embeddings has %q; a name is 1 to 256 bytes of printable text and not embedding.model", name)
		}
	}
	c.checkLocal(p)
}

// maxEmbeddings is how many further models there may be.
const maxEmbeddings = 16

func isModelName(name string) bool {
	return name != "" && len(name) <= 256 && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (e *EmbeddingService) check(p *problems, at string) {
	p.want(e.Dimensions >= 0 && e.Dimensions <= 4096, at+"dimensions", e.Dimensions)
	if e.SendDimensions && e.Dimensions == 0 {
		p.conflict(at+"dimensions", "%ssend_dimensions is true and %sdimensions is 0; say how many", at, at)
	}
	p.want(e.MaxRunes >= 0, at+"max_runes", e.MaxRunes)
	p.want(e.BatchSize >= 1 && e.BatchSize <= 2048, at+"batch_size", e.BatchSize)
	p.want(e.Timeout > 0, at+"timeout", e.Timeout)
	p.want(e.Retries >= 0 && e.Retries <= 10, at+"retries", e.Retries)
	p.want(e.CacheSize >= 1, at+"cache_size", e.CacheSize)
}

func (c *Config) checkLocal(p *problems) {
	e, local := &c.Embedding, c.Embedding.Local
	p.want(slices.Contains([]string{"auto", "on", "off"}, local.Enabled), "embedding.local.enabled", local.Enabled)
	if local.Enabled == "on" && local.Command == "" {
		p.conflict("embedding.local.command", "embedding.local.enabled is on and embedding.local.command is not set")
	}
	if local.Enabled == "on" && e.URL != "" {
		p.conflict("embedding.url", "embedding.local.enabled is on and embedding.url is set; keep one")
	}
}

func (c *Config) checkSearch(p *problems) {
	engines := []string{"", "embedded", "elasticsearch", "postgres"}
	p.want(slices.Contains(engines, c.DefaultEngine), "default_engine", c.DefaultEngine)
	if c.DefaultEngine == "postgres" && c.Postgres.URL == "" {
		p.conflict("default_engine", "default_engine is postgres and postgres.url is not set")
	}
	if c.DefaultEngine == "elasticsearch" && len(c.Elasticsearch.URL) == 0 {
		p.conflict("default_engine", "default_engine is elasticsearch and elasticsearch.url is not set")
	}
	p.want(c.DefaultPreset != "", "default_preset", c.DefaultPreset)
	l := &c.LLM
	p.want(l.URL == "" || isURL(l.URL), "llm.url", hidePassword(l.URL))
	p.want(l.Timeout > 0, "llm.timeout", l.Timeout)
	p.want(l.Kept >= 1 && l.Kept <= 1_000_000, "llm.kept", l.Kept)
	p.want(l.KeptFor > 0, "llm.kept_for", l.KeptFor)
	a := &c.Answer
	p.want(a.URL == "" || isURL(a.URL), "answer.url", hidePassword(a.URL))
	p.want(a.Timeout > 0, "answer.timeout", a.Timeout)
	p.want(a.Concurrent >= 1 && a.Concurrent <= 10_000, "answer.concurrent", a.Concurrent)
	if a.URL != "" && a.Model == "" {
		p.conflict("answer.model", "answer.url is set and answer.model is not")
	}
	j := &c.Judge
	p.want(j.URL == "" || isURL(j.URL), "judge.url", hidePassword(j.URL))
	p.want(j.Timeout > 0, "judge.timeout", j.Timeout)
	if j.URL != "" && j.Model == "" {
		p.conflict("judge.model", "judge.url is set and judge.model is not")
	}
	r := &c.Reranker
	p.want(r.Name != "", "reranker.name", r.Name)
	p.want(r.Timeout > 0, "reranker.timeout", r.Timeout)
	r.check(p, "reranker.", true)
	for _, name := range slices.Sorted(maps.Keys(c.Rerankers)) {
		service := c.Rerankers[name]
		service.check(p, "rerankers["+name+"].", false)
		if name == "" || name == r.Name && r.URL != "" {
			p.conflict("rerankers", "rerankers has %q; a name is not empty and not that of reranker", name)
		}
	}
	p.want(c.Synonyms.Boost > 0 && c.Synonyms.Boost <= 1, "synonyms.boost", c.Synonyms.Boost)
	p.want(c.Synonyms.Versions >= 1 && c.Synonyms.Versions <= 100_000, "synonyms.versions", c.Synonyms.Versions)
	p.want(c.Redis.URL == "" || hasScheme(c.Redis.URL, "redis", "rediss"), "redis.url", hidePassword(c.Redis.URL))
	cache := &c.ResultCache
	p.want(cache.TTL >= 0, "result_cache.ttl", cache.TTL)
	p.want(cache.Memory >= 1<<20 && cache.Memory <= 64<<30, "result_cache.memory", cache.Memory)
}

func (r *RerankService) check(p *problems, at string, mayBeNone bool) {
	p.want(r.URL == "" && mayBeNone || isURL(r.URL), at+"url", hidePassword(r.URL))
	p.want(r.Timeout >= 0, at+"timeout", r.Timeout)
	p.want(r.Shape == "" || slices.Contains(rerank.Shapes, r.Shape), at+"shape", r.Shape)
}

func (c *Config) checkIngest(p *problems) {
	i := &c.Ingest
	p.want(i.ConverterURL == "" || isURL(i.ConverterURL), "ingest.converter_url", hidePassword(i.ConverterURL))
	p.want(slices.Contains(convert.Shapes(), i.ConverterShape), "ingest.converter_shape", i.ConverterShape)
	p.want(i.ConverterTimeout > 0, "ingest.converter_timeout", i.ConverterTimeout)
	for _, format := range i.ConverterFormats {
		p.want(validExtension.MatchString(format), "ingest.converter_formats", format)
	}
}

func (c *Config) checkLimits(p *problems) {
	l := &c.Limits
	p.want(l.SearchWork >= 0 && l.SearchWork <= 1_000_000, "limits.search_work", l.SearchWork)
	p.want(l.Parsers >= 0 && l.Parsers <= 1024, "limits.parsers", l.Parsers)
	for key, size := range map[string]Size{
		"limits.body_bytes": l.BodyBytes, "limits.line_bytes": l.LineBytes, "limits.file_bytes": l.FileBytes,
		"limits.answer_bytes": l.AnswerBytes, "limits.sending_bytes": l.SendingBytes,
	} {
		p.want(size > 0, key, size)
	}
	for key, n := range map[string]int{
		"limits.searches": l.Searches,
		"limits.rate":     l.Rate, "limits.key_rate": l.KeyRate,
		"limits.concurrent": l.Concurrent, "limits.key_concurrent": l.KeyConcurrent, "limits.wrong_keys": l.WrongKeys,
	} {
		p.want(n >= 1 && n <= 1_000_000, key, n)
	}
	p.want(l.TenantBytesADay > 0, "limits.tenant_bytes_a_day", l.TenantBytesADay)
	for key, n := range map[string]int{
		"limits.tenant_knowledge_bases": l.TenantKnowledgeBases, "limits.tenant_chunks": l.TenantChunks,
	} {
		p.want(n >= 1 && n <= 1_000_000_000_000, key, n)
	}
	for key, d := range map[string]time.Duration{
		"limits.request_timeout": l.RequestTimeout, "limits.ingest_timeout": l.IngestTimeout,
		"limits.idle_timeout": l.IdleTimeout, "limits.shutdown_grace": l.ShutdownGrace,
	} {
		p.want(d > 0, key, d)
	}
}

// minKey is the fewest characters that can hold 128 bits.
const minKey = 16

func (c *Config) checkKeys(p *problems) {
	names, secrets := map[string]bool{}, map[[sha256.Size]byte]bool{}
	for i := range c.Keys {
		k := &c.Keys[i]
		at := fmt.Sprintf("keys[%d].", i)
		if k.Tenant == "" {
			k.Tenant = "default"
		}
		if k.Name == "" || names[k.Name] {
			p.conflict(at+"name", "%sname is %q; every key needs a name of its own", at, k.Name)
		}
		names[k.Name] = true
		p.want(validTenant.MatchString(k.Tenant), at+"tenant", k.Tenant)
		if _, err := k.Conditions(); err != nil {
			var refused *fault.Error
			if errors.As(err, &refused) {
				err = refused.Within(at)
			}
			*p = append(*p, err)
		}
		for n, pattern := range k.Attach {
			p.want(access.ValidIndexes(pattern), fmt.Sprintf("%sattach[%d]", at, n), pattern)
		}
		if (k.Key == "") == (k.KeySHA256 == "") {
			p.conflict(at+"key", "of %skey and %skey_sha256 exactly one must be set", at, at)
			continue
		}
		if k.Key == masked {
			p.conflict(at+"key", "%skey is %s, which is what is printed instead of keys; give the key itself", at, masked)
		}
		if host, _, err := net.SplitHostPort(c.Listen); err == nil && !loopback(host) && k.Key != "" && len(k.Key) < minKey {
			p.conflict(at+"key", "%skey has %d characters; at an address that others can reach it must have at least %d, "+
				"which 128 random bits take: hybridge keys create makes such", at, len(k.Key), minKey)
		}
		digest, err := k.Hash()
		p.want(err == nil, at+"key_sha256", fmt.Sprintf("%d characters", len(k.KeySHA256)))
		if err == nil && secrets[digest] {
			p.conflict(at+"key", "%skey is the same as another one", at)
		}
		secrets[digest] = true
	}
}

// Hash returns the SHA-256 of the key.
func (k *Key) Hash() (hash [sha256.Size]byte, err error) {
	if k.Key != "" {
		return sha256.Sum256([]byte(k.Key)), nil
	}
	if len(k.KeySHA256) != hex.EncodedLen(len(hash)) {
		return hash, fault.New(fault.InvalidArgument, "key_sha256 must be %s", settingOf("keys[].key_sha256").Accept)
	}
	_, err = hex.Decode(hash[:], []byte(k.KeySHA256))
	return hash, err
}

func (c *Config) checkPreset(p *problems, name string) {
	preset := c.Presets[name]
	at := "presets[" + name + "]."
	if !validTenant.MatchString(name) {
		p.conflict("presets", "presets has %q; a name is 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit", name)
	}
	p.want(preset.Base != "", at+"base", preset.Base)
	p.want(preset.TopK == nil || *preset.TopK >= 1 && *preset.TopK <= search.MaxTopK, at+"top_k", shown(preset.TopK))
	var refused *fault.Error
	if errors.As(preset.Validate(), &refused) {
		*p = append(*p, refused.Within(at))
	}
	if preset.Rewrite != nil && c.LLM.URL == "" {
		p.conflict(at+"rewrite", "%s needs llm.url, which is not set", at+"rewrite")
	}
	if by := preset.Rerank.Planned(); by != nil {
		if _, known := c.AllRerankers()[by.Name]; !known {
			*p = append(*p, fault.Invalid(at+"rerank", by.Name, "the name of the reranker, or of one of rerankers"))
		}
	}
}

func shown[T any](v *T) any {
	if v == nil {
		return "not set"
	}
	return *v
}

func isURL(text string) bool { return hasScheme(text, "http", "https") }

func hasScheme(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.Contains(schemes, u.Scheme) && u.Host != ""
}

// hidePassword keeps a password in a URL out of messages.
func hidePassword(text string) string {
	u, err := url.Parse(text)
	if err != nil && strings.Contains(text, "@") {
		return masked
	}
	if err != nil {
		return text
	}
	hideParameters(u)
	return u.Redacted()
}

// hideParameters masks the values of a URL's query that are secrets by their names.
func hideParameters(u *url.URL) {
	query := u.Query()
	for name := range query {
		if secretName.MatchString(name) {
			query.Set(name, masked)
			u.RawQuery = query.Encode()
		}
	}
}

// hideDatabasePassword is hidePassword for URLs that may have the password as a parameter,
// and for texts that are not URLs.
func hideDatabasePassword(text string) string {
	u, err := url.Parse(text)
	if err != nil || text != "" && u.Host == "" {
		return masked
	}
	hideParameters(u)
	return u.Redacted()
}

func sortedNames(m map[string]Preset) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
