package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// proxyFlag makes the test binary a proxy: ADDRESS FILE follow.
const proxyFlag = "proxy"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == proxyFlag {
		if err := serveProxy(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// recording is what a proxy is given to forward: for each question its statements.
type recording struct {
	Target     string        `json:"target"`
	Relay      bool          `json:"relay"` // be a relay, which decodes nothing
	Compressed bool          `json:"compressed"`
	Statements [][]statement `json:"statements"`
}

// proxy is the least gateway there can be, in a process of its own. It takes the
// same requests as the gateway and answers each with the hits of the last
// statement recorded for it: one hop for the client, the same requests to
// Elasticsearch, the same answers decoded, and nothing else.
type proxy struct {
	url    string
	client *http.Client
	cmd    *exec.Cmd
}

func startProxy(b *testing.B, r recording) *proxy {
	b.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "recording.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	address := freeAddress(b)
	p := &proxy{url: "http://" + address, client: newClient(false)}
	p.cmd = exec.Command(os.Args[0], proxyFlag, address, file)
	startProcess(b, p.cmd, p.url+"/ready")
	return p
}

// forward asks the i-th question.
func (p *proxy) forward(i int, body []byte) error {
	_, err := send(p.client, fmt.Sprintf("%s/?question=%d", p.url, i), "application/json", body)
	return err
}

// hits is what is decoded of an answer, of one search or of several.
type hits struct {
	Hits struct {
		Hits []struct {
			ID      string             `json:"_id"`
			Score   *float64           `json:"_score"`
			Source  json.RawMessage    `json:"_source,omitempty"`
			Fields  map[string][]any   `json:"fields,omitempty"`
			Matched map[string]float64 `json:"matched_queries,omitempty"`
		} `json:"hits"`
	} `json:"hits"`
	Responses []hits `json:"responses,omitempty"`
}

func serveProxy(address, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r recording
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if r.Relay {
		return r.serveRelay(address)
	}
	client := newClient(r.Compressed)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, in *http.Request) {
		if err := r.forward(client, w, in); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	})
	return http.ListenAndServe(address, mux)
}

func (r *recording) forward(client *http.Client, w http.ResponseWriter, in *http.Request) error {
	var request struct {
		Query  string    `json:"query"`
		Vector []float32 `json:"vector"`
	}
	if err := json.NewDecoder(in.Body).Decode(&request); err != nil {
		return err
	}
	i, err := strconv.Atoi(in.URL.Query().Get("question"))
	if err != nil {
		return err
	}
	var last hits
	for _, s := range r.Statements[i] {
		answer, err := send(client, r.Target+s.Path, s.ContentType, s.Body)
		if err != nil {
			return err
		}
		last = hits{}
		if err := json.NewDecoder(bytes.NewReader(answer)).Decode(&last); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(last)
}
