package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Embedder is a configured embedding model.
type Embedder interface {
	Model() string
	// Texts embeds texts as they are: [len(texts)][dim]float32 in their order.
	Texts(ctx context.Context, texts []string) ([][]float32, error)
}

const maxEmbedded = 2048 // as in OpenAI's API

// EmbeddingsRequest is OpenAI's request for embeddings.
type EmbeddingsRequest struct {
	Input      embedded `json:"input"`
	Model      string   `json:"model,omitempty" doc:"A model of the configuration; the usual one when left out."`
	Format     string   `json:"encoding_format,omitempty" enum:"float,base64" doc:"base64 is of 32-bit floats, little-endian."`
	Dimensions *int     `json:"dimensions,omitempty" minimum:"1" maximum:"65536" doc:"Those of the model; others are refused."`
}

// embedded are texts; lists of tokens would be of another model's vocabulary.
type embedded []string

func (embedded) Accepts() (accepted string) {
	return "a text, or a list of texts; tokens are not taken"
}

// UnmarshalJSON reads a text, or a list of texts.
func (e *embedded) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*e = embedded{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(e))
}

// Schema implements huma.SchemaProvider.
func (embedded) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A text, or up to 2048.",
		OneOf:       []*huma.Schema{{Type: huma.TypeString}, r.Schema(reflect.TypeFor[[]string](), true, "")},
	}
}

// Embeddings are vectors in OpenAI's form.
type Embeddings struct {
	Object string      `json:"object"`
	Model  string      `json:"model"`
	Data   []Embedding `json:"data"`
	Usage  struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage" doc:"Not counted: 0."`
}

// Embedding is the vector of a text.
type Embedding struct {
	Object string `json:"object"`
	Index  int    `json:"index"`
	Vector any    `json:"embedding" doc:"A list of numbers, or a text in base64."`
}

type embeddingsInput struct {
	Body EmbeddingsRequest
}

// Embedders are the configured models.
type Embedders struct {
	Usual Embedder            // nil: there is none
	Named map[string]Embedder // further ones, by the name of their setting
}

// RegisterEmbeddings adds the embeddings of the models.
func RegisterEmbeddings(api *endpoint.API, of Embedders) {
	endpoint.Register(api, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/embeddings", Tag: "protocols", Access: endpoint.Reads,
		ID: "openai-embeddings", Summary: "OpenAI's embeddings, by the configured model",
		About:   "Texts are sent as they are: prefixes that the model wants are the caller's.",
		Dialect: dialect(),
	}, of.embeddings)
}

func (m *Embedders) embeddings(ctx context.Context, _ access.Scope, in *embeddingsInput) (*Embeddings, error) {
	asked := &in.Body
	embedder, err := m.embedder(asked.Model)
	if err != nil {
		return nil, err
	}
	switch {
	case len(asked.Input) == 0 || len(asked.Input) > maxEmbedded:
		return nil, fault.Invalid("input", fault.Length(len(asked.Input)), "1 to 2048 texts")
	case asked.Format != "" && asked.Format != "float" && asked.Format != "base64":
		return nil, fault.Invalid("encoding_format", asked.Format, "float or base64")
	case slices.ContainsFunc(asked.Input, func(text string) bool { return strings.TrimSpace(text) == "" }):
		return nil, fault.Invalid("input", "blank", "texts of at least one character that is not blank")
	}
	vectors, err := embedder.Texts(ctx, asked.Input)
	if err != nil {
		return nil, err
	}
	answer := &Embeddings{Object: "list", Model: embedder.Model(), Data: make([]Embedding, len(vectors))}
	for i, vector := range vectors {
		if asked.Dimensions != nil && *asked.Dimensions != len(vector) {
			return nil, fault.Invalid("dimensions", *asked.Dimensions, "left out: the model has its own")
		}
		answer.Data[i] = Embedding{Object: "embedding", Index: i, Vector: vector}
		if asked.Format == "base64" {
			answer.Data[i].Vector = base64Of(vector)
		}
	}
	return answer, nil
}

// embedder finds a model by its name, or by the name of its setting.
func (m *Embedders) embedder(name string) (Embedder, error) {
	usual := m.Usual
	if usual == nil && len(m.Named) == 0 {
		return nil, fault.New(fault.Unsupported, "this gateway has no embedding model (embedding.url)")
	}
	if usual != nil && (name == "" || name == usual.Model()) {
		return usual, nil
	}
	names := []string{}
	if usual != nil {
		names = append(names, usual.Model())
	}
	for setting, e := range m.Named {
		if name == setting || name == e.Model() {
			return e, nil
		}
		names = append(names, setting)
	}
	slices.Sort(names)
	return nil, fault.Invalid("model", name, "one of "+strings.Join(names, ", "))
}

// base64Of is a vector as 32-bit floats, little-endian.
func base64Of(vector []float32) string {
	var buffer bytes.Buffer
	buffer.Grow(4 * len(vector))
	_ = binary.Write(&buffer, binary.LittleEndian, vector) // a buffer takes everything
	return base64.StdEncoding.EncodeToString(buffer.Bytes())
}
