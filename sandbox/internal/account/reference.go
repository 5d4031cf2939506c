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

// ReferenceAPI serves the reference endpoints on quotes, wallets and partners.
type ReferenceAPI struct{ Service *Service }

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
func (r ReferenceAPI) GetTransactionStatus(ctx context.Context, quoteID string) (wire.Response, error) {
	status, err := r.Service.Status(ctx, quoteID)
	return wire.OK(status), err
}

// LogInWallet takes signatures of the wallet over the message.
func (r ReferenceAPI) LogInWallet(
	ctx context.Context, params referencewire.LogInWalletParams, body referencewire.WalletLogin,
) (wire.Response, error) {
	if err := r.checkSignatures(body); err != nil {
		return wire.Response{}, err
	}
	t := r.Service.begin(ctx)
	defer r.Service.commit()
	login := WalletLogin{
		Account: wire.CallerOf(ctx).Owner, Wallet: r.Service.Wallet, At: t.now, DeviceID: params.DeviceID,
		DeviceType: cmp.Or(params.DeviceType, defaultDevice), DeviceName: cmp.Or(params.DeviceName, defaultDevice),
	}
	t.loginList = append(t.loginList, login)
	t.logins.Put(strconv.Itoa(len(t.loginList)), &login)
	return wire.OK(referencewire.WalletLoginResult{Status: "success"}), nil
}

// checkSignatures requires at least one signature, and that all of them are from the wallet. The description does not
// say which wallet must sign. Signatures of another wallet are refused with forbidden.
func (r ReferenceAPI) checkSignatures(login referencewire.WalletLogin) error {
	if len(login.Signatures) == 0 {
		return wire.InvalidField("signatures", "too_short", "A login needs at least one signature.")
	}
	for i, signature := range login.Signatures {
		signer, refused := wire.SignerOf([]byte(login.Message), signature, r.Service.Settings().RequireLowS)
		if refused != nil {
			return wire.InvalidField(fmt.Sprintf("signatures.%d", i), refused.Code, refused.Message)
		}
		if !strings.EqualFold(signer, r.Service.Wallet) {
			return wire.Forbidden()
		}
	}
	return nil
}

// ReceiveWebhook stores an event that a partner reports.
func (r ReferenceAPI) ReceiveWebhook(
	ctx context.Context, partner string, body referencewire.WebhookEvent,
) (wire.Response, error) {
	t := r.Service.begin(ctx)
	defer r.Service.commit()
	event := PartnerEvent{
		Partner: partner, EventType: body.EventType, EntityID: body.EntityID, EntityType: body.EntityType,
		CreatedAt: body.CreatedAt, Payload: body.EventPayload, At: t.now,
	}
	t.eventList = append(t.eventList, event)
	t.events.Put(strconv.Itoa(len(t.eventList)), &event)
	ok := true
	return wire.OK(referencewire.WebhookAcknowledgement{OK: &ok}), nil
}

// Logins returns the wallet logins, oldest first.
func (a *Service) Logins() []WalletLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.loginList)
}

// Events returns the events that partners reported, oldest first.
func (a *Service) Events() []PartnerEvent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.eventList)
}

// PublicAPI serves the public utilities for rates.
type PublicAPI struct{ Service *Service }

// GetRate prices a currency against the US dollar.
func (p PublicAPI) GetRate(_ context.Context, currency string) (wire.Response, error) {
	rate, err := p.Service.Platform.FXRate(currency)
	return wire.OK(publicwire.FXRate{USDRate: rate.USD, BankTransfer: rate.BankTransfer, Card: rate.Card}), err
}
