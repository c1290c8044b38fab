package embedding

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
)

// embeddings is the part of the protocol's response that is read.
// https://platform.openai.com/docs/api-reference/embeddings/object
type embeddings struct {
	Data []struct {
		Index     int    `json:"index"`
		Embedding vector `json:"embedding"`
	} `json:"data"`
}

// vector is an embedding as JSON numbers or as base64 of little-endian float32.
type vector []float32

// UnmarshalJSON implements json.Unmarshaler.
func (v *vector) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, (*[]float32)(v))
	}
	var encoded string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return errors.New("the base64 vector is not a whole number of float32")
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// decode gives the vectors in the order of the texts, [count][dim]float32.
func (c *Client) decode(body []byte, count int) ([][]float32, error) {
	var parsed embeddings
	if err := json.Unmarshal(body, &parsed); err != nil {
		return nil, malformed("no JSON of the embeddings protocol (%v)", err)
	}
	if len(parsed.Data) != count {
		return nil, malformed("%d vectors for %d texts", len(parsed.Data), count)
	}
	vectors := make([][]float32, count)
	for _, item := range parsed.Data {
		if item.Index < 0 || item.Index >= count || vectors[item.Index] != nil {
			return nil, malformed("vectors whose index is not each of 0 to %d once", count-1)
		}
		if err := c.check(item.Embedding); err != nil {
			return nil, err
		}
		vectors[item.Index] = item.Embedding
	}
	return vectors, nil
}

// check refuses vectors that an engine could not compare with the others.
func (c *Client) check(v vector) error {
	if len(v) == 0 {
		return malformed("an empty vector")
	}
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return malformed("a vector with a value that is not finite")
		}
	}
	if expected := c.learnDimension(len(v)); len(v) != expected {
		return malformed("a vector of %d dimensions where %d are expected (embedding.dimensions)", len(v), expected)
	}
	return nil
}
