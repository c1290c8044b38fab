package devservices

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// Authority signs certificates, and nobody trusts it who is not told to.
type Authority struct {
	PEM         []byte // its certificate
	Fingerprint string // as Elasticsearch prints it at its first start

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one, as Elasticsearch does at its first start.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.PEM, a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	})
	sum := sha256.Sum256(a.cert.Raw)
	a.Fingerprint = hex.EncodeToString(sum[:])
	return a
}

// Issue makes a certificate for these hosts, which the authority's own follows, and its
// key, both in PEM.
func (a *Authority) Issue(hosts ...string) (chain, key []byte) {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: hosts[0]}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	chain, _, private := a.sign(template)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return append(chain, a.PEM...), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// sign signs by the authority; its own certificate by itself.
func (a *Authority) sign(template *x509.Certificate) ([]byte, *x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	by, with := a.cert, a.key
	if by == nil {
		by, with = template, key
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, by, &key.PublicKey, with)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(signed)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), cert, key
}
