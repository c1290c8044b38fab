// Command gen packs the documentation into the file that is named, from where package docs embeds it in a program
// with the tag `packed`. Run it by `go generate`.
package main

import (
	"bytes"
	"log"
	"os"

	"github.com/hybridge-search/hybridge/docs"
)

func main() {
	log.SetFlags(0)
	var b bytes.Buffer
	if err := docs.Pack(&b); err != nil {
		log.Fatal("packing the documentation: ", err)
	}
	if err := os.WriteFile(os.Args[1], b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
