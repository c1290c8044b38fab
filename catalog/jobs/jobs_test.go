package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hybridge-search/hybridge/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// await waits for the end of a job and returns it.
func await(t *testing.T, m *Manager, id string) Job {
	t.Helper()
	var last Job
	if err := m.Watch(t.Context(), "t", id, func(j Job) error { last = j; return nil }); err != nil {
		t.Fatal(err)
	}
	return last
}

func TestEveryEnd(t *testing.T) {
	m := New()
	defer m.Close()
	f := func(work Work, cancel bool, state State, code fault.Kind) {
		t.Helper()
		job, err := m.Start(Job{Kind: "test", Tenant: "t"}, work)
		if err != nil {
			t.Fatal(err)
		}
		if cancel {
			if _, err := m.Cancel("t", job.ID); err != nil {
				t.Fatal(err)
			}
		}
		got := await(t, m, job.ID)
		if got.State != state || got.FinishedAt.IsZero() || (len(got.Errors) > 0) != (code != "") {
			t.Errorf("ended as %+v, want %s", got, state)
		}
		if code != "" && got.Errors[0].Code != code {
			t.Errorf("told %+v, want %s", got.Errors, code)
		}
		if code == fault.Internal && strings.Contains(got.Errors[0].Detail, "secret") {
			t.Errorf(`told what is for the log: %+v; want code other than Internal or no "secret" in it`, got.Errors)
		}
	}
	job, err := m.Start(Job{Tenant: "t"}, func(context.Context, func(Progress)) error {
		return errors.Join(fault.New(fault.TooLarge, "one"), fault.New(fault.Conflict, "another"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := await(t, m, job.ID); len(got.Errors) != 2 || got.Errors[0].Code != fault.TooLarge || got.Errors[1].Detail != "another" {
		t.Errorf(`of two errors it told %+v; want 2 got.Errors and got.Errors[0].Code TooLarge and got.Errors[1].Detail "another"`, got.Errors)
	}
	untilEnd := func(ctx context.Context, _ func(Progress)) error { <-ctx.Done(); return ctx.Err() }
	f(func(context.Context, func(Progress)) error { return nil }, false, Succeeded, "")
	f(func(context.Context, func(Progress)) error { return fault.New(fault.Unavailable, "away") }, false, Failed, fault.Unavailable)
	f(func(context.Context, func(Progress)) error { return errors.New("secret") }, false, Failed, fault.Internal)
	f(func(context.Context, func(Progress)) error { return fault.New(fault.Internal, "the secret") }, false, Failed, fault.Internal)
	f(untilEnd, true, Cancelled, "")
}

// TestNoRunningJobIsForgotten: of many jobs the oldest that ended are forgotten, however long another one runs.
func TestNoRunningJobIsForgotten(t *testing.T) {
	m := New()
	defer m.Close()
	long, err := m.Start(Job{Tenant: "t"}, func(ctx context.Context, _ func(Progress)) error { <-ctx.Done(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	var first Job
	for i := range maxJobs {
		job, err := m.Start(Job{Tenant: "t"}, func(context.Context, func(Progress)) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = await(t, m, job.ID)
		}
	}
	if got, err := m.Get("t", long.ID); err != nil || got.State != Running {
		t.Errorf("the job that runs: %+v, %v; want no error and got.State Running", got, err)
	}
	if _, err := m.Get("t", first.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the first that ended: %v; want an error of kind NotFound", err)
	}
}

func TestWatchSeesProgressAndTheEnd(t *testing.T) {
	m := New()
	defer m.Close()
	proceed := make(chan struct{})
	job, err := m.Start(Job{ID: "j", Tenant: "t"}, func(_ context.Context, report func(Progress)) error {
		<-proceed
		report(Progress{Step: "copy", Done: 1, Total: 2})
		<-proceed
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	err = m.Watch(t.Context(), "t", job.ID, func(j Job) error {
		if j.State == Running && !seen[j.Progress.Done] {
			seen[j.Progress.Done] = true
			proceed <- struct{}{}
		}
		return nil
	})
	if err != nil || !seen[0] || !seen[1] {
		t.Errorf("saw %v, %v", seen, err)
	}
}

func TestJobsAreTheTenantsOwn(t *testing.T) {
	m := New()
	job, err := m.Start(Job{Tenant: "t"}, func(ctx context.Context, _ func(Progress)) error { <-ctx.Done(); return ctx.Err() })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Start(Job{ID: job.ID, Tenant: "t"}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("the id of a running job: %v; want an error of kind Conflict", err)
	}
	if _, err := m.Get("other", job.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant: %v; want an error of kind NotFound", err)
	}
	if _, err := m.Cancel("other", job.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant cancels: %v; want an error of kind NotFound", err)
	}
	if len(m.List("t")) != 1 || len(m.List("other")) != 0 {
		t.Error("the lists are wrong")
	}
	m.Close()
	if _, err := m.Start(Job{}, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after Close: %v; want an error of kind Unavailable", err)
	}
}
