package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestServeOverTLS(t *testing.T) {
	cert, key, pool := selfSigned(t)
	r := mustServe(t, filepath.Join(t.TempDir(), "store"), "--tls-cert", cert, "--tls-key", key)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	resp, err := c.Post(r.url+"/login", "", strings.NewReader(`{"token":"`+r.token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if cookies := resp.Cookies(); resp.StatusCode != http.StatusNoContent || len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("login = %d, cookies %v; want a Secure one", resp.StatusCode, cookies)
	}
	if !strings.HasPrefix(r.url, "https://") || resp.ProtoMajor != 2 {
		t.Errorf("served at %s as %s, want https and HTTP/2", r.url, resp.Proto)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if resp, err = c.Do(req); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len(reconnectAfter))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != reconnectAfter {
		t.Errorf("stream over HTTP/2 begins with %q, %v", first, err)
	}
}

// selfSigned writes a certificate for 127.0.0.1 and holdfast.example, and its
// key.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	priv, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"holdfast.example"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &priv.PublicKey, priv)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}
