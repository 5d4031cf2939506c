package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// BenchmarkMixedRequests measures how many requests the host serves in a second, in process and on as many cores as
// GOMAXPROCS says. One iteration is the day of one client, as a test of an integrator has it: it is created, funded and
// read, saves two contacts, books and confirms a payout to each, watches them, and looks at its ledger. What the caller
// does itself, encoding and two signatures a day, is in the figure too.
func BenchmarkMixedRequests(b *testing.B) {
	host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) {
		s.ClientReadyAfter = 0
		s.FaucetBalance = decimal.New(1, 12)
	}))
	key := newSigner(b)
	email := host.Credentials().Email
	if _, err := host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: key.public(b)}); err != nil {
		b.Fatal(err)
	}
	me := logInInProcess(b, host, email, key)

	var clients, requests atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c := *me
			c.day(fmt.Sprintf("client-%d@example.com", clients.Add(1)))
			requests.Add(c.count)
		}
	})
	b.ReportMetric(float64(requests.Load())/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests.Load()), "ns/request")
}

// inProcess is a session whose requests go to the host without a socket.
type inProcess struct {
	b       testing.TB
	host    *sandbox.Host
	key     signer
	public  []byte
	bearer  string
	account string
	count   int64
}

func logInInProcess(b testing.TB, host *sandbox.Host, email string, key signer) *inProcess {
	b.Helper()
	c := &inProcess{b: b, host: host, key: key, public: key.public(b)}
	challenge := c.call("POST", "/auth/challenge", http.StatusCreated,
		object{"email": email, "requestExpiry": host.Now().Add(time.Minute)})
	grant := c.call("POST", "/auth/token", http.StatusCreated, object{
		"challengeId": challenge.text("challengeId"), "publicKey": c.public,
		"signature": key.sign(b, bytesOf(b, challenge.text("payload"))),
	})
	c.bearer = grant.text("accessToken")
	return c
}

// call makes one request, and fails the benchmark if it is not answered with this status.
func (c *inProcess) call(method, path string, status int, body any, key ...string) object {
	recorder := c.send(method, path, status, body, key...)
	if method == http.MethodGet || recorder == nil {
		return nil
	}
	var answered object
	if err := json.Unmarshal(recorder.Body.Bytes(), &answered); err != nil {
		c.b.Error(err)
	}
	return answered
}

// send is call, and does not read the response.
func (c *inProcess) send(method, path string, status int, body any, key ...string) *httptest.ResponseRecorder {
	var content []byte
	if body != nil {
		content, _ = json.Marshal(body) // of strings and bytes
	}
	request := httptest.NewRequest(method, "/dapi/v1"+path, bytes.NewReader(content))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.bearer)
	if c.account != "" {
		request.Header.Set("X-Service-Account", c.account)
	}
	for _, k := range key {
		request.Header.Set("Idempotency-Key", k)
	}
	recorder := httptest.NewRecorder()
	c.host.ServeHTTP(recorder, request)
	c.count++
	if recorder.Code != status {
		c.b.Errorf("%s %s: %d %s", method, path, recorder.Code, recorder.Body)
		return nil
	}
	return recorder
}

// day makes 17 requests for a client of its own.
func (c *inProcess) day(email string) {
	c.count = 0
	client := c.call("POST", "/clients", http.StatusCreated, object{"email": email})
	c.account = client.text("id")
	c.call("GET", "/clients/"+c.account, http.StatusOK, nil)
	c.call("POST", "/sandbox/deposits", http.StatusCreated, object{"amount": "100", "currency": "USDC"}, "fund")

	for name, account := range map[string]object{
		"bank": {"accountType": "sepa", "iban": "DE89370400440532013000", "accountHolderName": "Bob"},
		"wallet": {"accountType": "onchain", "chainId": "base", "currency": "USDC",
			"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7"},
	} {
		contact := c.call("POST", "/contacts", http.StatusCreated, object{"name": "Bob", "account": account}).text("id")
		c.call("GET", "/contacts/"+contact+"/capabilities", http.StatusOK, nil)
		booked := c.call("POST", "/payouts", http.StatusCreated,
			object{"contactId": contact, "amount": "12.5", "currency": "USDC"}, name)
		path := "/payouts/" + booked.text("id")
		c.call("POST", path+"/confirm", http.StatusOK, object{
			"approvalId": booked.text("approval", "id"), "publicKey": c.public,
			"signature": c.key.sign(c.b, bytesOf(c.b, booked.text("approval", "payload"))),
		})
		c.call("GET", path, http.StatusOK, nil)
		c.call("GET", path, http.StatusOK, nil)
	}
	c.call("GET", "/transactions", http.StatusOK, nil)
	c.call("GET", "/chains", http.StatusOK, nil)
}

// BenchmarkNew measures what a test pays for a host of its own.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sandbox.New()
	}
}
