package searches

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/search"
)

const (
	maxBatch      = 64
	batchParallel = 4 // searches of a batch at a time
)

// Batch is several searches, each with all parameters of a search.
type Batch struct {
	Searches []search.Request `json:"searches" minItems:"1" maxItems:"64"`
}

// BatchAnswer has an answer for each search, in their order.
type BatchAnswer struct {
	Answers []BatchOutcome `json:"answers"`
	TookMS  float64        `json:"took_ms" minimum:"0"`
}

// BatchOutcome is the response to a search, or why there is none.
type BatchOutcome struct {
	Response *search.Response  `json:"response,omitempty"`
	Error    *endpoint.Problem `json:"error,omitempty"`
}

type batchInput struct {
	Body Batch
}

func (s *Searches) batchRoutes() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/search/batch", Tag: "search", Access: endpoint.Reads,
		ID: "search-batch", Summary: "Several searches at once",
		About: "Each is answered, or refused, by itself and in its place. They count as so many requests, share the " +
			"deadline of one, and their answers together are no larger than one may be.",
	}, s.searchBatch)
}

func (s *Searches) searchBatch(ctx context.Context, scope access.Scope, in *batchInput) (*BatchAnswer, error) {
	requests := in.Body.Searches
	if n := len(requests); n < 1 || n > maxBatch {
		return nil, fault.Invalid("searches", fault.Length(n), "1 to 64 searches")
	}
	started := time.Now()
	answer := &BatchAnswer{Answers: make([]BatchOutcome, len(requests))}
	err := s.Several(ctx, scope, requests, func(i int, response *search.Response, err error) {
		if err != nil {
			problem := endpoint.ProblemOf(err)
			answer.Answers[i].Error = &problem
			return
		}
		answer.Answers[i].Response = response
	})
	if err != nil {
		return nil, err
	}
	answer.TookMS = float64(time.Since(started)) / float64(time.Millisecond)
	return answer, nil
}

// Several gives the outcome of each search to take, on several goroutines. It fails when the answers
// together are larger than one may be.
func (s *Searches) Several(
	ctx context.Context, scope access.Scope, requests []search.Request,
	take func(i int, response *search.Response, err error),
) error {
	s.api.Owe(ctx, len(requests)-1)
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.logQueries {
		queries := make([]string, len(requests))
		for i := range requests {
			queries[i] = requests[i].Query
		}
		endpoint.Annotate(ctx, slog.Any("queries", queries))
	}
	room := batchRoom{limit: int64(s.api.Limits.AnswerBytes)}
	var failed atomic.Int64
	var group errgroup.Group
	group.SetLimit(batchParallel)
	for i := range requests {
		group.Go(func() error {
			response, err := s.searchOne(within, scope, &requests[i])
			if err == nil {
				err = room.take(response)
			}
			if room.full.Load() {
				cancel() // the answer is refused as a whole
			}
			if err != nil {
				failed.Add(1)
				response = nil
			}
			take(i, response, err)
			return nil // the others are answered
		})
	}
	_ = group.Wait()
	if room.full.Load() {
		return search.TooLarge(room.limit)
	}
	endpoint.Annotate(ctx, slog.Int("searches", len(requests)), slog.Int64("failed", failed.Load()))
	return nil
}

// searchOne is one search of several. What goes wrong in it is no reason for the others to fail, a
// panic included, which nobody above this goroutine would catch.
func (s *Searches) searchOne(
	ctx context.Context, scope access.Scope, req *search.Request,
) (response *search.Response, err error) {
	started := time.Now()
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.New(fault.Internal, "panic: %v\n%s", cause, debug.Stack())
		}
		if err == nil {
			s.answered(response, time.Since(started))
			return
		}
		s.failed(scope, req.Preset, endpoint.KindOf(err), time.Since(started))
		if endpoint.KindOf(err) == fault.Internal {
			s.api.Log.LogAttrs(ctx, slog.LevelError, "a search of a batch failed", slog.String("error", err.Error()))
		}
	}()
	response, err = s.Searcher.Search(ctx, scope, *req)
	if err != nil {
		return nil, err
	}
	s.noteDegraded(ctx, response.Degraded)
	return response, nil
}

// batchRoom is how large answers may be together. It is safe for concurrent use.
type batchRoom struct {
	limit int64 // 0: any size
	taken atomic.Int64
	full  atomic.Bool
}

// take counts an answer by its length as JSON.
func (r *batchRoom) take(response *search.Response) error {
	if r.limit == 0 {
		return nil
	}
	text, err := response.AppendJSON(nil)
	if err != nil {
		return fmt.Errorf("measure an answer: %w", err)
	}
	if r.taken.Add(int64(len(text))) > r.limit {
		r.full.Store(true)
		return search.TooLarge(r.limit)
	}
	return nil
}
