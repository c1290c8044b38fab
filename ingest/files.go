package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/parse"
)

// FilesRequest names files to split into chunks, and where to write them. The document id
// of a file is its path below the folder, with slashes.
type FilesRequest struct {
	KB      string
	Paths   []string // files, or folders with all below them
	Folders []fs.FS  // further folders, not on the disk
	Refresh bool     // return only when a search sees everything
}

// FileStatus is the outcome of a file.
type FileStatus string

// The states of a file.
const (
	FileWritten   FileStatus = "written"
	FileUnchanged FileStatus = "unchanged" // its chunks were there already
	FileSkipped   FileStatus = "skipped"   // nothing to split: of another kind, empty, binary, too large
	FileFailed    FileStatus = "failed"
)

// FileResult is the result for one file.
type FileResult struct {
	DocumentID string     `json:"document_id" doc:"The name of the file."`
	Status     FileStatus `json:"status" enum:"written,unchanged" doc:"unchanged: exactly these chunks are there already."`
	Chunks     int        `json:"chunks" doc:"What the file was split into."`
	Created    int        `json:"created" doc:"Chunks that were not there before."`
	Updated    int        `json:"updated" doc:"Chunks that replaced one of the same id."`
	Encoding   string     `json:"encoding,omitempty" doc:"Of a text that is not UTF-8, as its bytes tell it, such as gb18030."`
}

// FileReport is the result for one of many files, with the overall progress.
type FileReport struct {
	FileResult
	Error *Failure // why it was skipped or failed
	Done  int
	Total int
}

// FilesSummary counts files by status, and the chunks written.
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

// MetadataSourceHash is the metadata key of a hash in the chunks of a file, which shows
// whether the file has changed since.
const MetadataSourceHash = "source_hash"

// MetadataSourceFolder is the metadata key of what a file came with (FileUpload.Folder).
const MetadataSourceFolder = "source_folder"

// Files splits files into chunks and writes them file by file.
// The old chunks of a file are replaced as a whole, an unchanged file is left alone, and a
// bad one does not affect the others. progress is called after each file and may be nil.
// Names that begin with a dot, and symbolic links, are ignored.
func (p *Pipeline) Files(
	ctx context.Context, scope access.Scope, request FilesRequest, progress func(FileReport),
) (FilesSummary, error) {
	var summary FilesSummary
	t, err := p.writable(ctx, scope, request.KB)
	if err != nil {
		return summary, err
	}
	if t.kb.Kind != engine.KindChunks {
		return summary, noFiles(t.kb.Kind)
	}
	files, err := request.list()
	if err != nil {
		return summary, err
	}
	outages := 0 // in a row
	seen := map[string]bool{}
	for i, f := range files {
		if ctx.Err() != nil {
			return summary, ended(ctx)
		}
		report, err := p.fileOfMany(ctx, t, f, seen)
		report.Done, report.Total = i+1, len(files)
		summary.count(report)
		if progress != nil {
			progress(report)
		}
		if outages = countOutage(outages, err); outages == maxOutages {
			return summary, err
		}
	}
	if request.Refresh && summary.Written > 0 {
		_, err = t.engine.Write(ctx, engine.WriteRequest{KB: t.kb, Refresh: true})
	}
	return summary, err
}

// countOutage counts successive failures that are not the fault of a file.
func countOutage(before int, err error) int {
	switch fault.KindOf(err) { //nolint:exhaustive // the kinds that the next file would get too
	case fault.Unavailable, fault.Timeout, fault.Overloaded, fault.NotFound, fault.Conflict:
		return before + 1
	default:
		return 0
	}
}

// File is a file to split into chunks. Its ID is the id of its document, and the extension
// tells the format. FindFiles uses the path below the folder.
type File struct {
	ID string
	// Open returns the content. It is called once, after everything else was checked.
	Open func() (io.ReadCloser, error)
}

// FindFiles lists the files at the paths, which are files or folders with all below them. A
// path that does not exist is an error.
func FindFiles(paths []string) ([]File, error) {
	var files []File
	for _, name := range paths {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fault.Invalid("path", name, "a file or folder that exists and can be read")
		}
		if !info.IsDir() {
			files = append(files, fileOf(os.DirFS(filepath.Dir(name)), filepath.Base(name)))
			continue
		}
		if files, err = walk(files, os.DirFS(name)); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "the folder %q cannot be read", name)
		}
	}
	return files, nil
}

func fileOf(folder fs.FS, name string) File {
	return File{ID: name, Open: func() (io.ReadCloser, error) { return folder.Open(name) }}
}

func (r FilesRequest) list() ([]File, error) {
	files, err := FindFiles(r.Paths)
	if err != nil {
		return nil, err
	}
	for _, folder := range r.Folders {
		if files, err = walk(files, folder); err != nil {
			return nil, fault.Wrap(fault.InvalidArgument, err, "a folder cannot be read")
		}
	}
	return files, nil
}

