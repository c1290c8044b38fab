package mappings

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Difference is how a live index differs from the desired one, and how its
// documents would be copied into a new one.
type Difference struct {
	Changes []engine.MappingChange
	Class   string // the heaviest of the changes
	Copy    string // empty unless the class is needs_reindex
}

// Diff compares the desired index with a live one, as GET /index answers it,
// leaf by leaf. Of the settings, those are compared that searches and writes depend on.
func Diff(desired Index, live json.RawMessage) (Difference, error) {
	wanted, err := json.Marshal(desired)
	if err != nil {
		return Difference{}, fault.Wrap(fault.Internal, err, "write the desired mapping")
	}
	want, err := leaves(wanted)
	if err != nil {
		return Difference{}, err
	}
	have, err := leaves(live)
	if err != nil {
		return Difference{}, fault.Wrap(fault.Unavailable, err, "the live mapping cannot be read")
	}
	d := Difference{Class: engine.ChangeNone, Changes: []engine.MappingChange{}}
	reported := map[string]bool{} // fields that only one side has, each of which is one change
	for _, path := range slices.Sorted(maps.Keys(union(want, have))) {
		w, h := want[path], have[path]
		if same(w, h) {
			continue
		}
		if field, whole := wholeField(path, want, have); whole {
			if !reported[field] {
				reported[field] = true
				d.add(fieldChange(field, want, have))
			}
			continue
		}
		if c, ok := leafChange(path, h, w); ok {
			d.add(c)
		}
	}
	drift, err := SettingsDrift(live, false)
	if err != nil {
		return Difference{}, fault.Wrap(fault.Unavailable, err, "the live settings cannot be read")
	}
	for _, c := range drift {
		d.add(judgedChange{c, copyOf[c.Class]})
	}
	return d, nil
}

// copyOf is how documents come into a new index that another setting needs.
var copyOf = map[string]string{engine.ChangeReindex: engine.CopyReindex}

var severity = map[string]int{
	engine.ChangeNone: 0, engine.ChangeInPlace: 1, engine.ChangeReindex: 2, engine.ChangeConflict: 3,
}

var copyCost = map[string]int{"": 0, engine.CopyReindex: 1, engine.CopyRebuild: 2, engine.CopyEmbed: 3}

// verdict is what a difference takes, and why: for programs and for readers.
type verdict struct{ class, copy, code, reason string }

type judgedChange struct {
	engine.MappingChange
	copy string
}

func (v verdict) of(c engine.MappingChange) judgedChange {
	c.Class, c.Code, c.Reason = v.class, v.code, v.reason
	return judgedChange{c, v.copy}
}

func (d *Difference) add(c judgedChange) {
	d.Changes = append(d.Changes, c.MappingChange)
	if severity[c.Class] > severity[d.Class] {
		d.Class = c.Class
	}
	if copyCost[c.copy] > copyCost[d.Copy] {
		d.Copy = c.copy
	}
}

// Conflict adds a change that no migration can make.
func (d *Difference) Conflict(path, code, reason string) {
	d.add(judgedChange{MappingChange: engine.MappingChange{
		Path: path, Class: engine.ChangeConflict, Code: code, Reason: reason,
	}})
}

const (
	propertiesPath = "mappings.properties."
	settingsPath   = "settings.index."
	sourcesPath    = "mappings._meta.vector_fields." // of vector fields beside vector
)

// wholeField reports whether a leaf belongs to a field that only one side has.
func wholeField(path string, want, have map[string]json.RawMessage) (field string, whole bool) {
	rest, ok := strings.CutPrefix(path, propertiesPath)
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, ".")
	field = propertiesPath + name
	return field, !hasField(want, field) || !hasField(have, field)
}

func hasField(all map[string]json.RawMessage, field string) bool {
	for path := range all {
		if strings.HasPrefix(path, field+".") {
			return true
		}
	}
	return false
}

// fieldChange judges a field that only one side has.
func fieldChange(field string, want, have map[string]json.RawMessage) judgedChange {
	c := engine.MappingChange{Path: field, Live: have[field+".type"], Desired: want[field+".type"]}
	if source := want[sourcesPath+strings.TrimPrefix(field, propertiesPath)]; text(source) != "" {
		return verdict{
			engine.ChangeReindex, engine.CopyEmbed, "vectors",
			"vectors of a part of every text are to be made",
		}.of(c)
	}
	if isPart(strings.TrimPrefix(field, propertiesPath)) {
		return verdict{engine.ChangeReindex, engine.CopyRebuild, engine.CodeParts, engine.ReasonParts}.of(c)
	}
	if hasField(want, field) {
		return verdict{
			engine.ChangeInPlace, "", "field_added", "a field can be added; documents have it when they are written again",
		}.of(c)
	}
	return verdict{
		engine.ChangeReindex, engine.CopyRebuild, "field_removed",
		"the schema knows no such field; removing one takes a new index",
	}.of(c)
}

// isPart reports whether a field holds a part of the text, see OwnText.
func isPart(field string) bool {
	at := strings.LastIndexByte(field, '_')
	return at > 0 && slices.Contains(engine.Parts(), field[:at])
}

