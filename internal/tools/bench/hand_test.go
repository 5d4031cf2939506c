package bench

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"
)

// byHand is the client that the SDK is compared with. It is what a careful programmer writes in an afternoon on
// net/http and encoding/json: one request, one decode, a check of the status, the same decimals and times, and an error
// of a type of its own for a refusal. It has no retries, no pacing, no checks of requests, and no limit on responses.
type byHand struct {
	http    *http.Client
	base    string // with the path that all calls share
	account string
	key     *ecdsa.PrivateKey
	public  []byte // PKIX, in DER
	token   string // if it is empty, the first call logs in

	mu      sync.RWMutex
	session string
	ends    time.Time
}

func (c *byHand) getPayout(ctx context.Context, id string) (*handPayout, error) {
	return handCall[handPayout](ctx, c, http.MethodGet, "/payouts/"+url.PathEscape(id), "", nil)
}

func (c *byHand) bookPayout(ctx context.Context, create *handPayoutCreate, key string) (*handPayout, error) {
	return handCall[handPayout](ctx, c, http.MethodPost, "/payouts", key, create)
}

func (c *byHand) listTransactions(ctx context.Context, limit int, cursor string) (*handPage, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return handCall[handPage](ctx, c, http.MethodGet, "/transactions?"+query.Encode(), "", nil)
}

func (c *byHand) allTransactions(ctx context.Context, limit int) iter.Seq2[handTransaction, error] {
	return func(yield func(handTransaction, error) bool) {
		for cursor := ""; ; {
			page, err := c.listTransactions(ctx, limit, cursor)
			if err != nil {
				yield(handTransaction{}, err)
				return
			}
			for _, entry := range page.Items {
				if !yield(entry, nil) {
					return
				}
			}
			if cursor = page.NextCursor; cursor == "" {
				return
			}
		}
	}
}

// pay books a payout, signs its approval without looking at it, confirms it and reads it.
func (c *byHand) pay(ctx context.Context, create *handPayoutCreate, key string) (*handPayout, error) {
	booked, err := c.bookPayout(ctx, create, key)
	if err != nil {
		return nil, err
	}
	if booked.Approval == nil {
		return nil, fmt.Errorf("payout %s has no approval", booked.ID)
	}
	signature, err := c.sign(booked.Approval.Payload)
	if err != nil {
		return nil, err
	}
	_, err = handCall[handPayout](ctx, c, http.MethodPost, "/payouts/"+url.PathEscape(booked.ID)+"/confirm", key,
		&handSigned{ApprovalID: booked.Approval.ID, PublicKey: c.public, Signature: signature})
	if err != nil {
		return nil, err
	}
	return c.getPayout(ctx, booked.ID)
}

// bearer returns the access token. If the client has not logged in yet, it does, once for all goroutines that wait.
func (c *byHand) bearer(ctx context.Context) (string, error) {
	if c.token != "" {
		return c.token, nil
	}
	c.mu.RLock()
	session, ends := c.session, c.ends
	c.mu.RUnlock()
	if session != "" && time.Now().Before(ends) {
		return session, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != "" && time.Now().Before(c.ends) {
		return c.session, nil
	}
	granted, err := c.logIn(ctx)
	if err != nil {
		return "", err
	}
	c.session, c.ends = granted.AccessToken, time.Now().Add(time.Duration(granted.ExpiresIn)*time.Second)
	return c.session, nil
}

func (c *byHand) logIn(ctx context.Context) (*handGrant, error) {
	offered, err := handSend[handChallenge](ctx, c.http, http.MethodPost, c.base+"/auth/challenge", http.Header{},
		&handChallengeCreate{Email: email, RequestExpiry: time.Now().Add(time.Minute).UTC()})
	if err != nil {
		return nil, err
	}
	signature, err := c.sign(offered.Payload)
	if err != nil {
		return nil, err
	}
	return handSend[handGrant](ctx, c.http, http.MethodPost, c.base+"/auth/token", http.Header{},
		&handSigned{ChallengeID: offered.ChallengeID, PublicKey: c.public, Signature: signature})
}

// halfOrder is half of the order of P-256. The service wants an S that is not greater.
var halfOrder = new(big.Int).Rsh(elliptic.P256().Params().N, 1)

// sign returns a signature of the message in DER, with a low S.
func (c *byHand) sign(message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	der, err := ecdsa.SignASN1(rand.Reader, c.key, digest[:])
	if err != nil {
		return nil, err
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil || signature.S.Cmp(halfOrder) <= 0 {
		return der, err
	}
	signature.S.Sub(elliptic.P256().Params().N, signature.S)
	return asn1.Marshal(signature)
}

// handCall sends body, if there is one, with what each call of the platform needs.
func handCall[T any](ctx context.Context, c *byHand, method, path, key string, body any) (*T, error) {
	token, err := c.bearer(ctx)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Authorization": {"Bearer " + token}}
	if c.account != "" {
		header["X-Service-Account"] = []string{c.account}
	}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return handSend[T](ctx, c.http, method, c.base+path, header, body)
}

func handSend[T any](
	ctx context.Context, client *http.Client, method, address string, header http.Header, body any,
) (*T, error) {
	var encoded io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		encoded = bytes.NewReader(data)
		header.Set("Content-Type", "application/json")
	}
	req, err := http.NewRequestWithContext(ctx, method, address, encoded)
	if err != nil {
		return nil, err
	}
	header.Set("Accept", "application/json")
	req.Header = header

	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, handRefusalOf(resp, content)
	}
	value := new(T)
	err = json.Unmarshal(content, value)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return value, nil // a member of another type is empty: encoding/json reads what comes after it
	}
	return value, err
}

