package dapi_test

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// baseURL is where the tests' clients send; the wire delivers whatever the address is.
const baseURL = "http://127.0.0.1"

// through makes a client send its requests by a transport.
func through(transport http.RoundTripper) moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: transport})
}

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// signer counts what is signed, and can do something just before.
type signer struct {
	signing.Signer

	mu     sync.Mutex
	logins int
	counts int // of the approvals
	before func(approvals int)
	fails  error // of the signatures of approvals
}

// Sign implements signing.Signer.
func (s *signer) Sign(ctx context.Context, message []byte) ([]byte, error) {
	s.mu.Lock()
	before, approvals := s.before, 0
	if bytes.Contains(message, []byte(`"approvalId"`)) {
		s.counts++
		approvals = s.counts
	} else {
		s.logins++
	}
	s.mu.Unlock()
	if before != nil && approvals > 0 {
		before(approvals)
	}
	if s.fails != nil && approvals > 0 {
		return nil, s.fails
	}
	return s.Signer.Sign(ctx, message)
}

// beforeApproval calls f before the nth approval is signed.
func (s *signer) beforeApproval(f func(n int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

func (s *signer) approvals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// as finds an error type or fails the test.
func as[E error](t *testing.T, err error) E {
	t.Helper()
	found, ok := errors.AsType[E](err)
	require.True(t, ok, "%T: %v", err, err)
	return found
}
