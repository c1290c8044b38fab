package cli

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
)

func TestTable(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		var out bytes.Buffer
		table := NewTable(&out)
		fmt.Fprint(table, text)
		if err := table.Flush(); err != nil || out.String() != want {
			t.Errorf("%q: %v\n%s, want\n%s", text, err, brief.Of(out.String()), want)
		}
	}
	f("ID\tNAME\nmanuals\t产品\n", "ID       NAME\nmanuals  产品\n")
	f("NAME\tENGINE\n产品手册\tembedded\nfaq\tembedded\n", "NAME      ENGINE\n产品手册  embedded\nfaq       embedded\n")
	f("ok\tdata\tfine\n\t\t→ advice\n", "ok  data  fine\n          → advice\n")
	f("a\n", "a\n")
	f("", "")
}
