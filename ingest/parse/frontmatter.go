package parse

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// maxFrontMatter bounds front matter in bytes; longer one says nothing.
const maxFrontMatter = 64 << 10

// metadataOf reads front matter in YAML. What is no mapping, or no JSON, is no metadata: a file is not
// refused for what it says of itself.
func metadataOf(matter []byte) map[string]json.RawMessage {
	if len(matter) > maxFrontMatter || !bytes.HasPrefix(matter, []byte("---")) {
		return nil
	}
	var mapping map[string]yaml.Node
	if yaml.NewDecoder(bytes.NewReader(matter)).Decode(&mapping) != nil {
		return nil
	}
	members := map[string]json.RawMessage{}
	for name, node := range mapping {
		if value, ok := valueOf(&node, 0); ok {
			if encoded, err := json.Marshal(value); err == nil {
				members[name] = encoded
			}
		}
	}
	return members
}

// maxMatterDepth is how deep front matter may be nested.
const maxMatterDepth = 8

// valueOf is a value as JSON has it; dates are text, as they are written.
func valueOf(node *yaml.Node, depth int) (value any, ok bool) {
	if depth > maxMatterDepth {
		return nil, false
	}
	switch node.Kind { //nolint:exhaustive // an alias may stand for much
	case yaml.ScalarNode:
		if node.Tag == "!!timestamp" {
			return node.Value, true
		}
		return value, node.Decode(&value) == nil && value != nil
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			if value, ok := valueOf(item, depth+1); ok {
				list = append(list, value)
			}
		}
		return list, len(list) > 0
	case yaml.MappingNode:
		members := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if value, ok := valueOf(node.Content[i+1], depth+1); ok {
				members[node.Content[i].Value] = value
			}
		}
		return members, len(members) > 0
	}
	return nil, false
}
