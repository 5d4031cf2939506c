package platform_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/json"
	"maps"
	"math/big"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// bench is a platform whose clock stands still until it is advanced, with one integrator and its developer key.
type bench struct {
	testing.TB
	*platform.Platform
	clock    *clock.Clock
	settings atomic.Pointer[deployment.Settings]
	key      *ecdsa.PrivateKey
	public   []byte
	kept     *storetest.Encoded
}

func newBench(t testing.TB) *bench {
	b := &bench{TB: t, kept: new(storetest.Encoded)}
	t.Cleanup(func() { require.Empty(t, b.kept.Stale()) })
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b.clock = clock.New(func() time.Time { return start })
	settings := deployment.DefaultSettings()
	b.settings.Store(&settings)
	b.Platform = platform.New(b.clock, func() *deployment.Settings { return b.settings.Load() }, nobody, b.kept)
	var err error
	b.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	b.public, err = x509.MarshalPKIXPublicKey(&b.key.PublicKey)
	require.NoError(t, err)
	return b
}

// reopen opens the platform again from its store, and asserts the same ledger and record counts.
func (b *bench) reopen() {
	before, records := b.Ledger(), b.Records()
	require.Empty(b, b.kept.Stale())
	b.Platform = platform.New(b.clock, func() *deployment.Settings { return b.settings.Load() }, nobody, b.kept)
	require.Equal(b, written(b, before), written(b, b.Ledger()))
	require.Equal(b, records, b.Records())
}

func written(t testing.TB, value any) string {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// nobody finds no integrator by email.
func nobody(string) (string, bool) { return "", false }

// set changes the settings.
func (b *bench) set(change func(*deployment.Settings)) {
	settings := *b.settings.Load()
	change(&settings)
	require.NoError(b, settings.Check())
	b.settings.Store(&settings)
}

// as returns the context of a request for an account, with an idempotency key or "".
func (b *bench) as(account, key string) context.Context {
	return wire.WithCaller(context.Background(), wire.Caller{
		Owner: "acc_1", Email: "ops@example.com", KeyID: "dk_1", Account: account, IdempotencyKey: key,
		Signer: b.signer(nil),
	})
}

// signer knows only the key of the bench. Its checks return err.
func (b *bench) signer(err error) func([]byte) func() error {
	return func(publicKey []byte) func() error {
		if !bytes.Equal(publicKey, b.public) {
			return nil
		}
		return func() error { return err }
	}
}

// sign returns a signature over SHA-256 in ASN.1 DER, with a low S.
func (b *bench) sign(message []byte) []byte {
	digest := sha256.Sum256(message)
	r, s, err := ecdsa.Sign(rand.Reader, b.key, digest[:])
	require.NoError(b, err)
	if half := new(big.Int).Rsh(elliptic.P256().Params().N, 1); s.Cmp(half) > 0 {
		s.Sub(elliptic.P256().Params().N, s)
	}
	signature, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
	require.NoError(b, err)
	return signature
}

// answered is an encoded response.
type answered struct {
	*httptest.ResponseRecorder
}

func (a answered) replayed() bool { return a.Header().Get("Idempotency-Replayed") == "true" }

func read[T any](t testing.TB, a answered) T {
	var body T
	require.NoError(t, json.Unmarshal(a.Body.Bytes(), &body), a.Body.String())
	return body
}

// render writes a response.
func render(t testing.TB, response wire.Response) answered {
	w := httptest.NewRecorder()
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.Status)
	body, err := response.Encode()
	require.NoError(t, err)
	_, _ = w.Write(body)
	return answered{w}
}

func (b *bench) createClient(body platformwire.ClientCreate) answered {
	response, err := b.CreateClient(b.as(wire.Self, ""), body)
	require.NoError(b, err)
	return render(b, response)
}

func (b *bench) client(id string) platformwire.Client {
	response, err := b.GetClient(b.as(wire.Self, ""), id)
	require.NoError(b, err)
	return read[platformwire.Client](b, render(b, response))
}

// readyClient creates a client and waits until it is ready.
func (b *bench) readyClient(email string) string {
	id := read[platformwire.Client](b, b.createClient(platformwire.ClientCreate{Email: email})).ID
	b.clock.Advance(time.Duration(b.settings.Load().ClientReadyAfter))
	require.Equal(b, platformwire.ClientStatusReady, b.client(id).Status)
	return id
}

