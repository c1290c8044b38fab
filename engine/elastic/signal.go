package elastic

import (
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/mappings"
)

// signalClauses add the signals of a sum to the chunks that have their fields.
func (p *plan) signalClauses() ([]esquery.Query, error) {
	var all []esquery.Query
	for i := range p.req.Sum.Signals {
		where, weight := p.signals[i], &p.req.Sum.Signals[i]
		if where.kind == absent || *weight == 0 {
			continue
		}
		clause, err := where.signalClause(&p.req.Signals[i])
		if err != nil {
			return nil, err
		}
		all = append(all, esquery.Bool{Common: esquery.Common{Boost: weight}, Must: []esquery.Query{clause}})
	}
	return all, nil
}

func (c column) signalClause(s *engine.Signal) (esquery.Query, error) {
	if s.Recency == nil && s.Number == nil {
		matching, err := inClause(c, &filter.Condition{Field: s.Field, In: s.Match})
		if err != nil {
			return nil, fault.Invalid("signals.match.values", s.Match, "strings, finite numbers or booleans")
		}
		return esquery.ConstantScore{Filter: matching}, nil
	}
	script := esquery.Script{Params: esquery.Params{Others: []esquery.Param{
		{Name: "field", Value: c.field}, {Name: "encoded", Value: c.kind == encoded},
	}}}
	add := func(name string, value any) {
		script.Params.Others = append(script.Params.Others, esquery.Param{Name: name, Value: value})
	}
	if r := s.Recency; r != nil {
		script.Source = valuesInPainless + recencyInPainless
		add("now", float64(r.Now.UnixMilli()))
		add("half_life", float64(r.HalfLife.Milliseconds()))
		add("offset", float64(r.Offset.Milliseconds()))
	} else {
		script.Source, script.Params.Pivot = valuesInPainless+numberInPainless, s.Number.Pivot
		add("shape", string(s.Number.Shape))
	}
	return esquery.ScriptScore{Query: esquery.Exists{Field: c.field}, Script: script}, nil
}

// The scripts compute what engine.Signal says, from a column's doc values: of an encoded one
// by the tags that package mappings writes, of a native one by their types.
const (
	// number gives NaN for what is none.
	valuesInPainless = `double number(def v, boolean encoded) {
  if (v instanceof Number) { return ((Number) v).doubleValue(); }
  if (!encoded || !(v instanceof String) || !v.startsWith('` + mappings.TagNumber + `')) { return Double.NaN; }
  long bits = Long.parseUnsignedLong(v.substring(2), 16);
  return Double.longBitsToDouble(bits < 0 ? bits ^ Long.MIN_VALUE : ~bits);
}
`
	numberInPainless = `double best = 0;
for (def v : doc[params.field]) {
  double x = number(v, params.encoded), p = params.pivot, y = 0;
  if (x > 0) {
    if (params.shape == 'log') { y = Math.min(1, Math.log1p(x) / Math.log1p(p)); }
    else if (params.shape == 'linear') { y = Math.min(1, x / p); }
    else { y = Double.isInfinite(x) ? 1 : x / (x + p); }
  }
  best = Math.max(best, y);
}
return best;`
	recencyInPainless = momentInPainless + `double millis(String t) {
  long at = moment(t);
  return at == Long.MIN_VALUE ? Double.NaN : (double) ((at - (at % 1000 + 1000) % 1000) / 1000);
}
double best = 0;
for (def v : doc[params.field]) {
  double at = Double.NaN;
  if (v instanceof ZonedDateTime) { at = v.toInstant().toEpochMilli(); }
  else if (v instanceof String && !params.encoded) { at = millis(v); }
  else if (v instanceof String && v.startsWith('` + mappings.TagString + `')) { at = millis(v.substring(2)); }
  else {
    double x = number(v, params.encoded);
    if (Math.abs(x) < 1e12) { at = Math.floor(x * 1000); }
  }
  if (at == at) {
    double age = Math.max(0, params.now - at - params.offset);
    best = Math.max(best, Math.pow(2, -age / params.half_life));
  }
}
return best;`
)

// addSignals raises the signals of a hit that are read from a field by a doc value of it.
func (p *plan) addSignals(hit *engine.Hit, field, text string) {
	for i, where := range p.signals {
		if where.field == field && where.kind != absent {
			hit.Signals[i] = max(hit.Signals[i], p.req.Signals[i].Of(where.value(text)))
		}
	}
}

// value is the typed value behind a doc value.
func (c column) value(text string) filter.Value {
	switch {
	case c.kind == encoded:
		return filter.Value{V: mappings.Decode(text)}
	case c.kind == keywords, c.of == "keyword", c.of == "date":
		return filter.Value{V: text}
	case c.of == "boolean":
		return filter.Value{V: text == "true"}
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return filter.Value{V: number}
	}
	return filter.Value{V: text}
}