func walk(files []File, folder fs.FS) ([]File, error) {
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != "."
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case !hidden && entry.Type().IsRegular():
			files = append(files, fileOf(folder, name))
		}
		return nil
	})
	return files, err
}

// fileOfMany writes one of many files. The error is also in the report.
func (p *Pipeline) fileOfMany(ctx context.Context, t target, f File, seen map[string]bool) (FileReport, error) {
	report := FileReport{FileResult: FileResult{DocumentID: f.ID, Status: FileSkipped}}
	if seen[f.ID] {
		report.Error = failureOf(unsplit(fault.Conflict, parse.FieldName,
			"another file of this run has the same path and thus the same document id"))
		return report, nil
	}
	seen[f.ID] = true
	result, err := p.file(ctx, t, FileUpload{File: f})
	switch {
	case err == nil:
		report.FileResult = result
		return report, nil
	case Unsplit(err):
		report.Error = failureOf(err)
		return report, nil
	}
	report.Status, report.Error = FileFailed, failureOf(err)
	return report, err
}

// FileUpload is one file and where to write it.
type FileUpload struct {
	KB      string
	File    File
	Refresh bool // return only when a search sees it
	DryRun  bool // tell what would become of it and change nothing
	// Metadata is added to every chunk, as Chunk.Metadata; changed metadata count as a changed file.
	Metadata map[string]json.RawMessage
	// Folder names the file's origin, so that deleted files can be told from files of other origins. A change
	// of Folder alone does not rewrite the file.
	Folder string
	// Progress, unless it is nil, hears how far the file is until its chunks are
	// ready. Its error ends the upload with nothing changed; it is not called once
	// they are being written, so that no document is left half replaced.
	Progress func(FileProgress) error
}

// FileProgress is how far a file is.
type FileProgress struct {
	Chunks int `json:"chunks" doc:"What the file was split into."`
	Ready  int `json:"ready" doc:"Of these, what has its vectors. When all are ready they are written, all at once."`
}

// File splits a file into chunks, which replace all chunks of
// its document; or it changes nothing. Unsplit reports true for the error of a file that
// cannot be split.
func (p *Pipeline) File(ctx context.Context, scope access.Scope, upload FileUpload) (FileResult, error) {
	if err := CheckID(parse.FieldName, upload.File.ID); err != nil {
		return FileResult{}, err
	}
	t, err := p.writable(ctx, scope, upload.KB)
	if err != nil {
		return FileResult{}, err
	}
	if t.kb.Kind != engine.KindChunks {
		return FileResult{}, noFiles(t.kb.Kind)
	}
	return p.file(ctx, t, upload)
}

// Formats has the extensions of the files that are split, as .md, each with what reads it:
// nothing for the gateway itself, or another program.
func (p *Pipeline) Formats() map[string]string { return p.options.Parser.Formats() }

func noFiles(kind engine.KnowledgeKind) error {
	return fault.Invalid("kind", string(kind), "chunks: files become passages, not pairs; write those as NDJSON")
}

// file writes one file.
func (p *Pipeline) file(ctx context.Context, t target, upload FileUpload) (FileResult, error) {
	f := upload.File
	result := FileResult{DocumentID: f.ID, Status: FileWritten}
	chunks, err := p.readFile(ctx, t, upload)
	if err != nil {
		return result, err
	}
	result.Chunks, result.Encoding = len(chunks.pending), chunks.encoding
	t.stamp(chunks)
	if err := t.admitAll(chunks); err != nil {
		return result, err
	}
	same, err := unchanged(ctx, t, f.ID, chunks)
	if same {
		result.Status = FileUnchanged
		return result, nil
	}
	if err != nil || upload.DryRun {
		return result, err
	}
	r := Replacement{
		DocumentRef: DocumentRef{KB: t.kb.ID, ID: f.ID}, Refresh: upload.Refresh, progress: upload.Progress,
	}
	if err := p.replace(ctx, t, r, chunks); err != nil {
		return result, err
	}
	for _, r := range chunks.results {
		switch r.Status {
		case engine.Created:
			result.Created++
		case engine.Updated:
			result.Updated++
		case engine.Failed: // see firstFailure
		}
	}
	return result, firstFailure(chunks.results)
}

func firstFailure(results []Result) error {
	for _, r := range results {
		if r.Error != nil {
			return &fault.Error{Kind: r.Error.Code, Field: r.Error.Field, Detail: r.Error.Detail}
		}
	}
	return nil
}

