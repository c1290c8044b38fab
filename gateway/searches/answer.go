package searches

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/rag/answer"
	"github.com/hybridge-search/hybridge/search"
)

// Answerer has a question answered from passages, see answer.Client.
type Answerer interface {
	Write(
		ctx context.Context, question string, passages []rag.Passage, tell func(answer.Sentence) error,
	) (answer.Ending, error)
}

// AnswerRequest is a search whose hits a model answers the question from.
type AnswerRequest struct {
	search.Request
	MaxChars     *int     `json:"max_chars,omitempty" minimum:"1" maximum:"1000000" doc:"Characters of the hits that the model gets, 1 to 1000000; 4000 when left out."`
	MinRelevance *float64 `json:"min_relevance,omitempty" minimum:"0" maximum:"1" doc:"0 to 1: least probability that the hits answer the question, as threshold.answerable; below it the model is not asked."`
}

// AnswerSources is the data of the event sources: the passages for the model.
type AnswerSources struct {
	QueryID    string            `json:"query_id"`
	Cached     bool              `json:"cached" doc:"Whether the hits were kept from an earlier search."`
	Sources    []rag.Citation    `json:"sources" nullable:"false" doc:"The hits, by the numbers of citations."`
	Truncated  bool              `json:"truncated" doc:"Whether hits, or the end of the last one, did not fit into max_chars."`
	Answerable *float64          `json:"answerable" doc:"Probability in [0, 1] that the hits, before thresholds on relevance, answer the question; null where it is not known."`
	Degraded   []search.Degraded `json:"degraded"`
}

// UnknownAnswer is the data of the event unknown, which replaces all sentences.
type UnknownAnswer struct {
	Code   string `json:"code" enum:"nothing_relevant,threshold,words,filter,match,no_text,not_in_sources" doc:"Why, stable: as empty of a search, where that has no hits; no_text: no text of a hit fits into max_chars; not_in_sources: the model found no answer in the sources."`
	Reason string `json:"reason" locale:"text" doc:"What to tell the reader."`
}

// AnswerDone is the data of the event done, the last one.
type AnswerDone struct {
	Sentences int     `json:"sentences"`
	Truncated bool    `json:"truncated" doc:"Whether the answer was longer than 8192 bytes, or the model was stopped before its end."`
	TookMS    float64 `json:"took_ms"`
}

var errNoAnswers = &fault.Error{
	Kind: fault.Unsupported, Field: "answer.url",
	Detail: "this gateway has no model that answers; its setting answer.url names one",
}

type answerInput struct {
	Body AnswerRequest
}

// answerForm is server-sent events. No model goes on for a client that has gone.
var answerForm = endpoint.LiveForm{
	ContentType: endpoint.EventStream, Failed: func(p endpoint.Problem) any { return endpoint.NewEvent("error", p) },
	ForClient: true,
}

// answerService has a model answer from the hits of searches.
type answerService struct {
	api      *endpoint.API
	searches *Searches
	model    Answerer      // nil: no model answers
	writing  chan struct{} // an item for each answer in progress
}

func (s *answerService) register() {
	r := endpoint.Route{
		Method: http.MethodPost, Path: "/v1/answer", Tag: "search", Access: endpoint.Reads,
		ID: "answer", Summary: "Answer a question by a model, with citations, as server-sent events",
		About: "Takes the members of a search; threshold is auto when left out. The first event is sources. Each sentence " +
			"then is one, with the numbers of its sources; where nothing relevant is found the model is not asked, and " +
			"unknown says so. The last event is done, or error, whose data is a problem. Without a model (answer.url) " +
			"this is unsupported. What a model writes may be wrong, its citations included.",
	}
	in := s.api.Document.InputOf(reflect.TypeFor[answerInput]())
	op := s.api.Document.Operation(&r, in)
	op.RequestBody = s.api.Document.RequestBody(in)
	data := &huma.Schema{Description: "The data of the events sources, sentence, unknown, error and done."}
	for _, of := range []reflect.Type{
		reflect.TypeFor[AnswerSources](), reflect.TypeFor[answer.Sentence](), reflect.TypeFor[UnknownAnswer](),
		reflect.TypeFor[endpoint.Problem](), reflect.TypeFor[AnswerDone](),
	} {
		data.AnyOf = append(data.AnyOf, s.api.Document.SchemaOf(of))
	}
	op.Responses["200"] = &huma.Response{
		Description: http.StatusText(http.StatusOK),
		Content:     map[string]*huma.MediaType{endpoint.EventStream: {Schema: data}},
	}
	s.api.Document.AddOperation(op)
	s.api.Mount(&r, func(ctx context.Context, scope access.Scope, c *fiber.Ctx) error {
		input := new(answerInput)
		if err := in.Bind(c, input, s.api.Limits.JSONBytes); err != nil {
			return err
		}
		model, err := s.answers()
		if err != nil {
			return err
		}
		asked, err := s.sourcesOf(ctx, scope, &input.Body)
		if err != nil {
			return err
		}
		asked.model, asked.started = model, endpoint.ExchangeOf(c).Start
		return s.api.LiveAs(c, answerForm, func(ctx context.Context, tell func(any) error) (any, error) {
			return s.answer(ctx, asked, tell)
		})
	})
}

