package elastic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/enginetest"
)

// counter is an Elasticsearch that counts chunks and records what it is asked.
type counter struct {
	t        testing.TB
	mapping  []byte
	docs, df int
	asked    []string // per request: "figures" if it wants them, then the terms
}

// RoundTrip implements http.RoundTripper.
func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	var search struct {
		Aggs struct {
			Text  any `json:"text"`
			Terms struct {
				Filters struct {
					Filters []map[string]map[string]struct{ Value string } `json:"filters"`
				} `json:"filters"`
			} `json:"terms"`
		} `json:"aggs"`
	}
	if strings.HasSuffix(req.URL.Path, "/_mapping") {
		return answered(req, c.mapping), nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(elastic.LinesAsJSON(c.t, string(body))), &search); err != nil {
		return nil, err
	}
	var asked, buckets []string
	if search.Aggs.Text != nil {
		asked = append(asked, "figures")
	}
	for _, filter := range search.Aggs.Terms.Filters.Filters {
		for _, term := range filter["term"] {
			asked = append(asked, term.Value)
			buckets = append(buckets, fmt.Sprintf(`{"doc_count":%d}`, c.df))
		}
	}
	c.asked = append(c.asked, strings.Join(asked, " "))
	answer := fmt.Sprintf(`{"hits":{"hits":[]},"aggregations":{"text":{"doc_count":%d},"length":{"value":%d},`+
		`"terms":{"buckets":[%s]}}}`, c.docs, 10*c.docs, strings.Join(buckets, ","))
	return answered(req, []byte(answer)), nil
}

// TestFrequenciesStayWhileNothingChanges: after 30 s only the figures are read again; if
// they have changed, so are all terms.
func TestFrequenciesStayWhileNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &counter{t: t, mapping: liveMapping(t, manuals()), docs: 100, df: 7}
		e, err := elastic.New(elastic.Options{
			URLs: []string{"http://127.0.0.1:9200"}, Tokenizer: enginetest.Words{}, Transport: server,
		})
		if err != nil {
			t.Fatal(err)
		}
		f := func(terms string, want ...string) {
			t.Helper()
			server.asked = nil
			st, err := e.Statistics(t.Context(), &engine.StatisticsRequest{
				KB: manuals(), Field: engine.FieldText, Terms: strings.Fields(terms),
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(server.asked, want) {
				t.Errorf("%q: asked for %q, want %q", terms, server.asked, want)
			}
			for i := range st.DF {
				if st.DF[i] != server.df || st.Docs != server.docs {
					t.Errorf("%q: %+v, want %d of %d", terms, st, server.df, server.docs)
				}
			}
		}
		f("refund", "figures refund")
		f("refund invoice", "invoice")
		f("invoice refund invoice")
		time.Sleep(31 * time.Second)
		f("refund invoice", "figures")
		f("refund")
		time.Sleep(31 * time.Second)
		f("refund pay", "figures pay")
		server.docs, server.df = 120, 8 // somebody else has written
		time.Sleep(31 * time.Second)
		f("pay refund", "figures", "pay refund")
		f("invoice", "invoice")
		time.Sleep(11 * time.Minute)
		f("pay", "figures pay")
	})
}
