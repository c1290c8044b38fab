package mappings

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/brief"
)

// TestDiff: the index of one schema against another schema.
func TestDiff(t *testing.T) {
	f := func(change func(*engine.KnowledgeBase), class, copies, path string) {
		t.Helper()
		index, err := Desired(knowledgeBase(nil), "words/1")
		if err != nil {
			t.Fatal(err)
		}
		live, err := json.Marshal(index)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := Desired(knowledgeBase(change), "words/1")
		if err != nil {
			t.Fatal(err)
		}
		d, err := Diff(wanted, live)
		if err != nil || d.Class != class || d.Copy != copies || !changes(d, path) {
			t.Errorf("%s: %+v, %v; want %s by %q", path, d, err, class, copies)
		}
	}
	f(nil, engine.ChangeNone, "", "")
	f(func(kb *engine.KnowledgeBase) { kb.VectorIndex = "int8_hnsw" }, engine.ChangeNone, "", "")
	f(func(kb *engine.KnowledgeBase) { kb.Dimensions, kb.VectorIndex = 3, "flat" },
		engine.ChangeReindex, engine.CopyReindex, "mappings.properties.vector.index_options.type")
	f(func(kb *engine.KnowledgeBase) { kb.VectorIndex = VectorNone },
		engine.ChangeReindex, engine.CopyReindex, "mappings.properties.vector.index")
	f(func(kb *engine.KnowledgeBase) { kb.Dimensions = 4 },
		engine.ChangeReindex, engine.CopyEmbed, "mappings.properties.vector.dims")
	f(func(kb *engine.KnowledgeBase) { kb.EmbeddingModel = "other" },
		engine.ChangeReindex, engine.CopyEmbed, "mappings._meta.embedding_model")
	f(func(kb *engine.KnowledgeBase) { kb.Analyzer = AnalyzerCJK },
		engine.ChangeReindex, engine.CopyRebuild, "mappings.properties.text_ltks")
	f(func(kb *engine.KnowledgeBase) {
		kb.VectorFields = []engine.VectorField{{Name: "title_vector", Source: "title"}}
	},
		engine.ChangeReindex, engine.CopyEmbed, "mappings.properties.title_vector")
	f(func(kb *engine.KnowledgeBase) { kb.VectorFields = []engine.VectorField{{Name: "summary_vector"}} },
		engine.ChangeInPlace, "", "mappings.properties.summary_vector")
	f(func(kb *engine.KnowledgeBase) { kb.Kind = engine.KindQA }, engine.ChangeConflict, engine.CopyRebuild, "mappings._meta.kind")
}

// TestDiffOfSources: a field that embeds something else now is made anew, one that has no
// source any more stays.
func TestDiffOfSources(t *testing.T) {
	index := func(fields ...engine.VectorField) Index {
		index, err := Desired(knowledgeBase(func(kb *engine.KnowledgeBase) { kb.VectorFields = fields }), "words/1")
		if err != nil {
			t.Fatal(err)
		}
		return index
	}
	live, err := json.Marshal(index(several...))
	if err != nil {
		t.Fatal(err)
	}
	f := func(class, copies, path string, fields ...engine.VectorField) {
		t.Helper()
		d, err := Diff(index(fields...), live)
		if err != nil || d.Class != class || d.Copy != copies || !changes(d, path) || path != "" && len(d.Changes) != 1 {
			t.Errorf("%v: %+v, %v; want %s by %q", fields, d, err, class, copies)
		}
	}
	f(engine.ChangeNone, "", "", several...)
	f(engine.ChangeInPlace, "", "mappings._meta.vector_fields.title_vector",
		engine.VectorField{Name: "title_vector"}, several[1])
	f(engine.ChangeReindex, engine.CopyEmbed, "mappings._meta.vector_fields.title_vector",
		engine.VectorField{Name: "title_vector", Source: engine.SourceContent}, several[1])
	f(engine.ChangeReindex, engine.CopyRebuild, "mappings.properties.summary_vector", several[0])
}

func changes(d Difference, path string) bool {
	for _, c := range d.Changes {
		if c.Path == path {
			return c.Reason != "" && c.Class != ""
		}
	}
	return path == "" && len(d.Changes) == 0
}

