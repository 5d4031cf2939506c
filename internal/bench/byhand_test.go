package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shopspring/decimal"
)

// byHand is a client that a careful programmer writes in an afternoon: one request, one decode, a check of the status,
// the same decimals and times. It has no retries, no pacing, no login, no checks of requests, no limit on responses,
// and no typed errors.
type byHand struct {
	http  *http.Client
	base  string
	token string
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

func (c *byHand) getPayout(ctx context.Context, id string) (*handPayout, error) {
	payout := new(handPayout)
	return payout, c.do(ctx, http.MethodGet, "/payouts/"+url.PathEscape(id), nil, payout)
}

func (c *byHand) bookPayout(ctx context.Context, create *handPayoutCreate) (*handPayout, error) {
	payout := new(handPayout)
	return payout, c.do(ctx, http.MethodPost, "/payouts", create, payout)
}

func (c *byHand) listTransactions(ctx context.Context, limit int) (*handPage, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	page := new(handPage)
	return page, c.do(ctx, http.MethodGet, "/transactions?"+query.Encode(), nil, page)
}

// do sends body, if there is one, and decodes the response into the value that into points to.
func (c *byHand) do(ctx context.Context, method, path string, body, into any) error {
	var encoded io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		encoded = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/dapi/v1"+path, encoded)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("X-Service-Account", clientID)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, answer)
	}
	return json.Unmarshal(answer, into)
}
