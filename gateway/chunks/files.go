package chunks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/ingest"
)

type fileInput struct {
	KB      string `path:"kb" doc:"Id of the knowledge base."`
	Name    string `query:"name" doc:"Name of the file, as guides/refunds.md: the id of its document, and by its ending its format: .md, .txt, .html, .pdf, .csv, .tsv, .docx, .pptx or .xlsx, and their like; /v1/file-formats has all."`
	Refresh bool   `query:"refresh" doc:"Answer only when a search sees the chunks."`
	DryRun  bool   `query:"dry_run" doc:"Answer what would become of the file, written or unchanged, and change nothing."`

	Metadata string `query:"metadata" doc:"What every chunk of the file gets as metadata: a JSON object of strings, numbers and booleans, or lists of these. When it changes the file is written again."`
	Folder   string `query:"folder" doc:"What the file came with, as the name of a folder, up to 256 bytes; kept as the metadata source_folder. It does not have an unchanged file written again."`
}

const filesPath = basePath + "/files"

// fileTypes are the file as it is, whose format is told by its name, and a form that has it.
var fileTypes = []string{fiber.MIMEOctetStream, fiber.MIMEMultipartForm}

// fileRoutes adds the upload of a file, which is read as it arrives: the first part
// stays in memory, the rest in a file without a name.
func (s *documentService) fileRoutes() {
	r := endpoint.Route{
		Method: http.MethodPost, Path: filesPath, Tag: "documents", Access: endpoint.Writes, Status: http.StatusOK,
		Timeout: s.api.Limits.Ingest, ID: "upload-file", Summary: "Split a file into chunks and make them its document",
		About: "The chunks replace all that the document had, or nothing is changed. A file that is empty, damaged, no " +
			"text or of another format is refused by 400, one that is too large by 413. With Accept: application/x-ndjson the " +
			"answer comes while the file is being written, by a line whenever more chunks are ready; the last line is " +
			"the result, or a problem. A client that closes the connection before all are ready leaves nothing changed.",
	}
	in := s.api.Document.InputOf(reflect.TypeFor[fileInput]())
	s.documentFile(&r, in)
	serve := func(
		ctx context.Context, scope access.Scope, c *fiber.Ctx, input *fileInput, body *endpoint.RequestBody,
	) error {
		upload, err := s.uploadOf(c, input, body)
		if err != nil {
			return err
		}
		if c.Accepts(fiber.MIMEApplicationJSON, endpoint.NDJSON) == endpoint.NDJSON {
			return s.api.Live(c, func(ctx context.Context, tell func(any) error) (any, error) {
				upload.Progress = func(p ingest.FileProgress) error { return tell(p) }
				return s.writeFile(ctx, scope, upload)
			})
		}
		result, err := s.writeFile(ctx, scope, upload)
		if err != nil {
			return err
		}
		endpoint.Annotate(ctx, slog.Int("chunks", result.Chunks))
		return endpoint.WriteJSON(c, r.Status, result)
	}
	endpoint.MountStream(s.api, &r, in, fileTypes, serve)
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: "/v1/file-formats", Tag: "documents", Access: endpoint.Reads,
		ID: "list-file-formats", Summary: "The formats of files that are split into chunks",
		About: "The gateway reads them itself, or what ingest.converter_url names does.",
	}, s.fileFormats)
}

// FileFormats are the formats of files.
type FileFormats struct {
	Formats []FileFormat `json:"formats" nullable:"false"`
}

// FileFormat is one of them.
type FileFormat struct {
	Extension string `json:"extension" doc:"Of the names of such files, as .md."`
	Converter bool   `json:"converter,omitempty" doc:"Whether ingest.converter_url reads them, and not the gateway."`
}

func (s *documentService) fileFormats(context.Context, access.Scope, *struct{}) (*FileFormats, error) {
	known, all := s.ingester.Formats(), &FileFormats{Formats: []FileFormat{}}
	for _, extension := range slices.Sorted(maps.Keys(known)) {
		all.Formats = append(all.Formats, FileFormat{Extension: extension, Converter: known[extension] != ""})
	}
	return all, nil
}

