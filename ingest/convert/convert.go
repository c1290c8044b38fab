// Package convert has other programs make text of files that the gateway does not read
// itself, or not as well. It speaks the shapes of:
//
//	plain    any service that takes the bytes of a file by POST and answers Markdown or HTML
//	tika     Apache Tika, PUT /tika, which answers HTML
//	docling  Docling Serve, POST /v1/convert/file, multipart
//	         → {"document": {"md_content": "…"}, "status": "success", "errors": []}
//	mineru   MinerU, POST /file_parse, multipart
//	         → {"results": {"name": {"md_content": "…"}}}
//
// https://cwiki.apache.org/confluence/display/TIKA/TikaServer
// https://github.com/docling-project/docling-serve/blob/main/docs/usage.md
// https://opendatalab.github.io/MinerU/usage/quick_usage/
package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/parse"
	"github.com/hybridge-search/hybridge/lib/service"
)

// Options of a Parser.
type Options struct {
	URL     string        // of the endpoint itself
	APIKey  string        // a bearer token
	Shape   string        // one of Shapes
	Timeout time.Duration // of one file
	Formats []string      // extensions of what it converts, as .odt; all others go to Inner
	// Inner splits what was made of a file, and the files of all other formats.
	Inner parse.Parser
}

// Shapes are the names of the shapes that services have.
func Shapes() []string { return slices.Sorted(maps.Keys(shapes)) }

// shape is how a service takes a file and answers.
type shape struct {
	method string
	accept string
	field  string            // of the file in a form; empty: the body is the file
	form   map[string]string // further fields
	read   func(service.Answer) (extension string, text []byte, err error)
}

var shapes = map[string]*shape{
	"plain": {method: http.MethodPost, accept: "text/markdown, text/html, text/plain", read: readText},
	"tika":  {method: http.MethodPut, accept: "text/html", read: readText},
	"docling": {
		method: http.MethodPost, accept: "application/json", field: "files",
		form: map[string]string{"to_formats": "md", "image_export_mode": "placeholder"}, read: readDocling,
	},
	"mineru": {
		method: http.MethodPost, accept: "application/json", field: "files",
		form: map[string]string{"return_md": "true"}, read: readMinerU,
	},
}

// maxAnswer bounds the text of a file, in bytes.
const maxAnswer = 64 << 20

// Parser is a parse.Parser. It is safe for concurrent use.
type Parser struct {
	options Options
	shape   *shape
	service *service.Client
}

// New makes a parser; nothing is sent yet.
func New(o Options) *Parser {
	return &Parser{options: o, shape: shapes[o.Shape], service: service.New("converter", o.URL, o.APIKey, o.Timeout)}
}

// Formats implements parse.Parser.
func (p *Parser) Formats() map[string]string {
	all := p.options.Inner.Formats()
	for _, extension := range p.options.Formats {
		all[extension] = p.options.Shape + " " + p.options.URL
	}
	return all
}

// Parse implements parse.Parser. Passages of a converted file have headings but no lines,
// which would be those of another text. A file that the service refuses is refused; a
// service that fails is fault.Unavailable, Overloaded or Timeout.
func (p *Parser) Parse(ctx context.Context, name string, source []byte, o parse.Options) (*parse.Document, error) {
	if parse.ReaderOf(p, name) == "" {
		return p.options.Inner.Parse(ctx, name, source, o)
	}
	request, err := p.shape.request(path.Base(name), source)
	if err != nil {
		return nil, err
	}
	answer, err := p.service.Ask(ctx, request)
	if err != nil {
		return nil, refusal(err)
	}
	extension, text, err := p.shape.read(answer)
	if err != nil {
		return nil, err
	}
	document, err := p.options.Inner.Parse(ctx, "converted"+extension, text, o)
	if err != nil {
		return nil, err
	}
	for i := range document.Passages {
		document.Passages[i].First, document.Passages[i].Last = 0, 0
	}
	document.Encoding = "" // that of the answer
	return document, nil
}

// request writes the file as the service takes it.
func (s *shape) request(name string, source []byte) (*service.Request, error) {
	r := &service.Request{
		Method: s.method, MaxAnswer: maxAnswer, Body: source,
		Header: http.Header{
			"Accept":              {s.accept},
			"Content-Type":        {"application/octet-stream"},
			"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": name})},
		},
	}
	if s.field == "" {
		return r, nil
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range slices.Sorted(maps.Keys(s.form)) {
		if err := form.WriteField(field, s.form[field]); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "write the form of a file")
		}
	}
	part, err := form.CreateFormFile(s.field, name)
	if err == nil {
		_, err = part.Write(source)
	}
	if err := errors.Join(err, form.Close()); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write the form of a file")
	}
	r.Body = body.Bytes()
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Del("Content-Disposition")
	return r, nil
}

// refusals are the states by which services say that it is the file.
var refusals = []service.Status{
	http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	http.StatusUnprocessableEntity,
}

// refusal makes the error of a service one of the file, where it is.
func refusal(err error) error {
	var status service.Status
	if !errors.As(err, &status) || !slices.Contains(refusals, status) {
		return err
	}
	return unreadable(fault.Wrap(fault.InvalidArgument, err,
		"the converter refused it with HTTP %d: damaged, encrypted or of another kind", int(status)))
}

func unreadable(err *fault.Error) error {
	err.Field = parse.FieldFile
	return err
}

// readText reads an answer that is the text itself.
func readText(a service.Answer) (extension string, text []byte, err error) {
	media, _, err := mime.ParseMediaType(a.ContentType)
	switch {
	case err != nil:
		return "", nil, fault.Wrap(fault.Unavailable, err, "the converter's answer has no Content-Type that can be read")
	case media == "text/html", media == "application/xhtml+xml":
		return ".html", a.Body, nil
	case media == "text/markdown", media == "text/x-markdown", media == "text/plain":
		return ".md", a.Body, nil
	default:
		return "", nil, fault.New(fault.Unavailable, "the converter's answer is %q; it must be Markdown or HTML", media)
	}
}

// converted is a text in the answers of both services.
type converted struct {
	Markdown string `json:"md_content"`
}

func readDocling(a service.Answer) (extension string, text []byte, err error) {
	var answer struct {
		Document converted
		Status   string
		Errors   []struct {
			Message string `json:"error_message"`
		}
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return "", nil, fault.Wrap(fault.Unavailable, err, "the converter's answer is not what was expected")
	}
	if answer.Status == "failure" {
		reason := "no reason given"
		if len(answer.Errors) > 0 {
			reason = answer.Errors[0].Message
		}
		return "", nil, unreadable(fault.New(fault.InvalidArgument, "the converter could not read it: %s", reason))
	}
	return ".md", []byte(answer.Document.Markdown), nil
}

func readMinerU(a service.Answer) (extension string, text []byte, err error) {
	var answer struct{ Results map[string]converted }
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return "", nil, fault.Wrap(fault.Unavailable, err, "the converter's answer is not what was expected")
	}
	for _, only := range answer.Results {
		return ".md", []byte(only.Markdown), nil
	}
	return "", nil, unreadable(fault.New(fault.InvalidArgument, "the converter could not read it: %s", "no result"))
}
