package moneymovement_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
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
	var answer moneymovement.Response
	if _, err = client.Rates.Get(context.Background(), "EUR", moneymovement.CaptureResponse(&answer)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status, answer.RequestID, answer.Attempts)
}
