package app

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/fault"
)

// models are the configured embedding models.
type models struct {
	standard *Model            // nil: not configured
	further  map[string]*Model // by name
	bank     *bank.Keeper      // of the scale of their cosines
}

func (m *models) open(o *Options) (err error) {
	m.standard, err = NewModel(&o.Config.Embedding, o.Logger)
	if err != nil {
		return err
	}
	if m.further, err = newModels(o.Config.AllEmbeddings(), o.Logger); err != nil {
		return err
	}
	options := bank.Options{Folder: filepath.Join(o.Config.DataDir, "bank"), Logger: o.Logger}
	if m.standard != nil { // a nil pointer in an interface is not nil
		m.standard.WaitForStart = !o.Preload
		options.Models = append(options.Models, m.standard)
	}
	for _, further := range m.further {
		options.Models = append(options.Models, further)
	}
	m.bank, err = bank.Open(options)
	return err
}

// named returns a configured model, the default one for an empty name; nil without one.
func (m *models) named(name string) *Model {
	switch {
	case m.further[name] != nil:
		return m.further[name]
	case m.standard != nil && (name == "" || name == m.standard.Model()):
		return m.standard
	default:
		return nil
	}
}

// names are the names of all configured models.
func (m *models) names() []string {
	names := slices.Sorted(maps.Keys(m.further))
	if m.standard != nil {
		names = slices.Insert(names, 0, m.standard.Model())
	}
	return names
}

// dimensions gives the dimensions of a configured model, and its name; see catalog.Options.
func (m *models) dimensions(ctx context.Context, name string) (int, string, error) {
	return m.named(name).dimensions(ctx)
}

// configuredDimensions returns the dimensions of a model, which must be a configured one.
func (m *models) configuredDimensions(ctx context.Context, name string) (int, error) {
	model, all := m.named(name), m.names()
	switch {
	case model == nil && len(all) == 0:
		return 0, fault.Invalid("changes.embedding_model", name, "left out: no embedding model is configured")
	case model == nil:
		return 0, fault.Invalid("changes.embedding_model", name, "a configured model: "+strings.Join(all, ", "))
	}
	n, _, err := model.dimensions(ctx)
	return n, err
}

// embedFor embeds texts for a knowledge base that changes its model.
func (m *models) embedFor(ctx context.Context, name string, texts []string) ([][]float32, error) {
	model := m.named(name)
	if model == nil {
		return nil, fault.New(fault.Unsupported, "embedding model %q is not a configured one", name)
	}
	return model.Passages(ctx, texts)
}

func (m *models) close() {
	m.bank.Close()
	m.standard.Close()
	for _, further := range m.further {
		further.Close()
	}
}
