// The same request in the languages that have a client, made of the same value.

type Body = Record<string, unknown>

/** The methods of the Python client, and what each must be given by name. */
const methods: Record<string, { name: string; needs: string[] }> = {
  '/v1/search': { name: 'search', needs: ['query', 'knowledge_bases'] },
  '/v1/context': { name: 'context', needs: ['query', 'knowledge_bases'] },
  '/v1/explain': { name: 'explain', needs: ['query', 'knowledge_bases', 'chunk_id'] },
  '/v1/suggest': { name: 'suggest', needs: ['query', 'knowledge_bases'] },
}

const keywords = new Set(('False None True and as assert async await break class continue def del elif else except finally for from global if import in is '
  + 'lambda nonlocal not or pass raise return self try while with yield').split(' '))
const isName = (text: string) => /^[A-Za-z_]\w*$/.test(text) && !keywords.has(text)

/** A value as Python writes it. */
function python(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const within = `${indent}    `
  const items = Array.isArray(value)
    ? value.map((v) => python(v, within))
    : Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${python(v, within)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const short = `${open}${items.join(', ')}${close}`
  return short.length <= 60 && !short.includes('\n') ? short : `${open}\n${items.map((i) => `${within}${i},\n`).join('')}${indent}${close}`
}

/** The request by the package hybridge of clients/python; what has no method there by httpx, which comes with it. */
export function asPython(url: string, path: string, body: Body): string {
  const method = methods[path]
  const fits = method && method.needs.every((name) => name in body) && Object.entries(body).every(([name, value]) => isName(name) && value !== null)
  if (!fits) {
    return `import os

import httpx

key = os.environ.get("HYBRIDGE_KEY")
answer = httpx.post(
    ${JSON.stringify(url + path)},
    headers={"Authorization": f"Bearer {key}"} if key else {},
    json=${python(body, '    ')},
    timeout=30,
)
answer.raise_for_status()
print(answer.text)
`
  }
  const members = Object.entries(body).map(([name, value]) => `        ${name}=${python(value, '        ')},\n`).join('')
  const show = path === '/v1/search' ? '    for hit in answer.hits:\n        print(hit.score, hit.knowledge_base, hit.id)\n' : '    print(answer)\n'
  return `import os

from hybridge import Client

with Client(${JSON.stringify(url)}, api_key=os.environ.get("HYBRIDGE_KEY")) as client:
    answer = client.${method.name}(
${members}    )
${show}`
}

/** A text as a literal of Go: JSON has escaped what a raw one cannot hold, but for backticks and U+FEFF, lone surrogates too. */
function goText(text: string): string {
  const whole = text.replaceAll('\ufeff', '\\ufeff')
  return whole.includes('`') ? JSON.stringify(whole) : `\`${whole}\``
}

/** The request by the package rag; what it does not send by net/http. */
export function asGo(url: string, path: string, body: Body): string {
  const text = goText(JSON.stringify(body, null, 2))
  if (path === '/v1/search') {
    return `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/hybridge-search/hybridge/rag"
	"github.com/hybridge-search/hybridge/search"
)

const body = ${text}

func main() {
	var request search.Request
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		log.Fatal(err)
	}
	gateway := rag.At(${JSON.stringify(url)}, rag.ClientOptions{APIKey: os.Getenv("HYBRIDGE_KEY")})
	answer, err := gateway.Search(context.Background(), request)
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range answer.Hits {
		fmt.Println(hit.Score, hit.KnowledgeBase, hit.ID)
	}
}
`
  }
  return `package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

const body = ${text}

func main() {
	request, err := http.NewRequest(http.MethodPost, ${JSON.stringify(url + path)}, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if key := os.Getenv("HYBRIDGE_KEY"); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
}
`
}