// readFile splits a file into chunks with deterministic ids.
func (p *Pipeline) readFile(ctx context.Context, t target, upload FileUpload) (*batch, error) {
	f := upload.File
	if err := parse.CheckFormat(p.Formats(), f.ID); err != nil {
		return nil, err
	}
	metadata, err := upload.metadata()
	if err != nil {
		return nil, err
	}
	source, err := readWhole(f, p.options.MaxFile)
	if err != nil {
		return nil, err
	}
	hash := p.sourceHash(t, f.ID, source, metadata)
	document, err := p.options.Parser.Parse(ctx, f.ID, source, p.options.Split)
	switch {
	case ctx.Err() != nil:
		return nil, ended(ctx)
	case err != nil:
		return nil, err
	case len(document.Passages) == 0:
		return nil, unsplit(fault.InvalidArgument, parse.FieldFile, "no text in it")
	}
	last := fmt.Sprintf("%s#%d", f.ID, len(document.Passages)-1)
	if err := CheckID(parse.FieldName, last); err != nil {
		return nil, err
	}
	own := ownOf(document.Metadata, maxKeys-len(ownMetadata)-len(metadata))
	b := &batch{encoding: document.Encoding}
	for i, passage := range document.Passages {
		chunk := chunkOf(passage, f.ID, i, hash)
		maps.Copy(chunk.Metadata, own)
		upload.describe(&chunk, metadata)
		tellLanguage(&chunk)
		b.add(chunk, passage.First)
	}
	return b, nil
}

func chunkOf(p parse.Passage, document string, ordinal int, hash string) engine.Chunk {
	c := engine.Chunk{
		ID:           fmt.Sprintf("%s#%d", document, ordinal),
		DocumentID:   document,
		DocumentName: path.Base(document),
		Ordinal:      ordinal,
		Title:        p.Title,
		Content:      p.Content,
		Metadata:     map[string]any{MetadataSourceHash: hash},
		WrittenAt:    dateOf(time.Now()),
		Available:    true,
		Vectors:      map[string][]float32{},
	}
	switch {
	case p.Boxes != nil:
		c.Positions = p.Boxes
	case p.FirstPage > 0:
		for page := p.FirstPage; page <= p.LastPage; page++ {
			c.Positions = append(c.Positions, []float64{float64(page)})
		}
	case p.First > 0:
		c.Positions = [][]float64{{float64(p.First), float64(p.Last)}}
	}
	return c
}

// splitVersion is part of the hash. Raise it when files must be split again.
const splitVersion = 3

// sourceHash covers everything that determines the chunks of a file and their vectors.
func (p *Pipeline) sourceHash(t target, name string, source []byte, metadata map[string]any) string {
	model := ""
	if embedder := p.embedderOf(&t.kb); embedder != nil && t.kb.Dimensions > 0 {
		model = embedder.Model()
	}
	h := sha256.New()
	h.Write(fmt.Appendf(nil, "%d %+v %q\n", splitVersion, p.options.Split, model))
	if reader := parse.ReaderOf(p.options.Parser, name); reader != "" {
		h.Write([]byte(reader + "\n"))
	}
	if len(metadata) > 0 {
		text, _ := json.Marshal(metadata) // scalars and lists of them always encode, sorted by name
		h.Write(append(text, '\n'))
	}
	h.Write(source)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// unchanged reports whether exactly these chunks are there, so that an interrupted run does
// not count.
func unchanged(ctx context.Context, t target, document string, b *batch) (bool, error) {
	want := b.pending[0].chunk.Metadata[MetadataSourceHash]
	seen := 0
	request := engine.DocumentChunksRequest{KB: t.kb, DocumentID: document, To: -1, Limit: maxPage}
	for chunks, err := range engine.DocumentPages(ctx, t.engine, request) {
		if err != nil {
			return false, err
		}
		for i := range chunks {
			if chunks[i].Metadata[MetadataSourceHash] != want {
				return false, nil
			}
		}
		if seen += len(chunks); seen > len(b.pending) {
			return false, nil
		}
	}
	return seen == len(b.pending), nil
}

// unsplit is the error of a file that cannot be split. Among many files that is no failure.
func unsplit(kind fault.Kind, field, format string, args ...any) error {
	err := fault.New(kind, format, args...)
	err.Field = field
	return err
}

// Unsplit reports whether an error means that a file cannot be split: it has another format
// or is empty, binary, too large or beyond a limit of its parser.
func Unsplit(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Field == parse.FieldFile || f.Field == parse.FieldName && f.Kind == fault.Unsupported)
}

// FileTooLarge is the error of a file with more bytes than the limit.
func FileTooLarge(limit int) error {
	return unsplit(fault.TooLarge, parse.FieldFile, "larger than %d bytes; split it, or write its chunks as NDJSON", limit)
}

// readWhole reads a file up to a size.
func readWhole(f File, limit int) ([]byte, error) {
	opened, err := f.Open()
	if err != nil {
		return nil, unreadable(f, err)
	}
	source, err := io.ReadAll(io.LimitReader(opened, int64(limit)+1))
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, unreadable(f, err)
	}
	if len(source) > limit {
		return nil, FileTooLarge(limit)
	}
	return source, nil
}

// unreadable keeps a fault of the source, such as an upload that broke off.
func unreadable(f File, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	return fault.Wrap(fault.InvalidArgument, err, "%s cannot be read", f.ID)
}
