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
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/public"
)

// Most of these examples are compiled and not run: they would need a service.

// recording is a transport around another: the hook for tracing, metrics, proxies and tests.
type recording struct{ next http.RoundTripper }

func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	fmt.Println(request.Method, request.URL.Path)
	return r.next.RoundTrip(request)
}

// Every client sends through a transport of the caller's.
func ExampleWithHTTPClient() {
	client, err := public.New("https://sandbox.example", moneymovement.WithHTTPClient(&http.Client{
		Transport: recording{http.DefaultTransport}, Timeout: 10 * time.Second,
	}))
	if err != nil {
		log.Fatal(err)
	}
	if _, err = client.Rates.Get(context.Background(), "EUR"); err != nil {
		log.Fatal(err)
	}
}

// shared stands for a limiter that several processes ask, in a database or a cache, because they use one credential.
type shared struct{}

func (shared) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if call.Window == moneymovement.WindowReads && call.Class == moneymovement.ClassRead {
		fmt.Println("may a read be sent?")
	}
	return ctx.Err() // nil: it may; else wait here, no longer than ctx allows
}

// developer is loaded as in the example of package dapi.
var developer dapi.Developer

// The windows of the service are counted for a credential, so that processes which share one have to share its windows
// as well. A single process needs no option: its client keeps them by itself. WithoutPacing turns that off.
func ExampleWithRateLimiter() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer,
		moneymovement.WithRateLimiter(shared{}))
	if err != nil {
		log.Fatal(err)
	}
	if _, err = account.Chains.Live(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// What came back besides the value, for a log or a support case.
func ExampleCaptureResponse() {
	client, err := public.New("https://sandbox.example")
	if err != nil {
		log.Fatal(err)
	}
	var response moneymovement.Response
	if _, err = client.Rates.Get(context.Background(), "EUR", moneymovement.CaptureResponse(&response)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, response.RequestID, response.Attempts)
	if response.Deprecation != nil { // nil if the response announces no end
		fmt.Println(response.Deprecation.Since, response.Deprecation.Sunset, response.Deprecation.Link)
	}
	for _, window := range response.RateLimits {
		fmt.Println(window.Policy, window.Remaining, window.Quota) // -1 if the response does not say it
	}
}

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

// Each request of the payment has both headers, so that the logs of both sides can be joined.
func ExampleHeader() {
	pay := func(ctx context.Context, account *dapi.Account, asked dapi.PayoutCreate, key moneymovement.Key,
		terms dapi.PayTerms,
	) (dapi.Payment, error) {
		payment, err := account.Payouts.Pay(ctx, asked, key, terms,
			moneymovement.Header("X-Correlation-ID", "order-42"),
			moneymovement.Header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
		return payment, err
	}
	_ = pay
}
