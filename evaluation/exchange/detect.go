package exchange

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// headBytes of a file are looked at.
const headBytes = 64 << 10

// Detect says the format of a file by its name and by how it begins.
func Detect(name string, head []byte) Format {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte(byteOrderMark)))
	first, _, _ := strings.Cut(string(head), "\n")
	first = strings.TrimRight(first, "\r")
	ending := strings.ToLower(filepath.Ext(name))
	switch ending {
	case ".jsonl", ".ndjson":
		return Lines
	case ".csv":
		return CSV
	case ".tsv":
		if columns := strings.Split(first, "\t"); len(columns) == qrelsColumns || len(columns) == runColumns {
			return TREC
		}
		return BEIR
	}
	switch {
	case bytes.HasPrefix(head, []byte("{")):
		return detectJSON(head)
	case bytes.HasPrefix(head, []byte("[")), ending == ".json", ending == "" && len(head) == 0:
		return Lines
	case isLTR(string(head)):
		return LTR
	case strings.HasPrefix(strings.ToLower(first), "query-id\tcorpus-id"):
		return BEIR
	}
	return TREC
}

// ofRatings are members of RRE's files.
var ofRatings = []string{
	"topics", "query_groups", "queries", "index", "id_field", "corpora_file", "collection_file", "template",
	"query_placeholder",
}

// detectJSON tells one object from objects a line: by its first member.
func detectJSON(head []byte) Format {
	if first, _, several := bytes.Cut(head, []byte("\n")); several && json.Valid(first) {
		return Lines
	}
	if bytes.Equal(bytes.Join(bytes.Fields(head), nil), []byte("{}")) {
		return Ranx
	}
	decoder := json.NewDecoder(bytes.NewReader(head))
	var tokens [3]json.Token
	for i := range tokens {
		token, err := decoder.Token()
		if err != nil {
			return Lines
		}
		tokens[i] = token
	}
	name, _ := tokens[1].(string)
	switch {
	case tokens[2] == json.Delim('{'):
		return Ranx
	case slices.Contains(ofRatings, name) && !hasMember(head, "_id"):
		return RRE
	}
	return Lines
}

func hasMember(head []byte, name string) bool { return bytes.Contains(head, []byte(`"`+name+`"`)) }

// isLTR looks at the first line that is no comment.
func isLTR(head string) bool {
	for line := range strings.Lines(head) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		return len(fields) > 1 && strings.HasPrefix(fields[1], qidPrefix)
	}
	return false
}
