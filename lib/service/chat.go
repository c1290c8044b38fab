package service

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type completion struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Temperature float64   `json:"temperature"`
	Stream      bool      `json:"stream,omitempty"`
}

// asking is the question of a completion. Its JSON has < and & as they are: models read it as it is written.
func (c *Client) asking(model, instructions string, question any) (*completion, error) {
	var told strings.Builder
	encoder := json.NewEncoder(&told)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(question); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode the question for the %s", c.service)
	}
	user := strings.TrimSuffix(told.String(), "\n")
	return &completion{Model: model, Messages: []message{{"system", instructions}, {"user", user}}}, nil
}

// Chat asks an address of chat completions, as OpenAI has them, for a JSON object: it tells the model instructions
// and the JSON of a question, and reads the object of its answer into a value, code block or not. Errors are as of
// Post, and fault.Unavailable for an answer that has no such object.
func (c *Client) Chat(ctx context.Context, model, instructions string, question, answer any) error {
	asked, err := c.asking(model, instructions, question)
	if err != nil {
		return err
	}
	body, err := c.Post(ctx, asked)
	if err != nil {
		return err
	}
	var said struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &said); err != nil || len(said.Choices) == 0 {
		return fault.New(fault.Unavailable, "the %s service's answer is no chat completion", c.service)
	}
	text := []byte(said.Choices[0].Message.Content)
	from, to := bytes.IndexByte(text, '{'), bytes.LastIndexByte(text, '}') // some put it into a code block
	if from < 0 || to < from || json.Unmarshal(text[from:to+1], answer) != nil {
		return fault.New(fault.Unavailable, "the %s did not answer with the JSON that was asked for", c.service)
	}
	return nil
}
