package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/ingest"
)

// lines sends NDJSON as it is read and tells the fate of each line.
func (u *upload) lines(ctx context.Context, path string) error {
	source, size, err := u.open(path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	progress := newProgress(u.program.stderr, "uploading", size)
	defer progress.finish()
	answer, err := u.client.stream(ctx, call{
		method: http.MethodPost, path: basePath(u.kb.ID) + "/documents?refresh=true",
		body: progress.reader(source), contentType: asNDJSON,
	})
	if err != nil {
		return err
	}
	progress.finish()
	return errors.Join(u.results(path, answer), answer.Close())
}

// open gives a file, or standard input, and its size; -1 when that is unknown.
func (u *upload) open(path string) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(u.program.stdin), -1, nil
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

// results reads one result a line. One without a line number says why the input
// was not read to its end.
func (u *upload) results(path string, answer io.Reader) error {
	decoder := json.NewDecoder(bufio.NewReader(answer))
	for {
		var r ingest.Result
		err := decoder.Decode(&r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.Wrap(fault.Unavailable, err, "the answer broke off; run it again, nothing is written twice")
		case r.Line == 0 && r.Error != nil:
			return &fault.Error{Kind: r.Error.Code, Field: r.Error.Field, Detail: "not read to its end: " + r.Error.Detail}
		}
		u.count(path, r)
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
	u.fail(failure{
		Source: path + ":" + strconv.Itoa(r.Line), ID: r.ID,
		Code: string(r.Error.Code), Field: r.Error.Field, Detail: r.Error.Detail,
	})
}

// files splits files here and replaces the document of each that has changed.
func (u *upload) files(ctx context.Context, paths []string) error {
	splitter := ingest.NewSplitter(u.kb, ingest.Options{})
	files, err := splitter.List(paths)
	if err != nil {
		return err
	}
	progress := newProgress(u.program.stderr, "files", int64(len(files)))
	defer progress.finish()
	for _, file := range files {
		if err := u.file(ctx, splitter, file); err != nil {
			return err
		}
		progress.add(1)
	}
	return nil
}

// file writes one file. The error is about the whole run, not about this file.
func (u *upload) file(ctx context.Context, splitter *ingest.Splitter, file ingest.SplitFile) error {
	chunks, err := splitter.Chunks(file)
	switch {
	case fault.Is(err, fault.Unsupported):
		u.summary.Files.Skipped++
		if !u.quiet {
			fmt.Fprintf(u.program.stderr, "%s: skipped, %v\n", plain(file.ID), err)
		}
		return nil
	case err != nil:
		u.failFile(file.ID, err)
		return nil
	}
	same, err := u.unchanged(ctx, file.ID, chunks)
	if err == nil && same {
		u.summary.Files.Unchanged++
		return nil
	}
	if err == nil {
		err = u.replace(ctx, file.ID, chunks)
	}
	if isAboutTheRun(err) {
		return err
	}
	if err != nil {
		u.failFile(file.ID, err)
	}
	return nil
}

// isAboutTheRun reports an error that the next file would meet as well.
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
	f := failure{Source: id, Code: string(fault.KindOf(err)), Detail: err.Error()}
	var known *fault.Error
	if errors.As(err, &known) {
		f.Field = known.Field
	}
	u.fail(f)
}

// unchanged reports whether exactly these chunks are there.
func (u *upload) unchanged(ctx context.Context, id string, chunks []engine.Chunk) (bool, error) {
	want := chunks[0].Metadata[ingest.MetadataSourceHash]
	seen, after := 0, ""
	for {
		var page gateway.DocumentChunks
		path := documentPath(u.kb.ID, id) + "?limit=1000" + after
		if err := u.client.get(ctx, path, &page); err != nil {
			if fault.Is(err, fault.NotFound) {
				return false, nil
			}
			return false, err
		}
		for i := range page.Chunks {
			if page.Chunks[i].Metadata[ingest.MetadataSourceHash] != want {
				return false, nil
			}
		}
		seen += len(page.Chunks)
		if page.Next == "" || seen > len(chunks) {
			return seen == len(chunks), nil
		}
		after = "&after=" + queryEscape(page.Next)
	}
}

func (u *upload) replace(ctx context.Context, id string, chunks []engine.Chunk) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	for i := range chunks {
		if err := encoder.Encode(&chunks[i]); err != nil {
			return fault.Wrap(fault.Internal, err, "encode a chunk of %s", id)
		}
	}
	answer, err := u.client.stream(ctx, call{
		method: http.MethodPut, path: documentPath(u.kb.ID, id), body: &body, contentType: asNDJSON,
	})
	if err != nil {
		return err
	}
	failed := u.summary.Chunks.Failed
	if err := errors.Join(u.results(id, answer), answer.Close()); err != nil {
		return err
	}
	if u.summary.Chunks.Failed > failed {
		u.summary.Files.Failed++
		return nil
	}
	u.summary.Files.Written++
	return nil
}
