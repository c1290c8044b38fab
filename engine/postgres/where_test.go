package postgres

import "testing"

// TestComparison: a bound with U+0000, which no stored text has, lies just behind what
// stands before it.
func TestComparison(t *testing.T) {
	f := func(operator, text, wantOperator, wantBound string) {
		t.Helper()
		if got, bound := comparison(operator, text); got != wantOperator || bound != wantBound {
			t.Errorf("%s %q is %s %q, want %s %q", operator, text, got, bound, wantOperator, wantBound)
		}
	}
	f(">=", "a", ">=", "a")
	f("<", "a\xff", "<", "a\uFFFD")
	f(">", "a\x00b", ">", "a")
	f(">=", "a\x00b", ">", "a")
	f("<", "a\x00b", "<=", "a")
	f("<=", "a\x00", "<=", "a")
}
