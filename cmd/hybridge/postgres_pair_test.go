package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
	"github.com/hybridge-search/hybridge/search"
)

// TestTwoGatewaysOnOneDatabase lets two real binaries share a PostgreSQL and a
// Redis: clients write, replace and delete by either of them and look at once by
// either, and others search with every preset. No answer has a chunk whose end was
// acknowledged before the question, none is an error; a degraded one says so.
func TestTwoGatewaysOnOneDatabase(t *testing.T) {
	lasting := min(durationOf(t, durationVariable, 4*time.Second), 2*time.Minute)
	name, settings := copied(t), postgresSettings(t, devservices.NewDatabase(t))
	p := &pair{book: newLogbook(lasting), ended: map[string]time.Time{}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	for range 2 {
		process := serve(t, name, t.TempDir(), settings...)
		p.gateways = append(p.gateways, &load{process: process, book: p.book, http: client})
	}
	p.gateways[0].fill()
	until := time.Now().Add(lasting)
	var group sync.WaitGroup
	for i, step := range []func(*pairClient){(*pairClient).change, (*pairClient).change, (*pairClient).look, (*pairClient).look} {
		c := &pairClient{pair: p, number: i, random: rand.New(rand.NewPCG(uint64(i), 6))}
		group.Go(func() {
			for time.Now().Before(until) && !t.Failed() {
				step(c)
			}
		})
	}
	group.Wait()
	for _, g := range p.gateways {
		if text := g.out.String(); strings.Contains(text, "panic") {
			t.Errorf("a gateway says\n%s; want no \"panic\" in it", text)
		}
	}
	if !t.Failed() {
		devservices.Report(t, p.table())
	}
}

// pair is two gateways, and what is known of the chunks written through them.
type pair struct {
	gateways []*load
	book     *logbook

	mu       sync.Mutex
	ended    map[string]time.Time // by chunk: when its replacement or deletion was acknowledged
	degraded int
}

// pairDocuments are those of each client that writes.
const pairDocuments = 10

// pairClient changes documents of its own, or only searches.
type pairClient struct {
	*pair
	number, round int
	random        *rand.Rand
	current       [pairDocuments][]string // chunks by document
}

// worker is one of the gateways, at random.
func (c *pairClient) worker() *worker {
	return &worker{load: c.gateways[c.random.IntN(len(c.gateways))], random: c.random}
}

// change writes a new edition of a document or deletes it, by one of the gateways,
// and looks for both editions by one of them.
func (c *pairClient) change() {
	c.round++
	document := c.random.IntN(pairDocuments)
	id, old := fmt.Sprintf("c%dd%d", c.number, document), c.current[document]
	w, path := c.worker(), cli.BasePath("k")+"/documents/"+id
	var now []string
	if len(old) > 0 && c.random.IntN(3) == 0 {
		w.do("delete", http.MethodDelete, path, nil)
	} else {
		var lines bytes.Buffer
		for part := range 1 + c.random.IntN(loadParts) {
			chunk := fmt.Sprintf("%sv%d-%d", id, c.round, part)
			now = append(now, chunk)
			loadLine(&lines, c.random, chunk, id, c.word(id, c.round)+" "+sentence(c.random, 30))
		}
		w.accepted(w.do("replace", http.MethodPut, path, &lines))
	}
	c.end(old)
	c.current[document] = now
	response := c.ask(search.Request{Query: c.word(id, c.round), Preset: "text"})
	if len(response.Degraded) == 0 && len(response.Hits) != len(now) {
		w.t.Errorf("%d chunks of %s are found by their word, want %d", len(response.Hits), id, len(now))
	}
}

// word is in one edition of one document only.
func (c *pairClient) word(document string, edition int) string {
	return fmt.Sprintf("%sv%d", document, edition)
}

func (p *pair) end(chunks []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, chunk := range chunks {
		p.ended[chunk] = now
	}
}

// look searches with one preset after the other; filters keep to the chunks that
// come and go every second time.
func (c *pairClient) look() {
	c.round++
	request := search.Request{Query: sentence(c.random, 4), Preset: allPresets[c.round%len(allPresets)], Vector: direction(c.random)}
	if c.round%2 == 0 {
		document, _ := json.Marshal(fmt.Sprintf("c%dd%d", c.random.IntN(2), c.random.IntN(pairDocuments)))
		request.Filter = filter.Expression{"document_id": document}
	}
	c.ask(request)
}

// ask searches by one of the gateways; its answer must be of now.
func (c *pairClient) ask(request search.Request) (response search.Response) {
	all, w := 20, c.worker()
	request.KnowledgeBases, request.TopK = []string{"k"}, &all
	begun := time.Now()
	w.decode(w.do("search "+request.Preset, http.MethodPost, "/v1/search", request), &response)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(response.Degraded) > 0 {
		c.degraded++
	}
	for _, h := range response.Hits {
		if ended, gone := c.ended[h.ID]; gone && ended.Before(begun) {
			w.t.Errorf("%s finds %s, which ended %s before the question", request.Preset, h.ID, begun.Sub(ended))
		}
	}
	return response
}

// table is the report in Markdown.
func (p *pair) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s of two gateways on one PostgreSQL and one Redis, %d requests, no error; %d chunks replaced or "+
		"deleted, none found after it was acknowledged; %d answers degraded.\n\n", p.book.lasting, p.book.requests(),
		len(p.ended), p.degraded)
	out.WriteString(p.book.kinds())
	return out.String()
}
