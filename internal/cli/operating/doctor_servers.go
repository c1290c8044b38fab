package operating

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hybridge-search/hybridge/bm25/tiered"
	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/embedded"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/gateway"
	"github.com/hybridge-search/hybridge/internal/app"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/mappings"
	"github.com/hybridge-search/hybridge/synonyms"
)

// apart is the accepted difference between clocks.
const apart = 5 * time.Second

// clock warns of a server whose clock differs.
func clock(server string, theirs, asked time.Time) []finding {
	difference := theirs.Sub(asked.Add(time.Since(asked) / 2)).Round(time.Second)
	if difference.Abs() <= apart {
		return nil
	}
	return []finding{warn("the clock of %s differs by %s from this machine's", server, difference).
		do("synchronise both clocks, by NTP")}
}

func (x *examination) data(ctx context.Context) []finding {
	if !x.free {
		return []finding{skip("in use, so not looked into")}
	}
	err := embedded.Examine(ctx, x.config.DataDir)
	switch {
	case err == nil:
		return []finding{fine("of a version that this one reads")}
	case fault.Is(err, fault.NotFound):
		return []finding{fine("there are no data yet")}
	case fault.Is(err, fault.Unsupported):
		return []finding{failedBy(err)} // it says what to do
	default:
		return []finding{failedBy(err).do("restore a backup of data_dir")}
	}
}

func (x *examination) elasticsearch(ctx context.Context) []finding {
	c := &x.config.Elasticsearch
	if len(c.URL) == 0 {
		return []finding{skip("not configured")}
	}
	options := app.ElasticOptions(c)
	options.Logger, options.Tokenizer = slog.New(slog.DiscardHandler), noTokenizer{}
	e, err := elastic.New(options)
	if err != nil {
		return []finding{failedBy(err)}
	}
	defer func() { _ = e.Close() }() // nothing was written
	asked := time.Now()
	found, err := e.Examine(ctx)
	if err != nil {
		return []finding{unreachable(err, "elasticsearch.url")}
	}
	findings := append(clusterFindings(found), nodeFindings(found, asked)...)
	return append(findings, elasticStore(ctx, e, found)...)
}

func clusterFindings(found *elastic.Examination) (findings []finding) {
	if major, _, _ := strings.Cut(found.Version, "."); major != "8" && major != "9" {
		findings = append(findings, warn("Elasticsearch is %s; this gateway is tested with 8.19 and 9.4", found.Version).
			do("use Elasticsearch 8 or 9"))
	} else {
		findings = append(findings, fine("Elasticsearch %s answers, the cluster is %s", found.Version, found.Health))
	}
	if found.Health == "red" {
		findings = append(findings, problem("the cluster is red: shards are lost, searches fail or lack chunks").
			do("ask GET _cluster/allocation/explain why, and bring the lost nodes back"))
	}
	if found.License != "" && found.License != "active" {
		findings = append(findings, problem("the license is %s", found.License).do("renew it, or go back to the basic one"))
	}
	return findings
}

func nodeFindings(found *elastic.Examination, asked time.Time) (findings []finding) {
	for _, n := range found.Nodes {
		for _, d := range n.Paths {
			switch {
			case d.Free < d.Flood:
				findings = append(findings, problem("node %s has %d MB of disk free, less than the flood stage of %d MB: "+
					"its indices take no writes", n.Name, d.Free>>20, d.Flood>>20).
					do("make room there, or add a node"))
			case d.Free < d.Low:
				findings = append(findings, warn("node %s has %d MB of disk free, less than the low watermark of %d MB: "+
					"it gets no further shards", n.Name, d.Free>>20, d.Low>>20).
					do("make room there, or add a node"))
			}
		}
		findings = append(findings, clock("node "+n.Name, n.Clock, asked)...)
	}
	return findings
}

// elasticStore checks the stored data, and whether it needs a missing plugin.
func elasticStore(ctx context.Context, e *elastic.Engine, found *elastic.Examination) []finding {
	list, err := e.KnowledgeBases(ctx)
	if err != nil {
		return []finding{unreachable(err, "elasticsearch.url")}
	}
	for i := range list {
		if mappings.NeedsIK(list[i].Analyzer) && !slices.Contains(found.Plugins, "analysis-ik") {
			return []finding{problem("knowledge base %q needs the plugin analysis-ik, which no node has", list[i].ID).
				do("install it on every node: bin/elasticsearch-plugin install analysis-ik")}
		}
	}
	return append([]finding{fine("it holds %d knowledge bases", len(list))}, driftFindings(ctx, e, list)...)
}

