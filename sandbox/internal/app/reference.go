package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/proof"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Reference answers the reference endpoints on quotes, wallets and partners.
type Reference struct{ App *App }

// WalletLogin is a login with a wallet, as its device described itself.
type WalletLogin struct {
	Account                          string // the owner's
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

// defaultDevice is the kind and the name of a device that does not say. Source: Reference endpoints under /api/v1.
const defaultDevice = "ios"

// GetTransactionStatus answers how far the payment of a quote has come. Source: Universal transaction status.
func (r Reference) GetTransactionStatus(ctx context.Context, request referencewire.GetTransactionStatusRequestObject) (referencewire.GetTransactionStatusResponseObject, error) {
	status, err := r.App.Status(ctx, request.QuoteID)
	return referencewire.GetTransactionStatus200JSONResponse(status), err
}

// LogInWallet takes signatures of the wallet over the message. Source: Reference endpoints under /api/v1.
func (r Reference) LogInWallet(ctx context.Context, request referencewire.LogInWalletRequestObject) (referencewire.LogInWalletResponseObject, error) {
	if err := r.checkSignatures(*request.Body); err != nil {
		return nil, err
	}
	t := r.App.enter(ctx)
	defer r.App.leave()
	device := request.Params
	t.logins = append(t.logins, WalletLogin{
		Account: caller.From(ctx).Owner, Wallet: r.App.Wallet, At: t.now, DeviceID: device.DeviceID,
		DeviceType: cmp.Or(device.DeviceType, defaultDevice), DeviceName: cmp.Or(device.DeviceName, defaultDevice),
	})
	return referencewire.LogInWallet200JSONResponse{Status: "success"}, nil
}

// checkSignatures demands at least one signature, and all of them of the wallet. Which wallet signed is not shown to
// matter; another one is forbidden.
func (r Reference) checkSignatures(login referencewire.WalletLogin) error {
	if len(login.Signatures) == 0 {
		return refuse.InvalidField("signatures", "too_short", "A login has at least one signature.")
	}
	for i, signature := range login.Signatures {
		signer, refused := proof.Signer([]byte(login.Message), signature, r.App.Settings().RequireLowS)
		if refused != nil {
			return refuse.InvalidField(fmt.Sprintf("signatures.%d", i), refused.Code, refused.Message)
		}
		if !strings.EqualFold(signer, r.App.Wallet) {
			return refuse.Forbidden()
		}
	}
	return nil
}

// ReceiveWebhook takes an event that a partner reports. Source: Events.
func (r Reference) ReceiveWebhook(ctx context.Context, request referencewire.ReceiveWebhookRequestObject) (referencewire.ReceiveWebhookResponseObject, error) {
	t := r.App.enter(ctx)
	defer r.App.leave()
	event := request.Body
	t.events = append(t.events, PartnerEvent{
		Partner: request.Partner, EventType: event.EventType, EntityID: event.EntityID, EntityType: event.EntityType,
		CreatedAt: event.CreatedAt, Payload: event.EventPayload, At: t.now,
	})
	ok := true
	return referencewire.ReceiveWebhook200JSONResponse{Ok: &ok}, nil
}

// Logins answers the wallet logins, oldest first.
func (a *App) Logins() []WalletLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.logins)
}

// Events answers what partners reported, oldest first.
func (a *App) Events() []PartnerEvent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.events)
}
