package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// FilesRequest names files to split into chunks and where to write them. The
// document id of a file is its path below the folder, with slashes.
type FilesRequest struct {
	KB      string
	Paths   []string // files, or folders with all below them
	Folders []fs.FS  // the same, from elsewhere than the disk
	Refresh bool     // return only when a search sees everything
}

// FileStatus is what became of a file.
type FileStatus string

// What can become of a file.
const (
	FileWritten   FileStatus = "written"
	FileUnchanged FileStatus = "unchanged" // its chunks are there already
	FileSkipped   FileStatus = "skipped"   // nothing to split: of another kind, empty, binary, too large
	FileFailed    FileStatus = "failed"
)

// FileReport is the fate of one file, and how far the whole is.
type FileReport struct {
	DocumentID string     `json:"document_id"`
	Status     FileStatus `json:"status"`
	Chunks     int        `json:"chunks"`
	Error      *Failure   `json:"error,omitempty"` // why it was skipped or failed
	Done       int        `json:"done"`
	Total      int        `json:"total"`
}

// FilesSummary counts files by what became of them, and chunks written.
type FilesSummary struct {
	Files     int `json:"files"`
	Written   int `json:"written"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
	Failed    int `json:"failed"`
	Chunks    int `json:"chunks"`
}

func (s *FilesSummary) count(r FileReport) {
	s.Files++
	switch r.Status {
	case FileWritten:
		s.Written++
		s.Chunks += r.Chunks
	case FileUnchanged:
		s.Unchanged++
	case FileSkipped:
		s.Skipped++
	case FileFailed:
		s.Failed++
	}
}

// MetadataSourceHash is the metadata key by which the chunks of a file tell
// that the file has not changed since.
const MetadataSourceHash = "source_hash"

// Files splits Markdown, plain text and HTML files into chunks and writes them,
// file by file: a file's old chunks are replaced as a whole, an unchanged file
// is left alone, a bad one is reported alone. Progress is called after each
// file; it may be nil. Names that begin with a dot, and symbolic links, are
// passed over.
func (p *Pipeline) Files(
	ctx context.Context, scope search.Scope, request FilesRequest, progress func(FileReport),
) (FilesSummary, error) {
	var summary FilesSummary
	t, err := p.writable(ctx, scope, request.KB)
	if err != nil {
		return summary, err
	}
	if t.kb.Kind != engine.KindChunks {
		return summary, fault.Invalid("kind", string(t.kb.Kind), "chunks: files become passages, not pairs")
	}
	files, err := request.list()
	if err != nil {
		return summary, err
	}
	down := 0
	for i, f := range files {
		if ctx.Err() != nil {
			return summary, ended(ctx)
		}
		report, err := p.file(ctx, t, f)
		report.Done, report.Total = i+1, len(files)
		summary.count(report)
		if progress != nil {
			progress(report)
		}
		if down = inARow(down, err); down == maxDown {
			return summary, err
		}
	}
	if request.Refresh && summary.Written > 0 {
		_, err = t.engine.Write(ctx, engine.WriteRequest{KB: t.kb, Refresh: true})
	}
	return summary, err
}

// inARow counts failures that are no file's fault.
func inARow(before int, err error) int {
	switch fault.KindOf(err) { //nolint:exhaustive // the kinds that another file would meet as well
	case fault.Unavailable, fault.Timeout, fault.Overloaded, fault.NotFound, fault.Conflict:
		return before + 1
	default:
		return 0
	}
}

// file is one file that was found.
type file struct {
	folder   fs.FS
	path     string // within the folder; the document's id
	repeated bool   // another file has this path
}

// list walks all folders; a folder or file that does not exist is an error.
func (r FilesRequest) list() ([]file, error) {
	var files []file
	for _, name := range r.Paths {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fault.Invalid("path", name, "a file or folder that exists and can be read")
		}
		if !info.IsDir() {
			files = append(files, file{folder: os.DirFS(filepath.Dir(name)), path: filepath.Base(name)})
			continue
		}
		if files, err = walk(files, os.DirFS(name)); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the folder %q cannot be read", name)
		}
	}
	for _, folder := range r.Folders {
		var err error
		if files, err = walk(files, folder); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "a folder cannot be read")
		}
	}
	seen := map[string]bool{}
	for i := range files {
		files[i].repeated = seen[files[i].path]
		seen[files[i].path] = true
	}
	return files, nil
}

func walk(files []file, folder fs.FS) ([]file, error) {
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != "."
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case !hidden && entry.Type().IsRegular():
			files = append(files, file{folder: folder, path: name})
		}
		return nil
	})
	return files, err
}

// file writes one file. The error is that of the report.
func (p *Pipeline) file(ctx context.Context, t target, f file) (FileReport, error) {
	report := FileReport{DocumentID: f.path, Status: FileWritten}
	chunks, err := p.readFile(t, f)
	var skip *skipped
	if errors.As(err, &skip) {
		report.Status, report.Error = FileSkipped, &Failure{Code: fault.Unsupported, Field: "path", Detail: skip.why}
		return report, nil
	}
	same := false
	if err == nil {
		report.Chunks = len(chunks.pending)
		same, err = unchanged(ctx, t, f.path, chunks)
	}
	if same {
		report.Status = FileUnchanged
		return report, nil
	}
	if err == nil {
		r := Replacement{DocumentRef: DocumentRef{KB: t.kb.ID, ID: f.path}}
		err = p.replace(ctx, t, r, chunks)
	}
	if err == nil {
		err = firstFailure(chunks.results)
	}
	if err != nil {
		report.Status, report.Error = FileFailed, failureOf(err)
	}
	return report, err
}

func firstFailure(results []Result) error {
	for _, r := range results {
		if r.Error != nil {
			return &fault.Error{Kind: r.Error.Code, Field: r.Error.Field, Detail: r.Error.Detail}
		}
	}
	return nil
}

// readFile reads and splits a file into chunks with deterministic ids.
func (p *Pipeline) readFile(t target, f file) (*batch, error) {
	switch {
	case formatOf(f.path) == nil:
		return nil, &skipped{"not Markdown (.md, .markdown), plain text (.txt, .text) or HTML (.html, .htm)"}
	case f.repeated:
		return nil, &skipped{"another file of this run has the same path and thus the same document id"}
	}
	source, err := readWhole(f, p.options.MaxFile)
	if err != nil {
		return nil, err
	}
	sections, err := formatOf(f.path)(source)
	if err != nil {
		return nil, err
	}
	passages := p.options.Split.split(sections)
	if len(passages) == 0 {
		return nil, &skipped{"no text in it"}
	}
	last := fmt.Sprintf("%s#%d", f.path, len(passages)-1)
	if err := CheckID("path", last); err != nil {
		return nil, err
	}
	b := &batch{}
	hash := p.sourceHash(t, source)
	for i, passage := range passages {
		b.add(passage.chunk(f.path, i, hash), passage.first)
	}
	return b, nil
}

func (p passage) chunk(document string, ordinal int, hash string) engine.Chunk {
	c := engine.Chunk{
		ID:           fmt.Sprintf("%s#%d", document, ordinal),
		DocumentID:   document,
		DocumentName: path.Base(document),
		Ordinal:      ordinal,
		Title:        p.title,
		Content:      p.content,
		Metadata:     map[string]any{MetadataSourceHash: hash},
		Available:    true,
		Vectors:      map[string][]float32{},
	}
	if p.first > 0 {
		c.Positions = [][]float64{{float64(p.first), float64(p.last)}}
	}
	return c
}

// splitVersion is part of the hash: raise it when files shall be split anew.
const splitVersion = 1

// sourceHash covers all that decides a file's chunks and their vectors.
func (p *Pipeline) sourceHash(t target, source []byte) string {
	model := ""
	if p.embedder != nil && t.kb.Dimensions > 0 {
		model = p.embedder.Model()
	}
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%d %+v %q\n", splitVersion, p.options.Split, model))
	h.Write(source)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// unchanged reports whether exactly these chunks are there, from a run that was
// not cut short.
func unchanged(ctx context.Context, t target, document string, b *batch) (bool, error) {
	want := b.pending[0].chunk.Metadata[MetadataSourceHash]
	seen, after := 0, ""
	for {
		chunks, err := t.engine.DocumentChunks(ctx, engine.DocumentChunksRequest{
			KB: t.kb, DocumentID: document, To: -1, After: after, Limit: maxPage,
		})
		if err != nil {
			return false, err
		}
		for _, c := range chunks {
			if c.Metadata[MetadataSourceHash] != want {
				return false, nil
			}
			after = c.ID
		}
		seen += len(chunks)
		if len(chunks) < maxPage || seen > len(b.pending) {
			return seen == len(b.pending), nil
		}
	}
}

// skipped says why a file holds nothing for us; that is no failure.
type skipped struct{ why string }

func (s *skipped) Error() string { return s.why }

// readWhole reads a file up to a size; line ends become newlines.
func readWhole(f file, limit int) ([]byte, error) {
	opened, err := f.folder.Open(f.path)
	if err != nil {
		return nil, unreadable(f, err)
	}
	source, err := io.ReadAll(io.LimitReader(opened, int64(limit)+1))
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, unreadable(f, err)
	}
	if len(source) > limit {
		return nil, &skipped{fmt.Sprintf("larger than %d bytes", limit)}
	}
	return source, nil
}

func unreadable(f file, err error) error {
	return fault.Wrap(fault.InvalidArgument, err, "%s cannot be read", f.path)
}
