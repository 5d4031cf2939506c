// Package hand is the client that the SDK is compared with.
//
// It is what a careful programmer writes in an afternoon on net/http and encoding/json: one request, one decode, a
// check of the status, the same decimals and times, and an error of a type of its own for a refusal. It has no retries,
// no pacing, no checks of requests, and no limit on responses.
package hand

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// Client calls the service for one client.
type Client struct {
	HTTP    *http.Client
	Base    string
	Account string
	Key     *Key
	// Token is the access token. If it is empty, the first call logs in.
	Token string

	login login
}

// GetPayout reads a payout.
func (c *Client) GetPayout(ctx context.Context, id string) (*Payout, error) {
	payout := new(Payout)
	return payout, c.do(ctx, http.MethodGet, "/payouts/"+url.PathEscape(id), "", nil, payout)
}

// BookPayout books a payout. The key is optional.
func (c *Client) BookPayout(ctx context.Context, create *PayoutCreate, key string) (*Payout, error) {
	payout := new(Payout)
	return payout, c.do(ctx, http.MethodPost, "/payouts", key, create, payout)
}

// ListTransactions reads a page of the ledger.
func (c *Client) ListTransactions(ctx context.Context, limit int, cursor string) (*Page, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	page := new(Page)
	return page, c.do(ctx, http.MethodGet, "/transactions?"+query.Encode(), "", nil, page)
}

// AllTransactions reads page after page.
func (c *Client) AllTransactions(ctx context.Context, limit int) iter.Seq2[Transaction, error] {
	return func(yield func(Transaction, error) bool) {
		for cursor := ""; ; {
			page, err := c.ListTransactions(ctx, limit, cursor)
			if err != nil {
				yield(Transaction{}, err)
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

// do sends body, if there is one, and decodes the response into the value that into points to.
func (c *Client) do(ctx context.Context, method, path, key string, body, into any) error {
	token, err := c.bearer(ctx)
	if err != nil {
		return err
	}
	header := http.Header{"Authorization": {"Bearer " + token}, "X-Service-Account": {c.Account}}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return c.send(ctx, method, path, header, body, into)
}

func (c *Client) send(ctx context.Context, method, path string, header http.Header, body, into any) error {
	var encoded io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		encoded = bytes.NewReader(data)
		header.Set("Content-Type", "application/json")
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+"/dapi/v1"+path, encoded)
	if err != nil {
		return err
	}
	header.Set("Accept", "application/json")
	req.Header = header

	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return refusal(resp, answer)
	}
	err = json.Unmarshal(answer, into)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil // a member of another type is empty: encoding/json reads what comes after it
	}
	return err
}
