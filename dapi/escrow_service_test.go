package dapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

// escrowService plays the escrow operations for one deal, and believes every login.
type escrowService struct {
	*testing.T
	created, bodies, confirmed, synced int
	keys                               []string // of all writes
	readable                           bool

	mu       sync.Mutex
	deal     map[string]any
	first    []byte // the create call's answer, which a replay answers again
	action   map[string]any
	consumed map[string]bool // approvals
	distort  func(action, members map[string]any)
	lose     int  // answers to confirms that get lost
	bare     bool // the answer to a prepare is the action itself
	over     bool // approvals are over by every clock but the service's, and the same one is given again
}

const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

func deal() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee, HoldFor: "14d"}
}

// newEscrowService is a client of a new service.
func newEscrowService(t *testing.T) (*escrowService, *surfacetest.WatchedKey, *dapi.Escrows) {
	t.Helper()
	s := &escrowService{T: t, consumed: map[string]bool{}, readable: true}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /dapi/v1/auth/challenge", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, 201, map[string]any{"challengeId": "ch_1", "payload": []byte("login"), "expiresAt": time.Now().
			Add(time.Minute)})
	})
	mux.HandleFunc("POST /dapi/v1/auth/token", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, 201, map[string]any{"accessToken": "a", "refreshToken": "r", "tokenType": "Bearer",
			"expiresIn": 3600, "refreshExpiresIn": 5184000})
	})
	mux.HandleFunc("POST /dapi/v1/escrow", s.create)
	mux.HandleFunc("POST /dapi/v1/escrow/esc_1/actions", s.prepare)
	mux.HandleFunc("POST /dapi/v1/escrow/esc_1/actions/{key}/confirm", s.confirm)
	mux.HandleFunc("POST /dapi/v1/escrow/esc_1/sync", s.sync)
	key, err := signing.Generate()
	require.NoError(t, err)
	counting := &surfacetest.WatchedKey{Signer: key}
	account, err := dapi.NewSelfServe(baseURL, dapi.Developer{Email: "ops@example.com", Key: counting},
		through(&inprocess.Transport{Handler: mux}))
	require.NoError(t, err)
	return s, counting, account.Escrows
}

func (s *escrowService) create(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created++
	key := s.note(r)
	if s.first != nil {
		w.Header().Set("Idempotency-Replayed", "true")
		s.answer(w, 200, json.RawMessage(s.first))
		return
	}
	var terms map[string]any
	assert.NoError(s, json.NewDecoder(r.Body).Decode(&terms))
	s.deal = map[string]any{
		"id": "esc_1", "status": "pending_approval", "availableActions": []string{"approve"}, "idempotencyKey": key,
		"amount": terms["amount"], "currency": terms["currency"], "payee": terms["payee"],
	}
	s.deal["action"] = s.newAction(key, "approve")
	first, err := json.Marshal(s.deal)
	assert.NoError(s, err)
	s.first = first
	s.answer(w, 201, s.deal)
}

func (s *escrowService) prepare(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies++
	key := s.note(r)
	var asked struct{ Type string }
	assert.NoError(s, json.NewDecoder(r.Body).Decode(&asked))
	action := s.action
	if !s.over || action["type"] != asked.Type {
		action = s.newAction(key, asked.Type)
	}
	if s.bare {
		s.answer(w, 201, action)
		return
	}
	s.answer(w, 201, map[string]any{"action": action})
}

// newAction prepares an action whose approval lasts 60 seconds.
func (s *escrowService) newAction(key, kind string) map[string]any {
	approvalID := fmt.Sprintf("apr_%d_%d", s.created, s.bodies)
	expires := time.Now().Add(time.Minute).UTC().Truncate(time.Millisecond)
	if s.over {
		expires = expires.Add(-time.Hour)
	}
	s.action = map[string]any{"idempotencyKey": key, "type": kind}
	members := map[string]any{
		"approvalId": approvalID, "operation": "escrow." + kind, "resourceId": "esc_1", "account": "self",
		"amount":   s.deal["amount"],
		"currency": s.deal["currency"], "destination": map[string]any{"address": s.deal["payee"]}, "expiresAt": expires,
		"nonce": "n",
	}
	if s.distort != nil {
		s.distort(s.action, members)
	}
	payload, err := json.Marshal(members)
	assert.NoError(s, err)
	s.action["approval"] = map[string]any{"id": approvalID, "payload": payload, "expiresAt": expires}
	return s.action
}

func (s *escrowService) confirm(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirmed++
	assert.Equal(s, s.note(r), r.PathValue("key"), "the raw key is the action's address")
	var body struct {
		ApprovalID           string
		PublicKey, Signature []byte
	}
	assert.NoError(s, json.NewDecoder(r.Body).Decode(&body))
	approval := s.action["approval"].(map[string]any)
	switch {
	case s.consumed[body.ApprovalID]:
		s.refuse(w, 409, "approval_consumed")
		return
	case body.ApprovalID != approval["id"]:
		s.refuse(w, 409, "approval_mismatch")
		return
	case !s.over && !time.Now().Before(approval["expiresAt"].(time.Time)):
		s.refuse(w, 410, "approval_expired")
		return
	case signing.Verify(body.PublicKey, approval["payload"].([]byte), body.Signature) != nil:
		s.refuse(w, 400, "signature_invalid")
		return
	}
	s.consumed[body.ApprovalID] = true
	s.deal["status"] = map[any]string{"approve": "active", "release": "released",
		"refund": "refunded"}[s.action["type"]]
	delete(s.deal, "action")
	if s.lose > 0 {
		s.lose--
		panic(http.ErrAbortHandler)
	}
	s.answer(w, 200, s.deal)
}

func (s *escrowService) sync(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced++
	s.note(r)
	if !s.readable {
		s.refuse(w, 404, "not_found")
		return
	}
	s.answer(w, 200, s.deal)
}

// note keeps the key of a write.
func (s *escrowService) note(r *http.Request) string {
	key := r.Header.Get("Idempotency-Key")
	s.keys = append(s.keys, key)
	return key
}

func (s *escrowService) answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	assert.NoError(s, json.NewEncoder(w).Encode(value))
}

func (s *escrowService) refuse(w http.ResponseWriter, status int, slug string) {
	s.answer(w, status, map[string]any{"error": map[string]any{"code": slug, "message": "Refused."}})
}
