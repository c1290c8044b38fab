package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hybridge-search/hybridge/fault"
)

// changeClasses lists the classes of changes, lightest first.
var changeClasses = []string{ChangeNone, ChangeInPlace, ChangeReindex, ChangeConflict}

// Add adds a change; the heaviest change decides the diff's class.
func (d *MappingDiff) Add(c MappingChange) {
	d.Changes = append(d.Changes, c)
	if slices.Index(changeClasses, c.Class) > slices.Index(changeClasses, d.Class) {
		d.Class = c.Class
	}
}

// Quoted encodes a text as the value of a change; nil if empty.
func Quoted(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	body, _ := json.Marshal(text) //nolint:errchkjson // a string always encodes
	return body
}

// CompareColumns adds the changes of vector columns, given as name to type.
func (d *MappingDiff) CompareColumns(live, desired map[string]string) {
	all := maps.Clone(live)
	maps.Copy(all, desired)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if live[name] != desired[name] {
			d.Add(MappingChange{
				Path: "columns." + name, Live: Quoted(live[name]), Desired: Quoted(desired[name]),
				Class: ChangeReindex, Code: "column", Reason: "vectors of another type, or of another field, need a new table",
			})
		}
	}
}

// CompareEmbedding adds changes of the embedding model and of the sources of additional vector fields.
func (d *MappingDiff) CompareEmbedding(from, to *KnowledgeBase) {
	if from.EmbeddingModel != to.EmbeddingModel {
		d.Add(MappingChange{
			Path: "embedding_model", Live: Quoted(from.EmbeddingModel), Desired: Quoted(to.EmbeddingModel),
			Class: ChangeReindex, Code: "embedding", Reason: "vectors of another model are made anew of the texts",
		})
	}
	for _, old := range from.VectorFields {
		i := slices.IndexFunc(to.VectorFields, func(v VectorField) bool { return v.Name == old.Name })
		if i < 0 || to.VectorFields[i].Source == old.Source {
			continue
		}
		c := MappingChange{
			Path: "vector_fields." + old.Name + ".source", Live: Quoted(old.Source), Desired: Quoted(to.VectorFields[i].Source),
			Class: ChangeReindex, Code: "vectors", Reason: "vectors of another source are made anew of the texts",
		}
		if to.VectorFields[i].Source == "" {
			c.Class, c.Code, c.Reason = ChangeInPlace, "schema", "only the schema says so; the vectors stay"
		}
		d.Add(c)
	}
}

// Values of a change of a part's own index.
const (
	CodeParts   = "parts"
	ReasonParts = "a part of the text is indexed by itself, or no more"
)

// CompareBoosts adds changes of the boosted parts of the text; adding or dropping a part's own index is a
// change of this class.
func (d *MappingDiff) CompareBoosts(from, to *KnowledgeBase, class string) {
	for _, part := range Parts() {
		old, was := from.Boosts[part]
		boost, is := to.Boosts[part]
		c := MappingChange{Path: "fields." + part, Class: ChangeInPlace, Code: "schema", Reason: "only the schema says so"}
		if was {
			c.Live = json.RawMessage(strconv.FormatFloat(old, 'g', -1, 64))
		}
		if is {
			c.Desired = json.RawMessage(strconv.FormatFloat(boost, 'g', -1, 64))
		}
		switch {
		case was != is:
			c.Class, c.Code, c.Reason = class, CodeParts, ReasonParts
			d.Add(c)
		case old != boost:
			d.Add(c)
		}
	}
}

// Seal sets the digest of a diff, by which a plan is bound to the state it was made for.
func (d *MappingDiff) Seal(state ...any) error {
	body, err := json.Marshal(state)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the state of %s", d.Index)
	}
	hash := sha256.Sum256(body)
	d.Digest = hex.EncodeToString(hash[:16])
	return nil
}

// SettleCopy sets the copy method and its estimated duration; rates are chunks a second by method.
func (d *MappingDiff) SettleCopy(from, to *KnowledgeBase, rates map[string]float64) {
	if d.Class != ChangeReindex {
		return
	}
	d.Copy = CopyRebuild
	if len(NewRefit(from, to).Made) > 0 {
		d.Copy = CopyEmbed
	}
	d.Estimate.Minutes = float64(d.Estimate.Documents) / rates[d.Copy] / 60
}

// Pass records a passed check.
func (m *Migration) Pass(name, format string, args ...any) {
	m.note(MigrationCheck{Name: name, Passed: true, Detail: fmt.Sprintf(format, args...)})
}

// Miss records a failed check and returns the fault that refuses the switch.
func (m *Migration) Miss(name, format string, args ...any) error {
	c := MigrationCheck{Name: name, Detail: fmt.Sprintf(format, args...)}
	m.note(c)
	return fault.New(fault.Conflict, "%s: %s", name, c.Detail)
}

func (m *Migration) note(check MigrationCheck) {
	others := slices.Clone(m.Checks) // copies of the migration share the list
	m.Checks = append(slices.DeleteFunc(others, func(c MigrationCheck) bool { return c.Name == check.Name }), check)
}
