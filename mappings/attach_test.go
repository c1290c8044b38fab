package mappings

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// ragflowLive is as much of RAGFlow's mapping as matters.
func ragflowLive() *Mappings {
	return &Mappings{Properties: map[string]Property{
		"content_ltks":        {Type: "text", Analyzer: "whitespace"},
		"content_with_weight": {Type: "text", Index: new(false)},
		"title_tks":           {Type: "text", Analyzer: "whitespace"},
		"docnm_kwd":           {Type: "keyword"},
		"doc_id":              {Type: "keyword"},
		"kb_id":               {Type: "keyword"},
		"position_int":        {Type: "integer"},
		"available_int":       {Type: "integer"},
		"q_4_vec":             {Type: "dense_vector", Dims: 4, Similarity: "cosine", Index: new(true)},
	}}
}

func attached(attachment engine.Attachment, dimensions int) *engine.KnowledgeBase {
	return &engine.KnowledgeBase{
		Ref: engine.Ref{Tenant: "t", ID: "old"}, Kind: engine.KindChunks, Dimensions: dimensions, Attach: &attachment,
	}
}

func TestAttachRAGFlow(t *testing.T) {
	for _, dimensions := range []int{0, 4} { // found, or given
		names, err := Attach(attached(engine.Attachment{Index: "ragflow", Layout: LayoutRAGFlow}, dimensions), ragflowLive())
		if err != nil {
			t.Fatal(err)
		}
		want := TextField{Name: "content_ltks", Tokens: true, Beside: ragflowBeside}
		if got := names.Text[engine.FieldText]; !got.equal(want) {
			t.Errorf("text: %+v", got)
		}
		if got := names.Vectors[engine.FieldVector]; got != (VectorField{Name: "q_4_vec", Dims: 4, Approximate: true}) {
			t.Errorf("vector: %+v", got)
		}
		if names.Available != (Available{Field: "available_int", Below: true}) || names.DocumentName != "docnm_kwd" ||
			names.Source.Content != "content_with_weight" || names.Source.Positions != "position_int" || names.KB != "kb_id" {
			t.Errorf("names: %+v", names)
		}
	}
}

