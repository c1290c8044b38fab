package rest

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hybridge-search/hybridge/fault"
)

// TLS says whom to trust over https, and which client certificate to present. The zero
// value trusts the system's authorities.
type TLS struct {
	CAFile string // PEM; these authorities instead
	// CAFingerprint is the SHA-256 of the authority's certificate, in hexadecimal
	// with or without colons; instead of CAFile.
	CAFingerprint      string
	ClientCertFile     string // PEM
	ClientKeyFile      string // PEM, of ClientCertFile
	InsecureSkipVerify bool   // trust any certificate
}

// configs returns a function that makes the configuration for a host.
func (s *TLS) configs() (func(host string) *tls.Config, error) {
	base := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.InsecureSkipVerify} //nolint:gosec // as set
	if s.ClientCertFile != "" {
		pair, err := tls.LoadX509KeyPair(s.ClientCertFile, s.ClientKeyFile)
		if err != nil {
			return nil, unusable("elasticsearch.client_cert_file", s.ClientCertFile, "a certificate in PEM, with its key", err)
		}
		base.Certificates = []tls.Certificate{pair}
	}
	if s.CAFile != "" {
		text, err := os.ReadFile(s.CAFile)
		base.RootCAs = x509.NewCertPool()
		if err != nil || !base.RootCAs.AppendCertsFromPEM(text) {
			return nil, unusable("elasticsearch.ca_file", s.CAFile, "certificates in PEM", err)
		}
	}
	if s.CAFingerprint == "" {
		return func(host string) *tls.Config { return forHost(base, host) }, nil
	}
	authority, err := parseFingerprint(s.CAFingerprint)
	if err != nil {
		return nil, err
	}
	return func(host string) *tls.Config {
		config := forHost(base, host)
		config.InsecureSkipVerify = true // the standard library knows no fingerprints
		config.VerifyConnection = func(state tls.ConnectionState) error {
			return authority.verify(host, state.PeerCertificates)
		}
		return config
	}, nil
}

func forHost(base *tls.Config, host string) *tls.Config {
	config := base.Clone()
	config.ServerName = host
	return config
}

func unusable(field, file, accepted string, err error) error {
	bad := fault.Invalid(field, file, "a file of "+accepted)
	bad.Err = err
	return bad
}

// fingerprint is the SHA-256 of an authority's certificate.
type fingerprint [sha256.Size]byte

func parseFingerprint(text string) (f fingerprint, err error) {
	digits, err := hex.DecodeString(strings.ReplaceAll(text, ":", ""))
	if err != nil || len(digits) != len(f) {
		return f, fault.Invalid("elasticsearch.ca_fingerprint", text,
			"64 hexadecimal digits, with or without colons between them")
	}
	return fingerprint(digits), nil
}

var errNoAuthority = errors.New("no certificate of the chain has the fingerprint")

// verify fails unless the authority is in the chain and has signed the first certificate,
// for this host.
func (f fingerprint) verify(host string, chain []*x509.Certificate) error {
	err := fmt.Errorf("%w %x", errNoAuthority, f[:])
	authority, between := x509.NewCertPool(), x509.NewCertPool()
	for _, c := range chain {
		if sha256.Sum256(c.Raw) == f {
			authority.AddCert(c)
			err = nil
		} else {
			between.AddCert(c)
		}
	}
	if err == nil {
		_, err = chain[0].Verify(x509.VerifyOptions{Roots: authority, Intermediates: between, DNSName: host})
	}
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	return nil
}
