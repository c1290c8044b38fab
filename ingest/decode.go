package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Limits on the members that engines keep as keys, in bytes.
const (
	maxID      = 256
	maxName    = 1024
	maxOrdinal = 1<<31 - 1
)

// decoder turns lines into chunks of one knowledge base.
type decoder struct {
	kb *engine.KnowledgeBase
	// only, if set, is the document that all lines must belong to.
	only string
	// The document of the previous line, and the next ordinal in it.
	document string
	ordinal  int
}

// decode reads and checks one line. With an error the chunk has just its id, if that could
// be read.
func (d *decoder) decode(text []byte) (engine.Chunk, error) {
	var given Chunk
	if err := unmarshal(text, &given, d.kb.Kind); err != nil {
		return engine.Chunk{ID: shownID(given.ID)}, err
	}
	if d.only != "" && given.DocumentID == "" {
		given.DocumentID = d.only
	}
	if err := d.check(&given); err != nil {
		return engine.Chunk{ID: shownID(given.ID)}, err
	}
	metadata, err := flatten(given.Metadata)
	if err != nil {
		return engine.Chunk{ID: given.ID}, err
	}
	chunk := given.chunk(d.kb.Kind)
	chunk.Metadata = metadata
	tellLanguage(&chunk)
	chunk.Ordinal = d.nextOrdinal(chunk.DocumentID, given.Ordinal)
	return chunk, nil
}

// shownID is the id of a refused line as it is echoed: empty if it is too long.
func shownID(id string) string {
	if len(id) > maxID {
		return ""
	}
	return id
}

func (d *decoder) nextOrdinal(document string, given *int) int {
	switch {
	case given != nil:
		d.ordinal = *given
	case document != d.document:
		d.ordinal = 0
	}
	d.document = document
	d.ordinal++
	return d.ordinal - 1
}

// unmarshal refuses what the decoder of the standard library silently repairs or ignores:
// invalid UTF-8, unknown members, a second value.
func unmarshal(text []byte, into *Chunk, kind engine.KnowledgeKind) error {
	if !utf8.Valid(text) {
		return fault.New(fault.InvalidArgument, "the line is not valid UTF-8")
	}
	if text[0] != '{' {
		return fault.New(fault.InvalidArgument, "the line is not a JSON object: it begins with %q", firstRune(text))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return explain(err, kind)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fault.New(fault.InvalidArgument, "the line holds more than one JSON value; write one chunk a line")
	}
	return nil
}

func firstRune(text []byte) string {
	_, size := utf8.DecodeRune(text)
	return string(text[:size])
}