// handRefusal is what a service says when it refuses a call.
type handRefusal struct {
	Status     int
	Code       string
	Message    string
	Blockers   []handBlocker
	RequestID  string
	RetryAfter time.Duration
}

// handBlocker is a reason why a contact cannot be paid.
type handBlocker struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

func (r *handRefusal) Error() string {
	return fmt.Sprintf("status %d: %s: %s", r.Status, r.Code, r.Message)
}

// handRefusalOf reads {"error":{...}}, or a message without the envelope, which one of the other services sends.
func handRefusalOf(resp *http.Response, body []byte) error {
	var envelope struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			Details struct {
				RequestID string        `json:"requestId"`
				Blockers  []handBlocker `json:"blockers"`
			} `json:"details"`
		} `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("status %d: %w", resp.StatusCode, err)
	}
	refused := &handRefusal{
		Status: resp.StatusCode, Code: envelope.Error.Code, Message: envelope.Error.Message + envelope.Message,
		Blockers: envelope.Error.Details.Blockers, RequestID: resp.Header.Get("X-Request-Id"),
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refused
}

type handPayout struct {
	ID               string          `json:"id"`
	Status           string          `json:"status"`
	IdempotencyKey   string          `json:"idempotencyKey"`
	ContactID        string          `json:"contactId"`
	Amount           decimal.Decimal `json:"amount"`
	Currency         string          `json:"currency"`
	PaymentReference string          `json:"paymentReference"`
	Purpose          string          `json:"purpose"`
	DocumentIDs      []string        `json:"documentIds"`
	FromChainID      int64           `json:"fromChainId"`
	ToChainID        int64           `json:"toChainId"`
	PublicKey        []byte          `json:"publicKey"`
	Signature        []byte          `json:"signature"`
	Quote            *handQuote      `json:"quote"`
	Approval         *handApproval   `json:"approval"`
	TransactionHash  string          `json:"transactionHash"`
	CreatedAt        time.Time       `json:"createdAt"`
}

type handQuote struct {
	SourceAmount        decimal.Decimal `json:"sourceAmount"`
	SourceCurrency      string          `json:"sourceCurrency"`
	DestinationAmount   decimal.Decimal `json:"destinationAmount"`
	DestinationCurrency string          `json:"destinationCurrency"`
	Rate                decimal.Decimal `json:"rate"`
	Fee                 decimal.Decimal `json:"fee"`
	ExpiresAt           time.Time       `json:"expiresAt"`
}

type handApproval struct {
	ID        string    `json:"id"`
	Payload   []byte    `json:"payload"`
	ExpiresAt time.Time `json:"expiresAt"`
}

type handPayoutCreate struct {
	Amount           decimal.Decimal `json:"amount"`
	ContactID        string          `json:"contactId"`
	Currency         string          `json:"currency"`
	DocumentIDs      []string        `json:"documentIds,omitempty"`
	PaymentReference string          `json:"paymentReference,omitempty"`
	Purpose          string          `json:"purpose,omitempty"`
}

type handPage struct {
	Items      []handTransaction `json:"items"`
	NextCursor string            `json:"nextCursor"`
}

type handTransaction struct {
	ID              string          `json:"id"`
	Type            string          `json:"type"`
	Direction       string          `json:"direction"`
	Amount          decimal.Decimal `json:"amount"`
	Currency        string          `json:"currency"`
	Status          string          `json:"status"`
	PayoutID        string          `json:"payoutId"`
	PayinID         string          `json:"payinId"`
	EscrowID        string          `json:"escrowId"`
	TransactionHash string          `json:"transactionHash"`
	CreatedAt       time.Time       `json:"createdAt"`
}

type handChallengeCreate struct {
	Email         string    `json:"email"`
	RequestExpiry time.Time `json:"requestExpiry"`
}

type handChallenge struct {
	ChallengeID string    `json:"challengeId"`
	Payload     []byte    `json:"payload"`
	ExpiresAt   time.Time `json:"expiresAt"`
}

type handSigned struct {
	ApprovalID  string `json:"approvalId,omitempty"`
	ChallengeID string `json:"challengeId,omitempty"`
	PublicKey   []byte `json:"publicKey"`
	Signature   []byte `json:"signature"`
}

type handGrant struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int    `json:"expiresIn"`
}