// driftFindings are the settings of indices that others changed so that searches or writes fail.
func driftFindings(ctx context.Context, e *elastic.Engine, list []engine.KnowledgeBase) (findings []finding) {
	drift, err := e.OwnDrift(ctx)
	if err != nil {
		return []finding{unreachable(err, "elasticsearch.url")}
	}
	for i := range drift {
		findings = append(findings, finding{State: isProblem, Detail: drift[i].Text()}.
			do(`unset them: PUT %s/_settings {"NAME": null}`, drift[i].Index))
	}
	told := map[string]bool{} // shared indices are met with each of their knowledge bases
	for i := range list {
		kb := &list[i]
		drift, err := e.SettingsDrift(ctx, kb)
		if err != nil {
			return append(findings, unreachable(err, "elasticsearch.url"))
		}
		for j := range drift {
			if !told[drift[j].Index] {
				told[drift[j].Index] = true
				findings = append(findings, driftFinding(kb, &drift[j]))
			}
		}
	}
	return findings
}

func driftFinding(kb *engine.KnowledgeBase, drift *elastic.IndexDrift) finding {
	found := finding{State: isProblem, Detail: drift.Text()}
	switch {
	case kb.Attach != nil:
		return found.do("the index is attached: ask whoever keeps it")
	case kb.Shared:
		return found.do("hybridge kb check %s --repair", kb.ID)
	default:
		return found.do("hybridge mappings plan %s, and apply", kb.ID)
	}
}

// noTokenizer stands for the one that nothing is tokenized by.
type noTokenizer struct{}

func (noTokenizer) Terms(string) []string { return nil }
func (noTokenizer) Fold(s string) string  { return s }
func (noTokenizer) Fingerprint() string   { return "" }

func (x *examination) postgres(ctx context.Context) []finding {
	c := &x.config.Postgres
	if c.URL == "" {
		return []finding{skip("not configured")}
	}
	asked := time.Now()
	found, err := postgres.Examine(ctx, postgres.Options{Settings: postgres.Settings{Schema: c.Schema}, URL: c.URL})
	if err != nil {
		return []finding{unreachable(err, "postgres.url")}
	}
	findings := []finding{fine("PostgreSQL %s answers", found.Server)}
	switch {
	case found.Vector != "":
		findings = append(findings, fine("pgvector is %s", found.Vector))
	case found.Available == "":
		findings = append(findings, problem("the server does not have pgvector").do("install pgvector 0.8 or newer there"))
	default:
		findings = append(findings, warn("the database does not have the extension vector yet, of which the server has %s",
			found.Available).do("the first start makes it if the user may; else, as a superuser, CREATE EXTENSION vector"))
	}
	if found.ReadOnly {
		findings = append(findings, problem("this server is a standby and takes no writes").
			do("name the primary in postgres.url"))
	}
	if !found.Schema && !found.MayMake {
		findings = append(findings, problem("the schema %q is not there, and the user may not make it", c.Schema).
			do("make it, or give the user the right CREATE in the database"))
	}
	return append(findings, clock("PostgreSQL", found.Clock, asked)...)
}

func (x *examination) redis(ctx context.Context) []finding {
	if x.config.Redis.URL == "" {
		return []finding{skip("not configured")}
	}
	options, err := tiered.ParseRedisURL(x.config.Redis.URL)
	if err != nil {
		return []finding{failedBy(err)}
	}
	redis.SetLogger(app.RedisLog{Log: slog.New(slog.DiscardHandler)})
	options.MaxRetries = -1
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }() // nothing was written
	asked := time.Now()
	theirs, err := client.Time(ctx).Result()
	if err != nil {
		return []finding{problem("Redis does not answer: %v", err).do("start that server, or correct redis.url; " +
			"without Redis the gateway works, and gateways share no cache")}
	}
	return append([]finding{fine("Redis answers")}, clock("Redis", theirs, asked)...)
}

func (x *examination) embedding(ctx context.Context) []finding {
	found := x.model(ctx, x.config.Embedding, "embedding")
	all := x.config.AllEmbeddings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		found = append(found, x.model(ctx, config.Embedding{EmbeddingService: all[name]}, "embeddings["+name+"]")...)
	}
	return found
}