func (s *answerService) answers() (Answerer, error) {
	if s.model == nil {
		return nil, errNoAnswers
	}
	return s.model, nil
}

func (r *AnswerRequest) check() error {
	if n := r.MaxChars; n != nil && (*n < 1 || *n > maxMaxChars) {
		return fault.Invalid("max_chars", *n, "1 to 1000000")
	}
	if p := r.MinRelevance; p != nil && !(*p >= 0 && *p <= 1) {
		return fault.Invalid("min_relevance", *p, "0 to 1")
	}
	return nil
}

// askedModel is a question to the model.
type askedModel struct {
	model    Answerer
	question string
	passages []rag.Passage
	sources  AnswerSources
	empty    string // why there are no passages
	started  time.Time
}

// sourcesOf searches for the sources of an answer.
func (s *answerService) sourcesOf(ctx context.Context, scope access.Scope, req *AnswerRequest) (*askedModel, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Highlight == nil { // no one would see highlights
		none := 0
		req.Highlight = &search.Highlight{Fragments: &none}
	}
	if req.Threshold == (search.Threshold{}) {
		req.Threshold = search.AutoThreshold()
	}
	if req.MinRelevance != nil {
		req.Threshold.Answerable = req.MinRelevance
	}
	found, err := s.searches.Search(ctx, scope, req.Request)
	if err != nil {
		return nil, err
	}
	limit := defaultMaxChars
	if req.MaxChars != nil {
		limit = *req.MaxChars
	}
	asked := &askedModel{question: req.Query, empty: cmp.Or(found.Empty, "no_text"), sources: AnswerSources{
		QueryID: found.QueryID, Cached: found.Cached, Sources: []rag.Citation{},
		Answerable: found.Answerable, Degraded: found.Degraded,
	}}
	asked.passages, asked.sources.Truncated = rag.Passages(found.Hits, limit)
	for i := range asked.passages {
		asked.sources.Sources = append(asked.sources.Sources, asked.passages[i].Citation)
	}
	endpoint.Annotate(ctx, slog.Int("sources", len(asked.passages)))
	return asked, nil
}

// answer tells the sources, the sentences or that there is no answer, and gives the last event. Without sources the
// model is not asked. What fails before the sources are told has no events.
func (s *answerService) answer(ctx context.Context, asked *askedModel, tell func(any) error) (last any, err error) {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	default:
		return nil, fault.New(fault.Overloaded, "%d answers are being written, the most at a time (answer.concurrent)",
			cap(s.writing))
	}
	if err := tell(endpoint.NewEvent("sources", asked.sources)); err != nil {
		return nil, err
	}
	unknown := UnknownAnswer{Code: asked.empty, Reason: "I don't know: nothing in these knowledge bases answers this."}
	ending := answer.Ending{Unknown: true}
	if len(asked.passages) > 0 {
		unknown = UnknownAnswer{Code: "not_in_sources", Reason: "I don't know: what was found does not answer this."}
		ending, err = asked.model.Write(ctx, asked.question, asked.passages, func(sentence answer.Sentence) error {
			return tell(endpoint.NewEvent("sentence", sentence))
		})
	}
	if err == nil && ending.Unknown {
		err = tell(endpoint.NewEvent("unknown", unknown))
	}
	took := float64(time.Since(asked.started).Microseconds()) / 1000
	return endpoint.NewEvent("done", AnswerDone{ending.Sentences, ending.Truncated, took}), err
}
