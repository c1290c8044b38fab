package content

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/chunks"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/ingest/parse"
	"github.com/hybridge-search/hybridge/internal/cli"
)

// lines sends NDJSON while it is read, and reads the result of each line.
func (u *upload) lines(ctx context.Context, path string) error {
	source, size, err := u.open(path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	progress := cli.NewProgress(u.told(), "uploading", size, cli.InBytes)
	defer progress.Finish()
	answer, err := u.client.Stream(ctx, cli.Call{
		Method: http.MethodPost, Path: cli.BasePath(u.kb.ID) + "/documents?refresh=true",
		Body: progress.Reader(source), ContentType: cli.AsNDJSON,
	})
	if err != nil {
		return err
	}
	progress.Finish()
	return errors.Join(u.results(path, answer), answer.Close())
}

// open returns a file, or standard input, and its size; -1: unknown.
func (u *upload) open(path string) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(u.program.Stdin), -1, nil
	}
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, 0, fault.Invalid("path", path, "a file that exists and can be read")
	}
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		return nil, 0, errors.Join(fault.Invalid("path", path, "a file that can be read"), file.Close())
	}
	return file, info.Size(), nil
}

// results reads one result per line. A result without a line number says why the input was not
// read to its end.
func (u *upload) results(path string, answer io.Reader) error {
	return eachResult(answer, func(r ingest.Result) error {
		if r.Line == 0 && r.Error != nil {
			return &fault.Error{Kind: r.Error.Code, Field: r.Error.Field, Detail: "not read to its end: " + r.Error.Detail}
		}
		u.count(path, r)
		return nil
	})
}

// eachResult reads one result per line until the answer or f ends it.
func eachResult(answer io.Reader, f func(ingest.Result) error) error {
	decoder := json.NewDecoder(bufio.NewReader(answer))
	for {
		var r ingest.Result
		switch err := decoder.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.Wrap(fault.Unavailable, err, "the answer broke off; run it again, nothing is written twice")
		}
		if err := f(r); err != nil {
			return err
		}
	}
}

func (u *upload) count(path string, r ingest.Result) {
	switch r.Status {
	case engine.Created:
		u.summary.Chunks.Created++
	case engine.Updated:
		u.summary.Chunks.Updated++
	case engine.Failed:
		u.summary.Chunks.Failed++
	}
	if r.Error == nil {
		return
	}
	if path == "-" {
		path = "standard input"
	}
	u.summary.Failures = append(u.summary.Failures, failure{
		Source: path + ":" + strconv.Itoa(r.Line), ID: r.ID,
		Code: string(r.Error.Code), Field: r.Error.Field, Detail: r.Error.Detail,
	})
}

// files sends each file to be split. The gateway leaves unchanged files alone.
func (u *upload) files(ctx context.Context, found *foundFiles) error {
	if len(found.files) == 0 {
		return nil
	}
	var known chunks.FileFormats
	if err := u.client.Get(ctx, "/v1/file-formats", &known); err != nil {
		return err
	}
	u.formats = map[string]string{}
	for _, format := range known.Formats {
		u.formats[format.Extension] = ""
	}
	progress := cli.NewProgress(u.told(), "uploading", found.bytes(), cli.InBytes)
	defer progress.Finish()
	seen := map[string]bool{}
	for i := range found.files {
		if err := u.file(ctx, &found.files[i], seen); err != nil {
			return err
		}
		progress.Add(found.files[i].size)
	}
	return nil
}

// file sends one file. An error that it returns concerns the whole run, not just this file.
func (u *upload) file(ctx context.Context, file *localFile, seen map[string]bool) error {
	if seen[file.ID] {
		u.skip(file.ID, fault.New(fault.Conflict, "another file of this run has the same path and thus the same document id"))
		return nil
	}
	seen[file.ID] = true
	result, err := u.send(ctx, file)
	switch {
	case ingest.Unsplit(err):
		u.skip(file.ID, err)
	case isAboutTheRun(err):
		return err
	case err != nil:
		u.failFile(file.ID, err)
	case u.preview != nil:
		u.preview.count(file.ID, u.known[file.ID], result.Status)
	case result.Status == ingest.FileUnchanged:
		u.summary.Files.Unchanged++
	default:
		u.summary.Files.Written++
		u.summary.Chunks.Created += result.Created
		u.summary.Chunks.Updated += result.Updated
	}
	return nil
}

func (u *upload) send(ctx context.Context, file *localFile) (result ingest.FileResult, err error) {
	if err := parse.CheckFormat(u.formats, file.ID); err != nil { // not sent, only to be refused
		return result, err
	}
	if u.preview != nil && u.preview.Create { // there is no knowledge base to ask about
		return ingest.FileResult{Status: ingest.FileWritten}, nil
	}
	content, err := file.Open()
	if err != nil {
		return result, fault.Wrap(fault.InvalidArgument, err, "%s cannot be read", file.ID)
	}
	query := url.Values{"name": {file.ID}}
	if u.preview != nil {
		query.Set("dry_run", "true")
	}
	if file.folder != "" {
		query.Set("folder", file.folder)
	}
	if len(u.wish.metadata) > 0 {
		text, err := json.Marshal(u.wish.metadata)
		if err != nil {
			return result, fault.Wrap(fault.InvalidArgument, err, "encode --metadata")
		}
		query.Set("metadata", string(text))
	}
	answer, err := u.client.Raw(ctx, cli.Call{
		Method: http.MethodPost, Path: cli.BasePath(u.kb.ID) + "/files?" + query.Encode(),
		Body: content, ContentType: cli.AsBytes, // the client closes it
	})
	if err != nil {
		return result, err
	}
	return result, u.client.Decode(answer, &result)
}

func (u *upload) skip(id string, why error) {
	u.summary.Files.Skipped++
	u.summary.Skipped = append(u.summary.Skipped, failureOf(id, why))
}

// isAboutTheRun reports whether the next file would get the same error.
func isAboutTheRun(err error) bool {
	if err == nil {
		return false
	}
	switch fault.KindOf(err) { //nolint:exhaustive // the others may be about the file
	case fault.InvalidArgument, fault.TooLarge:
		return false
	default:
		return true
	}
}

func (u *upload) failFile(id string, err error) {
	u.summary.Files.Failed++
	u.summary.Failures = append(u.summary.Failures, failureOf(id, err))
}

func failureOf(source string, err error) failure {
	f := failure{Source: source, Code: string(fault.KindOf(err)), Detail: err.Error()}
	var known *fault.Error
	if errors.As(err, &known) {
		f.Field = known.Field
	}
	return f
}

// told returns the writer for progress, which discards it with --json.
func (u *upload) told() io.Writer {
	if u.quiet {
		return io.Discard
	}
	return u.program.Stderr
}
