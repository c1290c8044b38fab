package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
	"github.com/hybridge-search/hybridge/gateway/protocols/documents"
	"github.com/hybridge-search/hybridge/ingest"
	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// What the tools give at most: a model reads all of it.
const (
	mcpMaxTopK  = 50
	mcpMaxRead  = 20
	mcpTopK     = 5
	mcpReadsOn  = 2
	mcpMaxBases = 200
)

type mcpSearch struct {
	Query          string                     `json:"query" jsonschema:"the question, in the user's words; \"quoted words\" are a required phrase, -word excludes"`
	KnowledgeBases []string                   `json:"knowledge_bases,omitempty" jsonschema:"ids of those to search, as list_knowledge_bases gives them; left out, all are searched"`
	TopK           int                        `json:"top_k,omitempty" jsonschema:"results at most"`
	Filter         map[string]json.RawMessage `json:"filter,omitempty" jsonschema:"conditions on metadata and document_id, such as {\"year\": {\"gte\": 2024}, \"status\": [\"open\", \"new\"]}; bounds are numbers or times in ISO 8601; also contains, starts_with, ends_with, not, exists, any_of, all_of"`
	MinRelevance   *float64                   `json:"min_relevance,omitempty" jsonschema:"0 to 1: least probability that the results answer the question; left out, a measured one; 0 takes whatever is nearest"`
	Preset         string                     `json:"preset,omitempty" jsonschema:"name of a way of searching; left out, the usual one"`
}

// Found is the result of the tool search.
type Found struct {
	Results []mcpResult `json:"results" jsonschema:"best first"`
	Nothing bool        `json:"nothing_relevant" jsonschema:"the knowledge bases have nothing that answers the question"`
	// Answerable is rag.Context's.
	Answerable *float64 `json:"answerable" jsonschema:"probability that the results answer the question; null where it is not known"`
	Notes      []string `json:"notes" jsonschema:"what the search had to do without"`
}

type mcpResult struct {
	Number        int        `json:"number" jsonschema:"as in the text, to cite it"`
	KnowledgeBase string     `json:"knowledge_base"`
	ChunkID       string     `json:"chunk_id" jsonschema:"for read and explain"`
	DocumentID    string     `json:"document_id"`
	Document      string     `json:"document" jsonschema:"URI of the whole document, a resource"`
	Source        string     `json:"source" jsonschema:"the document's name or title"`
	Page          *int       `json:"page"`
	Heading       string     `json:"heading,omitempty" jsonschema:"the headings that lead to it"`
	Lines         *rag.Lines `json:"lines"`
	URL           string     `json:"url,omitempty"`
	Relevance     *float64   `json:"relevance" jsonschema:"probability that it answers the question; null where it is not known"`
	Text          string     `json:"text"`
}

type mcpRead struct {
	KnowledgeBase string `json:"knowledge_base" jsonschema:"of the chunk"`
	ChunkID       string `json:"chunk_id" jsonschema:"of a result of search, or of a chunk that read gave"`
	Around        *int   `json:"around,omitempty" jsonschema:"chunks to read before it and after it"`
}

// Passages is the result of the tool read.
type Passages struct {
	DocumentID string       `json:"document_id"`
	Document   string       `json:"document" jsonschema:"URI of the whole document, a resource"`
	Name       string       `json:"name"`
	Chunks     []mcpPassage `json:"chunks" jsonschema:"in the order of the document"`
}

type mcpPassage struct {
	ChunkID string `json:"chunk_id"`
	Title   string `json:"title,omitempty"`
	Text    string `json:"text"`
}

// Bases is the result of the tool list_knowledge_bases.
type Bases struct {
	KnowledgeBases []mcpBase `json:"knowledge_bases"`
	More           bool      `json:"more" jsonschema:"there are further ones"`
}

type mcpBase struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind" jsonschema:"chunks of documents, or qa: questions with their answers"`
	By   string `json:"by" jsonschema:"what it is searched by: words, or words and meaning"`
}

type mcpExplain struct {
	Query         string `json:"query" jsonschema:"the question that was searched"`
	KnowledgeBase string `json:"knowledge_base" jsonschema:"of the chunk"`
	ChunkID       string `json:"chunk_id" jsonschema:"the chunk whose place is to be explained"`
	Preset        string `json:"preset,omitempty" jsonschema:"as in the search"`
}

// Explained is the result of the tool explain.
type Explained struct {
	Outcome string   `json:"outcome" jsonschema:"hit, or at which step it was lost"`
	Detail  string   `json:"detail"`
	Rank    *int     `json:"rank"`
	Score   *float64 `json:"score"`
	Legs    []mcpLeg `json:"legs" jsonschema:"how each way of searching ranked it"`
}

type mcpLeg struct {
	Leg  string   `json:"leg"`
	Rank *int     `json:"rank" jsonschema:"null: not found by it"`
	Raw  *float64 `json:"raw" jsonschema:"BM25 score or cosine"`
}

