package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// Welcome shows the address of the gateway, its parts, and a request to try.
func (a *App) Welcome(address string) string {
	lines := []string{
		fmt.Sprintf("Hybridge %s serves on %s", a.Version, address), "  engines    " + a.describeEngines(),
	}
	if a.models.standard != nil || len(a.models.further) == 0 {
		lines = append(lines, "  embedding  "+a.models.standard.describe())
	}
	for _, name := range slices.Sorted(maps.Keys(a.models.further)) {
		lines = append(lines, "  embedding  "+a.models.further[name].describe())
	}
	lines = append(lines, fmt.Sprintf("  presets    %s by default", a.Config.DefaultPreset),
		"  keys       "+a.describeKeys(), "", "Try it:", "  "+a.example(address))
	return strings.Join(lines, "\n")
}

func (a *App) describeEngines() string {
	parts := []string{"embedded in " + a.Config.DataDir}
	if urls := a.Config.Elasticsearch.URL; len(urls) > 0 {
		parts = append(parts, "elasticsearch at "+strings.Join(redacted(urls), ", "))
	}
	return strings.Join(parts, "; ")
}

func (a *App) describeKeys() string {
	if n := len(a.Config.Keys); n > 0 {
		return english.Plural(n, "key", "")
	}
	if a.door.keys.Any() {
		return "stored ones"
	}
	return "none: whoever reaches this address may read and write"
}

// example returns a curl command that works when it is copied into a shell.
func (a *App) example(address string) string {
	authorization := ""
	if len(a.Config.Keys) > 0 || a.door.keys.Any() {
		authorization = ` -H "Authorization: Bearer $HYBRIDGE_KEY"`
	}
	if !a.Config.Demo {
		return "curl -s " + address + "/v1/knowledge-bases" + authorization
	}
	body, err := json.Marshal(map[string]any{
		"query": DemoQuestion, "knowledge_bases": []string{DemoID}, "top_k": 3,
	})
	if err != nil {
		return "curl -s " + address + "/"
	}
	return "curl -s " + address + "/v1/search" + authorization +
		" -H 'Content-Type: application/json' -d '" + string(body) + "'"
}
