package catalog

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Spec asks for a knowledge base, as the API takes it. All but ID has a default.
type Spec struct {
	ID     string `json:"id" doc:"1 to 64 of a-z, 0-9, _ and -; the first is a letter or a digit."`
	Name   string `json:"name,omitempty" doc:"For people; the default is the id."`
	Engine string `json:"engine,omitempty" doc:"Where it lives; the default is the configured one."`

	Engines []string `json:"engines,omitempty" doc:"Instead of engine: all that shall hold it. Every write goes to each; searches go to the first unless they name another."`

	Kind engine.KnowledgeKind `json:"kind,omitempty" enum:"chunks,qa" doc:"The default is chunks."`

	Dimensions *int `json:"dimensions,omitempty" minimum:"0" maximum:"65536" doc:"The default is the embedding model's; 0: keyword search only."`
	// EmbeddingModel is one that is configured, or whose vectors are brought.
	EmbeddingModel string `json:"embedding_model,omitempty" doc:"One of embeddings of the configuration, or one whose vectors are brought. The default is embedding.model."`

	Analyzer       string `json:"analyzer,omitempty" doc:"How texts become tokens; the default is jieba."`
	SearchAnalyzer string `json:"search_analyzer,omitempty" doc:"How questions become tokens, ik_smart or ik_max_word, for an analyzer of these; the default is analyzer."`
	VectorIndex    string `json:"vector_index,omitempty" doc:"How vectors are indexed, in the engine's words; the default is its own. hybridge mappings changes it later."`

	VectorFields []engine.VectorField `json:"vector_fields,omitempty" doc:"Vector fields beside vector, of the same model and dimension, for kind chunks; at most 4."`

	Fields map[string]float64 `json:"fields,omitempty" doc:"What parts of the text count in text legs, 1 or from 2 to 100, by title, content, important_keywords and questions, for kind chunks. Those named can be boosted by searches too."`

	BM25   string `json:"bm25,omitempty" enum:"lucene,okapi" doc:"The formula of its text legs; the default is lucene."`
	Shared bool   `json:"shared,omitempty" doc:"Share one index with other small knowledge bases."`

	Attach *engine.Attachment `json:"attach,omitempty" doc:"Read an index that exists, never writing to it."`
}

const maxNameBytes = 256

const acceptedName = "at most 256 bytes of printable UTF-8 without characters that change the direction of text"

// reservedID is the name of the synonyms that are for all knowledge bases.
const reservedID = "global"

var validID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// validIndex excludes what Elasticsearch reads as several indexes, as another
// cluster, as date arithmetic or as a path. It allows the dot of data streams,
// but not in front, where system indexes have it.
var validIndex = regexp.MustCompile(`^[^-_+.\\/*?"<>|\s,#:%A-Z\x00-\x1f][^\\/*?"<>|\s,#:%A-Z\x00-\x1f]{0,254}$`)

// resolve validates the spec and fills in what it leaves open.
func (c *Catalog) resolve(ctx context.Context, scope access.Scope, spec Spec) (engine.KnowledgeBase, *listing, error) {
	kb := engine.KnowledgeBase{
		Ref:            engine.Ref{Tenant: scope.Tenant, ID: spec.ID},
		Name:           spec.Name,
		Kind:           spec.Kind,
		EmbeddingModel: spec.EmbeddingModel,
		Analyzer:       spec.Analyzer,
		SearchAnalyzer: spec.SearchAnalyzer,
		BM25:           spec.BM25,
		VectorIndex:    spec.VectorIndex,
		VectorFields:   spec.VectorFields,
		Boosts:         spec.Fields,
		Shared:         spec.Shared,
		Attach:         spec.Attach,
		CreatedAt:      time.Now().UTC().Truncate(time.Millisecond),
	}
	if err := checkNames(scope, &kb); err != nil {
		return kb, nil, err
	}
	chosen, err := c.chooseEngines(&spec)
	if err != nil {
		return kb, nil, err
	}
	if len(chosen) > 1 {
		kb.Engines = spec.Engines
	}
	maxDims := chosen[0].engine.Capabilities().MaxDims
	for _, l := range slices.Backward(chosen) { // the first one's name stays
		kb.Engine = l.engine.Name()
		can := l.engine.Capabilities()
		if err := c.checkCapabilities(scope, &kb, can); err != nil {
			return kb, nil, err
		}
		maxDims = min(maxDims, can.MaxDims)
	}
	if err := c.setDimensions(ctx, &kb, spec.Dimensions, maxDims); err != nil {
		return kb, nil, err
	}
	return kb, chosen[0], kb.CheckVectorFields()
}

