package web

import (
	"encoding/json"
	"os"
	"testing"
)

// TestTextsAreSaidOnce: of two texts with one key the page would show the last, whoever meant it.
func TestTextsAreSaidOnce(t *testing.T) {
	for _, name := range []string{"en", "zh"} {
		file, err := os.Open("src/i18n/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close() //nolint:errcheck // it is only read
		read := json.NewDecoder(file)
		said, isKey := map[string]bool{}, false
		for read.More() || len(said) == 0 {
			token, err := read.Token()
			if err != nil {
				t.Fatal(err)
			}
			text, isText := token.(string)
			if !isText {
				continue // the brace at the beginning
			}
			if isKey = !isKey; !isKey {
				continue
			}
			if said[text] {
				t.Errorf("%s.json has %q twice", name, text)
			}
			said[text] = true
		}
	}
}
