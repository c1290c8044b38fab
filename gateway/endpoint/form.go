package endpoint

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"

	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
)

// formField bounds a field of a form in bytes.
const formField = 64 << 10

// FileForm is a form up to its file, which is its last part.
type FileForm struct {
	Fields map[string]string // metadata and folder, where there are
	Name   string            // of the file
	File   io.Reader
}

// ReadForm reads a form of multipart/form-data up to its file.
func ReadForm(contentType string, body io.Reader) (*FileForm, error) {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || parameters["boundary"] == "" {
		return nil, fault.Invalid(fiber.HeaderContentType, Clip(contentType), "multipart/form-data with a boundary")
	}
	parts := multipart.NewReader(body, parameters["boundary"])
	form := &FileForm{Fields: map[string]string{}}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return nil, formFault(err)
		}
		switch name := part.FormName(); name {
		case "file":
			form.Name, form.File = part.FileName(), &lastPart{part, parts}
			return form, nil
		case "metadata", "folder", "name":
			text, err := io.ReadAll(io.LimitReader(part, formField+1))
			if err != nil {
				return nil, formFault(err)
			}
			if len(text) > formField {
				return nil, fault.New(fault.TooLarge, "part %s has more than %d bytes", name, formField)
			}
			form.Fields[name] = string(text)
		default:
			return nil, badPart(name, "name, metadata or folder, and then file")
		}
	}
}

// lastPart is a part with nothing behind it.
type lastPart struct {
	*multipart.Part
	parts *multipart.Reader
}

// Read implements io.Reader.
func (p *lastPart) Read(into []byte) (int, error) {
	n, err := p.Part.Read(into)
	if errors.Is(err, io.EOF) {
		switch part, err := p.parts.NextPart(); {
		case errors.Is(err, io.EOF):
		case err != nil:
			return n, formFault(err)
		default:
			return n, badPart(part.FormName(), "in front of file, which is the last")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = formFault(err)
	}
	return n, err
}

// formFault is the body's own error, or the error of an invalid form.
func formFault(err error) error {
	var own *fault.Error
	if errors.As(err, &own) {
		return err
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Invalid("file", "missing", "a part with a file name")
	}
	return fault.Invalid("body", err.Error(), "multipart/form-data to its end")
}

// badPart is the fault of a part of a form, named by the part.
func badPart(name, accepted string) error {
	err := fault.Invalid("part", Clip(name), accepted)
	err.Field = Clip(name)
	return err
}
