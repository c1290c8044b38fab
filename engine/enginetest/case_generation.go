package enginetest

import (
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

func generationCases() []testCase {
	return []testCase{{"generation/another-one-after-every-change-that-is-seen", generations}}
}

// generations holds an engine that tells generations to another one after every
// change, and, once all is quiet, to the same one for as long as nothing changes.
func generations(t *testing.T, s *suite) {
	teller, ok := s.engine.(engine.Generations)
	if !ok {
		t.Fatal("the engine tells no generations")
	}
	b := s.base(t, schema{Dimensions: 2})
	seen := map[string]string{}
	changed := func(what string) {
		t.Helper()
		generation, err := teller.Generation(t.Context(), &b.kb)
		// Little time is given, which a busy server exceeds.
		for patience := time.Now().Add(time.Minute); fault.Is(err, fault.Timeout) && time.Now().Before(patience); {
			generation, err = teller.Generation(t.Context(), &b.kb)
		}
		if err != nil || generation == "" {
			t.Fatalf("after %s: generation %q, %v", what, generation, err)
		}
		if before, again := seen[generation]; again {
			t.Errorf("after %s the generation is that after %s", what, before)
		}
		seen[generation] = what
	}
	changed("making it")
	b.write(passage("a", "one", 1, 0), passage("b", "two", 0, 1))
	changed("writing")
	b.write(passage("a", "one", 1, 0))
	changed("writing the same again")
	b.replace("doc-c", passage("c", "three"))
	changed("replacing")
	if _, err := s.engine.DeleteChunks(t.Context(), b.kb, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	changed("deleting a chunk")
	if _, err := s.engine.DeleteDocument(t.Context(), b.kb, "doc-c"); err != nil {
		t.Fatal(err)
	}
	changed("deleting a document")
	before, err := teller.Generation(t.Context(), &b.kb)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine.Documents(t.Context(), b.kb, "", 10); err != nil {
		t.Fatal(err)
	}
	if after, err := teller.Generation(t.Context(), &b.kb); err != nil || after != before {
		t.Errorf("nothing changed, and the generation did: %q to %q, %v", before, after, err)
	}
}