// uploadOf reads the upload from the query and, where the body is a form, from its parts.
func (s *documentService) uploadOf(
	c *fiber.Ctx, input *fileInput, body *endpoint.RequestBody,
) (upload ingest.FileUpload, err error) {
	file, announced := io.Reader(body), int64(body.Length)
	if given := c.Get(fiber.HeaderContentType); endpoint.IsForm(given) {
		form, err := endpoint.ReadForm(given, body)
		if err != nil {
			return upload, err
		}
		file, announced = form.File, -1
		input.Name = cmp.Or(input.Name, form.Fields["name"], form.Name)
		input.Metadata = cmp.Or(input.Metadata, form.Fields["metadata"])
		input.Folder = cmp.Or(input.Folder, form.Fields["folder"])
	}
	metadata, err := metadataOf(input.Metadata)
	return ingest.FileUpload{
		KB: input.KB, Refresh: input.Refresh, DryRun: input.DryRun, Metadata: metadata, Folder: input.Folder,
		File: ingest.File{ID: input.Name, Open: func() (io.ReadCloser, error) { return s.spooled(file, announced) }},
	}, err
}

// metadataOf reads the metadata of a file.
func metadataOf(text string) (metadata map[string]json.RawMessage, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &metadata); err != nil || metadata == nil {
		return nil, fault.Invalid("metadata", endpoint.Clip(text), `a JSON object, as {"lang":"en"}`)
	}
	return metadata, nil
}

func (s *documentService) writeFile(
	ctx context.Context, scope access.Scope, upload ingest.FileUpload,
) (ingest.FileResult, error) {
	result, err := s.ingester.File(ctx, scope, upload)
	if err == nil {
		s.ingested.WithLabelValues(string(engine.Created)).Add(float64(result.Created))
		s.ingested.WithLabelValues(string(engine.Updated)).Add(float64(result.Updated))
	}
	return result, err
}

// overread is how much of a file that is too large is read and discarded, because most
// clients read the answer only after they have sent everything.
const overread = 256 << 20

// spooled reads a file of a length that was announced, or -1, to its end and returns it again, so that
// a slow client holds no memory.
func (s *documentService) spooled(file io.Reader, announced int64) (io.ReadCloser, error) {
	kept := &endpoint.Spool{Limit: s.api.Limits.SpoolBytes}
	limit := int64(s.api.Limits.FileBytes)
	var n int64
	var err error
	if announced <= limit {
		n, err = io.Copy(kept, io.LimitReader(file, limit+1))
	}
	if err == nil && max(n, announced) > limit {
		_, _ = io.CopyN(io.Discard, file, overread) // the answer is the same
		err = ingest.FileTooLarge(s.api.Limits.FileBytes)
	}
	if err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	return kept.Reader()
}

func (s *documentService) documentFile(r *endpoint.Route, in *endpoint.Input) {
	op := s.api.Document.Operation(r, in)
	file := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	op.RequestBody = &huma.RequestBody{
		Required: true,
		Description: "The file as it is; or a form with it, whose other parts stand in front of it and say what " +
			"the query does not.",
		Content: map[string]*huma.MediaType{
			fiber.MIMEOctetStream: {Schema: file},
			fiber.MIMEMultipartForm: {Schema: &huma.Schema{
				Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
					"name":     {Type: huma.TypeString, Description: "The default is the name that the file has in the form."},
					"metadata": {Type: huma.TypeString, Description: "A JSON object."},
					"folder":   {Type: huma.TypeString},
					"file":     file,
				},
			}},
		},
	}
	op.Responses["200"] = &huma.Response{
		Description: "What became of the file",
		Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: s.api.Document.SchemaOf(reflect.TypeFor[ingest.FileResult]())},
			endpoint.NDJSON: {Schema: &huma.Schema{OneOf: []*huma.Schema{
				s.api.Document.SchemaOf(reflect.TypeFor[ingest.FileProgress]()),
				s.api.Document.SchemaOf(reflect.TypeFor[ingest.FileResult]()),
				s.api.Document.SchemaOf(reflect.TypeFor[endpoint.Problem]()),
			}}},
		},
	}
	s.api.Document.AddOperation(op)
}
