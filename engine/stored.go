package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1" // reads as encoding/json does, in half the time

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
)

// Shared by engines that store chunks in their own tables: checks, and the stored form of a
// chunk.

// CheckOwned refuses a knowledge base that an engine with its own tables cannot store. It
// is a safeguard: the catalog checks the same.
func (kb *KnowledgeBase) CheckOwned(engine string, can Capabilities) error {
	switch {
	case kb.ID == "":
		return fault.Invalid("id", kb.ID, "a name of the knowledge base, not empty")
	case kb.Attach != nil:
		return fault.New(fault.Unsupported, "the %s engine cannot attach to an index; leave attach out", engine)
	case kb.Shared:
		return fault.New(fault.Unsupported, "the %s engine has no shared indexes; leave shared out", engine)
	case kb.Kind != KindChunks && kb.Kind != KindQA:
		return fault.Invalid("kind", string(kb.Kind), "chunks or qa")
	case kb.Analyzer != "" && !slices.Contains(can.Analyzers, kb.Analyzer):
		return fault.Invalid("analyzer", kb.Analyzer, strings.Join(can.Analyzers, " or "))
	case kb.Dimensions < 0 || kb.Dimensions > can.MaxDims:
		return fault.Invalid("dimensions", kb.Dimensions, fmt.Sprintf("0 to %d", can.MaxDims))
	}
	if err := kb.CheckVectorFields(); err != nil { // their names become columns
		return err
	}
	if err := kb.CheckSearchAnalyzer(can.SearchAnalyzers); err != nil {
		return err
	}
	return CheckBM25(kb.BM25)
}

// CheckSearchAnalyzer refuses a search analyzer that does not fit the analyzer.
func (kb *KnowledgeBase) CheckSearchAnalyzer(accepted []string) error {
	const field = "search_analyzer"
	switch {
	case kb.SearchAnalyzer == "":
		return nil
	case kb.Attach != nil || kb.Shared:
		return fault.Invalid(field, kb.SearchAnalyzer, "left out with attach and shared: the index has its own")
	case len(accepted) == 0:
		return fault.Invalid(field, kb.SearchAnalyzer,
			"left out: texts and questions are analysed alike on engine "+kb.Engine)
	case !slices.Contains(accepted, kb.Analyzer):
		return fault.Invalid(field, kb.SearchAnalyzer, "left out with analyzer "+kb.Analyzer)
	case !slices.Contains(accepted, kb.SearchAnalyzer):
		return fault.Invalid(field, kb.SearchAnalyzer, strings.Join(accepted, " or "))
	default:
		return nil
	}
}

// CheckVector refuses a vector that does not have dims finite numbers.
func CheckVector(field string, v []float32, dims int) error {
	if len(v) != dims {
		return fault.Invalid(field, fmt.Sprintf("[%d]float32", len(v)), fmt.Sprintf("a vector of %d numbers", dims))
	}
	if i := slices.IndexFunc(v, func(x float32) bool { return x-x != 0 }); i >= 0 {
		return fault.Invalid(fmt.Sprintf("%s[%d]", field, i), v[i], "a finite number")
	}
	return nil
}

// OneOf lists the accepted fields for an error.
func OneOf(what string, fields []string) string {
	if len(fields) == 0 {
		return what + ", of which this knowledge base has none"
	}
	return what + ": " + strings.Join(fields, ", ")
}

// EncodeStored is JSON without the escapes meant for HTML.
func EncodeStored(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// DecodeStored reads a chunk that EncodeStored wrote.
func (kb *KnowledgeBase) DecodeStored(body []byte) (Chunk, error) {
	var c Chunk
	if err := jsonv1.Unmarshal(body, &c); err != nil {
		return c, fault.Wrap(fault.Corrupt, err, "a stored chunk of knowledge base %q", kb.ID)
	}
	if kb.Kind == KindQA && c.QA == nil {
		c.QA = &QA{}
	}
	return c, nil
}

// The fields that filters and facets see of every chunk, and of a question-answer
// pair, beside its metadata.
var (
	chunkFields = []string{FieldDocumentID, "document_name", "owner", FieldWrittenAt}
	pairFields  = []string{"title", "category", "date", "url", "group"}
)

// FieldDocumentID names Chunk.DocumentID in filters and facets.
const FieldDocumentID = "document_id"

// FieldWrittenAt names Chunk.WrittenAt in filters and facets.
const FieldWrittenAt = filter.FieldWrittenAt

// KnownWrittenAt returns text if it has the format of Chunk.WrittenAt, else empty: older chunks may have
// metadata of that name.
func KnownWrittenAt(text string) string {
	if at, err := time.Parse(time.RFC3339, text); err != nil || at.UTC().Format(time.RFC3339) != text {
		return ""
	}
	return text
}

// Own reports whether a filter's field names a field of the chunk, not metadata.
func (c *Chunk) Own(field string) bool {
	return slices.Contains(chunkFields, field) || c.QA != nil && slices.Contains(pairFields, field)
}

// Filterable returns the values that filters and facets see of a chunk, by field. A chunk's
// own fields take precedence over metadata of the same name.
func (c *Chunk) Filterable() map[string][]any {
	names := slices.Clone(chunkFields)
	if c.QA != nil {
		names = append(names, pairFields...)
	}
	all := map[string][]any{}
	add := func(field string) {
		for _, v := range c.Values(field) {
			all[field] = append(all[field], v.V)
		}
	}
	for _, field := range names {
		add(field)
	}
	for field := range c.Metadata {
		if !slices.Contains(names, field) {
			add(field)
		}
	}
	return all
}
