package app

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/hybridge-search/hybridge/ingest/convert"
	"github.com/hybridge-search/hybridge/ingest/parse"
	"github.com/hybridge-search/hybridge/ingest/parse/pool"
)

// ParserCommand is the command of this program by which a gateway parses files, not one for people.
const ParserCommand = "parse-files"

// newParsers returns the processes that parse files, which are this program again. What they compile once
// is stored below the folder of the data.
func newParsers(size int, dataDir string) (*pool.Pool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // this very version, when the file was replaced by another
	}
	command := []string{self, ParserCommand, "--compiled", filepath.Join(dataDir, "compiled")}
	return pool.New(pool.Options{Command: command, Size: size}), nil
}

// parser splits files in processes of the gateway, and by a converter where one is configured.
func (c *content) parser(o *Options) parse.Parser {
	i := &o.Config.Ingest
	if i.ConverterURL == "" {
		return c.parsers
	}
	return convert.New(convert.Options{
		URL: i.ConverterURL, APIKey: i.ConverterKey.Reveal(), Shape: i.ConverterShape, Timeout: i.ConverterTimeout,
		Formats: i.ConverterFormats, Inner: c.parsers,
	})
}
