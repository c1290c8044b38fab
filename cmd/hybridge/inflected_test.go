package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// inflected are chunks in Korean and Japanese whose words have endings.
const inflected = `{"id": "weather", "document_id": "ko", "content": "오늘 서울 날씨는 맑습니다."}
{"id": "seeds", "document_id": "ko", "content": "아저씨는 날이 풀리면 꽃씨를 뿌린다."}
{"id": "eat", "document_id": "ja", "content": "パンを食べる前に手を洗う。"}
{"id": "line", "document_id": "ja", "content": "駅に人が並べるように線を引く。"}
{"id": "coffee", "document_id": "ja", "content": "熱いｺｰﾋｰを飲みました。"}
{"id": "copy", "document_id": "ja", "content": "コピー機のコードをぬく。"}
`

// findsInflected is what every engine must find of them, and how the gateway shows it.
func findsInflected(t *testing.T, c *config.Config) {
	r := run(t, c)
	r.must(http.MethodPost, "/v1/knowledge-bases", map[string]any{"id": "east", "dimensions": 0}, nil)
	t.Cleanup(func() {
		again := run(t, c)
		again.must(http.MethodDelete, cli.BasePath("east"), nil, nil)
		again.stop()
	})
	r.must(http.MethodPost, cli.BasePath("east")+"/documents?refresh=true", inflected, nil)
	f := func(question, tokens, highlight string, found ...string) {
		t.Helper()
		req := search.Request{
			Query: question, KnowledgeBases: []string{"east"}, Preset: "text", Highlight: &search.Highlight{},
		}
		var analyzed search.AnalyzeResponse
		r.must(http.MethodPost, "/v1/analyze", req, &analyzed)
		texts := make([]string, len(analyzed.Tokens))
		for i, token := range analyzed.Tokens {
			texts[i] = token.Text
		}
		if got := strings.Join(texts, " "); got != tokens {
			t.Errorf("%s: the tokens are %q, want %q", question, got, tokens)
		}
		hits := r.search(req).Hits
		ids := make([]string, len(hits))
		for i := range hits {
			ids[i] = hits[i].ID
		}
		if !slices.Equal(ids, found) || !slices.Contains(hits[0].Highlights, highlight) {
			t.Errorf("%s finds %v, want %v with %q: %+v", question, ids, found, highlight, hits)
		}
	}
	f("날씨", "날씨", "오늘 서울 <em>날씨</em>는 맑습니다.", "weather")
	f("날씨가", "날씨 씨가", "오늘 서울 <em>날씨</em>는 맑습니다.", "weather")
	f(`씨는 "날씨는"`, "씨는 날씨", "오늘 서울 <em>날씨는</em> 맑습니다.", "weather")
	f(`씨는 -날씨`, "씨는", "아저<em>씨는</em> 날이 풀리면 꽃씨를 뿌린다.", "seeds")
	f("食べる", "食 べる", "パンを<em>食べる</em>前に手を洗う。", "eat", "line")
	f(`"食べる"`, "食 べる", "パンを<em>食べる</em>前に手を洗う。", "eat")
	f("コーヒー", "コー ーヒ ヒー", "熱い<em>ｺｰﾋｰ</em>を飲みました。", "coffee", "copy")
	f("「コーヒー」", "コー ーヒ ヒー", "熱い<em>ｺｰﾋｰ</em>を飲みました。", "coffee")
	r.stop()
}

func TestInflectedWordsEmbedded(t *testing.T) {
	t.Parallel()
	findsInflected(t, settingsIn(t.TempDir()))
}

func TestInflectedWordsElasticsearch(t *testing.T) {
	t.Parallel()
	c := settingsIn(t.TempDir())
	c.Elasticsearch.URL = make([]string, 1)
	c.Elasticsearch.URL[0], c.Elasticsearch.IndexPrefix = devservices.Indices(t)
	findsInflected(t, c)
}

func TestInflectedWordsPostgres(t *testing.T) {
	t.Parallel()
	findsInflected(t, withPostgres(t, settingsIn(t.TempDir())))
}
