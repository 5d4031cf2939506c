package hand

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
)

// Key signs approvals and logins.
type Key struct {
	private *ecdsa.PrivateKey
	public  []byte // PKIX, in DER
}

// NewKey wraps a key on P-256.
func NewKey(private *ecdsa.PrivateKey) (*Key, error) {
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	return &Key{private: private, public: public}, err
}

// halfOrder is half of the order of P-256. The service wants an S that is not greater.
var halfOrder = new(big.Int).Rsh(elliptic.P256().Params().N, 1)

// sign returns a signature of the message in DER, with a low S.
func (k *Key) sign(message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	der, err := ecdsa.SignASN1(rand.Reader, k.private, digest[:])
	if err != nil {
		return nil, err
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil {
		return nil, err
	}
	if signature.S.Cmp(halfOrder) <= 0 {
		return der, nil
	}
	signature.S.Sub(elliptic.P256().Params().N, signature.S)
	return asn1.Marshal(signature)
}

type confirmation struct {
	ApprovalID string `json:"approvalId"`
	PublicKey  []byte `json:"publicKey"`
	Signature  []byte `json:"signature"`
}

// Pay books a payout, signs its approval without looking at it, confirms it and reads it.
func (c *Client) Pay(ctx context.Context, create *PayoutCreate, key string) (*Payout, error) {
	booked, err := c.BookPayout(ctx, create, key)
	if err != nil {
		return nil, err
	}
	if booked.Approval == nil {
		return nil, fmt.Errorf("payout %s has no approval", booked.ID)
	}
	signature, err := c.Key.sign(booked.Approval.Payload)
	if err != nil {
		return nil, err
	}
	confirmed := new(Payout)
	err = c.do(ctx, http.MethodPost, "/payouts/"+url.PathEscape(booked.ID)+"/confirm", key,
		&confirmation{ApprovalID: booked.Approval.ID, PublicKey: c.Key.public, Signature: signature}, confirmed)
	if err != nil {
		return nil, err
	}
	return c.GetPayout(ctx, booked.ID)
}