// explain turns an error of the decoder into one that says what is accepted.
func explain(err error, kind engine.KnowledgeKind) error {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		field := memberOf(wrongType.Field)
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: field,
			Detail: fmt.Sprintf("%s is a JSON %s; it must be %s", field, wrongType.Value, accepted(wrongType.Type)),
		}
	}
	// The standard library has no type for this error.
	if quoted, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		field := strings.Trim(quoted, `"`)
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: field,
			Detail: fmt.Sprintf("%s is not a member of a chunk; accepted are %s (anything else belongs into metadata)",
				quoted, strings.Join(members(kind), ", ")),
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.InvalidArgument, "the line is not JSON: it ends too early")
	}
	return fault.New(fault.InvalidArgument, "the line is not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// memberOf drops the names of embedded structs from a path.
func memberOf(path string) string {
	if _, name, ok := strings.Cut(path, "vectors."); ok {
		return "vectors." + name
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

func accepted(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the kinds that Chunk has
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a finite number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Slice {
			return "a list of lists of numbers"
		}
		return "a list of numbers"
	default:
		return "an object"
	}
}

// members lists what a line of the kind may have.
func members(kind engine.KnowledgeKind) []string {
	own := reflect.TypeFor[Passage]()
	if kind == engine.KindQA {
		own = reflect.TypeFor[Pair]()
	}
	return append(names(reflect.TypeFor[Common]()), names(own)...)
}

func names(t reflect.Type) []string {
	all := make([]string, t.NumField())
	for i := range all {
		all[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return all
}

func (d *decoder) check(c *Chunk) error {
	if err := CheckID("id", c.ID); err != nil {
		return err
	}
	if c.DocumentID != "" {
		if err := CheckID("document_id", c.DocumentID); err != nil {
			return err
		}
	}
	if d.only != "" && c.DocumentID != d.only {
		return fault.Invalid("document_id", c.DocumentID, fmt.Sprintf("%q or left out", d.only))
	}
	if len(c.DocumentName) > maxName || engine.ChangesDirection(c.DocumentName) {
		return fault.Invalid("document_name", c.DocumentName,
			"at most 1024 bytes without characters that change the direction of text")
	}
	if len(c.Owner) > maxID {
		return fault.Invalid("owner", c.Owner, "at most 256 bytes")
	}
	if c.Ordinal != nil && (*c.Ordinal < 0 || *c.Ordinal > maxOrdinal) {
		return fault.Invalid("ordinal", *c.Ordinal, fmt.Sprintf("0 to %d", maxOrdinal))
	}
	if err := c.date(time.Now()); err != nil {
		return err
	}
	if err := d.checkKind(c); err != nil {
		return err
	}
	return d.checkVectors(c)
}

// date makes written_at what is kept of it: now where the line says nothing.
func (c *Chunk) date(now time.Time) error {
	if c.WrittenAt == "" {
		c.WrittenAt = dateOf(now)
		return nil
	}
	at, err := time.Parse(time.RFC3339, c.WrittenAt)
	if year := at.UTC().Year(); err != nil || year < 0 || year > 9999 {
		return fault.Invalid(engine.FieldWrittenAt, c.WrittenAt, "a time as RFC 3339 has it, as 2026-01-31T12:00:00Z")
	}
	c.WrittenAt = dateOf(at)
	return nil
}

// dateOf is a time as Chunk.WrittenAt has it: of one length and in UTC, so that texts compare as times.
func dateOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// CheckID validates an id of a chunk or a document.
func CheckID(field, id string) error {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) ||
		engine.ChangesDirection(id) {
		return fault.Invalid(field, id, "1 to 256 bytes of UTF-8 without control characters, also of the direction of text")
	}
	return nil
}

// checkKind refuses members of the other kind, and a chunk without text.
func (d *decoder) checkKind(c *Chunk) error {
	if d.kb.Kind == engine.KindQA {
		if member := firstSet(reflect.ValueOf(c.Passage)); member != "" {
			return d.wrongKind(member)
		}
		if blank(c.Question) && blank(c.Answer) {
			return fault.Invalid("question", c.Question, "text, or the answer must be; a chunk without any is never found")
		}
		return nil
	}
	if member := firstSet(reflect.ValueOf(c.Pair)); member != "" {
		return d.wrongKind(member)
	}
	for member, list := range map[string][]string{
		engine.PartKeywords: c.ImportantKeywords, engine.PartQuestions: c.Questions,
	} {
		if err := checkTexts(member, list); err != nil {
			return err
		}
	}
	if blank(c.Content) && blank(c.Title) {
		return fault.Invalid("content", c.Content, "text; a chunk without any is never found")
	}
	return nil
}

const (
	maxTexts     = 100
	maxTextBytes = 1_000
)

// checkTexts refuses lists that are no keywords or questions.
func checkTexts(member string, list []string) error {
	if len(list) > maxTexts {
		return fault.Invalid(member, fault.Length(len(list)), "at most 100 texts")
	}
	for i, text := range list {
		if blank(text) || len(text) > maxTextBytes || !utf8.ValidString(text) {
			return fault.Invalid(fmt.Sprintf("%s[%d]", member, i), text, "1 to 1000 bytes of UTF-8 that are not blank")
		}
	}
	return nil
}

func (d *decoder) wrongKind(member string) error {
	return &fault.Error{
		Kind: fault.InvalidArgument, Field: member,
		Detail: fmt.Sprintf("%s does not belong into knowledge base %q of kind %s; accepted are %s",
			member, d.kb.ID, d.kb.Kind, strings.Join(members(d.kb.Kind), ", ")),
	}
}

// firstSet returns the name of the first member of a struct that is not zero.
func firstSet(group reflect.Value) string {
	for i, name := range names(group.Type()) {
		if !group.Field(i).IsZero() {
			return name
		}
	}
	return ""
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (d *decoder) checkVectors(c *Chunk) error {
	for _, own := range []struct {
		member string
		vector []float32
	}{
		{engine.FieldVector, c.Vector},
		{engine.FieldQuestionVector, c.QuestionVector},
		{engine.FieldAnswerVector, c.AnswerVector},
	} {
		if err := d.checkVector(own.member, own.vector); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Vectors)) {
		member := "vectors." + name
		if !slices.ContainsFunc(d.kb.VectorFields, func(v engine.VectorField) bool { return v.Name == name }) {
			return &fault.Error{Kind: fault.InvalidArgument, Field: member, Detail: d.unknownVector(member)}
		}
		if err := d.checkVector(member, c.Vectors[name]); err != nil {
			return err
		}
	}
	return nil
}

// unknownVector says which vector fields there are.
func (d *decoder) unknownVector(member string) string {
	if len(d.kb.VectorFields) == 0 {
		return fmt.Sprintf("%s is no vector field: knowledge base %q has none beside vector", member, d.kb.ID)
	}
	known := make([]string, len(d.kb.VectorFields))
	for i, v := range d.kb.VectorFields {
		known[i] = v.Name
	}
	return fmt.Sprintf("%s is no vector field of knowledge base %q; accepted are %s (and vector, beside vectors)",
		member, d.kb.ID, strings.Join(known, ", "))
}

func (d *decoder) checkVector(member string, v []float32) error {
	if v == nil || len(v) == d.kb.Dimensions && len(v) > 0 {
		return nil
	}
	accepted := fmt.Sprintf("%d numbers, as knowledge base %q has them", d.kb.Dimensions, d.kb.ID)
	if d.kb.Dimensions == 0 {
		accepted = fmt.Sprintf("left out: knowledge base %q is for keyword search only", d.kb.ID)
	}
	return fault.Invalid(member, fmt.Sprintf("a list of %d numbers", len(v)), accepted)
}

// missingVectors lists the vector fields of a chunk that are to be embedded.
func missingVectors(kb *engine.KnowledgeBase, c *engine.Chunk) []engine.Field {
	return slices.DeleteFunc(kb.Fields(), func(f engine.Field) bool {
		return f.Source == "" || c.Vectors[f.Name] != nil || !embeddable(c, f.Source)
	})
}

// embeddable reports whether a field has text to embed. A title alone makes a passage, but
// not a question.
func embeddable(c *engine.Chunk, source string) bool {
	switch source {
	case engine.FieldQuestion:
		return !blank(c.Question)
	case engine.FieldAnswer:
		return !blank(c.Answer)
	default:
		return !blank(c.EmbeddedText(source))
	}
}
