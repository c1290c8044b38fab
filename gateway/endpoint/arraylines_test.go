package endpoint

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestArrayLines(t *testing.T) {
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`{"id": "%d", "content": "%s"}`, i, strings.Repeat("退款\\n", i%50)))
	}
	text := "[" + strings.Join(items, ", \n") + "]"
	got, err := io.ReadAll(iotest.OneByteReader(NewArrayLines(iotest.HalfReader(strings.NewReader(text)))))
	if err != nil || strings.Count(string(got), "\n") != 1000 || strings.ReplaceAll(string(got), "\n", ", \n") == text {
		t.Errorf("%d lines, %v", strings.Count(string(got), "\n"), err)
	}
	endless := io.MultiReader(strings.NewReader(`["`), endlessly('a'))
	if _, err := io.Copy(io.Discard, NewArrayLines(endless)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an item without an end: %v", err)
	}
}

// endlessly is the same byte again and again.
type endlessly byte

func (e endlessly) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = byte(e)
	}
	return len(into), nil
}
