package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hybridge-search/hybridge/internal/cli"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// A gateway with a certificate speaks HTTPS, and commands find it by the data directory
// though no certificate names the address that they use.
func TestServeWithACertificate(t *testing.T) {
	t.Parallel()
	folder, files := t.TempDir(), t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(files, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	issue := func(name string) (environ []string) {
		chain, key := devservices.NewAuthority(t).Issue("gateway.example")
		return []string{
			"HYBRIDGE_TLS_CERT=" + write(name+".crt", chain), "HYBRIDGE_TLS_KEY=" + write(name+".key", key),
		}
	}
	own := issue("own")
	c := command{t: t, folder: folder, environ: own}
	ctx, stop := context.WithCancel(t.Context())
	out, served := &journal{}, make(chan int, 1)
	p := &cli.Program{
		Groups: groups,
		Stdin:  strings.NewReader(""), Stdout: out, Stderr: out,
		Environ: append([]string{"HYBRIDGE_DATA_DIR=" + folder}, own...),
	}
	go func() { served <- p.Run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}) }()
	defer func() { stop(); <-served }()
	eventually(t, "it serves by HTTPS", func() bool { return strings.Contains(out.String(), "serves on https://") })
	c.want(cli.ExitOK, "", "kb create manuals", "created manuals")
	c.want(cli.ExitOK, "", "kb list", "manuals")
	c.environ = issue("another")
	c.want(cli.ExitUnavailable, "", "kb list", "another certificate than tls.cert")
	c.environ = []string{own[0], "HYBRIDGE_TLS_KEY=" + write("broken.key", []byte("no key"))}
	c.folder = t.TempDir()
	c.want(cli.ExitUsage, "", "serve --listen 127.0.0.1:0", "tls.cert", "its private key")
	c.environ = own[:1]
	c.want(cli.ExitUsage, "", "serve --listen 127.0.0.1:0", "tls.cert", "belong together")
}
