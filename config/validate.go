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
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/hybridge-search/hybridge/fault"
)

var (
	validTenant      = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	validFingerprint = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	validHost        = regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z._-]{0,251}[0-9A-Za-z])?$`)
)

// problems collects all errors, so that one start reports all of them.
type problems []error

// want adds a problem unless the value is fine. The tag of the setting describes
// accepted values.
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
	p.checkForms("", reflect.ValueOf(*c), reflect.ValueOf(*Default()))
	c.checkElasticsearch(&p)
	c.checkEmbedding(&p)
	c.checkSearch(&p)
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

// checkDoors checks who may connect, and by which name.
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

func (c *Config) checkElasticsearch(p *problems) {
	es := &c.Elasticsearch
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

func (c *Config) checkEmbedding(p *problems) {
	e := &c.Embedding
	if e.URL != "" && e.Model == "" {
		p.conflict("embedding.model", "embedding.url is set and embedding.model is not; name the model to use there")
	}
	e.checkDimensions(p, "embedding.")
	p.want(len(c.Embeddings) <= maxEmbeddings, "embeddings", len(c.Embeddings))
	all := c.AllEmbeddings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		service := all[name]
		at := "embeddings[" + name + "]."
		p.want(isURL(service.URL), at+"url", hidePassword(service.URL))
		p.entry(at, service)
		service.checkDimensions(p, at)
		if !isModelName(name) || name == e.Model {
			p.conflict("embeddings",
				"embeddings has %q; a name is 1 to 256 bytes of printable text and not embedding.model", name)
		}
	}
	c.checkLocal(p)
}

// maxEmbeddings limits the number of further models.
const maxEmbeddings = 16

func isModelName(name string) bool {
	return name != "" && len(name) <= 256 && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (e *EmbeddingService) checkDimensions(p *problems, at string) {
	if e.SendDimensions && e.Dimensions == 0 {
		p.conflict(at+"dimensions", "%ssend_dimensions is true and %sdimensions is 0; say how many", at, at)
	}
}

func (c *Config) checkLocal(p *problems) {
	e, local := &c.Embedding, c.Embedding.Local
	if local.Enabled == "on" && local.Command == "" {
		p.conflict("embedding.local.command", "embedding.local.enabled is on and embedding.local.command is not set")
	}
	if local.Enabled == "on" && e.URL != "" {
		p.conflict("embedding.url", "embedding.local.enabled is on and embedding.url is set; keep one")
	}
}

func (c *Config) checkSearch(p *problems) {
	if c.DefaultEngine == "postgres" && c.Postgres.URL == "" {
		p.conflict("default_engine", "default_engine is postgres and postgres.url is not set")
	}
	if c.DefaultEngine == "elasticsearch" && len(c.Elasticsearch.URL) == 0 {
		p.conflict("default_engine", "default_engine is elasticsearch and elasticsearch.url is not set")
	}
	if a := &c.Answer; a.URL != "" && a.Model == "" {
		p.conflict("answer.model", "answer.url is set and answer.model is not")
	}
	if j := &c.Judge; j.URL != "" && j.Model == "" {
		p.conflict("judge.model", "judge.url is set and judge.model is not")
	}
	r := &c.Reranker
	p.want(r.Name != "", "reranker.name", r.Name)
	for _, name := range slices.Sorted(maps.Keys(c.Rerankers)) {
		service := c.Rerankers[name]
		at := "rerankers[" + name + "]."
		p.want(service.URL != "", at+"url", service.URL)
		p.entry(at, service)
		if name == "" || name == r.Name && r.URL != "" {
			p.conflict("rerankers", "rerankers has %q; a name is not empty and not that of reranker", name)
		}
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
		p.entry(at, *k)
		if _, err := k.Conditions(); err != nil {
			var refused *fault.Error
			if errors.As(err, &refused) {
				err = refused.Within(at)
			}
			*p = append(*p, err)
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
	if preset.TopK != nil {
		p.checkForm(at+"top_k", settingOf(at+"top_k").Accept, reflect.ValueOf(*preset.TopK))
	}
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
