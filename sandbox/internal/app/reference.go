package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/proof"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Reference serves the reference endpoints on quotes, wallets and partners.
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

// defaultDevice is the kind and the name of a device that does not say.
const defaultDevice = "ios"

// GetTransactionStatus returns how far the payment of a quote has come.
func (r Reference) GetTransactionStatus(ctx context.Context, quoteID string) (serve.Answer, error) {
	status, err := r.App.Status(ctx, quoteID)
	return serve.OK(status), err
}

// LogInWallet takes signatures of the wallet over the message.
func (r Reference) LogInWallet(
	ctx context.Context, params referencewire.LogInWalletParams, body referencewire.WalletLogin,
) (serve.Answer, error) {
	if err := r.checkSignatures(body); err != nil {
		return serve.Answer{}, err
	}
	t := r.App.enter(ctx)
	defer r.App.leave()
	login := WalletLogin{
		Account: caller.From(ctx).Owner, Wallet: r.App.Wallet, At: t.now, DeviceID: params.DeviceID,
		DeviceType: cmp.Or(params.DeviceType, defaultDevice), DeviceName: cmp.Or(params.DeviceName, defaultDevice),
	}
	t.loginsInOrder = append(t.loginsInOrder, login)
	t.logins.Put(strconv.Itoa(len(t.loginsInOrder)), &login)
	return serve.OK(referencewire.WalletLoginResult{Status: "success"}), nil
}

// checkSignatures demands at least one signature, and all of them of the wallet. Which wallet signed is not shown to
// matter; another one is forbidden.
func (r Reference) checkSignatures(login referencewire.WalletLogin) error {
	if len(login.Signatures) == 0 {
		return refuse.InvalidField("signatures", "too_short", "A login needs at least one signature.")
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

// ReceiveWebhook takes an event that a partner reports.
func (r Reference) ReceiveWebhook(
	ctx context.Context, partner string, body referencewire.WebhookEvent,
) (serve.Answer, error) {
	t := r.App.enter(ctx)
	defer r.App.leave()
	event := PartnerEvent{
		Partner: partner, EventType: body.EventType, EntityID: body.EntityID, EntityType: body.EntityType,
		CreatedAt: body.CreatedAt, Payload: body.EventPayload, At: t.now,
	}
	t.eventsInOrder = append(t.eventsInOrder, event)
	t.events.Put(strconv.Itoa(len(t.eventsInOrder)), &event)
	ok := true
	return serve.OK(referencewire.WebhookAcknowledgement{OK: &ok}), nil
}

// Logins returns the wallet logins, oldest first.
func (a *App) Logins() []WalletLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.loginsInOrder)
}

// Events returns what partners reported, oldest first.
func (a *App) Events() []PartnerEvent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.state.eventsInOrder)
}

// Public serves the public utilities on rates.
type Public struct{ App *App }

// GetRate prices a currency against the US dollar.
func (p Public) GetRate(_ context.Context, currency string) (serve.Answer, error) {
	rate, err := p.App.Platform.FXRate(currency)
	return serve.OK(publicwire.FXRate{USDRate: rate.USD, BankTransfer: rate.BankTransfer, Card: rate.Card}), err
}
