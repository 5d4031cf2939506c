package sandbox_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestARequestAsksForTheHostByOneOfItsNames(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	ask := func(address, name string) reply {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/dapi/v1/chains", nil)
		require.NoError(t, err)
		request.Host = name
		request.Header.Set("Authorization", "Bearer "+me.access)
		response, err := w.server.Client().Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		answered := reply{status: response.StatusCode, header: response.Header}
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answered.body))
		return answered
	}
	address := w.server.Listener.Addr().String()
	for _, name := range []string{address, "localhost", "LOCALHOST:8080", "[::1]:8080", "127.0.0.1", "localhost."} {
		assert.Equal(t, http.StatusOK, ask(address, name).status, name)
	}
	armed := w.host.Arm("", "/dapi/v1/**", sandbox.Garbage())
	for _, name := range []string{"rebound.example.com", "rebound.example.com:8080", "192.0.2.7",
		"127.0.0.1.example.com", "x.localhost", "localhost.example.com", "localhostx"} {
		got := ask(address, name)
		refused(t, http.StatusForbidden, "forbidden", got)
		assert.Contains(t, got.body.text("error", "message"), "WithHosts", name)
	}
	assert.Zero(t, armed.Consumed(), "no fault was meant for these")
	requests := w.host.Requests()
	assert.Equal(t, "forbidden", requests[len(requests)-1].Slug)
}

func TestMoreNamesOfTheHost(t *testing.T) {
	host := sandbox.New(sandbox.WithControl(), sandbox.WithHosts("Sandbox.internal", "other:8080"))
	call := func(path, name string) int {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Host, request.RemoteAddr = name, "127.0.0.1:4000"
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		return recorder.Code
	}
	for _, name := range []string{"sandbox.internal", "sandbox.internal:8080", "other", "localhost:9000"} {
		assert.Equal(t, http.StatusUnauthorized, call("/dapi/v1/chains", name), name)
		assert.Equal(t, http.StatusOK, call("/_host/clock", name), name)
	}
	for _, name := range []string{"rebound.example.com", "sandbox.internal.example.com", "x.localhost",
		// what is no name with a port, though a part of it is one
		"localhost:80@example.com", "localhost:x", "localhost:", "localhost:123456", "localhost:80:80", "[localhost]",
		"[localhost]:80", "[::1%@example.com]:80", "[::1", "::1]", "sandbox.internal:80@example.com"} {
		assert.Equal(t, http.StatusForbidden, call("/dapi/v1/chains", name), name)
		assert.Equal(t, http.StatusForbidden, call("/_host/clock", name), name)
	}
}

// Another program on this machine passes the requests of its pages on, with its own port in the Host header.
func TestTheControlsAreAskedForAtTheirPort(t *testing.T) {
	for _, c := range []struct {
		host, name string
		status     int
	}{
		{"", "localhost:8080", http.StatusOK}, {"", "[::1]:8080", http.StatusOK},
		{"", "localhost:3000", http.StatusForbidden},
		{"", "localhost", http.StatusForbidden}, {"other:9090", "other:9090", http.StatusOK},
		{"localhost:9090", "localhost:9090", http.StatusOK},
	} {
		options := []sandbox.Option{sandbox.WithControl()}
		if c.host != "" {
			options = append(options, sandbox.WithHosts(c.host))
		}
		request := httptest.NewRequest(http.MethodGet, "/_host/clock", nil)
		request.Host, request.RemoteAddr = c.name, "127.0.0.1:4000"
		arrived := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
		request = request.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, arrived))
		recorder := httptest.NewRecorder()
		sandbox.New(options...).ServeHTTP(recorder, request)
		assert.Equal(t, c.status, recorder.Code, c.name)
	}
}

// Who binds the host to an address that others reach, such as a container's, and who calls it without a connection,
// calls it as they like.
func TestNoNameIsAskedForWhereTheMachineIsReachedFromElsewhere(t *testing.T) {
	host := sandbox.New()
	for _, arrived := range []net.Addr{nil, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}} {
		request := httptest.NewRequest(http.MethodGet, "http://anything.example.com/dapi/v1/chains", nil)
		if arrived != nil {
			request = request.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, arrived))
		}
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		assert.Equal(t, http.StatusUnauthorized, recorder.Code)
	}
}

// Hosts share what they read of the descriptions, and nothing else. Their first requests come at the same time.
func TestHostsOfOneProcessAreApart(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			w := newWorld(t)
			var clients sync.WaitGroup
			for range 4 {
				clients.Go(func() {
					me := w.login()
					created := me.call("POST", "/clients", object{"email": "only@example.com"})
					assert.Contains(t, []int{http.StatusCreated, http.StatusOK}, created.status)
				})
			}
			clients.Wait()
			assert.Equal(t, http.StatusUnauthorized, w.call("GET", "/dapi/v1/chains", nil).status)
			got := 0
			for _, entry := range w.host.Requests() {
				if entry.Operation == "CreateClient" && entry.Status == http.StatusCreated {
					got++
				}
			}
			assert.Equal(t, 1, got, "every host has its own clients")
		})
	}
	all.Wait()
}

// A program that may use nothing but what FIPS 140 allows can start a host, and move money on it.
func TestAHostUnderFIPS140(t *testing.T) {
	const child = "MONEYMOVEMENT_TEST_FIPS"
	if os.Getenv(child) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAHostUnderFIPS140$", "-test.v")
		command.Env = append(os.Environ(), child+"=1", "GODEBUG=fips140=only")
		said, err := command.CombinedOutput()
		require.NoError(t, err, "%s", said)
		assert.Contains(t, string(said), "--- PASS: TestAHostUnderFIPS140")
		return
	}
	host := sandbox.New(sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	defer server.Close()
	credentials := host.Credentials()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	require.NoError(t, err)
	_, err = platform.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC})
	require.NoError(t, err)
}
