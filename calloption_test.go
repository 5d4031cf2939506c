package moneymovement_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Of a call that reveals secrets the body is kept only where it is asked for.
func TestACaptureKeepsSecretsIfAsked(t *testing.T) {
	for secret, kept := range map[bool]string{false: "a body", true: ""} {
		var usual, asked moneymovement.Answer
		call := transport.CallOf([]moneymovement.CallOption{moneymovement.Capture(&usual), moneymovement.CaptureWithSecrets(&asked)})
		call.Keep(transport.Answer{Status: 200, Body: []byte("a body"), Secret: secret})
		assert.Equal(t, kept, string(usual.Body))
		assert.Equal(t, "a body", string(asked.Body))
		assert.Equal(t, 200, usual.Status)
	}
}

// What a call was like is kept in full.
func TestACaptureKeepsEverything(t *testing.T) {
	var kept moneymovement.Answer
	call := transport.CallOf([]moneymovement.CallOption{moneymovement.Capture(&kept)})
	call.Keep(transport.Answer{
		Status: 201, Header: http.Header{"A": {"b"}}, RequestID: "req_1", IdempotencyKey: "k", Replayed: true, Attempts: 2, Queued: time.Second,
		Unread: []wire.Unread{{Pointer: "/a", Stated: true, Problem: "is a number"}}, Body: []byte("{}"),
	})
	assert.Equal(t, moneymovement.Answer{
		Status: 201, Header: http.Header{"A": {"b"}}, RequestID: "req_1", IdempotencyKey: "k", Replayed: true, Attempts: 2, Queued: time.Second,
		Unread: []moneymovement.Unread{{Pointer: "/a", Stated: true, Problem: "is a number"}}, Body: []byte("{}"),
	}, kept)
}
