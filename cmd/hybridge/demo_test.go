package main

import (
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/catalog/jobs"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// TestSampleDataIsLoaded asks for the demo of a gateway that has none, again when it is there, and beside a
// knowledge base of its id.
func TestSampleDataIsLoaded(t *testing.T) {
	t.Parallel()
	load := func(r *running) jobs.Job {
		t.Helper()
		var job jobs.Job
		r.must(http.MethodPost, "/v1/demo", nil, &job)
		eventually(t, "the job has ended", func() bool {
			r.must(http.MethodGet, "/v1/jobs/"+job.ID, nil, &job)
			return job.State != jobs.Running
		})
		return job
	}
	pages := fstest.MapFS{
		"en/a.md": {Data: []byte("# Refunds\n\nA refund takes five days.\n")},
		"en/b.md": {Data: []byte("# Delivery\n\nIt is free.\n")},
	}
	r := runDemo(t, settingsIn(t.TempDir()), pages)
	for range 2 {
		job := load(r)
		if job.State != jobs.Succeeded || job.KnowledgeBase != app.DemoID || job.Progress.Done != 2 || job.Progress.Total != 2 {
			t.Fatalf("the job ended as %+v; want job.State Succeeded and job.KnowledgeBase demoID and job.Progress.Done 2 and job.Progress.Total 2", job)
		}
	}
	var described catalog.Described
	r.must(http.MethodGet, cli.BasePath(app.DemoID), nil, &described)
	if described.Documents != 2 {
		t.Errorf("%d documents, want 2", described.Documents)
	}

	taken := runDemo(t, settingsIn(t.TempDir()), pages)
	taken.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": app.DemoID, "dimensions": 0}, nil)
	if job := load(taken); job.State != jobs.Failed || len(job.Errors) != 1 || job.Errors[0].Code != "conflict" {
		t.Errorf(`beside a knowledge base of its id the job ended as %+v; want job.State Failed and 1 job.Errors and job.Errors[0].Code "conflict"`, job)
	}
}
