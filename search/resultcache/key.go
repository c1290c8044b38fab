package resultcache

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search"
)

// format changes when answers kept by earlier versions can no longer be read.
const format = 3

type key [sha256.Size]byte

// dependencies is all that an answer depends on.
type dependencies struct {
	Format      int            `json:"format"`
	Fingerprint string         `json:"fingerprint"`
	Tenant      string         `json:"tenant"`
	Request     search.Request `json:"request"`
	// Bound is the filter of the scope.
	Bound []engine.Condition `json:"bound"`
	Bases []dependency       `json:"bases"`
}

type dependency struct {
	KB         engine.KnowledgeBase `json:"kb"`
	Generation string               `json:"generation"`
	Plan       search.Plan          `json:"plan"`
	Synonyms   string               `json:"synonyms"`
	Rules      string               `json:"rules"`
}

// errUnknown: an engine cannot tell the generation.
var errUnknown = errors.New("the generation of a knowledge base is not known")

// keyOf asks the engines for generations, which states gets; with an error the answer cannot
// be kept.
func (s *Searcher) keyOf(
	ctx context.Context, scope access.Scope, req *search.Request, states map[engine.Ref]string,
) (key, error) {
	subjects, err := s.Subjects(ctx, scope, req)
	if err != nil {
		return key{}, err
	}
	all := dependencies{
		Format: format, Fingerprint: s.options.Fingerprint, Tenant: scope.Tenant, Request: *req, Bound: scope.Filter,
	}
	all.Request.Cache = nil
	for i := range subjects {
		d, err := s.dependency(ctx, &subjects[i])
		if err != nil {
			return key{}, err
		}
		all.Bases = append(all.Bases, d)
		states[d.KB.Ref] = d.Generation
	}
	data, err := json.Marshal(all)
	if err != nil {
		return key{}, err
	}
	return sha256.Sum256(data), nil
}

func (s *Searcher) dependency(ctx context.Context, subject *search.Subject) (dependency, error) {
	d := dependency{KB: subject.KB, Plan: subject.Plan}
	if s.options.Synonyms != nil {
		d.Synonyms = s.options.Synonyms(subject.KB.Ref)
	}
	if s.options.Rules != nil {
		d.Rules = s.options.Rules(subject.KB.Ref)
	}
	teller, can := subject.Engine.(engine.Generations)
	if !can {
		return d, errUnknown
	}
	var err error
	d.Generation, err = teller.Generation(ctx, &subject.KB)
	if err == nil && d.Generation == "" {
		err = errUnknown
	}
	return d, err
}
