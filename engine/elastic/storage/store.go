// Package storage keeps knowledge bases in Elasticsearch: each in an index of its own, in a
// shared one, or in one that somebody else made.
//
//	store.go                 the store
//	catalogue.go             knowledge bases
//	write.go                 writes and deletions
//	change.go                how they are decided about where the documents are
//	changelog.go             where they go while a migration is under way
//	bulk.go                  how they are sent
//	documents.go scan.go     reads other than searches
//	generation.go            when the answers of searches change
//	migrations.go            plans and migrations
//	recordkeeper.go          records beside the knowledge bases
//	apikeys.go               API keys
//	count.go usage.go        the chunks of a tenant, and what it writes
//	indices.go               what an index is made of
//	version.go               which programs may use the store
//	location.go recent.go naming.go   knowledge base → index, fields, the filters that always hold
//	document.go refit.go     a chunk → a document
//	page.go chunk.go         a document → a chunk
package storage

import (
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
)

// Options of a store. Only Embed may be nil.
type Options struct {
	Client    *rest.Client
	Tokenizer engine.Tokenizer
	// Prefix starts the name of every index: lower-case letters, digits, "_" and "-".
	Prefix string
	// Embed embeds texts for knowledge bases that change their model;
	// fault.Unsupported for a model that is not configured.
	Embed engine.Embed

	Writes *engine.Writes
}

// Store keeps knowledge bases in Elasticsearch. It is safe for concurrent use.
type Store struct {
	client    *rest.Client
	tokenizer engine.Tokenizer
	prefix    string
	embed     engine.Embed
	recent    *recent
	versionAt versionAt
	watched   *engine.Writes
}

// New makes a store. It sends nothing.
func New(o Options) (*Store, error) {
	if strings.Trim(o.Prefix, plainLetters+"-") != "" || strings.HasPrefix(o.Prefix, "-") ||
		strings.HasPrefix(o.Prefix, "_") {
		return nil, fault.Invalid("elasticsearch.index_prefix", o.Prefix,
			"lower-case letters, digits, _ and -, beginning with a letter or digit")
	}
	return &Store{
		client: o.Client, tokenizer: o.Tokenizer, prefix: o.Prefix, embed: o.Embed, recent: newRecent(),
		watched: o.Writes,
	}, nil
}