// addTools adds the tools. Their schemas bound the arguments; the SDK checks calls against them.
func (p *protocol) addTools(server *sdk.Server) {
	addTool(p, server, sdk.Tool{
		Name: "search", Title: "Search",
		Description: "Searches knowledge bases with a question, by words and by meaning, whatever the language. " +
			"Gives numbered passages with their sources to cite, or says that nothing answers the question.",
		InputSchema: searchSchema(map[string]numberRange{"top_k": {1, mcpMaxTopK, mcpTopK}, "min_relevance": {0, 1, nil}}),
	}, p.search)
	addTool(p, server, sdk.Tool{
		Name: "read", Title: "Read",
		Description: "Reads a passage within what stands around it in its document. " +
			"To read on, call it with the last chunk_id that it gave.",
		InputSchema: schemaOf[mcpRead](map[string]numberRange{"around": {0, mcpMaxRead, mcpReadsOn}}),
	}, p.read)
	addTool(p, server, sdk.Tool{
		Name: "list_knowledge_bases", Title: "List knowledge bases",
		Description: "Lists the knowledge bases that can be searched.",
	}, p.list)
	addTool(p, server, sdk.Tool{
		Name: "explain", Title: "Explain",
		Description: "Tells why a passage is, or is not, among the results of a search, " +
			"and how each way of searching ranked it.",
	}, p.explain)
}

// searchSchema leaves the filter to filter.Parse, which explains errors in it.
func searchSchema(bounded map[string]numberRange) *jsonschema.Schema {
	schema := schemaOf[mcpSearch](bounded)
	schema.Properties["filter"] = &jsonschema.Schema{Type: "object", Description: schema.Properties["filter"].Description}
	return schema
}

// numberRange is the range of a number, with its default.
type numberRange struct {
	least, most float64
	standard    any
}

func schemaOf[I any](bounded map[string]numberRange) *jsonschema.Schema {
	schema, err := jsonschema.For[I](nil)
	if err != nil {
		panic(err) // of a type of this file
	}
	for name, b := range bounded {
		member := schema.Properties[name]
		member.Minimum, member.Maximum = &b.least, &b.most
		if b.standard != nil {
			member.Default = fmt.Append(nil, b.standard)
		}
	}
	return schema
}

