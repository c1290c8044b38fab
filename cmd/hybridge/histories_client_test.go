package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/histories"
)

// historian is the clients of a history, on a gateway that may start again at another address.
type historian struct {
	t       *testing.T
	address atomic.Pointer[string]
	http    *http.Client
	kb      string // that they change
	// refreshes says that what is read is what searches see: they are made to see all before a read.
	refreshes bool
}

func newHistorian(t *testing.T, refreshes bool) *historian {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16, DisableKeepAlives: true}
	return &historian{t: t, refreshes: refreshes, http: &http.Client{Transport: transport}}
}

// send asks the gateway. Where nobody listens nothing was sent, and it is sent to who listens then; status 0: there was
// no answer.
func (c *historian) send(ctx context.Context, method, path, contentType, body string) (status int, text string) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		request, err := http.NewRequestWithContext(ctx, method, *c.address.Load()+path, strings.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		if body != "" {
			request.Header.Set("Content-Type", contentType)
		}
		response, err := c.http.Do(request)
		var dialled *net.OpError
		if errors.As(err, &dialled) && dialled.Op == "dial" && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			return 0, err.Error()
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return 0, err.Error()
		}
		return response.StatusCode, string(answer)
	}
}

// Do implements histories.Client.
func (c *historian) Do(ctx context.Context, op *histories.Op) histories.Outcome {
	document := cli.BasePath(c.kb) + "/documents/" + histories.DocumentID(op.Document)
	switch op.Kind {
	case histories.Write:
		return c.written(op)(c.send(ctx, http.MethodPost, cli.BasePath(c.kb)+"/documents", cli.AsNDJSON, historyLines(op)))
	case histories.Replace:
		return c.written(op)(c.send(ctx, http.MethodPut, document, cli.AsNDJSON, historyLines(op)))
	case histories.Patch:
		value := any(op.Value)
		if op.Value == "" {
			value = nil
		}
		body, _ := json.Marshal(map[string]any{"metadata": map[string]any{histories.MemberName(op.Member): value}})
		return c.counted(c.send(ctx, http.MethodPatch, document, cli.AsJSON, string(body)))
	case histories.Remove:
		return c.counted(c.send(ctx, http.MethodDelete, document, "", ""))
	case histories.RemoveOne:
		path := cli.BasePath(c.kb) + "/chunks/" + histories.ChunkID(op.Chunks[0])
		return c.counted(c.send(ctx, http.MethodDelete, path, "", ""))
	case histories.RemoveOld:
		return c.counted(c.send(ctx, http.MethodPost, cli.BasePath(c.kb)+"/delete", cli.AsJSON, `{"filter": {"status": "old"}}`))
	case histories.Read:
	}
	return c.read(ctx, op)
}

func historyLines(op *histories.Op) string {
	var lines strings.Builder
	for _, chunk := range op.Chunks {
		fmt.Fprintf(&lines, `{"id": %q, "document_id": %q, "content": "%s text", "vector": [1, %d], "metadata": {"status": %q}}`+"\n",
			histories.ChunkID(chunk), histories.DocumentID(op.Document), op.Value, slopeOf(op.Value), op.Status)
	}
	return lines.String()
}

// slopeOf is the second number of a chunk's vector over the first.
func slopeOf(value string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(value))
	return int(h.Sum32() % 1000)
}

// unknown is an outcome of which the client knows nothing.
func unknown(status int, text string) histories.Outcome {
	return histories.Outcome{Why: fmt.Sprint(status, " ", text)}
}

// written reads what became of the lines of a write.
func (c *historian) written(op *histories.Op) func(int, string) histories.Outcome {
	return func(status int, text string) histories.Outcome {
		o := unknown(status, text)
		switch {
		case status == http.StatusConflict && strings.Contains(text, `"field":"id"`):
			o.Verdict = histories.Refused
			return o
		case status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusConflict:
			c.t.Errorf("%s: %d %s", op, status, text)
			return o
		case status != http.StatusOK:
			return o
		}
		o.ByChunk = map[int]histories.Verdict{}
		whole := true
		for decoder := json.NewDecoder(strings.NewReader(text)); ; {
			var line ingest.Result
			if err := decoder.Decode(&line); err != nil {
				break
			}
			var chunk int
			if _, err := fmt.Sscanf(line.ID, "c%d", &chunk); err != nil {
				continue
			}
			o.ByChunk[chunk] = verdictOf(&line)
			whole = whole && line.Status != engine.Failed
		}
		switch { // what becomes of the other chunks of a document that is replaced
		case len(o.ByChunk) < len(op.Chunks): // it was interrupted
		case op.Kind == histories.Write:
			o.Verdict = histories.Done
		case op.Kind == histories.Replace && whole:
			o.Verdict = histories.Done
		case op.Kind == histories.Replace:
			o.Verdict = histories.Refused
		}
		return o
	}
}