// TestAttachRAGFlowBeside: a field of another type than RAGFlow's is left out, and all are
// where somebody names the text field.
func TestAttachRAGFlowBeside(t *testing.T) {
	live := ragflowLive()
	live.Properties["title_tks"] = Property{Type: "text", Analyzer: "standard"}
	live.Properties["important_kwd"] = Property{Type: "text", Analyzer: "whitespace"}
	live.Properties["question_tks"] = Property{Type: "text", Analyzer: "whitespace"}
	attachment := engine.Attachment{Index: "ragflow", Layout: LayoutRAGFlow}
	names, err := Attach(attached(attachment, 4), live)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range names.Text[engine.FieldText].Beside {
		got = append(got, f.Name)
	}
	if want := []string{"title_sm_tks", "important_tks", "question_tks", "content_sm_ltks"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	attachment.Fields = map[string]string{"text": "question_tks"}
	names, err = Attach(attached(attachment, 4), live)
	if err != nil || len(names.Text[engine.FieldText].Beside) != 0 {
		t.Errorf("got %+v, %v; want no error and no names.Text[engine.FieldText].Beside", names, err)
	}
}

func TestAttachRAGFlowWithoutOptionalFields(t *testing.T) {
	live := ragflowLive()
	delete(live.Properties, "available_int")
	delete(live.Properties, "position_int")
	delete(live.Properties, "q_4_vec")
	names, err := Attach(attached(engine.Attachment{Index: "ragflow", Layout: LayoutRAGFlow}, 0), live)
	if err != nil || names.Available.Field != "" || len(names.Vectors) != 0 {
		t.Errorf(`got %+v, %v; want no error and names.Available.Field "" and no names.Vectors`, names, err)
	}
}

func TestAttachCustomFields(t *testing.T) {
	live := &Mappings{Properties: map[string]Property{
		"body": {Type: "text", Fields: map[string]Property{"cjk": {Type: "text", Analyzer: "cjk"}}},
		"doc":  {Properties: map[string]Property{"name": {Type: "keyword"}}},
		"emb":  {Type: "dense_vector", Dims: 2, Similarity: "l2_norm"},
		"on":   {Type: "boolean"},
	}}
	names, err := Attach(attached(engine.Attachment{Index: "own", Fields: map[string]string{
		"text": "body.cjk", "content": "body", "document_name": "doc.name", "vector": "emb", "available": "on",
	}}, 2), live)
	if err != nil {
		t.Fatal(err)
	}
	if !names.Text[engine.FieldText].equal(TextField{Name: "body.cjk"}) || names.Available != (Available{Field: "on"}) ||
		names.Vectors[engine.FieldVector] != (VectorField{Name: "emb", Dims: 2}) || names.DocumentName != "doc.name" {
		t.Errorf("got %+v", names)
	}
}

func TestAttachRefusesWhatCannotBeSearched(t *testing.T) {
	f := func(a engine.Attachment, dimensions int, kind fault.Kind, named string) {
		t.Helper()
		a.Index = "other"
		_, err := Attach(attached(a, dimensions), ragflowLive())
		wants(t, err, kind, named)
	}
	fields := func(pairs ...string) engine.Attachment {
		a := engine.Attachment{Fields: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			a.Fields[pairs[i]] = pairs[i+1]
		}
		return a
	}
	f(engine.Attachment{Layout: "solr"}, 0, fault.InvalidArgument, "ragflow")
	f(engine.Attachment{Layout: LayoutRAGFlow}, 5, fault.Conflict, "q_4_vec")
	f(fields(), 0, fault.InvalidArgument, "attach.fields.text")
	f(fields("text", "content_ltks", "colour", "x"), 0, fault.InvalidArgument, "colour")
	f(fields("text", "nosuch"), 0, fault.Conflict, "nosuch")
	f(fields("text", "doc_id"), 0, fault.Conflict, "keyword")
	f(fields("text", "content_with_weight"), 0, fault.Conflict, "not indexed")
	f(fields("text", "content_ltks", "vector", "doc_id"), 0, fault.Conflict, "dense_vector")
	f(fields("text", "content_ltks", "vector", "q_4_vec"), 3, fault.Conflict, "4 dimensions")
	f(fields("text", "content_ltks", "document_id", "content_ltks"), 0, fault.Conflict, "keyword")
	f(engine.Attachment{Fields: fields("text", "content_ltks").Fields, Value: "kb1"}, 0, fault.InvalidArgument, "knowledge_base")
}

func TestReadingAnyLiveMapping(t *testing.T) {
	var live Mappings
	err := json.Unmarshal([]byte(`{"dynamic": "false", "_meta": {"kind": 5, "hybridge_version": "x"}, "properties": {
		"t": {"type": "text", "index_options": "docs", "norms": false},
		"v": {"type": "dense_vector", "dims": 3, "index_options": {"type": "hnsw", "m": 16}},
		"o": {"properties": {"x": {"type": "date", "format": "epoch_millis"}}, "dynamic": "true"}}}`), &live)
	if err != nil || live.Meta.Version != 0 || live.Properties["v"].Options.Type != "hnsw" {
		t.Errorf(`got %+v, %v; want no error and live.Meta.Version 0 and live.Properties["v"].Options.Type "hnsw"`, live, err)
	}
	if p, found := Lookup(live.Properties, "o.x"); !found || p.Type != "date" {
		t.Errorf(`o.x: %+v; want found and p.Type "date"`, p)
	}
}

func TestMember(t *testing.T) {
	source := map[string]any{"a": map[string]any{"b": map[string]any{"c": 1}}, "x.y": 2, "x": "text"}
	f := func(path string, want any) {
		t.Helper()
		if got := Member(source, path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	f("a.b.c", 1)
	f("x.y", 2)
	f("x", "text")
	f("x.z", nil)
	f("", nil)
}
