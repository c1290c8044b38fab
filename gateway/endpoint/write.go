package endpoint

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/locale"
)

// jsonAppender is an answer that writes its own JSON, faster than encoding/json.
type jsonAppender interface {
	AppendJSON(to []byte) ([]byte, error)
}

// WriteJSON encodes directly into the response, its texts in the caller's language.
func WriteJSON(c *fiber.Ctx, status int, value any) error {
	if err := encodeJSON(c.Response(), LanguageOf(c).Answer(value)); err != nil {
		return fault.Wrap(fault.Internal, err, "encode the answer")
	}
	c.Status(status).Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return nil
}

// LanguageOf is the language in which the caller wants texts; the answer is marked as
// written in it.
func LanguageOf(c *fiber.Ctx) *locale.Language {
	wanted := locale.Match(c.Get(fiber.HeaderAcceptLanguage))
	if wanted != nil {
		c.Set(fiber.HeaderContentLanguage, wanted.Tag())
	}
	return wanted
}

func encodeJSON(to *fasthttp.Response, value any) error {
	if v, ok := value.(jsonAppender); ok {
		body, err := v.AppendJSON(to.SwapBody(nil)[:0])
		to.SwapBody(body)
		return err
	}
	encoder := json.NewEncoder(to.BodyWriter())
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// EncodeLine writes a value as a line of JSON.
func EncodeLine(w io.Writer, line any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(line)
}

// writeProblem makes the answer an error. Headers already set stay.
func writeProblem(c *fiber.Ctx, err error) Problem {
	problem := ProblemOf(err)
	seconds := answers[fault.Kind(problem.Code)].retryAfter
	if fault.IsLasting(err) {
		seconds = ""
	}
	if seconds != "" && len(c.Response().Header.Peek(fiber.HeaderRetryAfter)) == 0 {
		c.Set(fiber.HeaderRetryAfter, seconds)
	}
	if problem.Status == http.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="hybridge"`)
	}
	c.Response().ResetBody()
	if failure := WriteJSON(c, problem.Status, problem); failure != nil {
		c.Status(http.StatusInternalServerError)
	}
	c.Set(fiber.HeaderContentType, ProblemType)
	return problem
}
