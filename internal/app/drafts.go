package app

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/synonyms"
)

// drafts searches by synonyms that are not saved.
type drafts struct{ *parts }

// SearchBy implements gateway.Drafts.
func (d drafts) SearchBy(
	ctx context.Context, scope access.Scope, draft *synonyms.Draft, req search.Request,
) (*search.Response, error) {
	if draft == nil {
		return d.searching.observer.Search(ctx, scope, req)
	}
	return d.searching.observer.WithSynonyms(allSynonyms{files: d.edits.synonyms, edited: draft}).Search(ctx, scope, req)
}
