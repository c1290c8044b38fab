package docs_test

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/brief"
	"github.com/hybridge-search/hybridge/internal/skips"
)

var (
	sections   = regexp.MustCompile(`(?s)<!-- relevance ([^>]*?) -->\n(.*?)<!-- end of relevance`)
	measuredAt = regexp.MustCompile(`Measured 20\d\d-\d\d-\d\dT\d\d:\d\dZ, commit ([0-9a-z-]+?)(?:-dirty)?\b`)
)

// TestTablesSayWhenTheyWereMeasured: and of which commit, so that scripts/stale can tell which are too old.
func TestTablesSayWhenTheyWereMeasured(t *testing.T) {
	t.Parallel()
	all := sections.FindAllStringSubmatch(pageText(t, "relevance.md"), -1)
	if len(all) < 30 {
		t.Fatalf("only %d sections of relevance.md; want at least 30 all", len(all))
	}
	for _, s := range all {
		if !measuredAt.MatchString(s[2]) {
			t.Errorf("relevance.md does not say when %q was measured, and of which commit", s[1])
		}
	}
	commits := map[string]bool{}
	for _, page := range []string{"relevance.md", "benchmarks.md", "growth.md", "reliability.md", "stamina.md"} {
		found := measuredAt.FindAllStringSubmatch(pageText(t, page), -1)
		if len(found) == 0 {
			t.Errorf("%s does not say when it was measured", brief.Of(page))
		}
		for _, f := range found {
			commits[f[1]] = true
		}
	}
	wants(t, commits)
}

// wants looks for commits in the history.
func wants(t *testing.T, commits map[string]bool) {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "git", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if shallow, err := git("rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		skips.Missing(t, "there is no history of commits here")
	}
	for commit := range commits {
		if _, err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
			t.Errorf("a page was measured of commit %s, which is not in the history", commit)
		}
	}
}
