package endpoint

import (
	"bytes"
	"io"
	"sync"

	"github.com/dustin/go-humanize"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// smallAnswer is how many bytes of an answer do not count as being sent: the sockets take
// as many at once.
const smallAnswer = 256 << 10

// send makes a value the answer. A large one has to be within Limits.AnswerBytes and, with
// those that clients are still reading, within Limits.SendingBytes.
func (s *sending) send(c *fiber.Ctx, status int, value any) error {
	if r, ok := value.(*search.Response); ok && r.Shared != nil {
		LanguageOf(c) // no text of a shared answer has a language, but it is marked as the others are
		return s.sendShared(c, status, r)
	}
	if err := WriteJSON(c, status, value); err != nil {
		return err
	}
	if len(c.Response().Body()) <= smallAnswer {
		return nil
	}
	body := c.Response().SwapBody(nil)
	return s.sendLarge(c, nil, body)
}

// sendShared sends an answer that mostly consists of shared bytes.
func (s *sending) sendShared(c *fiber.Ctx, status int, r *search.Response) error {
	head, err := r.AppendHead(nil)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encode the answer")
	}
	c.Status(status).Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	if len(r.Shared.JSON) <= smallAnswer {
		c.Response().SetBodyRaw(append(head, r.Shared.JSON...))
		return nil
	}
	return s.sendLarge(c, head, r.Shared.JSON)
}

// sendLarge sends a body of two parts, without a copy of it.
func (s *sending) sendLarge(c *fiber.Ctx, head, body []byte) error {
	size := len(head) + len(body)
	if size > s.most {
		return search.TooLarge(int64(s.most))
	}
	release, ok := s.take(body)
	if !ok {
		return fault.New(fault.Overloaded, "answers of %s are being read by their clients, the most that is kept for "+
			"them (limits.sending_bytes)", humanize.IBytes(uint64(s.limit))) //nolint:gosec // > 0
	}
	both := io.MultiReader(bytes.NewReader(head), bytes.NewReader(body))
	c.Response().SetBodyStream(&sent{Reader: both, release: release}, size)
	return nil
}

// sent is a body that fasthttp closes when it is written, or cannot be.
type sent struct {
	io.Reader
	release func()
}

// Close implements io.Closer.
func (b *sent) Close() error {
	b.release()
	return nil
}

// sending sends answers, and counts the bytes of large answers until they are sent; those that several answers
// share count once.
type sending struct {
	most  int // bytes of one answer
	limit int // bytes of all large ones
	mu    sync.Mutex
	taken int
	by    map[*byte]int // how many answers send it
}

// take counts a body that is not empty until release is called; false: there is no room.
func (s *sending) take(body []byte) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := &body[0]
	if s.by[name] == 0 {
		if s.taken+len(body) > s.limit {
			return nil, false
		}
		s.taken += len(body)
	}
	s.by[name]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.by[name]--; s.by[name] == 0 {
			delete(s.by, name)
			s.taken -= len(body)
		}
	}), true
}
