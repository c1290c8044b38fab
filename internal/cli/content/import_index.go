package content

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/cli/content/foreign"
)

// foreignWish holds the flags for an index that is imported.
type foreignWish struct {
	url, index, apiKey, caFile string
	fields                     []string // member=field
	onlyMapped                 bool
}

const (
	foreignFlag = "from-elasticsearch"
	mapFlag     = "map"
)

// ofForeign are the flags that mean nothing for an export.
var ofForeign = []string{"index", mapFlag, "only-mapped", "from-api-key", "from-ca-file"}

func (w *foreignWish) add(flags *pflag.FlagSet) {
	flags.StringVar(&w.url, foreignFlag, "",
		"Import an index of this cluster, such as http://user:password@127.0.0.1:9200")
	flags.StringVar(&w.index, "index", "", "The index, an alias, or a pattern such as articles-*")
	flags.StringArrayVar(&w.fields, mapFlag, nil,
		"Source of a field, such as content=body, title=headline, vector=embedding or metadata.year=meta.year; several times")
	flags.BoolVar(&w.onlyMapped, "only-mapped", false, "Skip fields without --map (default: they become metadata)")
	flags.StringVar(&w.apiKey, "from-api-key", "", "API key for that cluster, in place of a user")
	flags.StringVar(&w.caFile, "from-ca-file", "", "CA certificates for that cluster, a PEM file")
}

// args checks which arguments and flags go together.
func (w *foreignWish) args(cmd *cobra.Command, args []string) error {
	if w.url == "" {
		if err := cli.GivenWith(cmd.Flags(), foreignFlag, ofForeign...); err != nil {
			return err
		}
		return cli.CheckArguments(cmd, args)
	}
	kb := cmd.Flags().Lookup("kb").Value.String()
	switch {
	case len(args) > 0:
		return fault.Invalid("FILE", args[0], "omitted with --"+foreignFlag)
	case kb == "":
		return cli.MissingFlag("--kb", "the id of a knowledge base")
	case w.index == "":
		return cli.MissingFlag("--index", "an index that exists")
	case cmd.Flags().Changed("damaged"):
		return fault.Invalid("--damaged", true, "omitted with --"+foreignFlag)
	default:
		return nil
	}
}

func (w *foreignWish) client() (*rest.Client, error) {
	address, user, password, err := foreign.SplitURL(w.url)
	if err != nil {
		return nil, err
	}
	return rest.New(&rest.Options{
		URLs: []string{address}, Username: user, Password: password, APIKey: w.apiKey,
		TLS: rest.TLS{CAFile: w.caFile}, Timeout: time.Minute, JSON: true,
	})
}

// importedIndex is one run of an import of an index.
type importedIndex struct {
	upload
	index    string
	notePath string // of the file that remembers how far the import is
	at       indexPlace
	reader   *foreign.Reader
}

// indexPlace is the content of KB.import. CreatedAt identifies the knowledge base: one deleted
// and created again is filled from the start.
type indexPlace struct {
	KnowledgeBase string        `json:"knowledge_base"`
	CreatedAt     time.Time     `json:"created_at"`
	Index         string        `json:"index"`
	Place         foreign.Place `json:"place"`
}

func importIndex(p *cli.Program, cmd *cobra.Command, wish *importWish, from *foreignWish, inJSON bool) (err error) {
	mapping, err := foreign.ParseMapping("--"+mapFlag, from.fields)
	if err != nil {
		return err
	}
	mapping.OnlyMapped = from.onlyMapped
	elastic, err := from.client()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, elastic.Close()) }()
	return p.WithGateway(cmd, func(ctx context.Context, c *cli.Client) error {
		i := &importedIndex{upload: upload{program: p, client: c, quiet: inJSON}, index: from.index}
		i.summary.Failures = []failure{}
		if err := i.open(ctx, elastic, wish, &mapping); err != nil {
			return err
		}
		return i.report(i.all(ctx), inJSON)
	})
}

