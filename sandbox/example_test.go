package sandbox_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A host is an http.Handler, so a test needs a server around it and nothing else.
func Example() {
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()

	response, err := http.Get(server.URL + "/dapi/v1/chains")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(body))
	fmt.Println(host.Credentials().Email)
	// Output:
	// 401 {"error":{"code":"unauthenticated","message":"The bearer token is missing or cannot be verified."}}
	// ops@example.com
}

// Lifetimes run on a clock that a test moves.
func ExampleHost_Advance() {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	host := sandbox.New(sandbox.WithClock(func() time.Time { return start }))

	fmt.Println(host.Advance(61 * time.Second).Format(time.RFC3339))
	// Output: 2026-05-01T12:01:01Z
}

// A scripted fault says whether it happened.
func ExampleHost_Arm() {
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()
	busy := host.Arm(http.MethodGet, "/chains", sandbox.Respond(503, "provider_unavailable").WithHeader("Retry-After", "1"))

	for range 2 {
		response, err := http.Get(server.URL + "/dapi/v1/chains")
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, busy.Consumed(), busy.Remaining())
	}
	// Output:
	// 503 1 0
	// 401 1 0
}
