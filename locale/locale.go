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
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
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

// languages are those offered; English, which needs no catalog, is the default.
var languages = []*Language{nil, newLanguage("zh")}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Chinese})

// Match gives the language that a header Accept-Language asks for.
func Match(accept string) *Language {
	if accept == "" {
		return nil
	}
	_, index := language.MatchStrings(matcher, accept)
	return languages[index]
}

func newLanguage(tag string) *Language {
	return &Language{tag: tag, catalog: sync.OnceValue(func() *catalog { return load(tag) })}
}

// Tag is the language's name, as in a header Content-Language.
func (l *Language) Tag() string {
	if l == nil {
		return "en"
	}
	return l.tag
}

// Text says an English text in the language; one that is not known stays as it is.
func (l *Language) Text(english string) string {
	if l == nil || english == "" {
		return english
	}
	return l.catalog().text(english)
}

// catalog is a language's messages, those with most of their own letters first: of two
// that fit, the one that says more about the text is meant.
type catalog struct {
	messages []message
	joints   map[string]string
}

// joints stand between texts that were joined; a catalog says them too.
var joints = []string{"; ", ", ", " or "}

// maxJoined bounds how many parts of a text are looked at.
const maxJoined = 16

func load(tag string) *catalog {
	data, err := files.ReadFile(tag + ".json")
	if err != nil {
		panic(fmt.Sprintf("locale: %v", err)) // it is embedded under the names in languages
	}
	c, err := parse(data)
	if err != nil {
		panic(fmt.Sprintf("locale: %s.json: %v", tag, err)) // a test reads every catalog
	}
	return c
}

func parse(data []byte) (*catalog, error) {
	var entries map[string]string
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, err
	}
	c := &catalog{joints: map[string]string{}}
	for english, said := range entries {
		if slices.Contains(joints, english) {
			c.joints[english] = said
			continue
		}
		m, err := newMessage(english, said)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", english, err)
		}
		c.messages = append(c.messages, m)
	}
	slices.SortFunc(c.messages, func(a, b message) int {
		return cmp.Or(cmp.Compare(b.letters, a.letters), strings.Compare(a.english, b.english))
	})
	return c, nil
}

func (c *catalog) text(english string) string {
	if said, ok := c.sentence(english); ok {
		return said
	}
	for _, joint := range joints {
		if said, ok := c.joined(english, joint); ok {
			return said
		}
	}
	return english
}

// sentence says a text that is one message.
func (c *catalog) sentence(english string) (string, bool) {
	for i := range c.messages {
		if values, ok := c.messages[i].match(english); ok {
			return c.messages[i].say(values, c.text), true
		}
	}
	return "", false
}

// joined says a text that is several messages, all of which are known.
func (c *catalog) joined(english, joint string) (string, bool) {
	parts := strings.Split(english, joint)
	if len(parts) < 2 || len(parts) > maxJoined {
		return "", false
	}
	var said []string
	for len(parts) > 0 {
		n := len(parts)
		text, ok := "", false
		for ; n > 0 && !ok; n-- { // a message may hold the joint itself
			text, ok = c.sentence(strings.Join(parts[:n], joint))
		}
		if !ok {
			return "", false
		}
		said, parts = append(said, text), parts[n+1:]
	}
	return strings.Join(said, c.joints[joint]), true
}
