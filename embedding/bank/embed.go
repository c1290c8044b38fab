package bank

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hybridge-search/hybridge/fault"
)

// Model embeds questions and passages, [dim]float32 each, as it does for searches.
type Model interface {
	Query(ctx context.Context, text string) ([]float32, error)
	Passages(ctx context.Context, texts []string) ([][]float32, error)
	Model() string
}

// Embed makes the centres of a model. It embeds every text of the bank, about 900.
func Embed(ctx context.Context, m Model) (*Centres, error) {
	topics, err := Topics()
	if err != nil {
		return nil, err
	}
	embedded := map[string]Vectors{}
	for language, list := range topics {
		var v Vectors
		passages := make([]string, len(list))
		for i, topic := range list {
			passages[i] = topic.Passage
			question, err := m.Query(ctx, topic.Question)
			if err != nil {
				return nil, err
			}
			v.Questions = append(v.Questions, question)
		}
		if v.Passages, err = m.Passages(ctx, passages); err != nil {
			return nil, err
		}
		embedded[language] = v
	}
	c, err := NewCentres(embedded)
	if err != nil {
		return nil, err
	}
	c.Model, c.Bank = m.Model(), fingerprint(topics)
	return c, nil
}

// fingerprint changes with the texts of the bank.
func fingerprint(topics map[string][]Topic) string {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for _, language := range slices.Sorted(maps.Keys(topics)) {
		_ = encoder.Encode(language) // a hash takes everything
		_ = encoder.Encode(topics[language])
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// check refuses centres that were made of other texts or are not whole.
func (c *Centres) check(model, bank string) error {
	if c.Model != model || c.Bank != bank {
		return fault.New(fault.NotFound, "the scale is of model %q and texts %s, not of %q and %s",
			c.Model, c.Bank, model, bank)
	}
	dim := c.Dimensions()
	for language, centre := range c.Languages {
		whole := dim > 0 && len(centre.Question) == dim && len(centre.Passage) == dim
		if !whole || len(c.Usual[language]) != len(c.Languages) {
			return fault.New(fault.Corrupt, "the scale of model %q is not whole in language %q", model, language)
		}
	}
	return nil
}