// TestDrift: what somebody else changed of an index, as Elasticsearch reports it.
func TestDrift(t *testing.T) {
	f := func(old, drifted, class, path string, copies ...string) {
		t.Helper()
		index, err := Desired(knowledgeBase(func(kb *engine.KnowledgeBase) { kb.Dimensions = 64 }), "words/1")
		if err != nil {
			t.Fatal(err)
		}
		live, err := json.Marshal(index)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(live), old, drifted, 1)
		if changed == string(live) {
			t.Fatalf("%s is not in %s", old, brief.Of(live))
		}
		d, err := Diff(index, json.RawMessage(changed))
		if err != nil || d.Class != class || path != "" && !changes(d, path) {
			t.Errorf("%s: %+v, %v; want %s", path, d, err, class)
		}
		if len(copies) > 0 && d.Copy != copies[0] {
			t.Errorf("%s: copied by %q, want %q", path, d.Copy, copies[0])
		}
	}
	f(`"dims":64`, `"dims":"32"`, engine.ChangeReindex, "mappings.properties.vector.dims", engine.CopyEmbed)
	f(`"owner":{"type":"keyword"}`, `"owner":{"type":"keyword","ignore_above":9}`,
		engine.ChangeInPlace, "mappings.properties.owner.ignore_above", "")
	f(`"number_of_shards":1`, `"number_of_shards":"1","uuid":"u"`, engine.ChangeNone, "")
	f(`"number_of_shards":1`, `"number_of_shards":"2"`, engine.ChangeReindex, "settings.index.number_of_shards")
	for _, chosen := range []string{
		`"refresh_interval":"30s"`, `"refresh_interval":"1s","number_of_replicas":"2"`, `"refresh_interval":"1s","max_result_window":"50000"`,
		`"refresh_interval":"1s","default_pipeline":"_none"`, `"refresh_interval":"1s","blocks":{"write":"false"}`,
		`"refresh_interval":"1s","query":{"default_field":["id"]}`, `"refresh_interval":"1s","max_inner_result_window":"1"`,
	} {
		f(`"refresh_interval":"1s"`, chosen, engine.ChangeNone, "")
	}
	f(`"auto_expand_replicas":"0-1"`, `"auto_expand_replicas":"false"`, engine.ChangeNone, "")
	f(`"refresh_interval":"1s"`, `"refresh_interval":"-1"`, engine.ChangeInPlace, "settings.index.refresh_interval")
	for drifted, path := range map[string]string{
		`"max_result_window":"5"`:                  "max_result_window",
		`"max_terms_count":"5"`:                    "max_terms_count",
		`"max_docvalue_fields_search":"5"`:         "max_docvalue_fields_search",
		`"highlight":{"max_analyzed_offset":"5"}`:  "highlight.max_analyzed_offset",
		`"default_pipeline":"x"`:                   "default_pipeline",
		`"final_pipeline":"x"`:                     "final_pipeline",
		`"blocks":{"write":"true"}`:                "blocks.write",
		`"blocks":{"read":"true"}`:                 "blocks.read",
		`"blocks":{"read_only":"true"}`:            "blocks.read_only",
		`"write":{"wait_for_active_shards":"all"}`: "write.wait_for_active_shards",
		`"mapping":{"total_fields":{"limit":"5"}}`: "mapping.total_fields.limit",
	} {
		f(`"refresh_interval":"1s"`, `"refresh_interval":"1s",`+drifted, engine.ChangeInPlace, "settings.index."+path)
	}
	f(`"refresh_interval":"1s"`, `"refresh_interval":"1s","similarity":{"default":{"type":"BM25","k1":"2"}}`,
		engine.ChangeReindex, "settings.index.similarity.default.k1")
	f(`"refresh_interval":"1s"`, `"refresh_interval":"1s","blocks":{"read_only_allow_delete":"true"}`,
		engine.ChangeConflict, "settings.index.blocks.read_only_allow_delete")
	f(`"dynamic":"strict"`, `"dynamic":"true"`, engine.ChangeInPlace, "mappings.dynamic")
	f(`"type":"int8_hnsw"`, `"type":"hnsw","m":16`, engine.ChangeInPlace, "mappings.properties.vector.index_options.type")
	f(`"type":"int8_hnsw"`, `"type":"bbq_hnsw"`, engine.ChangeReindex, "mappings.properties.vector.index_options.type")
	f(`"owner":{"type":"keyword"}`, `"owner":{"type":"text"}`, engine.ChangeReindex, "mappings.properties.owner.type")
	f(`"owner":{"type":"keyword"},`, ``, engine.ChangeInPlace, "mappings.properties.owner")
	f(`,"moments":true`, ``, engine.ChangeReindex, "mappings._meta.moments") // of before they were kept
}

func TestVectorIndexes(t *testing.T) {
	f := func(index string, dimensions int, named string) {
		t.Helper()
		_, err := Desired(knowledgeBase(func(kb *engine.KnowledgeBase) {
			kb.VectorIndex, kb.Dimensions = index, dimensions
		}), "")
		if named == "" && err != nil {
			t.Errorf("%s of %d is refused: %v", index, dimensions, err)
		}
		if named != "" {
			wants(t, err, fault.InvalidArgument, named)
		}
	}
	for _, index := range VectorIndexes() {
		f(index, 64, "")
	}
	f("ivf", 64, "vector_index")
	f("bbq_hnsw", 63, "64 dimensions")
	f("int4_hnsw", 65, "even")
}
