// Package locale says the texts of the server in the language of its reader.
//
// A text is written once, in English, where it arises, and is English wherever it is
// stored, cached or logged. At the edge, where an answer is written, it is looked up in
// the catalog of the reader's language: an entry is the English text as its format has
// it, and what is said instead. So a new message costs one line per language, and a text
// that was stored by an earlier version, or is made of others, is found as well. What a
// catalog does not know stays English.
//
// What programs branch on is never translated: codes, fields, states, steps, values.
package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Language is one that texts are translated into. A nil one is English.
type Language struct {
	tag     string
	catalog func() *catalog
}

//go:embed *.json
var files embed.FS

// languages are those offered; English, which needs no catalog, is the default. The command line has more to say
// than a server: its catalogs are read only where a command line asks for one.
var (
	languages        = []*Language{nil, newLanguage("zh", "zh.json")}
	commandLanguages = []*Language{nil, newLanguage("zh", "zh.json", "cli.zh.json")}
)

var matcher = language.NewMatcher([]language.Tag{language.English, language.Chinese})

// Match gives the language that a header Accept-Language asks for.
func Match(accept string) *Language { return languages[indexOf(accept)] }

// MatchCommands gives the language of a command line, which knows the texts of the server too.
func MatchCommands(tag string) *Language { return commandLanguages[indexOf(tag)] }

func indexOf(accept string) int {
	if accept == "" {
		return 0
	}
	_, index := language.MatchStrings(matcher, accept)
	return index
}

func newLanguage(tag string, catalogs ...string) *Language {
	return &Language{tag: tag, catalog: sync.OnceValue(func() *catalog { return load(catalogs) })}
}

// Tag is the language's name, as in a header Content-Language.
func (l *Language) Tag() string {
	if l == nil {
		return "en"
	}
	return l.tag
}

// maxText bounds the texts to translate, in bytes: no text of ours is longer.
const maxText = 8 << 10

// Text gives an English text in the language; an unknown one stays unchanged.
func (l *Language) Text(english string) string {
	if l == nil || english == "" || len(english) > maxText {
		return english
	}
	return l.catalog().text(english)
}

// catalog is a language's messages.
type catalog struct {
	messages []message
	plain    map[string]string // the messages without values, by their English
	formats  map[string]string // all translations, by their English
	joints   map[string]string
}

// joints stand between texts that were joined; a catalog has them too.
var joints = []string{"; ", ", ", " or "}

// maxJoined bounds how many parts of a text are looked at.
const maxJoined = 16

func load(catalogs []string) *catalog {
	entries := map[string]string{}
	for _, name := range catalogs {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("locale: %v", err)) // it is embedded under the names in languages
		}
		if err := json.Unmarshal(data, &entries); err != nil {
			panic(fmt.Sprintf("locale: %s: %v", name, err)) // a test reads every catalog
		}
	}
	c, err := parse(entries)
	if err != nil {
		panic(fmt.Sprintf("locale: %v: %v", catalogs, err)) // as above
	}
	return c
}

func parse(entries map[string]string) (*catalog, error) {
	c := &catalog{plain: map[string]string{}, joints: map[string]string{}, formats: entries}
	for _, english := range slices.Sorted(maps.Keys(entries)) {
		if slices.Contains(joints, english) {
			c.joints[english] = entries[english]
			continue
		}
		m, err := newMessage(english, entries[english])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", english, err)
		}
		if text, ok := m.plain(); ok {
			c.plain[text] = m.say(nil, nil).said
		}
		c.messages = append(c.messages, m)
	}
	return c, nil
}

func (c *catalog) text(english string) string {
	r := reader{catalog: c, seen: map[string]reading{}}
	return r.read(english).said
}

// reading is an interpretation of a text, and how many of its letters belong to messages. The
// reading with most of them wins; 0 means an unknown text.
type reading struct {
	said  string
	known int
}

// reader reads one text, and the texts in it.
type reader struct {
	*catalog
	seen map[string]reading
}

func (r *reader) read(english string) reading {
	if found, ok := r.seen[english]; ok {
		return found
	}
	if said, ok := r.plain[english]; ok { // no other reading knows more than every letter
		return reading{said, len(english)}
	}
	best := r.sentence(english)
	for _, joint := range joints {
		if joined := r.joined(english, joint); joined.known > best.known {
			best = joined
		}
	}
	if best.known == 0 {
		best.said = english
	}
	r.seen[english] = best
	return best
}

// sentence reads a text that is one message.
func (r *reader) sentence(english string) (best reading) {
	for i := range r.messages {
		values, ok := r.messages[i].match(english)
		if !ok {
			continue
		}
		if found := r.messages[i].say(values, r.read); found.known > best.known {
			best = found
		}
	}
	return best
}

// joined reads a text that is several messages, all of which are known. A message may
// hold what joins them, so that each is as long as it must be to be one.
func (r *reader) joined(english, joint string) (all reading) {
	parts := strings.Split(english, joint)
	if len(parts) < 2 || len(parts) > maxJoined {
		return reading{}
	}
	for begin, end := 0, 1; begin < len(parts); end++ {
		if end > len(parts) {
			return reading{}
		}
		part := r.sentence(strings.Join(parts[begin:end], joint))
		if part.known == 0 {
			continue
		}
		if begin > 0 {
			all.said += r.joints[joint]
		}
		all.said, all.known, begin = all.said+part.said, all.known+part.known, end
	}
	return all
}
