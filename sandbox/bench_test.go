package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
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

// BenchmarkMemoryOfPayouts measures how much memory finished payouts hold: those of a bank contact, each booked with a
// key of its own, confirmed and completed.
func BenchmarkMemoryOfPayouts(b *testing.B) {
	for name, forgetAfter := range map[string]time.Duration{"kept": 0, "forgotten": time.Second} {
		b.Run(name, func(b *testing.B) {
			c := newPayingClient(b,
				sandbox.WithSettings(func(s *sandbox.Settings) {
					s.ForgetFinishedAfter = sandbox.Duration(forgetAfter)
				}))
			before := heldMemory()
			for i := range b.N {
				c.pay(fmt.Sprintf("a-key-of-usual-length-%014d", i))
				c.host.Advance(time.Second)
			}
			held := heldMemory() - before
			b.ReportMetric(float64(held)/float64(b.N)*100_000/(1<<20), "MiB/100000")
			b.ReportMetric(float64(c.host.Records())/float64(b.N), "records/payout")
		})
	}
}

// heldMemory is the live heap.
func heldMemory() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// payingClient is a client with money and one contact, on a host of its own whose clock moves only when advanced.
type payingClient struct {
	*inProcess
	contact string
	paid    int
}

func newPayingClient(t testing.TB, options ...sandbox.Option) *payingClient {
	t.Helper()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	host := sandbox.New(append([]sandbox.Option{
		sandbox.WithClock(func() time.Time { return start }),
		sandbox.WithSettings(func(s *sandbox.Settings) {
			s.ClientReadyAfter = 0
			s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
		}),
	}, options...)...)
	key := newSigner(t)
	if _, err := host.RegisterKey(sandbox.KeyRegistration{Email: host.Credentials().Email,
		PublicKey: key.public(t)}); err != nil {
		t.Fatal(err)
	}
	c := &payingClient{inProcess: logInInProcess(t, host, host.Credentials().Email, key)}
	c.account = c.call("POST", "/clients", http.StatusCreated, object{"email": "acme@example.com"}).text("id")
	c.call("POST", "/sandbox/deposits", http.StatusCreated, object{"amount": "100000000", "currency": "USDC"})
	c.contact = c.call("POST", "/contacts", http.StatusCreated, object{
		"name": "Bob", "account": object{"accountType": "sepa", "iban": "DE89370400440532013000",
			"accountHolderName": "Bob"},
	}).text("id")
	return c
}

// pay books a payout and confirms it.
func (c *payingClient) pay(key string) (id string) {
	if c.paid++; c.paid%1000 == 0 { // before the session expires
		c.bearer = logInInProcess(c.b, c.host, c.host.Credentials().Email, c.key).bearer
	}
	booked := c.call("POST", "/payouts", http.StatusCreated,
		object{"contactId": c.contact, "amount": "12.5", "currency": "USDC"}, key)
	id = booked.text("id")
	c.call("POST", "/payouts/"+id+"/confirm", http.StatusOK, object{
		"approvalId": booked.text("approval", "id"), "publicKey": c.public,
		"signature": c.key.sign(c.b, bytesOf(c.b, booked.text("approval", "payload"))),
	})
	return id
}

// BenchmarkPages measures a page of up to 100 out of 100,000 rows, in process: the first, the last, and pages with
// filters. It reports how many entries each page has: one payout is among the deposits.
func BenchmarkPages(b *testing.B) {
	c, middle := longLedger(b, 100_000)
	last := "" // the cursor of the last page
	for cursor, _ := c.page(nil); cursor != ""; cursor, _ = c.page(url.Values{"cursor": {cursor}}) {
		last = cursor
	}
	for _, of := range []struct {
		name  string
		query url.Values
	}{
		{"first", nil}, {"last", url.Values{"cursor": {last}}}, {"since", url.Values{"since": {middle}}},
		{"rare", url.Values{"type": {"payout"}}}, {"deposits", url.Values{"type": {"deposit"}}},
	} {
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			entries := 0
			for b.Loop() {
				_, entries = c.page(of.query)
			}
			b.ReportMetric(float64(entries), "entries")
		})
	}
}

