package parse

import (
	"log"
	"os"
	"testing"
)

// The reader of PDF is compiled, as in the program: interpreted, hostile files take too long.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "compiled")
	if err != nil {
		log.Fatal(err)
	}
	CompileInto(folder)
	code := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}