func (b *bench) deposit(account, key, amount string, currency platformwire.Asset) (answered, error) {
	body := platformwire.DepositCreate{Amount: decimal.RequireFromString(amount), Currency: currency}
	response, err := b.CreateDeposit(b.as(account, key), body)
	if err != nil {
		return answered{}, err
	}
	return render(b, response), nil
}

// fundedClient is a ready client with 100 USDC.
func (b *bench) fundedClient(email string) string {
	id := b.readyClient(email)
	_, err := b.deposit(id, "fund-"+id, "100", platformwire.AssetUSDC)
	require.NoError(b, err)
	return id
}

// contactFrom creates a contact from JSON, as it comes over the wire.
func (b *bench) contactFrom(account, body string) (answered, error) {
	var create platformwire.ContactCreate
	require.NoError(b, json.Unmarshal([]byte(body), &create))
	response, err := b.CreateContact(b.as(account, ""), create)
	if err != nil {
		return answered{}, err
	}
	return render(b, response), nil
}

// contact creates a contact that must succeed.
func (b *bench) contact(account, body string) platformwire.Contact {
	a, err := b.contactFrom(account, body)
	require.NoError(b, err)
	return read[platformwire.Contact](b, a)
}

const (
	sepaContact = `{"name":"Bob","account":{"accountType":"sepa","iban":"DE89370400440532013000"}}`
	achContact  = `{"name":"Ann","account":{"accountType":"ach","accountNumber":"000123456789",` +
		`"routingNumber":"021000021"}}`
	baseContact = `{"name":"Cal","account":{"accountType":"onchain",` +
		`"walletAddress":"0x1111111111111111111111111111111111111111","chainId":"base","currency":"USDC"}}`
	farContact = `{"name":"Dee","account":{"accountType":"onchain",` +
		`"walletAddress":"0x2222222222222222222222222222222222222222","chainId":"ethereum","currency":"USDT"}}`
)

func order(contactID, amount string) platformwire.PayoutCreate {
	return platformwire.PayoutCreate{ContactID: contactID, Amount: decimal.RequireFromString(amount),
		Currency: platformwire.AssetUSDC}
}

func (b *bench) book(account, key string, body platformwire.PayoutCreate) (answered, error) {
	response, err := b.BookPayout(b.as(account, key), body)
	if err != nil {
		return answered{}, err
	}
	return render(b, response), nil
}

// booked books a payout that must succeed.
func (b *bench) booked(account, key string, body platformwire.PayoutCreate) platformwire.Payout {
	a, err := b.book(account, key, body)
	require.NoError(b, err)
	return read[platformwire.Payout](b, a)
}

func (b *bench) confirm(account string, payout platformwire.Payout) (platformwire.Payout, error) {
	require.NotNil(b, payout.Approval)
	return b.confirmWith(b.as(account, ""), payout.ID, platformwire.ApprovalConfirm{
		ApprovalID: payout.Approval.ID, PublicKey: b.public, Signature: b.sign(payout.Approval.Payload),
	})
}

func (b *bench) confirmWith(
	ctx context.Context, payoutID string, body platformwire.ApprovalConfirm,
) (platformwire.Payout, error) {
	response, err := b.ConfirmPayout(ctx, payoutID, body)
	if err != nil {
		return platformwire.Payout{}, err
	}
	return read[platformwire.Payout](b, render(b, response)), nil
}

func (b *bench) payout(account, id string) platformwire.Payout {
	response, err := b.GetPayout(b.as(account, ""), id)
	require.NoError(b, err)
	return read[platformwire.Payout](b, render(b, response))
}

func (b *bench) move(account, key, id string, to platformwire.PayoutStatus) (answered, error) {
	response, err := b.MovePayout(b.as(account, key), id, platformwire.PayoutStatusUpdate{Status: to})
	if err != nil {
		return answered{}, err
	}
	return render(b, response), nil
}

func (b *bench) transactions(
	account string, params platformwire.ListTransactionsParams,
) (platformwire.TransactionPage, error) {
	response, err := b.ListTransactions(b.as(account, ""), params)
	if err != nil {
		return platformwire.TransactionPage{}, err
	}
	return read[platformwire.TransactionPage](b, render(b, response)), nil
}

