// Package realtokens has the analyzer that the command has, for tests.
package realtokens

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/hybridge-search/hybridge/analysis/jieba"
	"github.com/hybridge-search/hybridge/analysis/tokens"
)

// Analyzer gives one for all tests of a process: loading it takes half a second.
var Analyzer = sync.OnceValues(func() (*tokens.Analyzer, error) {
	s, err := jieba.Open(jieba.Options{DictionaryDir: filepath.Join(os.TempDir(), "hybridge-dictionary")})
	if err != nil {
		return nil, err
	}
	return tokens.New(s), nil
})