// addTool adds a read-only tool: its text is for models, and its output, with the same content, for programs.
func addTool[I, O any](
	p *protocol, server *sdk.Server, tool sdk.Tool, do func(context.Context, access.Scope, *I) (string, O, error),
) {
	closed := false
	tool.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
	sdk.AddTool(server, &tool, func(ctx context.Context, _ *sdk.CallToolRequest, in I) (*sdk.CallToolResult, O, error) {
		var text string
		output, err := within(ctx, p, func(ctx context.Context, scope access.Scope) (output O, err error) {
			endpoint.Annotate(ctx, slog.String("tool", tool.Name))
			text, output, err = do(ctx, scope, &in)
			return output, err
		})
		if err != nil {
			return nil, output, errors.New(endpoint.ProblemOf(err).Detail)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, output, nil
	})
}

// mcpNames are the members of a call, where they have names of their own.
var mcpNames = &endpoint.Dialect{Members: map[string]string{"threshold": "min_relevance"}}

func (p *protocol) search(
	ctx context.Context, scope access.Scope, in *mcpSearch,
) (text string, found *Found, err error) {
	none := 0
	req := search.Request{
		Query: in.Query, KnowledgeBases: in.KnowledgeBases, TopK: &in.TopK, Preset: in.Preset, Filter: in.Filter,
		Highlight: &search.Highlight{Fragments: &none},
	}
	req.Threshold = search.AutoThreshold()
	if in.MinRelevance != nil {
		req.Threshold = search.Threshold{Answerable: in.MinRelevance}
	}
	if len(req.KnowledgeBases) == 0 {
		if req.KnowledgeBases, err = p.allBases(ctx, scope); err != nil {
			return "", nil, err
		}
	}
	answer, err := p.searcher.Search(ctx, scope, req)
	if err != nil {
		return "", nil, mcpNames.Named(err)
	}
	told := rag.FormatAnswerForTool(answer, len(answer.Hits))
	found = &Found{
		Results: make([]mcpResult, len(answer.Hits)), Nothing: answer.Empty == rag.NothingRelevant,
		Answerable: answer.Answerable, Notes: []string{},
	}
	ids := make([]string, len(answer.Hits))
	for i := range answer.Hits {
		found.Results[i] = mcpResultOf(&told.Citations[i], &answer.Hits[i])
		ids[i] = fmt.Sprintf("[%d] %s in %s", i+1, told.Citations[i].ID, told.Citations[i].KnowledgeBase)
	}
	text = told.Text
	if len(ids) > 0 {
		text += "\n\nChunks to read around: " + strings.Join(ids, ", ") + "."
	}
	for _, d := range answer.Degraded {
		found.Notes = append(found.Notes, d.KnowledgeBase+" "+d.Leg+": "+d.Reason)
		text += "\n\nNote: " + d.KnowledgeBase + " was searched without its " + d.Leg + " leg: " + d.Reason
	}
	return text, found, nil
}

// allBases gives the ids of all knowledge bases that one search can cover.
func (p *protocol) allBases(ctx context.Context, scope access.Scope) ([]string, error) {
	list, err := p.catalog.List(ctx, scope)
	if err != nil {
		return nil, err
	}
	if n := len(list); n == 0 || n > search.MaxKnowledgeBases {
		return nil, fault.Invalid("knowledge_bases", fmt.Sprintf("left out, and there are %d", n),
			fmt.Sprintf("1 to %d ids of list_knowledge_bases", search.MaxKnowledgeBases))
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids, nil
}

func mcpResultOf(cited *rag.Citation, hit *search.Hit) mcpResult {
	return mcpResult{
		Number: cited.Number, KnowledgeBase: cited.KnowledgeBase, ChunkID: cited.ID, DocumentID: cited.DocumentID,
		Document: DocumentURI(cited.KnowledgeBase, cited.DocumentID), Source: cited.Source, Page: cited.Page,
		Heading: cited.Heading, Lines: cited.Lines, URL: cited.URL, Relevance: cited.Relevance, Text: rag.Text(hit),
	}
}

func (p *protocol) read(
	ctx context.Context, scope access.Scope, in *mcpRead,
) (text string, read *Passages, err error) {
	around := mcpReadsOn
	if in.Around != nil {
		around = *in.Around
	}
	place := ingest.Place{KB: in.KnowledgeBase, ChunkID: in.ChunkID, Around: around}
	chunks, err := p.documents.Surroundings(ctx, scope, place)
	if err != nil {
		return "", nil, err
	}
	of := &chunks[0]
	read = &Passages{
		DocumentID: of.DocumentID, Document: DocumentURI(in.KnowledgeBase, of.DocumentID), Name: of.DocumentName,
		Chunks: make([]mcpPassage, len(chunks)),
	}
	var b strings.Builder
	b.WriteString("From " + cmp.Or(of.DocumentName, of.Title, of.DocumentID))
	for i := range chunks {
		read.Chunks[i] = mcpPassage{ChunkID: chunks[i].ID, Title: chunks[i].Title, Text: documents.Text(&chunks[i])}
		fmt.Fprintf(&b, "\n\n[chunk %s]\n%s", chunks[i].ID, read.Chunks[i].Text)
	}
	return b.String(), read, nil
}

func (p *protocol) list(
	ctx context.Context, scope access.Scope, _ *struct{},
) (text string, listed *Bases, err error) {
	list, err := p.catalog.List(ctx, scope)
	if err != nil {
		return "", nil, err
	}
	slices.SortFunc(list, func(a, b engine.KnowledgeBase) int { return strings.Compare(a.ID, b.ID) })
	listed = &Bases{KnowledgeBases: []mcpBase{}, More: len(list) > mcpMaxBases}
	var b strings.Builder
	fmt.Fprintf(&b, "Knowledge bases: %d of %d.", min(len(list), mcpMaxBases), len(list))
	for i := range list[:min(len(list), mcpMaxBases)] {
		base := mcpBase{ID: list[i].ID, Name: list[i].Name, Kind: string(list[i].Kind), By: "words"}
		if list[i].Dimensions > 0 {
			base.By = "words and meaning"
		}
		listed.KnowledgeBases = append(listed.KnowledgeBases, base)
		fmt.Fprintf(&b, "\n- %s: %s (by %s)", base.ID, base.Name, base.By)
	}
	return b.String(), listed, nil
}

func (p *protocol) explain(
	ctx context.Context, scope access.Scope, in *mcpExplain,
) (text string, explained *Explained, err error) {
	asked := search.Request{Query: in.Query, KnowledgeBases: []string{in.KnowledgeBase}, Preset: in.Preset}
	found, err := p.searcher.Explain(ctx, scope, search.ExplainRequest{Request: asked, ChunkID: in.ChunkID})
	if err != nil {
		return "", nil, err
	}
	explained = &Explained{
		Outcome: found.Outcome, Detail: found.Detail, Rank: found.Rank, Score: found.Score,
		Legs: make([]mcpLeg, len(found.Legs)),
	}
	var b strings.Builder
	b.WriteString(found.Outcome + ": " + found.Detail)
	for i := range found.Legs {
		leg := &found.Legs[i]
		explained.Legs[i] = mcpLeg{Leg: leg.Leg, Rank: leg.Rank, Raw: leg.Raw}
		if leg.Rank == nil || leg.Raw == nil {
			fmt.Fprintf(&b, "\n- leg %s: not found", leg.Leg)
			continue
		}
		fmt.Fprintf(&b, "\n- leg %s: rank %d, raw score %.4g", leg.Leg, *leg.Rank, *leg.Raw)
	}
	return b.String(), explained, nil
}
