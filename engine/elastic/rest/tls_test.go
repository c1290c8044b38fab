package rest_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/internal/devservices"
)

// secured is a server that answers a ping as Elasticsearch does, over https.
func secured(t *testing.T, chain, key []byte, clients *devservices.Authority) string {
	t.Helper()
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if clients != nil {
		server.TLS.ClientAuth, server.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		server.TLS.ClientCAs.AppendCertsFromPEM(clients.PEM)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

func pingBy(t *testing.T, url string, trust rest.TLS) error {
	t.Helper()
	c, err := rest.New(&rest.Options{
		URLs: []string{url}, TLS: trust, Timeout: time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	return errors.Join(c.Read(t.Context(), rest.Get("/"), nil), c.Close())
}

func written(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhoIsTrusted: an authority by its file or its fingerprint, for the host that it
// signed for. To present the authority's certificate is not enough.
func TestWhoIsTrusted(t *testing.T) {
	own, another := devservices.NewAuthority(t), devservices.NewAuthority(t)
	chain, key := own.Issue("127.0.0.1")
	elsewhere, elsewhereKey := own.Issue("es.invalid")
	foreign, foreignKey := another.Issue("127.0.0.1")
	trusted := secured(t, chain, key, nil)
	file, otherFile := written(t, own.PEM), written(t, another.PEM)
	colons := strings.ToUpper(own.Fingerprint[:2])
	for i := 2; i < len(own.Fingerprint); i += 2 {
		colons += ":" + strings.ToUpper(own.Fingerprint[i:i+2])
	}
	f := func(name, url string, trust rest.TLS, fine bool) {
		t.Helper()
		err := pingBy(t, url, trust)
		if fine && err != nil || !fine && (!fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "not trusted")) {
			t.Errorf(`%s: %v; want not fine or no error and fine or an error of kind Unavailable and "not trusted" in it`, name, err)
		}
	}
	f("the system", trusted, rest.TLS{}, false)
	f("its file", trusted, rest.TLS{CAFile: file}, true)
	f("another file", trusted, rest.TLS{CAFile: otherFile}, false)
	f("its fingerprint", trusted, rest.TLS{CAFingerprint: own.Fingerprint}, true)
	f("its fingerprint with colons", trusted, rest.TLS{CAFingerprint: colons}, true)
	f("another fingerprint", trusted, rest.TLS{CAFingerprint: another.Fingerprint}, false)
	f("anybody", trusted, rest.TLS{InsecureSkipVerify: true}, true)

	other := secured(t, elsewhere, elsewhereKey, nil)
	f("another host by the file", other, rest.TLS{CAFile: file}, false)
	f("another host by the fingerprint", other, rest.TLS{CAFingerprint: own.Fingerprint}, false)
	shown := secured(t, append(foreign, own.PEM...), foreignKey, nil)
	f("only shown", shown, rest.TLS{CAFingerprint: own.Fingerprint}, false)
}

func TestAClientCertificateIsShown(t *testing.T) {
	own := devservices.NewAuthority(t)
	chain, key := own.Issue("127.0.0.1")
	url := secured(t, chain, key, own)
	trust := rest.TLS{CAFile: written(t, own.PEM)}
	if err := pingBy(t, url, trust); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without one: %v, want unavailable", err)
	}
	cert, certKey := own.Issue("gateway")
	trust.ClientCertFile, trust.ClientKeyFile = written(t, cert), written(t, certKey)
	if err := pingBy(t, url, trust); err != nil {
		t.Errorf("with one: %v", err)
	}
}

func TestUnusableFilesAreNamed(t *testing.T) {
	f := func(trust rest.TLS, field string) {
		t.Helper()
		err := pingBy(t, "https://127.0.0.1:1", trust)
		if bad, ok := errors.AsType[*fault.Error](err); !ok || bad.Field != field {
			t.Errorf("%+v: %v, want %s", trust, err, field)
		}
	}
	f(rest.TLS{CAFile: "nowhere.pem"}, "elasticsearch.ca_file")
	f(rest.TLS{CAFile: written(t, []byte("no certificate"))}, "elasticsearch.ca_file")
	f(rest.TLS{CAFingerprint: "12:34"}, "elasticsearch.ca_fingerprint")
	f(rest.TLS{ClientCertFile: "nowhere.pem", ClientKeyFile: "nowhere.key"}, "elasticsearch.client_cert_file")
}

// Promise: "so every start logs a warning" (docs/configuration.md).
// Promise: "every start logs a warning" (docs/guide/en/elasticsearch.md).
func TestTrustingEverybodyIsWarnedOf(t *testing.T) {
	f := func(skip bool) {
		t.Helper()
		var logged bytes.Buffer
		c, err := rest.New(&rest.Options{
			URLs: []string{"https://127.0.0.1:1"}, TLS: rest.TLS{InsecureSkipVerify: skip},
			Logger: slog.New(slog.NewTextHandler(&logged, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(logged.String(), "level=WARN"); warned != skip || c.Close() != nil {
			t.Errorf("skip %t: logged %q", skip, logged.String())
		}
	}
	f(true)
	f(false)
}