// model embeds a text by one model; at is the key of its settings.
func (x *examination) model(ctx context.Context, c config.Embedding, at string) []finding {
	c.Retries = 0
	m, err := app.NewModel(&c, slog.New(slog.DiscardHandler))
	switch {
	case err != nil:
		return []finding{failedBy(err)}
	case m == nil && len(x.config.Embeddings) > 0:
		return nil
	case cli.LacksModel(x.config):
		return []finding{warn("no embedding model is configured: only keywords answer").
			do("start the gateway by one of these:\n%s", strings.Join(cli.WaysToModel(), "\n"))}
	case m == nil:
		return []finding{skip("not configured: keyword search only")}
	}
	defer m.Close()
	if m.Client == nil { // a process, which a gateway starts
		if _, err := exec.LookPath(m.Command.Path); err != nil {
			return []finding{problem("embedding.local.command is %q, which cannot be run", m.Command.Path).
				do("install the model server, or set embedding.url")}
		}
		return []finding{fine("the gateway starts %s", m.Command.Path)}
	}
	began := time.Now()
	v, err := m.Client.Query(ctx, "a question")
	if err != nil {
		return []finding{unreachable(err, at+".url and "+at+".model")}
	}
	if c.Dimensions > 0 && len(v) != c.Dimensions {
		return []finding{problem("model %q makes vectors of %d dimensions and %s.dimensions is %d",
			c.Model, len(v), at, c.Dimensions).
			do("set %s.dimensions to what the model makes, or to 0", at)}
	}
	return []finding{fine("model %q makes vectors of %d dimensions, one in %d ms",
		m.Name, len(v), time.Since(began).Milliseconds())}
}

// dictionary reads the words, in a folder of its own.
func (x *examination) dictionary(context.Context) []finding {
	folder, err := os.MkdirTemp("", "hybridge-doctor-*")
	if err != nil {
		return []finding{failedBy(err).do("make room in the folder for temporary files")}
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is temporary anyway
	if x.analyzer, err = app.NewAnalyzer(folder, x.config, nil); err != nil {
		return []finding{failedBy(err).do("correct user_dictionary, or the file that it names")}
	}
	return []finding{fine("the tokenizer works")}
}

func (x *examination) synonyms(context.Context) []finding {
	if x.config.Synonyms.Path == "" {
		return []finding{skip("not configured")}
	}
	if x.analyzer == nil {
		return []finding{skip("the tokenizer does not work")}
	}
	library, err := synonyms.Open(synonyms.Options{Path: x.config.Synonyms.Path, Tokenizer: x.analyzer})
	if err != nil {
		return []finding{failedBy(err).do("correct that file, or synonyms.path")}
	}
	return []finding{closed(library, fine("%s can be read", x.config.Synonyms.Path))}
}

func closed(c io.Closer, f finding) finding {
	if err := c.Close(); err != nil {
		return failedBy(err)
	}
	return f
}

// gateway asks the one that runs whether it is ready.
func (x *examination) gateway(ctx context.Context) []finding {
	server, key, err := x.program.Target(x.cmd)
	if err != nil {
		return []finding{failedBy(err)}
	}
	if server == "" {
		server = x.running
	}
	if server == "" {
		return []finding{skip("none runs on this data directory, and --server names none")}
	}
	c, err := x.program.NewClient(server, key)
	if err == nil && server == x.running && x.config.TLS.Cert != "" {
		err = c.Trust(x.config.TLS.Cert)
	}
	if err != nil {
		return []finding{failedBy(err)}
	}
	defer c.Close()
	return readyFindings(ctx, c)
}

func readyFindings(ctx context.Context, c *cli.Client) (findings []finding) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/readyz", nil)
	if err != nil {
		return []finding{failedBy(err)}
	}
	if c.Key != "" {
		request.Header.Set("X-API-Key", c.Key)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return []finding{unreachable(c.TransportFault(ctx, err), "--server")}
	}
	defer func() { _ = response.Body.Close() }() // read
	text, err := io.ReadAll(io.LimitReader(response.Body, cli.MaxProblem))
	var ready gateway.Readiness
	if err := errors.Join(err, c.Decode(text, &ready)); err != nil {
		return []finding{failedBy(err)}
	}
	for name, state := range ready.BackEnds {
		if state != "ok" {
			findings = append(findings, problem("the gateway at %s says that %s is %s", c.Base, name, state).
				do("its log says why"))
		}
	}
	if ready.Status != "ready" && len(findings) == 0 {
		findings = append(findings, problem("the gateway at %s is %s", c.Base, ready.Status).do("its log says why"))
	}
	if len(findings) == 0 {
		findings = append(findings, fine("the gateway at %s is ready", c.Base))
	}
	return findings
}