func verdictOf(line *ingest.Result) histories.Verdict {
	switch {
	case line.Status == engine.Created:
		return histories.Created
	case line.Status == engine.Updated:
		return histories.Updated
	case line.Error.Code == fault.Conflict && line.Error.Field == "id":
		return histories.Conflict
	case line.Error.Code == fault.Conflict:
		return histories.Refused
	default:
		return histories.Unknown
	}
}

// chunkMissing tells a chunk that is not there from a knowledge base.
const chunkMissing = `"field":"id"`

// counted reads how many chunks were changed or deleted.
func (c *historian) counted(status int, text string) histories.Outcome {
	o := unknown(status, text)
	var answer struct {
		Chunks, Deleted int
		Changed         *int
		Failed          []endpoint.RefusedChunk
	}
	decoded := json.Unmarshal([]byte(text), &answer)
	switch {
	case status == http.StatusNotFound:
		o.Verdict = histories.Missing
		if !strings.Contains(text, `"field":"document"`) && !strings.Contains(text, chunkMissing) {
			c.t.Errorf("%d %s; want `\"field\":\"document\"` in it or chunkMissing in it", status, text)
		}
	case decoded != nil:
	case status == http.StatusOK:
		if o.Verdict, o.Count = histories.Done, answer.Chunks+answer.Deleted; o.Count == 0 {
			o.Verdict = histories.Missing
		}
	case answer.Changed != nil:
		o.Verdict, o.Count, o.ByChunk = histories.Done, *answer.Changed, map[int]histories.Verdict{}
		for _, f := range answer.Failed {
			var chunk int
			_, _ = fmt.Sscanf(f.ID, "c%d", &chunk)
			if o.ByChunk[chunk] = histories.Unknown; f.Code == string(fault.Conflict) {
				o.ByChunk[chunk] = histories.Refused
			}
		}
	case status < http.StatusInternalServerError && status != http.StatusConflict:
		c.t.Errorf("%d %s", status, text)
	}
	return o
}

func (c *historian) read(ctx context.Context, op *histories.Op) histories.Outcome {
	if c.refreshes { // what is counted has been made visible
		status, text := c.send(ctx, http.MethodPost, cli.BasePath(c.kb)+"/delete", cli.AsJSON,
			`{"filter": {"status": "old"}, "dry_run": true}`)
		if status != http.StatusOK {
			return unknown(status, text)
		}
	}
	o := histories.Outcome{Verdict: histories.Done, Read: map[int]histories.State{}}
	for _, chunk := range op.Chunks {
		status, text := c.chunk(ctx, chunk)
		if status == http.StatusNotFound && strings.Contains(text, chunkMissing) {
			continue
		}
		state, err := stateOf(text)
		if status != http.StatusOK || err != nil {
			return unknown(status, text)
		}
		o.Read[chunk] = state
	}
	return o
}

// chunk reads a chunk. For a moment a gateway may look for it where it was before a migration: tests keep that for a
// second alone.
func (c *historian) chunk(ctx context.Context, chunk int) (status int, text string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		status, text = c.send(ctx, http.MethodGet, cli.BasePath(c.kb)+"/chunks/"+histories.ChunkID(chunk), "", "")
		if status != http.StatusNotFound || strings.Contains(text, chunkMissing) || time.Now().After(deadline) {
			return status, text
		}
	}
}

// stateOf reads a chunk.
func stateOf(text string) (s histories.State, err error) {
	var c struct {
		DocumentID string `json:"document_id"`
		Content    string
		Metadata   map[string]any
	}
	if err = json.Unmarshal([]byte(text), &c); err != nil {
		return s, err
	}
	s.Present = true
	s.Value, _, _ = strings.Cut(c.Content, " ")
	s.Status, _ = c.Metadata["status"].(string)
	for i := range s.Members {
		s.Members[i], _ = c.Metadata[histories.MemberName(i)].(string)
	}
	_, err = fmt.Sscanf(c.DocumentID, "d%d", &s.Document)
	return s, err
}