// leafChange judges one difference; ok is false for what does not matter.
func leafChange(path string, live, desired json.RawMessage) (judgedChange, bool) {
	var v verdict
	switch {
	case strings.HasPrefix(path, sourcesPath):
		v = sourceVerdict(live, desired)
	case strings.HasPrefix(path, "mappings._meta."):
		v = metaVerdict(strings.TrimPrefix(path, "mappings._meta."), live)
	case strings.HasPrefix(path, propertiesPath):
		v = propertyVerdict(path, text(live), text(desired), desired == nil)
	case strings.HasPrefix(path, settingsPath):
		v = settingVerdict(strings.TrimPrefix(path, settingsPath))
	case path == "mappings.dynamic":
		v = verdict{engine.ChangeInPlace, "", "setting", "can be set while the index is in use"}
	case path == "mappings._routing.required":
		v = verdict{engine.ChangeConflict, "", "shared", "an index that is shared cannot become one that is not"}
	}
	if v.class == "" {
		return judgedChange{}, false
	}
	return v.of(engine.MappingChange{Path: path, Live: live, Desired: desired}), true
}

func metaVerdict(name string, live json.RawMessage) verdict {
	switch {
	case name == "hybridge_version" && live == nil:
		return verdict{engine.ChangeConflict, "", "foreign", "the index was not made by this gateway; attach it instead"}
	case name == "hybridge_version":
		return verdict{
			engine.ChangeReindex, engine.CopyRebuild, "layout", "the index is of another version of the gateway's layout",
		}
	case name == "kind", name == "shared":
		return verdict{
			engine.ChangeConflict, "", "kind", "chunks of one kind cannot become the other; create another knowledge base",
		}
	case name == "analyzer":
		return verdict{engine.ChangeReindex, engine.CopyReindex, "analysis", "every text has to be analysed again"}
	case name == "tokenizer":
		return verdict{
			engine.ChangeReindex, engine.CopyRebuild, "words",
			"the gateway splits words another way than the index",
		}
	case name == "moments" && live == nil:
		return verdict{
			engine.ChangeReindex, engine.CopyRebuild, "moments",
			"the index was made before times were stored so that they can be compared; filters on times are slower in it",
		}
	case name == "dimensions", name == "embedding_model":
		return verdict{engine.ChangeReindex, engine.CopyEmbed, "embedding", "every text has to be embedded again"}
	default:
		return verdict{}
	}
}

// sourceVerdict judges what a vector field embeds. A field that only one side has is
// left to fieldChange.
func sourceVerdict(live, desired json.RawMessage) verdict {
	switch {
	case live == nil || desired == nil:
		return verdict{}
	case text(desired) == "":
		return verdict{engine.ChangeInPlace, "", "schema", "only the schema says so; the vectors stay"}
	default:
		return verdict{engine.ChangeReindex, engine.CopyEmbed, "vectors", "vectors of another source are to be made"}
	}
}

func propertyVerdict(path, live, desired string, gone bool) verdict {
	parameter := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case strings.HasSuffix(path, ".index_options.type") && slices.Contains(vectorIndexes[live], desired):
		return verdict{
			engine.ChangeInPlace, "", "vector_index",
			"can be changed while the index is in use; vectors written before are indexed anew as segments merge",
		}
	case strings.Contains(path, ".index_options.") && parameter != "type":
		return verdict{} // Elasticsearch's own choices
	case strings.Contains(path, ".fields.") && gone:
		return verdict{
			engine.ChangeReindex, engine.CopyReindex, "field_removed",
			"the schema knows no such multi-field; removing one takes a new index",
		}
	case parameter == "dims":
		return verdict{
			engine.ChangeReindex, engine.CopyEmbed, "dimension",
			"the dimension of a vector field is fixed for life",
		}
	case parameter == "ignore_above":
		return verdict{engine.ChangeInPlace, "", "setting", "can be set while the index is in use"}
	default:
		return verdict{engine.ChangeReindex, engine.CopyReindex, "parameter", parameter + " of a field is fixed for life"}
	}
}

func settingVerdict(name string) verdict {
	switch {
	case name == "number_of_shards":
		return verdict{engine.ChangeReindex, engine.CopyReindex, "shards", "the number of shards is fixed for life"}
	case strings.HasPrefix(name, "analysis."):
		return verdict{engine.ChangeReindex, engine.CopyReindex, "analysis", "every text has to be analysed again"}
	default:
		return verdict{}
	}
}

// compared are the settings that make an index what it is; those that others may change are in watched.
var compared = []string{"number_of_shards", "analysis"}

// leaves flattens an index's body: dotted path → value. A list is one value.
func leaves(body json.RawMessage) (map[string]json.RawMessage, error) {
	var index struct {
		Settings struct {
			Index map[string]json.RawMessage `json:"index"`
		} `json:"settings"`
		Mappings map[string]json.RawMessage `json:"mappings"`
	}
	if err := json.Unmarshal(body, &index); err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	for _, name := range compared {
		flattenInto(all, "settings.index."+name, index.Settings.Index[name])
	}
	for name, value := range index.Mappings {
		flattenInto(all, "mappings."+name, value)
	}
	return all, nil
}

func flattenInto(all map[string]json.RawMessage, path string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) == nil && members != nil {
		for name, member := range members {
			flattenInto(all, path+"."+name, member)
		}
		return
	}
	all[path] = value
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// same compares values; Elasticsearch writes numbers and booleans of settings
// as strings.
func same(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return text(a) == text(b)
}

func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}
