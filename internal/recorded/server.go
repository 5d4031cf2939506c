package recorded

import (
	"fmt"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/signing"
)

// Server stands in for the service in an example, with the credentials that it accepts.
type Server struct {
	URL string

	Email       string // of the platform API's account
	Key         *signing.DeveloperKey
	APIKey      string  // of the app API
	AccessToken string  // of the reference endpoints
	Wallet      *Wallet // the cards spend from it

	close   func()
	advance func(time.Duration)
}

// Close ends the server. It panics, which fails the example, if the example's requests were not those of its recording.
func (s *Server) Close() { s.close() }

// Advance moves the service's clock, and not the program's.
func (s *Server) Advance(d time.Duration) { s.advance(d) }

// Serve starts a server with the recorded responses of the example that calls it. It panics if there is no recording.
func Serve() *Server {
	example := caller()
	key, err := signing.GenerateEd25519()
	if err != nil {
		panic(err)
	}
	if recorder := os.Getenv(RecorderVariable); recorder != "" {
		return serveHost(recorder, example, key)
	}
	recording, err := load(example)
	if err != nil {
		panic(err)
	}
	replay := newReplay(example, recording, time.Now())
	server := httptest.NewServer(replay)
	return &Server{
		URL: server.URL, Email: email, Key: key, APIKey: "ak_recorded", AccessToken: "uat_recorded", Wallet: noWallet(),
		close: func() {
			server.Close()
			if err := replay.complete(); err != nil {
				panic(err)
			}
		},
		advance: func(time.Duration) {}, // each recorded response has its time
	}
}

const modulePath = "github.com/moneymovement/moneymovement-go"

// caller returns the name of the running example, which is the name of its recording: dapi/ExamplePayouts_Wait, or
// ExampleCaptureResponse in the root package.
func caller() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if folder, name, found := strings.Cut(strings.TrimPrefix(frame.Function, modulePath), "_test."); found &&
			strings.HasPrefix(name, "Example") {
			return strings.TrimPrefix(folder+"/"+name, "/")
		}
		if !more {
			panic(fmt.Sprintf("recorded: Serve is for examples of %s", modulePath))
		}
	}
}

// email is the email of the host's first account.
const email = "ops@example.com"
