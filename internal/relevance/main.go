// Command relevance measures the presets on retrieval sets and writes the tables of docs/relevance.md:
//
//	relevance                          every table whose servers are there
//	relevance -section fields          one of them
//	relevance -list my.yaml -page my.md
//
// RELEVANCE_DATA is the folder of the sets; EMBEDDING_URL, ELASTICSEARCH_URL and POSTGRES_URL are servers; tables
// that need another one stay as they are.
//
//	tables.yaml   the list of tables
//	main.go       flags, environment, the list
//	table.go      what each kind of table measures
//	apart.go      tables of sets that are tuned one by one
//	page.go       the markers around tables
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"go.yaml.in/yaml/v3"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/engine/elastic"
	"github.com/hybridge-search/hybridge/engine/postgres"
	"github.com/hybridge-search/hybridge/internal/app"
)

func main() {
	list := flag.String("list", "internal/relevance/tables.yaml", "the list of tables")
	page := flag.String("page", "docs/relevance.md", "the page to write")
	section := flag.String("section", "", "the only section to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *list, *page, *section)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "relevance: %v\n", err)
		os.Exit(1)
	}
}

// run writes the section, or all of them if it is empty.
func run(ctx context.Context, list, page, section string) error {
	tables, err := readTables(list)
	if err != nil {
		return err
	}
	settings, err := settings()
	if err != nil {
		return err
	}
	found := false
	for i := range tables {
		t := &tables[i]
		if section != "" && section != t.Section {
			continue
		}
		found = true
		if missing := t.missing(); missing != "" {
			fmt.Fprintf(os.Stderr, "relevance: %s stays as it is: it needs %s\n", t.Section, missing)
			continue
		}
		if err := t.write(ctx, settings, page); err != nil {
			return fmt.Errorf("%s: %w", t.Section, err)
		}
	}
	if !found {
		return fmt.Errorf("%s has no section %q", list, section)
	}
	return nil
}

// readTables reads the list, with a table for each engine.
func readTables(path string) (tables []table, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var list []table
	if err := decoder.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range list {
		for _, engine := range []string{app.EmbeddedName, elastic.Name, postgres.Name} {
			if section := t.Sections[engine]; section != "" {
				t.Engine, t.Section = engine, section
				tables = append(tables, t)
			}
		}
	}
	return tables, nil
}

// settings are the defaults with the servers of the environment.
func settings() (*config.Config, error) {
	return config.Load("", nil, append(os.Environ(),
		"HYBRIDGE_EMBEDDING_MODEL=multilingual-e5-small",
		"HYBRIDGE_EMBEDDING_URL="+os.Getenv("EMBEDDING_URL"),
		"HYBRIDGE_ELASTICSEARCH_URL="+os.Getenv("ELASTICSEARCH_URL"),
		"HYBRIDGE_POSTGRES_URL="+os.Getenv("POSTGRES_URL")))
}
