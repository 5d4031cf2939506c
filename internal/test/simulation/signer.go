package simulation

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/signing"
)

// newKey returns a developer key of the seed. Ed25519 signatures have no random part.
func newKey(seed Seed, name string) (*signing.DeveloperKey, error) {
	random := seed.Draw("key", name)
	var half [ed25519.SeedSize]byte
	for i := range half {
		half[i] = byte(random.Uint32()) //gosec:disable G115 -- the lowest byte
	}
	return signing.FromSigner(ed25519.NewKeyFromSeed(half[:]))
}

// Signature is an approval that was signed.
type Signature struct {
	Process    string
	At         time.Time
	ApprovalID string `json:"approvalId"`
	Operation  string `json:"operation"`
	ResourceID string `json:"resourceId"`
	Amount     string `json:"amount"`
	Currency   string `json:"currency"`
	To         struct {
		ContactID string `json:"contactId"` // of a payout
		Address   string `json:"address"`   // of a deal
	} `json:"destination"`
}

// SignerLog has every approval that any process signed.
type SignerLog struct {
	mu         sync.Mutex
	signatures []Signature
}

// signer is the key of a process. Each signature is a step, which can be slow or fail.
type signer struct {
	*signing.DeveloperKey

	process *Process
	log     *SignerLog
	network *Network
	world   *World

	mu     sync.Mutex
	counts map[string]int
}

var errSigner = errors.New("the simulated key service is down")

// Sign implements signing.Signer.
func (s *signer) Sign(ctx context.Context, message []byte) ([]byte, error) {
	label := "session"
	approval := bytes.Contains(message, []byte(`"approvalId"`))
	if approval {
		label = labelOf(ctx)
	}
	s.mu.Lock()
	s.counts[label]++
	name := label + " sign " + strconv.Itoa(s.counts[label])
	s.mu.Unlock()
	if !s.network.calm.Load() {
		random := s.network.seed.Draw("signer", s.process.name, name)
		switch random.IntN(20) {
		case 0:
			s.process.Step(name+": fails", "")
			return nil, errSigner
		case 1, 2:
			if err := pause(ctx, between(random, 10*time.Millisecond, 130*time.Second)); err != nil {
				return nil, err
			}
		}
	}
	s.process.Step(name, digest(message))
	s.network.records.of(label).Signed(message)
	if approval {
		signed, err := s.log.add(s.process.name, message)
		if err != nil {
			return nil, err
		}
		s.world.judgeStored(signed)
	}
	return s.DeveloperKey.Sign(ctx, message)
}

func (l *SignerLog) add(process string, message []byte) (Signature, error) {
	signed := Signature{Process: process, At: time.Now()}
	if err := json.Unmarshal(message, &signed); err != nil {
		return signed, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signatures = append(l.signatures, signed)
	return signed, nil
}
