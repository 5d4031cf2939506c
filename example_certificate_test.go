package moneymovement_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/public"
)

// mutual returns an option that shows a certificate to the host.
func mutual(certificate tls.Certificate, authority *x509.CertPool) moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   100,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: authority, Certificates: []tls.Certificate{certificate},
		},
	}})
}

// A host that asks for a certificate gets it.
func ExampleWithHTTPClient_certificate() {
	host := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"usdRate":"1.25"}`)
	}))
	host.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	host.StartTLS()
	defer host.Close()
	authority := x509.NewCertPool()
	authority.AddCert(host.Certificate())

	client, err := public.New(host.URL, mutual(host.TLS.Certificates[0], authority))
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "EUR")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.USDRate)
	// Output: 1.25
}