// chooseEngines finds the engines of a spec, the reference first.
func (c *Catalog) chooseEngines(spec *Spec) ([]*listing, error) {
	if len(spec.Engines) == 0 {
		l, err := c.chooseEngine("engine", spec.Engine)
		return []*listing{l}, err
	}
	if spec.Engine != "" {
		return nil, fault.Invalid("engine", spec.Engine, "left out when engines is given")
	}
	var chosen []*listing
	for i, name := range spec.Engines {
		if name == "" || slices.Contains(spec.Engines[:i], name) {
			return nil, fault.Invalid("engines", name, "different engines of: "+c.engineNames())
		}
		l, err := c.chooseEngine("engines", name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, l)
	}
	if len(chosen) > 1 && spec.Attach != nil {
		return nil, fault.Invalid("attach", spec.Attach.Index,
			"left out with several engines: an attached index is never written to")
	}
	return chosen, nil
}

func checkNames(scope access.Scope, kb *engine.KnowledgeBase) error {
	if !validID.MatchString(kb.ID) {
		return fault.Invalid("id", kb.ID,
			"1 to 64 lower-case letters, digits, _ and -, of which the first is a letter or a digit")
	}
	if kb.ID == reservedID {
		return fault.Invalid("id", kb.ID, "another id: global stands for the synonyms of all knowledge bases")
	}
	if !scope.Allows(kb.ID) {
		err := fault.New(fault.Forbidden, "this key may not create %q; it is bound to the knowledge bases %s",
			kb.ID, strings.Join(scope.KnowledgeBases, ", "))
		err.Field = "id"
		return err
	}
	if kb.Name == "" {
		kb.Name = kb.ID
	}
	if !printable(kb.Name, maxNameBytes) {
		return fault.Invalid("name", kb.Name, acceptedName)
	}
	if !printable(kb.EmbeddingModel, maxNameBytes) {
		return fault.Invalid("embedding_model", kb.EmbeddingModel, acceptedName)
	}
	switch kb.Kind {
	case "":
		kb.Kind = engine.KindChunks
	case engine.KindChunks, engine.KindQA:
	default:
		return fault.Invalid("kind", string(kb.Kind), "chunks or qa")
	}
	return nil
}

func printable(s string, maxBytes int) bool {
	return len(s) <= maxBytes && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) &&
		!engine.ChangesDirection(s)
}

func (c *Catalog) chooseEngine(field, name string) (*listing, error) {
	if name == "" {
		name = c.options.DefaultEngine
	}
	for _, l := range c.listings {
		if name == "" || l.engine.Name() == name {
			return l, nil
		}
	}
	return nil, fault.Invalid(field, name, "one of the configured engines: "+c.engineNames())
}

// checkCapabilities refuses what the engine cannot do, and sets the default analyzer.
func (c *Catalog) checkCapabilities(scope access.Scope, kb *engine.KnowledgeBase, can engine.Capabilities) error {
	if kb.Analyzer == "" {
		kb.Analyzer = engine.AnalyzerJieba
	}
	if !slices.Contains(can.Analyzers, kb.Analyzer) {
		return fault.Invalid("analyzer", kb.Analyzer,
			fmt.Sprintf("one of those that engine %s has: %s", kb.Engine, strings.Join(can.Analyzers, ", ")))
	}
	if err := kb.CheckSearchAnalyzer(can.SearchAnalyzers); err != nil {
		return err
	}
	if err := checkVectorIndex(kb, can.VectorIndexes); err != nil {
		return err
	}
	if err := engine.CheckBM25(kb.BM25); err != nil {
		return err
	}
	if kb.BM25 == engine.BM25Okapi && !slices.Contains(can.BM25, kb.BM25) {
		return unsupported("bm25", "engine %s scores by Lucene's formula alone; leave bm25 out", kb.Engine)
	}
	if kb.Shared && !can.Shared {
		return unsupported("shared", "engine %s has no shared index; leave shared out", kb.Engine)
	}
	if kb.Attach == nil {
		return nil
	}
	if len(can.Layouts) == 0 {
		return unsupported("attach", "engine %s cannot attach to an index; leave attach out", kb.Engine)
	}
	if kb.Shared {
		return fault.Invalid("shared", true, "false with attach: an attached index is somebody else's")
	}
	return c.checkAttachment(scope, kb.Attach, can.Layouts)
}