// balance is what the ledger says an account holds.
func (b *bench) balance(account string, currency platformwire.Asset) string {
	return b.Ledger().Balances[account][string(currency)].String()
}

// step advances the clock by one step of a payout.
func (b *bench) step() {
	b.clock.Advance(time.Duration(b.settings.Load().PayoutStepAfter))
	b.reopen()
}

func (b *bench) saveKYB(account string, body platformwire.KYBInformation) (platformwire.KYB, error) {
	response, err := b.SaveKYB(b.as(account, ""), body)
	if err != nil {
		return platformwire.KYB{}, err
	}
	return read[platformwire.KYB](b, render(b, response)), nil
}

func (b *bench) completeKYB(account string) (platformwire.KYBSubmission, error) {
	response, err := b.CompleteKYB(b.as(account, ""))
	if err != nil {
		return platformwire.KYBSubmission{}, err
	}
	return read[platformwire.KYBSubmission](b, render(b, response)), nil
}

// verify completes a client's verification and waits for the decision.
func (b *bench) verify(account string) {
	_, err := b.saveKYB(account, platformwire.KYBInformation{
		Applicant: map[string]any{"legalName": "Acme Ltd", "country": "DE"}, DocumentIds: []string{"doc_1"},
	})
	require.NoError(b, err)
	_, err = b.completeKYB(account)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().KYBDecisionAfter))
}

func (b *bench) openRail(account string, body platformwire.RailCreate) (platformwire.Rail, error) {
	response, err := b.OpenRail(b.as(account, ""), body)
	if err != nil {
		return platformwire.Rail{}, err
	}
	return read[platformwire.Rail](b, render(b, response)), nil
}

// virtualAccount opens a rail, lets it become active, and returns its account.
func (b *bench) virtualAccount(account string, body platformwire.RailCreate) *platformwire.VirtualAccount {
	_, err := b.openRail(account, body)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().RailActiveAfter))
	opened, err := b.openRail(account, body)
	require.NoError(b, err)
	return opened.VirtualAccount
}

func (b *bench) payin(account string, body platformwire.PayinCreate) (platformwire.Payin, error) {
	response, err := b.CreatePayin(b.as(account, ""), body)
	if err != nil {
		return platformwire.Payin{}, err
	}
	return read[platformwire.Payin](b, render(b, response)), nil
}

func (b *bench) instructions(account, id string) (answered, error) {
	response, err := b.CreatePayinInstructions(b.as(account, ""), id)
	if err != nil {
		return answered{}, err
	}
	return render(b, response), nil
}

func (b *bench) completePayin(account, key, id string) (platformwire.Payin, error) {
	response, err := b.CompletePayin(b.as(account, key), id)
	if err != nil {
		return platformwire.Payin{}, err
	}
	return read[platformwire.Payin](b, render(b, response)), nil
}

func (b *bench) escrow(account, key string, body platformwire.EscrowCreate) (platformwire.Escrow, error) {
	response, err := b.CreateEscrow(b.as(account, key), body)
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response)), nil
}

func (b *bench) prepare(
	account, key, id string, kind platformwire.EscrowActionType,
) (platformwire.EscrowAction, error) {
	response, err := b.PrepareEscrowAction(b.as(account, key), id, platformwire.EscrowActionCreate{Type: kind})
	if err != nil {
		return platformwire.EscrowAction{}, err
	}
	return read[platformwire.PreparedEscrowAction](b, render(b, response)).Action, nil
}

// act signs and confirms a prepared action.
func (b *bench) act(account, id string, action platformwire.EscrowAction) (platformwire.Escrow, error) {
	response, err := b.ConfirmEscrowAction(b.as(account, ""), id, action.IdempotencyKey, platformwire.ApprovalConfirm{
		ApprovalID: action.Approval.ID, PublicKey: b.public, Signature: b.sign(action.Approval.Payload),
	})
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response)), nil
}

func (b *bench) sync(account, id string) (platformwire.Escrow, error) {
	response, err := b.SyncEscrow(b.as(account, ""), id)
	if err != nil {
		return platformwire.Escrow{}, err
	}
	return read[platformwire.Escrow](b, render(b, response)), nil
}
