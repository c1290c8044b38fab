// Package reason makes what another server says of its failure fit for a caller: one short line without
// credentials and addresses.
package reason

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Most is how many runes of a reason are shown.
const Most = 300

// masks say what is hidden and what stands there instead. URLs with a user come first: their rest is an address.
var masks = []struct {
	hidden  *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s/@"'\\]*@[^\s"'\\<>\])}]*`), "[url]"},
	{regexp.MustCompile(`(?i)\b(bearer|basic|apikey)\s+[a-z0-9+/=._~-]{6,}`), "$1 [secret]"},
	{regexp.MustCompile(`(?i)\b(password|passwd|pwd|secret|token|api[_-]?key)` +
		`(\s*[=]\s*|"\s*:\s*)["']?[^\s"',;&})\]]+["']?`), "$1$2[secret]"},
	{regexp.MustCompile(`\bsk-[A-Za-z0-9_*-]+`), "[secret]"},
	{regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b`), "[address]"},
	{regexp.MustCompile(`(?i)\[(?:[0-9a-f]{0,4}:){2,7}[0-9a-f.]{0,15}\](?::\d{1,5})?`), "[address]"},
	{regexp.MustCompile(`(?i)\b(?:localhost|[a-z0-9_-]+(?:\.[a-z0-9_-]+)+):\d{2,5}\b`), "[address]"},
}

// Shown is a reason as callers may see it. secrets are hidden wherever they stand.
func Shown(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	for _, m := range masks {
		text = m.hidden.ReplaceAllString(text, m.instead)
	}
	if runes := []rune(text); len(runes) > Most {
		text = string(runes[:Most]) + "…"
	}
	return text
}

// OfBody is the message in the body of an answer that is an error, as the usual servers of models write it:
//
//	{"error": {"message": "…"}}  {"error": "…"}  {"message": "…"}  {"detail": "…"}
//
// Any other body is its own message, but for a page of HTML, which says nothing.
func OfBody(body []byte, secrets ...string) string {
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &said) != nil {
		if text := strings.TrimSpace(string(body)); !strings.HasPrefix(text, "<") {
			return Shown(text, secrets...)
		}
		return ""
	}
	for _, part := range []json.RawMessage{said.Error, said.Message, said.Detail} {
		if text := messageOf(part); text != "" {
			return Shown(text, secrets...)
		}
	}
	return Shown(string(body), secrets...)
}

// messageOf is a text, or the message of an object.
func messageOf(part json.RawMessage) string {
	var text string
	if json.Unmarshal(part, &text) == nil {
		return text
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(part, &inner) == nil {
		return inner.Message
	}
	return ""
}
