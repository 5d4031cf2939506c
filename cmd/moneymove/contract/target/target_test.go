package target_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/signing"
)

// far is a host that answers its treasury with a status, and notes what arrived.
type far struct {
	treasury int
	arrived  []string
	at       []time.Time
}

func (f *far) RoundTrip(r *http.Request) (*http.Response, error) {
	f.arrived = append(f.arrived, r.Method+" "+r.URL.Path)
	f.at = append(f.at, time.Now())
	status := http.StatusOK
	if strings.HasSuffix(r.URL.Path, "/sandbox/treasury") {
		status = f.treasury
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

func guard(t *testing.T, f *far, base string) *target.Guard {
	t.Helper()
	parsed, err := url.Parse(base)
	require.NoError(t, err)
	return &target.Guard{Next: f, BaseURL: parsed}
}

func send(g *target.Guard, method, address string) error {
	request, err := http.NewRequestWithContext(context.Background(), method, address, nil)
	if err != nil {
		return err
	}
	answer, err := g.RoundTrip(request)
	if err == nil {
		err = answer.Body.Close()
	}
	return err
}

func TestOnlyASandboxIsWrittenTo(t *testing.T) {
	const base = "https://host.example/v"
	for status, isSandbox := range map[int]bool{200: true, 404: false, 403: false, 401: false, 500: false, 204: false} {
		f := &far{treasury: status}
		g := guard(t, f, base)
		require.ErrorIs(t, send(g, "POST", base+"/dapi/v1/payouts"), target.ErrNotSandbox)
		require.ErrorIs(t, send(g, "GET", base+"/dapi/v1/chains"), target.ErrNotSandbox)
		require.ErrorIs(t, send(g, "POST", base+"/dapi/v1/sandbox/treasury"), target.ErrNotSandbox)
		require.NoError(t, send(g, "POST", base+"/dapi/v1/auth/challenge"))
		require.NoError(t, send(g, "GET", base+"/dapi/v1/sandbox/treasury"))
		for _, path := range []string{"/dapi/v1/payouts", "/apps/transfer", "/user/contact"} {
			err := send(g, "POST", base+path)
			if isSandbox {
				assert.NoError(t, err, status)
			} else {
				assert.ErrorIs(t, err, target.ErrNotSandbox, status)
			}
		}
		want := 2
		if isSandbox {
			want = 5
		}
		assert.Len(t, f.arrived, want, "%d: %v", status, f.arrived)
	}
}

func TestHostWithoutTreasuryGetsNoMoreRequests(t *testing.T) {
	f := &far{treasury: 404}
	g := guard(t, f, "https://host.example")
	require.NoError(t, send(g, "GET", "https://host.example/dapi/v1/sandbox/treasury"))
	f.treasury = 200
	require.ErrorIs(t, send(g, "GET", "https://host.example/dapi/v1/sandbox/treasury"), target.ErrNotSandbox)
	require.ErrorIs(t, send(g, "POST", "https://host.example/dapi/v1/auth/challenge"), target.ErrNotSandbox)
}

// A run that only reads sends no write, also to a sandbox. Where a person allows it, it reads from any host.
func TestReadOnlyRunWritesNothing(t *testing.T) {
	const base = "https://host.example/v"
	writes := []string{"POST /dapi/v1/payouts", "DELETE /dapi/v1/contacts/ct_1", "PATCH /user", "PUT /auth/"}
	for status, anyHost := range map[int]bool{200: false, 404: true} {
		f := &far{treasury: status}
		g := guard(t, f, base)
		g.ReadOnly, g.AnyHost = true, anyHost
		require.NoError(t, send(g, "POST", base+"/dapi/v1/auth/challenge"))
		require.NoError(t, send(g, "GET", base+"/dapi/v1/sandbox/treasury"))
		require.NoError(t, send(g, "GET", base+"/dapi/v1/chains"))
		require.NoError(t, send(g, "POST", base+"/dapi/v1/auth/refresh"))
		for _, write := range writes {
			method, path, _ := strings.Cut(write, " ")
			require.ErrorIs(t, send(g, method, base+path), target.ErrWrites, write)
		}
		assert.Len(t, f.arrived, 4)
	}
	f := &far{treasury: 404}
	g := guard(t, f, base)
	g.AnyHost = true
	require.ErrorIs(t, send(g, "POST", base+"/dapi/v1/payouts"), target.ErrNotSandbox, "it allows no write")
}

func TestOtherHostsAreRefused(t *testing.T) {
	f := &far{treasury: 200}
	g := guard(t, f, "https://host.example")
	for _, address := range []string{"https://other.example/dapi/v1/sandbox/treasury",
		"http://host.example/dapi/v1/sandbox/treasury", "https://host.example:444/x"} {
		require.Error(t, send(g, "GET", address))
	}
	assert.Empty(t, f.arrived)
}

func TestPauseBetweenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{treasury: 200}
		g := guard(t, f, "https://host.example")
		g.Pause = 250 * time.Millisecond
		for range 3 {
			require.NoError(t, send(g, "GET", "https://host.example/dapi/v1/sandbox/treasury"))
		}
		assert.Equal(t, 500*time.Millisecond, f.at[2].Sub(f.at[0]))

		g.WritePause = 600 * time.Millisecond
		for _, call := range []string{"POST /dapi/v1/contacts", "POST /user/contact", "DELETE /dapi/v1/contacts/ct_1",
			"GET /dapi/v1/chains"} {
			method, path, _ := strings.Cut(call, " ")
			require.NoError(t, send(g, method, "https://host.example"+path))
		}
		var gaps []time.Duration
		for i := 3; i+1 < len(f.at); i++ {
			gaps = append(gaps, f.at[i+1].Sub(f.at[i]))
		}
		assert.Equal(t, []time.Duration{g.WritePause, g.Pause, g.WritePause}, gaps)
	})
}

func TestTheEnvironmentNamesAHost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "developer.pem")
	key, err := signing.Generate()
	require.NoError(t, err)
	require.NoError(t, key.Save(file))
	variables := map[string]string{}
	read := func() (*target.Real, error) {
		return target.FromEnvironment(func(name string) string { return variables[name] })
	}

	named, err := read()
	require.NoError(t, err)
	assert.Nil(t, named, "the embedded host")

	variables[target.BaseURLVariable] = "https://host.example"
	_, err = read()
	require.ErrorContains(t, err, target.KeyFileVariable)

	variables[target.EmailVariable], variables[target.KeyFileVariable] = "ops@example.com", file
	named, err = read()
	require.NoError(t, err)
	assert.Equal(t, key.PublicKey(), named.Key.PublicKey())
	assert.False(t, target.IsSet(named.APIKey))
	assert.False(t, target.IsSet(named.AccessToken))

	variables[target.APIKeyVariable], variables[target.AccessTokenVariable] = "secret-1", "secret-2"
	named, err = read()
	require.NoError(t, err)
	assert.Equal(t, "secret-1", named.APIKey.Reveal())
	assert.Equal(t, "secret-2", named.AccessToken.Reveal())

	variables[target.WalletVariable] = "nowhere.pem"
	_, err = read()
	require.Error(t, err)
	variables[target.BaseURLVariable] = "host.example"
	_, err = read()
	require.ErrorContains(t, err, "not an address")
}
