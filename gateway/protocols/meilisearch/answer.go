package meilisearch

import (
	"html"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

// crop is how many characters of the content are shown; 0: all.
func (q *MeiliQuery) crop() int {
	length := or(q.CropLength, meiliCropLength)
	for _, attribute := range q.Crop {
		name, own, _ := strings.Cut(attribute, ":")
		if name != "content" && name != "*" {
			continue
		}
		if n, err := strconv.Atoi(own); err == nil && n > 0 {
			length = min(n, 300)
		}
		return max(length*runesOfWord, 10)
	}
	return 0
}

func (q *MeiliQuery) highlight() *search.Highlight {
	size, fragments, pre, post := search.MaxFragmentSize, search.MaxFragments, meiliPre, meiliPost
	if length := q.crop(); length > 0 {
		size, fragments = length, 1
	} else if len(q.Highlight) == 0 {
		fragments = 0
	}
	return &search.Highlight{FragmentSize: &size, Fragments: &fragments, Pre: &pre, Post: &post}
}

func (q *MeiliQuery) answer(found *search.Response) MeiliAnswer {
	offset, limit, byPage := q.page()
	a := MeiliAnswer{
		Index: q.Index, Query: q.Query, TookMS: int64(math.Ceil(found.TookMS)), Hits: []map[string]any{},
		Degraded: found.Degraded,
	}
	for i := range found.Hits[:min(limit, len(found.Hits))] {
		a.Hits = append(a.Hits, q.hit(&found.Hits[i]))
	}
	total := found.Total.Value
	if byPage {
		pages, page := 0, max(or(q.Page, 1), 1)
		if limit > 0 {
			pages = (total + limit - 1) / limit
		}
		a.Page, a.HitsPerPage, a.TotalPages, a.TotalHits = &page, &limit, &pages, &total
	} else {
		a.Offset, a.Limit, a.Estimated = &offset, &limit, &total
	}
	if q.Facets != nil {
		a.Facets, a.Stats = map[string]map[string]int{}, map[string]map[string]float64{}
	}
	for _, field := range q.Facets {
		a.Facets[field] = map[string]int{}
		for _, value := range found.Facets[field] {
			a.Facets[field][value.Value] = value.Count
		}
		if stats := statsOf(found.Facets[field]); stats != nil {
			a.Stats[field] = stats
		}
	}
	return a
}

// statsOf are the minimum and the maximum of a numeric field.
func statsOf(values []search.FacetCount) map[string]float64 {
	var stats map[string]float64
	for _, value := range values {
		n, is := number(value.Value).(float64)
		if !is {
			return nil
		}
		if stats == nil {
			stats = map[string]float64{"min": n, "max": n}
		}
		stats["min"], stats["max"] = min(stats["min"], n), max(stats["max"], n)
	}
	return stats
}

// hit is a chunk as a document: its metadata beside the common fields.
func (q *MeiliQuery) hit(hit *search.Hit) map[string]any {
	document := map[string]any{}
	maps.Copy(document, hit.Metadata)
	maps.Copy(document, map[string]any{
		"id": hit.ID, "document_id": hit.DocumentID, "document_name": hit.DocumentName, "knowledge_base": hit.KnowledgeBase,
		"title": hit.Title, "content": hit.Content,
	})
	if hit.QA != nil {
		document["content"], document["question"], document["answer"] = rag.Text(hit), hit.Question, hit.Answer
	}
	if len(q.Retrieve) > 0 && !slices.Contains(q.Retrieve, "*") {
		maps.DeleteFunc(document, func(name string, _ any) bool { return !slices.Contains(q.Retrieve, name) })
	}
	if len(q.Highlight) > 0 || len(q.Crop) > 0 {
		document["_formatted"] = q.formatted(document, hit)
	}
	if q.ShowScore {
		document["_rankingScore"] = or(hit.Relevance, hit.Score)
	}
	return document
}

// formatted is the document as texts, the question's words marked.
func (q *MeiliQuery) formatted(document map[string]any, hit *search.Hit) map[string]any {
	marked := func(name string) bool { return slices.Contains(q.Highlight, name) || slices.Contains(q.Highlight, "*") }
	shown := map[string]any{}
	for name, value := range document {
		shown[name] = asTexts(value)
	}
	content, _ := document["content"].(string)
	if content != "" && (marked("content") || len(q.Crop) > 0) {
		shown["content"] = q.tags(q.shorten(content, hit.Highlights), marked("content"))
	}
	if title := hit.TitleHighlight; title != "" && marked("title") && document["title"] != nil {
		shown["title"] = q.tags(html.UnescapeString(title), true)
	}
	return shown
}

// asTexts is a value with its numbers and booleans written out.
func asTexts(value any) any {
	switch v := value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		texts := make([]any, len(v))
		for i := range v {
			texts[i] = asTexts(v[i])
		}
		return texts
	}
	return value
}

// tags puts the caller's tags in place of the marks, or takes these out.
func (q *MeiliQuery) tags(text string, marked bool) string {
	pre, post := or(q.Pre, "<em>"), or(q.Post, "</em>")
	if !marked {
		pre, post = "", ""
	}
	return strings.NewReplacer(meiliPre, pre, meiliPost, post).Replace(text)
}

// shorten is the content with the marks of its fragments, or the fragment alone where it is cropped.
func (q *MeiliQuery) shorten(content string, fragments []string) string {
	unmark := strings.NewReplacer(meiliPre, "", meiliPost, "")
	crops, marker := q.crop() > 0, or(q.CropMarker, "…")
	for _, escaped := range fragments {
		fragment := html.UnescapeString(escaped)
		plain := unmark.Replace(fragment)
		before, after, found := strings.Cut(content, plain)
		switch {
		case !found:
		case !crops:
			content = before + fragment + after
		default:
			if strings.TrimSpace(before) != "" {
				fragment = marker + fragment
			}
			if strings.TrimSpace(after) != "" {
				fragment += marker
			}
			return fragment
		}
	}
	return content
}
