package examples_test

import "testing"

// operationsTest uses the code of docs/operations.md: the host asks for a certificate.
const operationsTest = `package guide

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func Test(t *testing.T) {
	host := sandbox.New()
	server := httptest.NewUnstartedServer(host)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	authority := x509.NewCertPool()
	authority.AddCert(server.Certificate())
	account, err := dapi.NewSelfServe(server.URL,
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key},
		mutual(server.TLS.Certificates[0], authority))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := account.Chains.Live(t.Context()); err != nil {
		t.Fatal(err)
	}
}
`

func TestTheCodeOfTheOperationsPageWorks(t *testing.T) {
	runCodeOf(t, "docs/operations.md", 1, operationsTest)
}
