// Command host starts a sandbox host, and prints the status of its first response.
package main

import (
	"context"
	"net/http"
	"net/http/httptest"

	"github.com/moneymovement/moneymovement-go/bench/programs/done"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func main() {
	host := sandbox.New()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://localhost/dapi/v1/chains",
		nil)
	host.ServeHTTP(recorder, request) // without a session: it is refused
	done.With(recorder.Code, nil)
}
