package elastic

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestVocabulariesAreApart: a term is counted anew among other chunks, and when it has
// expired.
func TestVocabulariesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newTermMemory()
		before := m.vocabulary(vocabularyKey{field: "text", docs: 100})
		after := m.vocabulary(vocabularyKey{field: "text", docs: 101})
		if again := m.vocabulary(vocabularyKey{field: "text", docs: 100}); again != before || before == after || before == 0 {
			t.Fatal(before, after, again)
		}
		m.remember(before, []string{"refund", "invoice"}, []int{7, 8})
		recalls := func(of vocabulary, wanted []int, unknown ...string) {
			t.Helper()
			df := []int{1, 1, 1, 1}
			missing := m.recall(of, []string{"invoice", "pay", "refund", "pay"}, time.Minute, df)
			if !slices.Equal(df, wanted) || !slices.Equal(missing, unknown) {
				t.Errorf("%d %q, want %d %q", df, missing, wanted, unknown)
			}
		}
		recalls(before, []int{8, 0, 7, 0}, "pay")
		recalls(after, []int{0, 0, 0, 0}, "invoice", "pay", "refund")
		time.Sleep(time.Minute + 1)
		recalls(before, []int{0, 0, 0, 0}, "invoice", "pay", "refund")
	})
}

// TestOneVocabularyForAll: concurrent callers get the same one.
func TestOneVocabularyForAll(t *testing.T) {
	m := newTermMemory()
	var found [16]vocabulary
	var asking sync.WaitGroup
	for i := range found {
		asking.Go(func() { found[i] = m.vocabulary(vocabularyKey{field: "text", docs: 100}) })
	}
	asking.Wait()
	if slices.Min(found[:]) != slices.Max(found[:]) {
		t.Error(found)
	}
}
