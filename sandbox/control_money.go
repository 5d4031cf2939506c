package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/signing"
)

// operator sees every account of the host.
func (h *Host) operator() platform.Operator {
	return h.platform.Operator(h.seed.key.Owner, h.seed.key.Email)
}

func (c control) listAccounts(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Accounts(searchText(r)), nil
}

func (c control) credit(r *http.Request) (int, any, error) {
	var order struct {
		Account  string          `json:"account"`
		Amount   decimal.Decimal `json:"amount"`
		Currency string          `json:"currency"`
	}
	if err := decodeBody(r, &order); err != nil {
		return 0, nil, err
	}
	created, err := c.host.operator().Credit(order.Account, order.Amount, cmp.Or(order.Currency, "USDC"))
	return http.StatusCreated, created, err
}

func (c control) listPayouts(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Payouts(searchText(r)), nil
}

func (c control) listPayins(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Payins(searchText(r)), nil
}

func (c control) listVerifications(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Verifications(searchText(r)), nil
}

func (c control) listEscrows(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Escrows(searchText(r)), nil
}

func (c control) readLedger(r *http.Request) (int, any, error) {
	last, err := countParam(r, "last", "last is how many movements are returned at most.")
	return http.StatusOK, c.host.operator().Ledger(searchText(r), last), err
}

func (c control) movePayout(r *http.Request) (int, any, error) {
	return decodeMove(r, c.host.MovePayout)
}

func (c control) movePayin(r *http.Request) (int, any, error) {
	return decodeMove(r, c.host.operator().MovePayin)
}

func (c control) decideVerification(r *http.Request) (int, any, error) {
	return decodeMove(r, c.host.operator().Decide)
}

// decodeMove reads the status that a resource is moved to.
func decodeMove(r *http.Request, to func(id, status string) error) (int, any, error) {
	var order struct {
		Status string `json:"status"`
	}
	if err := decodeBody(r, &order); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, to(r.PathValue("id"), order.Status)
}

// sendPayout pays a bank account as a program does, so that people see each request of a payment: it logs in, saves a
// contact, books, signs and confirms. It signs with the key of the host's first account.
func (c control) sendPayout(r *http.Request) (int, any, error) {
	var order struct {
		Account string          `json:"account"`
		Amount  decimal.Decimal `json:"amount"`
	}
	if err := decodeBody(r, &order); err != nil {
		return 0, nil, err
	}
	s := consoleClient{host: c.host, remote: r.RemoteAddr, name: r.Host}
	if err := s.logIn(r.Context()); err != nil {
		return 0, nil, err
	}
	if order.Account != wire.Self {
		s.account = order.Account
	}
	contact, err := s.send(r.Context(), "/contacts", map[string]any{"name": "Test supplier",
		"account": map[string]any{"accountType": "sepa", "iban": "DE89370400440532013000",
			"accountHolderName": "Test supplier"}})
	if err != nil {
		return 0, nil, err
	}
	s.key = "test-" + rand.Text()
	booked, err := s.send(r.Context(), "/payouts", map[string]any{
		"contactId": contact.ID, "amount": order.Amount.String(), "currency": "USDC", "paymentReference": "Test payout",
	})
	if err != nil {
		return 0, nil, err
	}
	proof, err := s.approve(r.Context(), booked, signing.Intent{
		Operation: "payout.fund", ResourceID: booked.ID, Account: order.Account, Amount: order.Amount, Currency: "USDC",
		Destination: signing.Destination{ContactID: contact.ID},
	})
	if err != nil {
		return 0, nil, err
	}
	if _, err := s.send(r.Context(), "/payouts/"+booked.ID+"/confirm", proof); err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, map[string]string{"id": booked.ID, "idempotencyKey": s.key}, nil
}

// consoleClient calls the host's platform API in this process.
type consoleClient struct {
	host                 *Host
	remote, name         string // of the caller of the controls
	access, account, key string
}

// apiResponse is what the calls of a payment return.
type apiResponse struct {
	ID          string `json:"id"`
	ChallengeID string `json:"challengeId"`
	Payload     []byte `json:"payload"`
	AccessToken string `json:"accessToken"`
	Approval    struct {
		ID        string    `json:"id"`
		Payload   []byte    `json:"payload"`
		ExpiresAt time.Time `json:"expiresAt"`
	} `json:"approval"`
}

func (s *consoleClient) logIn(ctx context.Context) error {
	challenge, err := s.send(ctx, "/auth/challenge", map[string]any{
		"email": s.host.Credentials().Email, "requestExpiry": s.host.Now().Add(time.Minute).Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	key := s.host.Credentials().Key
	signature, err := signing.SignChallenge(ctx, key,
		signing.Challenge{ID: challenge.ChallengeID, Payload: challenge.Payload}, nil)
	if err != nil {
		return err
	}
	granted, err := s.send(ctx, "/auth/token", map[string]any{
		"challengeId": challenge.ChallengeID, "publicKey": key.PublicKeyBase64(), "signature": signature,
	})
	s.access = granted.AccessToken
	return err
}

// approve signs the approval of a booked payout.
func (s *consoleClient) approve(ctx context.Context, booked apiResponse, want signing.Intent) (map[string]any, error) {
	key, approval := s.host.Credentials().Key, booked.Approval
	signature, err := signing.SignApproval(ctx, key,
		signing.Approval{ID: approval.ID, Payload: approval.Payload, ExpiresAt: approval.ExpiresAt}, want, s.host.Now())
	return map[string]any{"approvalId": approval.ID, "publicKey": key.PublicKeyBase64(), "signature": signature}, err
}

// send makes a call. It fails with the host's refusal.
func (s *consoleClient) send(ctx context.Context, path string, body map[string]any) (response apiResponse, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return response, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.name+"/dapi/v1"+path,
		bytes.NewReader(text))
	if err != nil {
		return response, err
	}
	request.RemoteAddr = s.remote
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer " + s.access, "X-Service-Account": s.account,
		"Idempotency-Key": s.key, "User-Agent": "sandbox-console",
	} {
		if value != "" && value != "Bearer " {
			request.Header.Set(name, value)
		}
	}
	w := &responseRecorder{header: http.Header{}}
	if !w.serve(s.host, request) {
		return response, &wire.Refusal{Status: http.StatusConflict, Code: "conflict",
			Message: "A fault ended the connection of POST " + path + ". The payout is where that left it."}
	}
	if w.status >= http.StatusBadRequest {
		var refused struct {
			Error struct {
				Code    string         `json:"code"`
				Message string         `json:"message"`
				Details map[string]any `json:"details"`
			} `json:"error"`
		}
		_ = json.Unmarshal(w.body.Bytes(), &refused) // a fault may send anything
		return response, &wire.Refusal{Status: w.status, Code: refused.Error.Code,
			Message: "POST " + path + ": " + refused.Error.Message, Details: refused.Error.Details}
	}
	return response, json.Unmarshal(w.body.Bytes(), &response)
}

// responseRecorder keeps a response.
type responseRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (k *responseRecorder) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *responseRecorder) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *responseRecorder) Write(text []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(text)
}

// serve reports whether the host responded. A fault may end the connection instead.
func (k *responseRecorder) serve(host http.Handler, r *http.Request) (responded bool) {
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // it is that value
			panic(cause)
		}
	}()
	host.ServeHTTP(k, r)
	return k.status != 0
}
