package account

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Reference serves the reference endpoints on quotes, wallets and partners.
type Reference struct{ App *App }

// WalletLogin is a login with a wallet, with the device's description of itself.
type WalletLogin struct {
	Account                          string // of the owner
	Wallet                           string // its address
	DeviceID, DeviceType, DeviceName string
	At                               time.Time
}

// PartnerEvent is an event that a partner reported.
type PartnerEvent struct {
	Partner                         string
	EventType, EntityID, EntityType string
	CreatedAt                       string
	Payload                         map[string]any
	At                              time.Time // when it arrived, on the host's clock
}

// defaultDevice is the kind and the name of a device that gives none.
const defaultDevice = "ios"

// GetTransactionStatus returns the status of a quote's payment.
func (r Reference) GetTransactionStatus(ctx context.Context, quoteID string) (wire.Answer, error) {
	status, err := r.App.Status(ctx, quoteID)
	return wire.OK(status), err
}

// LogInWallet takes signatures of the wallet over the message.
func (r Reference) LogInWallet(
	ctx context.Context, params referencewire.LogInWalletParams, body referencewire.WalletLogin,
) (wire.Answer, error) {
	if err := r.checkSignatures(body); err != nil {
		return wire.Answer{}, err
	}
	t := r.App.enter(ctx)
	defer r.App.leave()
	login := WalletLogin{
		Account: wire.CallerOf(ctx).Owner, Wallet: r.App.Wallet, At: t.now, DeviceID: params.DeviceID,
		DeviceType: cmp.Or(params.DeviceType, defaultDevice), DeviceName: cmp.Or(params.DeviceName, defaultDevice),
	}
	t.loginsInOrder = append(t.loginsInOrder, login)
	t.logins.Put(strconv.Itoa(len(t.loginsInOrder)), &login)
	return wire.OK(referencewire.WalletLoginResult{Status: "success"}), nil
}

// checkSignatures requires at least one signature, and that all of them are from the wallet. The description does not
// say which wallet must sign. Signatures of another wallet are refused with forbidden.
func (r Reference) checkSignatures(login referencewire.WalletLogin) error {
	if len(login.Signatures) == 0 {
		return wire.InvalidField("signatures", "too_short", "A login needs at least one signature.")
	}
	for i, signature := range login.Signatures {
		signer, refused := wire.SignerOf([]byte(login.Message), signature, r.App.Settings().RequireLowS)
		if refused != nil {
			return wire.InvalidField(fmt.Sprintf("signatures.%d", i), refused.Code, refused.Message)
		}
		if !strings.EqualFold(signer, r.App.Wallet) {
			return wire.Forbidden()
		}
	}
	return nil
}

// ReceiveWebhook stores an event that a partner reports.
func (r Reference) ReceiveWebhook(
	ctx context.Context, partner string, body referencewire.WebhookEvent,
) (wire.Answer, error) {
	t := r.App.enter(ctx)
	defer r.App.leave()
	event := PartnerEvent{
		Partner: partner, EventType: body.EventType, EntityID: body.EntityID, EntityType: body.EntityType,
		CreatedAt: body.CreatedAt, Payload: body.EventPayload, At: t.now,
	}
	t.eventsInOrder = append(t.eventsInOrder, event)
	t.events.Put(strconv.Itoa(len(t.eventsInOrder)), &event)
	ok := true
	return wire.OK(referencewire.WebhookAcknowledgement{OK: &ok}), nil
}

// Logins returns the wallet logins, oldest first.
func (a *App) Logins() []WalletLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.loginsInOrder)
}

// Events returns the events that partners reported, oldest first.
func (a *App) Events() []PartnerEvent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.eventsInOrder)
}

// Public serves the public utilities for rates.
type Public struct{ App *App }

// GetRate prices a currency against the US dollar.
func (p Public) GetRate(_ context.Context, currency string) (wire.Answer, error) {
	rate, err := p.App.Platform.FXRate(currency)
	return wire.OK(publicwire.FXRate{USDRate: rate.USD, BankTransfer: rate.BankTransfer, Card: rate.Card}), err
}
