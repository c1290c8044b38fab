package esquery

import "strconv"

// ScriptScore replaces the score of its query's matches by a script's value,
// which must not be negative:
//
//	{"script_score": {"query": {"exists": …}, "script": {"source": "…", "params": {…}}}}
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-script-score-query.html
type ScriptScore struct {
	Common
	Query  Query
	Script Script
}

func (q ScriptScore) writeQuery(w *writer) {
	w.begin("script_score")
	w.query("query", q.Query)
	q.Script.write(w)
	q.writeCommon(w)
	w.end()
}

// Script is Painless source with its parameters. Whatever differs from request
// to request is a parameter: each new source is compiled, at a limited rate.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/modules-scripting-using.html
type Script struct {
	Source string
	Params Params
}

// Params are the parameters of the scripts below, and others by name.
type Params struct {
	Vector []float32 // [dim]float32
	Pivot  float64
	Others []Param
}

// Param is a parameter of a script: a string, a number or a boolean.
type Param struct {
	Name  string
	Value any
}

func (s *Script) write(w *writer) {
	w.member("script").begin()
	w.text("source", s.Source)
	w.member("params").begin()
	if len(s.Params.Vector) > 0 {
		w.vector("vector", s.Params.Vector)
	}
	if s.Params.Pivot != 0 {
		w.float("pivot", s.Params.Pivot)
	}
	for i := range s.Params.Others {
		w.any(s.Params.Others[i].Name, s.Params.Others[i].Value)
	}
	w.end()
	w.end()
}

// CosineScript scores by the exact cosine + 1, from 0 to 2, over the stored
// (not quantised) vectors; a document without the vector gets 0 instead of
// failing the request.
//
//	doc['vector'].size() == 0 ? 0 : Math.max(0, cosineSimilarity(params.vector, 'vector') + 1)
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl-script-score-query.html#vector-functions
func CosineScript(field string, vector []float32) Script {
	name := painlessString(field)
	return Script{
		Source: "doc[" + name + "].size() == 0 ? 0 : Math.max(0, cosineSimilarity(params.vector, " + name + ") + 1)",
		Params: Params{Vector: vector},
	}
}

// SaturationScript squeezes the query's score into [0, 1); pivot > 0 becomes 0.5.
//
//	_score / (_score + params.pivot)
func SaturationScript(pivot float64) Script {
	return Script{Source: "_score / (_score + params.pivot)", Params: Params{Pivot: pivot}}
}

// painlessString quotes a name as a Painless literal: Go's double quoted
// escapes of quote and backslash are Painless's too, and field names have no
// control characters.
func painlessString(s string) string { return strconv.Quote(s) }