func checkVectorIndex(kb *engine.KnowledgeBase, accepted []string) error {
	switch {
	case kb.VectorIndex == "":
		return nil
	case len(accepted) == 0:
		return unsupported("vector_index", "engine %s compares vectors one by one; leave vector_index out", kb.Engine)
	case kb.Attach != nil:
		return fault.Invalid("vector_index", kb.VectorIndex, "left out with attach: the index is somebody else's")
	case !slices.Contains(accepted, kb.VectorIndex):
		return fault.Invalid("vector_index", kb.VectorIndex,
			"one of those that engine "+kb.Engine+" has: "+strings.Join(accepted, ", "))
	default:
		return nil
	}
}

func (c *Catalog) checkAttachment(scope access.Scope, a *engine.Attachment, layouts []string) error {
	if !validIndex.MatchString(a.Index) {
		return fault.Invalid("attach.index", a.Index, "the name of one index, without wildcards")
	}
	if own := c.options.OwnIndexes; own != "" && strings.HasPrefix(a.Index, own) {
		return fault.Invalid("attach.index", a.Index, "an index of somebody else: "+own+"… are the gateway's own")
	}
	if !scope.AllowsIndex(a.Index) {
		err := fault.New(fault.Forbidden,
			"attach.index is %q; this key may attach %s", a.Index, allowedIndexes(scope.Indexes))
		err.Field = "attach.index"
		return err
	}
	if a.Layout == "" && len(a.Fields) == 0 {
		return fault.Invalid("attach.layout", a.Layout,
			"one of "+strings.Join(layouts, ", ")+"; or attach.fields names the index's fields")
	}
	if a.Layout != "" && !slices.Contains(layouts, a.Layout) {
		return fault.Invalid("attach.layout", a.Layout, "one of "+strings.Join(layouts, ", "))
	}
	return nil
}

// allowedIndexes words what a scope allows.
func allowedIndexes(patterns []string) string {
	if len(patterns) == 0 {
		return "no index: the configuration's keys[].attach names those it may"
	}
	return strings.Join(patterns, ", ")
}

// setDimensions sets the dimension of the vectors and the model that makes them.
func (c *Catalog) setDimensions(ctx context.Context, kb *engine.KnowledgeBase, wanted *int, maxDims int) error {
	if wanted != nil && (*wanted < 0 || *wanted > maxDims) {
		return fault.Invalid("dimensions", *wanted,
			fmt.Sprintf("0 (keyword search only) to %d on engine %s", maxDims, kb.Engine))
	}
	if wanted != nil && *wanted == 0 {
		kb.EmbeddingModel, kb.KeywordOnly = "", true
		return nil
	}
	dim, model, err := c.configured(ctx, kb.EmbeddingModel)
	if wanted == nil {
		if err != nil {
			return err
		}
		if kb.EmbeddingModel != "" && kb.EmbeddingModel != model {
			return fault.Invalid("dimensions", "missing",
				fmt.Sprintf("the dimension of model %s, which is not configured", kb.EmbeddingModel))
		}
		if dim > maxDims {
			return fault.Invalid("dimensions", dim,
				fmt.Sprintf("at most %d on engine %s; embedding model %s has more", maxDims, kb.Engine, model))
		}
		kb.Dimensions, kb.EmbeddingModel = dim, model
		return nil
	}
	// A dimension other than the model's means that the caller brings the vectors. That
	// the model cannot be reached is no reason to refuse them.
	kb.Dimensions = *wanted
	if kb.EmbeddingModel == "" && err == nil && dim == *wanted {
		kb.EmbeddingModel = model
	}
	return nil
}

func (c *Catalog) configured(ctx context.Context, name string) (dim int, model string, err error) {
	if c.options.Dimensions == nil {
		return 0, "", nil
	}
	return c.options.Dimensions(ctx, name)
}

func unsupported(field, format string, args ...any) error {
	err := fault.New(fault.Unsupported, format, args...)
	err.Field = field
	return err
}

// CheckModel refuses to mix vectors of two models (fault.Conflict): those that the
// knowledge base has, and those that the configured model would make now. A knowledge
// base that names no model accepts vectors of any model with its dimension.
func CheckModel(kb *engine.KnowledgeBase, model string) error {
	if kb.EmbeddingModel == "" || kb.EmbeddingModel == model {
		return nil
	}
	err := fault.New(fault.Conflict,
		"knowledge base %q has vectors of embedding model %q and the configured one is %q; "+
			"bring vectors of %q, configure it, or create the knowledge base anew",
		kb.ID, kb.EmbeddingModel, model, kb.EmbeddingModel)
	err.Field = "embedding_model"
	return err
}
