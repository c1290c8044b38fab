package mappings

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// LayoutRAGFlow is the layout of RAGFlow's own indices.
const LayoutRAGFlow = "ragflow"

// Layouts lists the built-in sets of field names.
func Layouts() []string { return []string{LayoutRAGFlow} }

// The names that an attachment's fields go by.
const (
	attachText         = "text"
	attachVector       = "vector"
	attachContent      = "content"
	attachTitle        = "title"
	attachID           = "id"
	attachDocumentID   = "document_id"
	attachDocumentName = "document_name"
	attachPositions    = "positions"
	attachKB           = "knowledge_base"
	attachAvailable    = "available"
)

// attachable maps each to the types of fields that it accepts; nil accepts any.
var attachable = map[string][]string{
	attachText:         {"text"},
	attachVector:       {"dense_vector"},
	attachContent:      nil,
	attachTitle:        nil,
	attachID:           {"keyword"},
	attachDocumentID:   {"keyword"},
	attachDocumentName: {"keyword"},
	attachPositions:    nil,
	attachKB:           {"keyword"},
	attachAvailable:    {"boolean", "byte", "short", "integer", "long"},
}

// ragflow are RAGFlow's field names; its vector field is named by its dimension.
var ragflow = map[string]string{
	attachText:         "content_ltks",
	attachContent:      "content_with_weight",
	attachDocumentID:   "doc_id",
	attachDocumentName: "docnm_kwd",
	attachPositions:    "position_int",
	attachKB:           "kb_id",
	attachAvailable:    "available_int",
}

// ragflowMetadata are the fields that become a chunk's metadata.
var ragflowMetadata = []string{"important_kwd", "question_kwd", "tag_kwd", "doc_type_kwd", "img_id"}

// ragflowBeside are the fields that RAGFlow searches with content_ltks, with its own boosts over
// the 2 of that: 10, 5, 30, 20, 20 and 1.
//
// https://github.com/infiniflow/ragflow/blob/main/rag/nlp/query.py
var ragflowBeside = []BesideField{
	{Name: "title_tks", Boost: 5},
	{Name: "title_sm_tks", Boost: 2.5},
	{Name: "important_kwd", Boost: 15, Keyword: true},
	{Name: "important_tks", Boost: 10},
	{Name: "question_tks", Boost: 10},
	{Name: "content_sm_ltks", Boost: 0.5},
}

// ragflowOptional are fields that an index of RAGFlow's has only once a chunk
// with a value was written.
var ragflowOptional = []string{attachAvailable, attachPositions}

var ragflowVector = regexp.MustCompile(`^q_(\d+)_vec$`)

// Attach finds the fields of a knowledge base in an index that somebody else
// made, and checks that they can be used.
func Attach(kb *engine.KnowledgeBase, live *Mappings) (*Names, error) {
	fields, err := attachedFields(kb, live)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := checkField(kb, live, name, fields[name]); err != nil {
			return nil, err
		}
	}
	names := &Names{
		Text: map[string]TextField{}, Vectors: map[string]VectorField{},
		ID: fields[attachID], DocumentID: fields[attachDocumentID], DocumentName: fields[attachDocumentName],
		KB: fields[attachKB], Live: live.Properties,
		Source: Source{
			Title: fields[attachTitle], Content: fields[attachContent], Positions: fields[attachPositions],
		},
	}
	if kb.Attach.Layout == LayoutRAGFlow {
		names.Source.Metadata = ragflowMetadata
	}
	if names.Source.Content == "" {
		names.Source.Content = fields[attachText]
	}
	names.Available = attachedAvailable(live, fields[attachAvailable])
	attachTokens(names, live, fields[attachText])
	if kb.Attach.Layout == LayoutRAGFlow && fields[attachText] == ragflow[attachText] {
		attachBeside(names, live)
	}
	return names, attachVectors(kb, names, live, fields[attachVector])
}

func attachTokens(names *Names, live *Mappings, field string) {
	p, _ := Lookup(live.Properties, field)
	names.Text[engine.FieldText] = TextField{Name: field, Tokens: p.Analyzer == "whitespace"}
}

// attachBeside adds RAGFlow's further fields. Those that no chunk has yet match nothing; one of
// another type than RAGFlow's is left out.
func attachBeside(names *Names, live *Mappings) {
	text := names.Text[engine.FieldText]
	for _, f := range ragflowBeside {
		p, found := Lookup(live.Properties, f.Name)
		tokens := p.Type == "text" && p.Analyzer == "whitespace" && (p.Index == nil || *p.Index)
		if !found || f.Keyword && p.Type == "keyword" || !f.Keyword && tokens {
			text.Beside = append(text.Beside, f)
		}
	}
	names.Text[engine.FieldText] = text
}

func attachedAvailable(live *Mappings, field string) Available {
	p, found := Lookup(live.Properties, field)
	return Available{Field: field, Below: found && p.Type != "boolean"}
}

