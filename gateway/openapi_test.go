package gateway

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/golden"
)

// The document is part of what users rely on: a change of it shows in review.
func TestOpenAPIGolden(t *testing.T) {
	golden.JSON(t, "openapi.json", openAPIDocument(t))
}

func openAPIDocument(t *testing.T) map[string]any {
	t.Helper()
	got := start(t, Options{Version: "0.0.0"}).ask("GET", "/openapi.json", "")
	if got.status != 200 || got.header.Get("Content-Type") != "application/openapi+json" {
		t.Fatalf(`%d %s; want got.status 200 and got.header.Get("Content-Type") "application/openapi+json"`, got.status, got.header.Get("Content-Type"))
	}
	var document map[string]any
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// The rules of OpenAPI 3.1 that generators of clients stumble over
// (https://spec.openapis.org/oas/v3.1.0).
func TestOpenAPIIsValid(t *testing.T) {
	document := openAPIDocument(t)
	if document["openapi"] != "3.1.0" {
		t.Errorf(`openapi is %v; want document["openapi"] "3.1.0"`, document["openapi"])
	}
	ids, tags := map[string]bool{}, map[any]bool{}
	for _, tag := range document["tags"].([]any) {
		tags[tag.(map[string]any)["name"]] = true
	}
	for path, methods := range document["paths"].(map[string]any) {
		for method, op := range methods.(map[string]any) {
			op := op.(map[string]any)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: operationId %q is missing or taken", method, path, id)
			}
			ids[id] = true
			checkParameters(t, path, op)
			checkResponses(t, document, method+" "+path, op)
			if op["description"] == nil || op["summary"] == nil || len(op["tags"].([]any)) != 1 || op["security"] == nil {
				t.Errorf("%s %s lacks a summary, a description, its tag or its security", method, path)
			}
			if tag := op["tags"].([]any)[0]; !tags[tag] {
				t.Errorf("%s %s: the document does not describe its tag %v", method, path, tag)
			}
		}
	}
	checkSchemas(t, document, document, "#")
}

func checkParameters(t *testing.T, path string, op map[string]any) {
	t.Helper()
	var documented []string
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		if p["in"] == "path" {
			documented = append(documented, "{"+p["name"].(string)+"}")
			if p["required"] != true {
				t.Errorf("%s: path parameter %v must be required", path, p["name"])
			}
		}
		if p["schema"] == nil || p["description"] == "" {
			t.Errorf("%s: parameter %v lacks a schema or a description", path, p["name"])
		}
	}
	inPath := regexp.MustCompile(`\{[^}]+\}`).FindAllString(path, -1)
	slices.Sort(documented)
	slices.Sort(inPath)
	if !slices.Equal(documented, inPath) {
		t.Errorf("%s documents the parameters %v", path, documented)
	}
}

func checkResponses(t *testing.T, document map[string]any, route string, op map[string]any) {
	t.Helper()
	responses, _ := op["responses"].(map[string]any)
	refusals := 0
	for status, response := range responses {
		response := response.(map[string]any)
		if ref, shared := response["$ref"].(string); shared {
			response, _ = at(document, ref).(map[string]any)
		}
		if description, _ := response["description"].(string); description == "" {
			t.Errorf(`%s: response %s has no description; want description other than ""`, route, status)
		}
		if status[0] == '4' {
			refusals++
		}
	}
	if refusals == 0 || responses["default"] == nil {
		t.Errorf(`%s documents the responses %v; want refusals other than 0 and a responses["default"]`, route, responses)
	}
}

var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// checkSchemas walks the whole document: references lead somewhere, types are
// JSON Schema's (3.0's nullable is gone), required members exist.
func checkSchemas(t *testing.T, document map[string]any, node any, at string) {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			checkSchemas(t, document, item, at+"[]")
		}
	case map[string]any:
		checkSchema(t, document, node, at)
		for name, member := range node {
			checkSchemas(t, document, member, at+"/"+name)
		}
	}
}

func checkSchema(t *testing.T, document, node map[string]any, at string) {
	t.Helper()
	if ref, ok := node["$ref"].(string); ok && !resolves(document, ref) {
		t.Errorf("%s: %s leads nowhere", at, ref)
	}
	if _, old := node["nullable"].(bool); old {
		t.Errorf("%s: nullable is not in OpenAPI 3.1", at)
	}
	isSecurityScheme := strings.Contains(at, "/securitySchemes/")
	if name, ok := node["type"].(string); ok && !slices.Contains(schemaTypes, name) && !isSecurityScheme {
		t.Errorf("%s: type %q", at, name)
	}
	properties, isObject := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	for _, name := range required {
		if isObject && properties[name.(string)] == nil {
			t.Errorf("%s requires %v, which it does not have", at, name)
		}
	}
}

func resolves(document map[string]any, ref string) bool { return at(document, ref) != nil }

// at is what a reference leads to, nil where it leads nowhere.
func at(document map[string]any, ref string) any {
	var node any = document
	for _, token := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		object, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = object[token]
	}
	return node
}

// TestNumbersOfRequestsHaveBounds: of all bodies, but for coordinates, which have a unit of their own.
func TestNumbersOfRequestsHaveBounds(t *testing.T) {
	document := openAPIDocument(t)
	seen := map[string]bool{}
	var follow func(node any, place string)
	follow = func(node any, place string) {
		switch node := node.(type) {
		case []any:
			for _, item := range node {
				follow(item, place+"[]")
			}
		case map[string]any:
			if ref, is := node["$ref"].(string); is && !seen[ref] {
				seen[ref] = true
				follow(at(document, ref), ref)
			}
			types := fmt.Sprint(node["type"])
			if strings.Contains(types, "integer") || strings.Contains(types, "number") {
				_, enough := node["minimum"]
				_, above := node["exclusiveMinimum"]
				if !enough && !above && !strings.HasSuffix(place, "/positions/items/items") {
					t.Errorf("%s is a number without bounds", place)
				}
			}
			for name, member := range node {
				follow(member, place+"/"+name)
			}
		}
	}
	for path, methods := range document["paths"].(map[string]any) {
		for _, op := range methods.(map[string]any) {
			op := op.(map[string]any)
			follow(op["parameters"], path)
			if path != "/mcp" {
				follow(op["requestBody"], path)
			}
		}
	}
}

func TestOpenAPIAsYAML(t *testing.T) {
	g := start(t, Options{Version: "0.0.0"})
	yaml := g.ask("GET", "/openapi.yaml", "")
	if yaml.status != 200 || yaml.header.Get("Content-Type") != "application/openapi+yaml" || !strings.Contains(yaml.body, "\nopenapi: 3.1.0\n") {
		t.Errorf(`%d %s %.200s; want yaml.status 200 and yaml.header.Get("Content-Type") "application/openapi+yaml" and "\nopenapi: 3.1.0\n" in it`, yaml.status, yaml.header.Get("Content-Type"), yaml.body)
	}
}