// open finds the knowledge base, which must fit, or creates it, and goes to where an earlier run
// of this import stopped.
func (i *importedIndex) open(
	ctx context.Context, elastic *rest.Client, wish *importWish, mapping *foreign.Mapping,
) error {
	err := i.client.Get(ctx, cli.BasePath(wish.kb), &i.kb)
	missing := fault.Is(err, fault.NotFound)
	if err != nil && !missing {
		return err
	}
	i.notePath = wish.kb + ".import"
	options := foreign.Options{Index: i.index, Mapping: *mapping, Setting: "--" + mapFlag, Place: i.placeBefore()}
	if i.reader, err = foreign.Open(ctx, elastic, &options); err != nil {
		return err
	}
	if missing {
		err = i.create(ctx, wish, mapping)
	} else {
		err = i.checkFits(mapping)
	}
	if err != nil {
		return errors.Join(err, i.reader.Close(ctx))
	}
	i.summary.KnowledgeBase = i.kb.ID
	i.at = indexPlace{i.kb.ID, i.kb.CreatedAt, i.index, i.reader.Place()}
	return nil
}

// placeBefore returns the position that an earlier import into this knowledge base reached.
func (i *importedIndex) placeBefore() foreign.Place {
	var at indexPlace
	text, err := os.ReadFile(i.notePath)
	if err != nil || json.Unmarshal(text, &at) != nil || at.KnowledgeBase != i.kb.ID || at.Index != i.index ||
		!at.CreatedAt.Equal(i.kb.CreatedAt) {
		return foreign.Place{}
	}
	return at.Place
}

func kindOf(mapping *foreign.Mapping) engine.KnowledgeKind {
	if mapping.IsPairs() {
		return engine.KindQA
	}
	return engine.KindChunks
}

func (i *importedIndex) create(ctx context.Context, wish *importWish, mapping *foreign.Mapping) error {
	spec := catalog.Spec{
		ID: wish.kb, Engine: wish.engine, Kind: kindOf(mapping), Analyzer: wish.analyzer, BM25: wish.bm25,
	}
	if dimensions := i.reader.Dimensions(); dimensions > 0 {
		spec.Dimensions = &dimensions
	}
	return i.client.Post(ctx, "/v1/knowledge-bases", spec, &i.kb)
}

func (i *importedIndex) checkFits(mapping *foreign.Mapping) error {
	kind, dimensions := kindOf(mapping), i.reader.Dimensions()
	switch {
	case i.kb.Kind != kind:
		return fault.New(fault.Conflict, "knowledge base %q exists and its kind is %s; --%s makes %s",
			i.kb.ID, i.kb.Kind, mapFlag, kind)
	case dimensions > 0 && dimensions != i.kb.Dimensions:
		return fault.New(fault.Conflict, "knowledge base %q exists with %d dimensions; the vectors of %s have %d",
			i.kb.ID, i.kb.Dimensions, i.index, dimensions)
	}
	return nil
}

// all writes one page after another, each of which is done or repeated.
func (i *importedIndex) all(ctx context.Context) error {
	progress := cli.NewProgress(i.program.Stderr, "importing documents", int64(i.reader.Total()), cli.InPieces)
	defer progress.Finish()
	progress.Skip(int64(i.reader.Place().Documents))
	for {
		lines, documents, err := i.reader.Next(ctx)
		if err != nil {
			return i.stopped(err)
		}
		if err := i.write(ctx, lines, documents == 0); err != nil {
			return i.stopped(err)
		}
		if documents == 0 {
			return i.whole(ctx)
		}
		i.at.Place = i.reader.Place()
		if err := remember(i.notePath, i.at); err != nil {
			return err
		}
		progress.Add(int64(documents))
	}
}

func (i *importedIndex) stopped(err error) error {
	return fault.Wrap(fault.KindOf(err), err,
		"stopped after %s; repeat the command within an hour and it goes on from there",
		cli.Counted(i.at.Place.Documents, "document"))
}

func (i *importedIndex) write(ctx context.Context, lines []byte, last bool) error {
	answer, err := i.client.Stream(ctx, cli.Call{
		Method: http.MethodPost, Body: bytes.NewReader(lines), ContentType: cli.AsNDJSON,
		Path: fmt.Sprintf("%s/documents?refresh=%t", cli.BasePath(i.kb.ID), last),
	})
	if err != nil {
		return err
	}
	return errors.Join(i.lineResults(answer, i.index, i.at.Place.Documents), answer.Close())
}

// whole forgets how far the import is.
func (i *importedIndex) whole(ctx context.Context) error {
	if err := os.Remove(i.notePath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(fault.InvalidArgument, err, "remove %s", i.notePath)
	}
	return i.reader.Close(ctx)
}