func attachVectors(kb *engine.KnowledgeBase, names *Names, live *Mappings, field string) error {
	if field == "" {
		return nil
	}
	p, _ := Lookup(live.Properties, field)
	if p.Element != "" && p.Element != "float" {
		return unusableField(kb, attachVector, field, "holds "+p.Element+" values; vectors of float are needed")
	}
	if kb.Dimensions != 0 && kb.Dimensions != p.Dims {
		return unusableField(kb, attachVector, field,
			fmt.Sprintf("has %d dimensions, the knowledge base says %d", p.Dims, kb.Dimensions))
	}
	indexed := p.Index == nil || *p.Index
	names.Vectors[engine.FieldVector] = VectorField{
		Name: field, Dims: p.Dims, Approximate: indexed && (p.Similarity == "" || p.Similarity == Cosine),
	}
	return nil
}

// attachedFields maps our names to the index's fields: those of the layout,
// overridden by those of the attachment.
func attachedFields(kb *engine.KnowledgeBase, live *Mappings) (map[string]string, error) {
	fields := map[string]string{}
	switch kb.Attach.Layout {
	case "":
	case LayoutRAGFlow:
		maps.Copy(fields, ragflow)
		maps.DeleteFunc(fields, func(name, field string) bool {
			_, found := Lookup(live.Properties, field)
			return !found && slices.Contains(ragflowOptional, name)
		})
		if err := ragflowVectorField(kb, live, fields); err != nil {
			return nil, err
		}
	default:
		return nil, fault.Invalid("attach.layout", kb.Attach.Layout, oneOf(Layouts())+", or empty")
	}
	for name, field := range kb.Attach.Fields {
		if _, known := attachable[name]; !known {
			return nil, fault.Invalid("attach.fields", name, oneOf(slices.Sorted(maps.Keys(attachable))))
		}
		fields[name] = field
	}
	maps.DeleteFunc(fields, func(_, field string) bool { return field == "" })
	if fields[attachText] == "" {
		return nil, fault.Invalid("attach.fields.text", "", "the name of the text field to search")
	}
	if kb.Attach.Value != "" && fields[attachKB] == "" {
		return nil, fault.Invalid("attach.value", kb.Attach.Value,
			"empty unless attach.fields.knowledge_base names the field that holds it")
	}
	return fields, nil
}

// ragflowVectorField finds q_<dimension>_vec: the one of the knowledge base's
// dimension or, when that is 0, the only one there is.
func ragflowVectorField(kb *engine.KnowledgeBase, live *Mappings, fields map[string]string) error {
	if _, named := kb.Attach.Fields[attachVector]; named {
		return nil
	}
	var found []string
	for name := range live.Properties {
		if m := ragflowVector.FindStringSubmatch(name); m != nil {
			if m[1] == strconv.Itoa(kb.Dimensions) {
				fields[attachVector] = name
				return nil
			}
			found = append(found, name)
		}
	}
	slices.Sort(found)
	switch {
	case kb.Dimensions == 0 && len(found) == 1:
		fields[attachVector] = found[0]
		return nil
	case kb.Dimensions == 0 && len(found) == 0:
		return nil
	case len(found) == 0:
		found = []string{"none"}
	}
	return &fault.Error{
		Kind: fault.Conflict, Field: "dimensions",
		Detail: fmt.Sprintf("index %q has no vector field for dimensions %d; its vector fields: %s",
			kb.Attach.Index, kb.Dimensions, strings.Join(found, ", ")),
	}
}

// checkField refuses a field that cannot serve as what name says.
func checkField(kb *engine.KnowledgeBase, live *Mappings, name, field string) error {
	p, found := Lookup(live.Properties, field)
	accepted := attachable[name]
	switch {
	case accepted == nil && name != attachContent:
		return nil // read from _source when it is there
	case !found:
		return unusableField(kb, name, field, "does not exist")
	case accepted == nil:
		return nil
	case !slices.Contains(accepted, p.Type):
		return unusableField(kb, name, field, fmt.Sprintf("is of type %q; it must be %s", p.Type, oneOf(accepted)))
	case p.Index != nil && !*p.Index && p.Type == "text":
		return unusableField(kb, name, field, "is not indexed, so it cannot be searched")
	case p.DocValues != nil && !*p.DocValues:
		return unusableField(kb, name, field, "has no doc values, so hits cannot carry it")
	default:
		return nil
	}
}

func unusableField(kb *engine.KnowledgeBase, name, field, why string) error {
	return &fault.Error{
		Kind: fault.Conflict, Field: "attach.fields." + name,
		Detail: fmt.Sprintf("field %q of index %q (for %s) %s", field, kb.Attach.Index, name, why),
	}
}

// Lookup finds a field by its dotted path, multi-fields included.
func Lookup(properties map[string]Property, path string) (Property, bool) {
	if p, found := properties[path]; found {
		return p, true
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		parent, found := properties[path[:i]]
		if !found {
			continue
		}
		for _, below := range []map[string]Property{parent.Properties, parent.Fields} {
			if p, found := Lookup(below, path[i+1:]); found {
				return p, true
			}
		}
	}
	return Property{}, false
}

// Member finds a member of a document's source by its dotted path.
func Member(source map[string]any, path string) any {
	if v, found := source[path]; found {
		return v
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if below, ok := source[path[:i]].(map[string]any); ok {
			if v := Member(below, path[i+1:]); v != nil {
				return v
			}
		}
	}
	return nil
}
