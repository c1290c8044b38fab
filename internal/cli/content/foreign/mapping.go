package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// Mapping maps fields of documents to members of chunks.
type Mapping struct {
	Members map[string]string // member, as content or metadata.year, to field, as body or meta.year
	// OnlyMapped leaves out all other fields, which are metadata otherwise.
	OnlyMapped bool
}

// members are the possible targets of a field, beside metadata.NAME: a text, a list of texts, a
// number, or a vector.
var members = map[string]memberKind{
	"id": text, "document_id": text, "document_name": text, "title": text, "owner": text, "ordinal": number,
	"written_at": text,
	"content":    text, "important_keywords": texts, "questions": texts, "vector": vector,
	"question": text, "answer": text, "full_answer": text, "summary": text, "url": text, "category": text, "date": text,
	"group": text, "question_vector": vector, "answer_vector": vector,
}

type memberKind int

const (
	text memberKind = iota
	texts
	number
	vector
)

const metadataPrefix = "metadata."

// IsPairs reports whether the documents become pairs of question and answer.
func (m *Mapping) IsPairs() bool { return m.Members["question"] != "" || m.Members["answer"] != "" }

// ParseMapping reads member=field, several times. Errors name the setting, such as --map.
func ParseMapping(setting string, given []string) (Mapping, error) {
	m := Mapping{Members: map[string]string{}}
	for _, pair := range given {
		member, field, found := strings.Cut(pair, "=")
		_, known := members[member]
		if metadata := strings.TrimPrefix(member, metadataPrefix); metadata != member {
			known = metadata != ""
		}
		switch {
		case !found || field == "" || member == "":
			return m, fault.Invalid(setting, pair, "member=field, as content=body")
		case !known:
			return m, fault.Invalid(setting, member,
				"one of "+strings.Join(slices.Sorted(maps.Keys(members)), ", ")+", metadata.NAME")
		case m.Members[member] != "":
			return m, fault.Invalid(setting, member, "given once")
		}
		m.Members[member] = field
	}
	if !m.IsPairs() && m.Members["content"] == "" {
		return m, fault.Invalid(setting, strings.Join(given, " "),
			"content=FIELD for the text that is searched, or question=FIELD and answer=FIELD")
	}
	return m, nil
}

// vectors are the fields that become vectors, by member.
func (m *Mapping) vectors() map[string]string {
	found := map[string]string{}
	for member, field := range m.Members {
		if members[member] == vector && !strings.HasPrefix(member, metadataPrefix) {
			found[member] = field
		}
	}
	return found
}

// fieldType is the mapping of a field in an index.
type fieldType struct {
	Type       string               `json:"type"`
	Dims       int                  `json:"dims"`
	Properties map[string]fieldType `json:"properties"`
}

// leaves adds the fields that hold values to those found so far, by their dotted names.
func leaves(properties map[string]fieldType, prefix string, found map[string]fieldType) {
	for name, field := range properties {
		name = prefix + name
		if field.Properties != nil {
			leaves(field.Properties, name+".", found)
			continue
		}
		found[name] = field
	}
}

// check compares the mapping with the fields that there are, and returns the dimensions of the
// vectors; 0: there are none.
func (m *Mapping) check(setting, index string, fields map[string]fieldType) (dimensions int, err error) {
	for _, member := range slices.Sorted(maps.Keys(m.Members)) {
		name := m.Members[member]
		field, found := fields[name]
		if !found && name != "_id" {
			return 0, fault.Invalid(setting, member+"="+name,
				"a field of "+index+": "+strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if _, isVector := m.vectors()[member]; !isVector {
			continue
		}
		switch {
		case field.Type != "dense_vector" || field.Dims == 0:
			return 0, fault.Invalid(setting, member+"="+name, "a field of type dense_vector; it is "+field.Type)
		case dimensions != 0 && dimensions != field.Dims:
			return 0, fault.Invalid(setting, member+"="+name, "a field with as many dimensions as the other vector")
		}
		dimensions = field.Dims
	}
	return dimensions, nil
}