// BenchmarkReads measures how many reads of three kinds the host serves in a second, in process and over TCP.
func BenchmarkReads(b *testing.B) {
	c, _ := longLedger(b, 1000)
	server := httptest.NewServer(c.host)
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	for name, send := range map[string]func(*http.Request) (int, error){
		"in process": func(r *http.Request) (int, error) {
			recorder := httptest.NewRecorder()
			c.host.ServeHTTP(recorder, r)
			return recorder.Code, nil
		},
		"over TCP": func(r *http.Request) (int, error) {
			response, err := client.Do(r)
			if err != nil {
				return 0, err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			return response.StatusCode, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var created atomic.Int64
			paths := []string{"/clients/" + c.account, "/transactions?limit=10", "/chains"}
			b.SetParallelism(4)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					path := paths[created.Add(1)%int64(len(paths))]
					r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+"/dapi/v1"+path, nil)
					r.Header.Set("Authorization", "Bearer "+c.bearer)
					r.Header.Set("X-Service-Account", c.account)
					if status, err := send(r); err != nil || status != http.StatusOK {
						b.Error(path, status, err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// longLedger returns a client with so many deposits after one payout, and the time in their middle.
func longLedger(b *testing.B, deposits int) (c *payingClient, middle string) {
	c = newPayingClient(b, sandbox.WithSettings(func(s *sandbox.Settings) {
		s.MaxRecords = 10_000_000
		s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
	}))
	c.pay("the-oldest-payout")
	for i := range deposits {
		if i == deposits/2 {
			middle = c.host.Advance(time.Minute).Format(time.RFC3339)
		}
		c.call("POST", "/sandbox/deposits", http.StatusCreated, object{"amount": "1", "currency": "USDC"},
			fmt.Sprint(i))
	}
	return c, middle
}

// page reads a page of up to 100 transactions, and returns the cursor of the page that follows.
func (c *inProcess) page(query url.Values) (cursor string, entries int) {
	asked := url.Values{"limit": {"100"}}
	for name, values := range query {
		asked[name] = values
	}
	body := c.send(http.MethodGet, "/transactions?"+asked.Encode(), http.StatusOK, nil).Body.String()
	_, rest, _ := strings.Cut(body, `"nextCursor":"`)
	cursor, _, _ = strings.Cut(rest, `"`)
	return cursor, strings.Count(body, `"createdAt":`)
}

// BenchmarkPayments measures how many payouts the host books and confirms in a second, in process, each with a key of
// its own, and how much memory it then holds. The caller's signature is in the figure too. The variants are what a test
// of very many payments uses: an audit, no request log, payouts that are forgotten, faults by a function, and payouts
// that fail or come back much later.
func BenchmarkPayments(b *testing.B) {
	const day = sandbox.Duration(24 * time.Hour)
	light := []sandbox.Option{sandbox.WithAudit(), sandbox.WithRequestLog(0),
		sandbox.WithSettings(func(s *sandbox.Settings) { s.ForgetFinishedAfter = sandbox.Duration(time.Second) })}
	for name, options := range map[string][]sandbox.Option{
		"kept":  nil,
		"audit": light,
		"returning": append(light[:3:3], sandbox.WithSettings(func(s *sandbox.Settings) {
			s.FailOneIn, s.RefundOneIn, s.RefundAfter, s.ReturnAfter = 10, 10, day, day
		})),
	} {
		b.Run(name, func(b *testing.B) {
			c := newPayingClient(b, append([]sandbox.Option{sandbox.WithClock(time.Now),
				sandbox.WithInstantProgress(), sandbox.WithSettings(func(s *sandbox.Settings) {
					s.FaucetBalance, s.MaxCredit = decimal.New(1, 12), decimal.New(1, 12)
				})}, options...)...)
			c.host.Intercept(func(sandbox.Request) sandbox.Fault { return sandbox.Fault{} })
			before := heldMemory()
			var paid atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				mine := *c
				session := *c.inProcess
				mine.inProcess = &session
				for pb.Next() {
					mine.pay(fmt.Sprintf("a-key-of-usual-length-%014d", paid.Add(1)))
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
			b.ReportMetric(float64(heldMemory()-before)/float64(b.N), "B/payment")
			c.send("GET", "/chains", http.StatusOK, nil)
		})
	}
}
