package postgres_test

import (
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/filter"
)

// TestRenderedSQLHoldsNothingOfTheCaller but the names of legs, which are ours.
func TestRenderedSQLHoldsNothingOfTheCaller(t *testing.T) {
	e := open(t, optionsOf(t))
	kb := baseOf(t, e, 2, nil)
	req := both(kb, "secretword", 1, 0)
	req.Filter = engine.Filter{Owner: "secretowner", Conditions: []filter.Condition{
		{Field: "secretkey", In: []filter.Value{{V: "secretvalue"}}},
	}}
	statements, err := e.Render(req)
	if err != nil || len(statements) != 2 {
		t.Fatalf("%+v, %v; want no error and 2 statements", statements, err)
	}
	for i, order := range []string{"(vector <=> $3) + 0", "vector <=> $3, id"} {
		sql := statements[i].SQL
		if !strings.Contains(sql, "ORDER BY "+order) || !strings.Contains(sql, "metadata @> $2::jsonb") {
			t.Errorf("statement %d: %s", i, sql)
		}
		if strings.Contains(sql, "secret") {
			t.Errorf(`the statement holds what the caller gave: %s; want no "secret" in it`, sql)
		}
	}
}
