package hand

import (
	"time"

	"github.com/shopspring/decimal"
)

// Payout is an outgoing payment.
type Payout struct {
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
	Quote            *Quote          `json:"quote"`
	Approval         *Approval       `json:"approval"`
	TransactionHash  string          `json:"transactionHash"`
	CreatedAt        time.Time       `json:"createdAt"`
}

// Quote is the price of a payout.
type Quote struct {
	SourceAmount        decimal.Decimal `json:"sourceAmount"`
	SourceCurrency      string          `json:"sourceCurrency"`
	DestinationAmount   decimal.Decimal `json:"destinationAmount"`
	DestinationCurrency string          `json:"destinationCurrency"`
	Rate                decimal.Decimal `json:"rate"`
	Fee                 decimal.Decimal `json:"fee"`
	ExpiresAt           time.Time       `json:"expiresAt"`
}

// Approval is what the key must sign.
type Approval struct {
	ID        string    `json:"id"`
	Payload   []byte    `json:"payload"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// PayoutCreate books a payout.
type PayoutCreate struct {
	Amount           decimal.Decimal `json:"amount"`
	ContactID        string          `json:"contactId"`
	Currency         string          `json:"currency"`
	DocumentIDs      []string        `json:"documentIds,omitempty"`
	PaymentReference string          `json:"paymentReference,omitempty"`
	Purpose          string          `json:"purpose,omitempty"`
}

// Page is a page of the ledger.
type Page struct {
	Items      []Transaction `json:"items"`
	NextCursor string        `json:"nextCursor"`
}

// Transaction is an entry of the ledger.
type Transaction struct {
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
