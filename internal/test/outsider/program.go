// Package outsider uses the SDK as a program of another module does. It has no tests of its own: that it compiles holds
// the public surface, and .ci/users compiles it outside of this module, where no internal package can be imported.
package outsider

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The services of package dapi, as interfaces that a program writes for its fakes.
var (
	_ interface {
		All(ctx context.Context, params dapi.ListChainsParams,
			options ...moneymovement.CallOption) iter.Seq2[dapi.Chain, error]
		List(ctx context.Context, params dapi.ListChainsParams, options ...moneymovement.CallOption) (*dapi.ChainPage,
			error)
		Live(ctx context.Context) ([]dapi.Chain, error)
	} = (*dapi.Chains)(nil)
	_ interface {
		Create(ctx context.Context, client dapi.ClientCreate, options ...moneymovement.CallOption) (*dapi.Client, error)
		Get(ctx context.Context, id dapi.ClientID, options ...moneymovement.CallOption) (*dapi.Client, error)
		WaitReady(ctx context.Context, id dapi.ClientID, options ...moneymovement.WaitOption) (*dapi.Client, error)
	} = (*dapi.Clients)(nil)
	_ interface {
		Capabilities(ctx context.Context, id dapi.ContactID,
			options ...moneymovement.CallOption) (*dapi.ContactCapabilities, error)
		Create(ctx context.Context, contact dapi.ContactCreate, options ...moneymovement.CallOption) (*dapi.Contact,
			error)
		Delete(ctx context.Context, id dapi.ContactID, options ...moneymovement.CallOption) error
		Update(ctx context.Context, id dapi.ContactID, change dapi.ContactUpdate,
			options ...moneymovement.CallOption) (*dapi.Contact, error)
	} = (*dapi.Contacts)(nil)
	_ interface {
		Act(ctx context.Context, terms dapi.EscrowCreate, id dapi.EscrowID, action dapi.EscrowActionType,
			key moneymovement.Key, escrowTerms dapi.EscrowTerms,
			options ...moneymovement.CallOption) (dapi.EscrowResult, error)
		Confirm(ctx context.Context, terms dapi.EscrowCreate, id dapi.EscrowID, action dapi.EscrowActionType,
			prepared *dapi.EscrowAction, options ...moneymovement.CallOption) (*dapi.Escrow, error)
		Create(ctx context.Context, escrow dapi.EscrowCreate,
			options ...moneymovement.WriteOption) (*dapi.Escrow, error)
		Open(ctx context.Context, escrow dapi.EscrowCreate, key moneymovement.Key, terms dapi.EscrowTerms,
			options ...moneymovement.CallOption) (dapi.EscrowResult, error)
		Prepare(ctx context.Context, id dapi.EscrowID, action dapi.EscrowActionType,
			options ...moneymovement.WriteOption) (*dapi.EscrowAction, error)
		Sync(ctx context.Context, id dapi.EscrowID, options ...moneymovement.CallOption) (*dapi.Escrow, error)
		Wait(ctx context.Context, id dapi.EscrowID, statuses []dapi.EscrowStatus,
			options ...moneymovement.WaitOption) (*dapi.Escrow, error)
	} = (*dapi.Escrows)(nil)
	_ interface {
		Create(ctx context.Context, payin dapi.PayinCreate, options ...moneymovement.CallOption) (*dapi.Payin, error)
		Get(ctx context.Context, id dapi.PayinID, options ...moneymovement.CallOption) (*dapi.Payin, error)
		Instructions(ctx context.Context, id dapi.PayinID,
			options ...moneymovement.CallOption) (*dapi.PayinInstructions, error)
		Wait(ctx context.Context, id dapi.PayinID, options ...moneymovement.WaitOption) (*dapi.Payin, error)
	} = (*dapi.Payins)(nil)
	_ interface {
		Book(ctx context.Context, payout dapi.PayoutCreate, options ...moneymovement.WriteOption) (*dapi.Payout, error)
		Confirm(ctx context.Context, asked dapi.PayoutCreate, booked *dapi.Payout,
			options ...moneymovement.CallOption) (*dapi.Payout, error)
		Get(ctx context.Context, id dapi.PayoutID, options ...moneymovement.CallOption) (*dapi.Payout, error)
		Pay(ctx context.Context, payout dapi.PayoutCreate, key moneymovement.Key, terms dapi.PayTerms,
			options ...moneymovement.CallOption) (dapi.Payment, error)
		Wait(ctx context.Context, id dapi.PayoutID, options ...moneymovement.WaitOption) (*dapi.Payout, error)
		WaitAll(ctx context.Context, ids []dapi.PayoutID,
			options ...moneymovement.WaitOption) iter.Seq[dapi.PayoutResult]
	} = (*dapi.Payouts)(nil)
	_ interface {
		All(ctx context.Context, params dapi.ListRailsParams, options ...moneymovement.CallOption) iter.Seq2[dapi.Rail,
			error]
		List(ctx context.Context, params dapi.ListRailsParams, options ...moneymovement.CallOption) (*dapi.RailPage,
			error)
		Open(ctx context.Context, rail dapi.RailCreate, options ...moneymovement.CallOption) (*dapi.Rail, error)
		WaitActive(ctx context.Context, method dapi.BankMethod, currency string,
			options ...moneymovement.WaitOption) (*dapi.Rail, error)
	} = (*dapi.Rails)(nil)
	_ interface {
		CompletePayin(ctx context.Context, id dapi.PayinID, options ...moneymovement.WriteOption) (*dapi.Payin, error)
		Deposit(ctx context.Context, deposit dapi.DepositCreate,
			options ...moneymovement.WriteOption) (*dapi.Transaction, error)
		SetPayoutStatus(ctx context.Context, id dapi.PayoutID, status dapi.PayoutStatus,
			options ...moneymovement.WriteOption) (*dapi.Payout, error)
		Treasury(ctx context.Context, options ...moneymovement.CallOption) (*dapi.Treasury, error)
	} = (*dapi.Sandbox)(nil)
	_ interface {
		All(ctx context.Context, params dapi.ListTransactionsParams,
			options ...moneymovement.CallOption) iter.Seq2[dapi.Transaction, error]
		Changes(ctx context.Context, params dapi.ChangesParams,
			options ...moneymovement.CallOption) iter.Seq2[dapi.TransactionChange, error]
		Follow(ctx context.Context, params dapi.ChangesParams,
			options ...moneymovement.WaitOption) iter.Seq2[dapi.TransactionChange, error]
		List(ctx context.Context, params dapi.ListTransactionsParams,
			options ...moneymovement.CallOption) (*dapi.TransactionPage, error)
	} = (*dapi.Transactions)(nil)
	_ interface {
		Complete(ctx context.Context, options ...moneymovement.CallOption) (*dapi.KYBSubmission, error)
		Get(ctx context.Context, options ...moneymovement.CallOption) (*dapi.KYB, error)
		Save(ctx context.Context, information dapi.KYBInformation, options ...moneymovement.CallOption) (*dapi.KYB,
			error)
		WaitDecided(ctx context.Context, options ...moneymovement.WaitOption) (*dapi.KYB, error)
	} = (*dapi.Verification)(nil)
)

// The services of package appapi, as interfaces that a program writes for its fakes.
var (
	_ interface {
		App(ctx context.Context, options ...moneymovement.CallOption) (*appapi.App, error)
		Balances(ctx context.Context, options ...moneymovement.CallOption) ([]appapi.Balance, error)
		KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*appapi.KYCLink, error)
		KYCStatus(ctx context.Context, params appapi.GetKYCStatusParams,
			options ...moneymovement.CallOption) (*appapi.KYCState, error)
		Profile(ctx context.Context, options ...moneymovement.CallOption) (*appapi.UserProfile, error)
		UpdateProfile(ctx context.Context, profile appapi.ProfileUpdate,
			options ...moneymovement.CallOption) (*appapi.UserProfile, error)
		WalletBalance(ctx context.Context, options ...moneymovement.CallOption) (*appapi.MCPBalance, error)
	} = (*appapi.Account)(nil)
	_ interface {
		Activate(ctx context.Context, methods []string, options ...moneymovement.CallOption) ([]appapi.Bank, error)
		List(ctx context.Context, options ...moneymovement.CallOption) ([]appapi.Bank, error)
	} = (*appapi.Banks)(nil)
	_ interface {
		Create(ctx context.Context, card appapi.CardCreate, options ...moneymovement.CallOption) (*model.Card, error)
		Details(ctx context.Context, id string, wallet model.CardSigner,
			options ...moneymovement.CallOption) (*model.CardDetails, error)
		DetailsWithProof(ctx context.Context, id string, proof model.CardDetailsProof,
			options ...moneymovement.CallOption) (*model.CardDetails, error)
		Freeze(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error)
		Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error)
		KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*appapi.KYCLink, error)
		List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error)
		PreApprove(ctx context.Context, approval appapi.CardPreApprovalCreate,
			options ...moneymovement.CallOption) (*appapi.CardPreApproval, error)
		SetLabel(ctx context.Context, id string, label string, options ...moneymovement.CallOption) (*model.Card, error)
		SetLimit(ctx context.Context, id string, limit appapi.CardLimitUpdate,
			options ...moneymovement.CallOption) (*model.Card, error)
		Unfreeze(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Card, error)
	} = (*appapi.Cards)(nil)
	_ interface {
		All(ctx context.Context, params appapi.ListContactsParams,
			options ...moneymovement.CallOption) iter.Seq2[appapi.Contact, error]
		Create(ctx context.Context, contact appapi.ContactCreate, options ...moneymovement.CallOption) (*appapi.Contact,
			error)
		Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error
		List(ctx context.Context, params appapi.ListContactsParams,
			options ...moneymovement.CallOption) (*appapi.ContactList, error)
		Update(ctx context.Context, id string, change appapi.ContactUpdate,
			options ...moneymovement.CallOption) (*appapi.Contact, error)
		ValidateBank(ctx context.Context, bank appapi.BankDetails,
			options ...moneymovement.CallOption) (*appapi.BankDetailsCheck, error)
	} = (*appapi.Contacts)(nil)
	_ interface {
		All(ctx context.Context, params appapi.ListContractsParams,
			options ...moneymovement.CallOption) iter.Seq2[model.Contract, error]
		Approve(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error)
		Create(ctx context.Context, contract appapi.ContractCreate,
			options ...moneymovement.CallOption) (*model.Contract, error)
		Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error
		Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error)
		List(ctx context.Context, params appapi.ListContractsParams,
			options ...moneymovement.CallOption) (*appapi.ContractList, error)
		Pause(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error)
		Preview(ctx context.Context, id string, options ...moneymovement.CallOption) (*appapi.ContractPreview, error)
		ReplacePaymentMethods(ctx context.Context, id string, methods []model.PaymentMethod,
			options ...moneymovement.CallOption) (*model.Contract, error)
		Templates(ctx context.Context, options ...moneymovement.CallOption) ([]appapi.ContractTemplate, error)
		Update(ctx context.Context, id string, change appapi.ContractUpdate,
			options ...moneymovement.CallOption) (*model.Contract, error)
	} = (*appapi.Contracts)(nil)
	_ interface {
		Upload(ctx context.Context, document appapi.DocumentUpload,
			options ...moneymovement.CallOption) (*model.Document, error)
	} = (*appapi.Documents)(nil)
	_ interface {
		All(ctx context.Context, params appapi.ListInvoicesParams,
			options ...moneymovement.CallOption) iter.Seq2[model.Invoice, error]
		Create(ctx context.Context, invoice appapi.InvoiceCreate, options ...moneymovement.CallOption) (*model.Invoice,
			error)
		CreateBatch(ctx context.Context, batch appapi.InvoiceBatch,
			options ...moneymovement.CallOption) ([]model.Invoice, error)
		CreateFromContract(ctx context.Context, contractID string, invoice appapi.ContractInvoiceCreate,
			options ...moneymovement.CallOption) (*model.Invoice, error)
		CreateUploaded(ctx context.Context, invoice appapi.UploadedInvoiceCreate,
			options ...moneymovement.CallOption) (*model.Invoice, error)
		Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error)
		List(ctx context.Context, params appapi.ListInvoicesParams,
			options ...moneymovement.CallOption) (*appapi.InvoiceList, error)
		MarkPaid(ctx context.Context, id string, payment appapi.InvoicePayment,
			options ...moneymovement.CallOption) (*model.Invoice, error)
		Update(ctx context.Context, id string, change model.InvoiceUpdate,
			options ...moneymovement.CallOption) (*model.Invoice, error)
	} = (*appapi.Invoices)(nil)
	_ interface {
		PayinFromBank(ctx context.Context, payin appapi.BankPayinQuote,
			options ...moneymovement.CallOption) (*appapi.Quote, error)
		PayinFromChain(ctx context.Context, payin appapi.BalancePayinQuote,
			options ...moneymovement.CallOption) (*appapi.Quote, error)
		Payout(ctx context.Context, payout appapi.BalancePayoutQuote,
			options ...moneymovement.CallOption) (*appapi.Quote, error)
		SubmitPayin(ctx context.Context, quoteID string,
			options ...moneymovement.CallOption) (*model.UniversalTransactionStatus, error)
	} = (*appapi.Quotes)(nil)
	_ interface {
		All(ctx context.Context, params appapi.ListTransactionsParams,
			options ...moneymovement.CallOption) iter.Seq2[appapi.Transaction, error]
		List(ctx context.Context, params appapi.ListTransactionsParams,
			options ...moneymovement.CallOption) (*appapi.TransactionList, error)
	} = (*appapi.Transactions)(nil)
	_ interface {
		All(ctx context.Context, params appapi.ListTransfersParams,
			options ...moneymovement.CallOption) iter.Seq2[appapi.Transfer, error]
		ByKey(ctx context.Context, key moneymovement.Key,
			options ...moneymovement.CallOption) (transfer *appapi.Transfer, found bool, err error)
		List(ctx context.Context, params appapi.ListTransfersParams,
			options ...moneymovement.CallOption) (*appapi.TransferList, error)
		Send(ctx context.Context, to appapi.Destination, key moneymovement.Key,
			options ...moneymovement.CallOption) (*appapi.TransferReceipt, error)
	} = (*appapi.Transfers)(nil)
)

// The services of package refapi, as interfaces that a program writes for its fakes.
var (
	_ interface {
		Details(ctx context.Context, id string, wallet model.CardSigner,
			options ...moneymovement.CallOption) (*model.CardDetails, error)
		DetailsWithProof(ctx context.Context, id string, proof model.CardDetailsProof,
			options ...moneymovement.CallOption) (*model.CardDetails, error)
		List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error)
	} = (*refapi.Cards)(nil)
	_ interface {
		Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error)
	} = (*refapi.Contracts)(nil)
	_ interface {
		Update(ctx context.Context, id string, change model.InvoiceUpdate,
			options ...moneymovement.CallOption) (*model.Invoice, error)
		UpdateOnInvoicesPath(ctx context.Context, id string, change model.InvoiceUpdate,
			options ...moneymovement.CallOption) (*model.Invoice, error)
	} = (*refapi.Invoices)(nil)
	_ interface {
		List(ctx context.Context, params refapi.ListMerchantProductsParams,
			options ...moneymovement.CallOption) ([]refapi.MerchantProduct, error)
	} = (*refapi.Products)(nil)
	_ interface {
		Status(ctx context.Context, quoteID string,
			options ...moneymovement.CallOption) (*model.UniversalTransactionStatus, error)
		Wait(ctx context.Context, quoteID string, done func(*model.UniversalTransactionStatus) bool,
			options ...moneymovement.WaitOption) (*model.UniversalTransactionStatus,
			error)
	} = (*refapi.Quotes)(nil)
	_ interface {
		LogIn(ctx context.Context, login refapi.WalletLogin, device refapi.LogInWalletParams,
			options ...moneymovement.CallOption) (*refapi.WalletLoginResult, error)
	} = (*refapi.Wallet)(nil)
	_ interface {
		Send(ctx context.Context, partner string, event refapi.WebhookEvent,
			options ...moneymovement.CallOption) (ok bool, err error)
	} = (*refapi.Webhooks)(nil)
)

// The services of package public, as interfaces that a program writes for its fakes.
var (
	_ interface {
		Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Invoice, error)
		PDF(ctx context.Context, id string, params public.RenderInvoicePDFParams,
			options ...moneymovement.CallOption) (*public.PDF, error)
	} = (*public.Invoices)(nil)
	_ interface {
		Get(ctx context.Context, currency string, options ...moneymovement.CallOption) (*public.FXRate, error)
	} = (*public.Rates)(nil)
)

// What a program implements by itself.
type (
	limiter  struct{}
	observer struct{ log *slog.Logger }
	store    struct{}
	signer   struct{ signing.Signer }
	card     struct{ address string }
)

var (
	_ moneymovement.RateLimiter = limiter{}
	_ moneymovement.Observer    = observer{}
	_ dapi.TokenStore           = store{}
	_ signing.Signer            = signer{}
	_ model.CardSigner          = card{}
)

func (limiter) Wait(ctx context.Context, call moneymovement.RateCall) error {
	if call.Window == moneymovement.WindowWrites && call.Class == moneymovement.ClassConfirm {
		return nil
	}
	return ctx.Err()
}

func (observer) CallBegan(ctx context.Context, _ moneymovement.CallStart) context.Context { return ctx }

func (o observer) AttemptEnded(_ context.Context, call moneymovement.CallStart, attempt moneymovement.CallAttempt) {
	o.log.Debug("attempt", "path", call.URLTemplate, "number", attempt.Number, "pause", attempt.Pause)
}

func (o observer) CallEnded(_ context.Context, call moneymovement.CallStart, end moneymovement.CallEnd) {
	o.log.Info("call", "operation", call.Operation, "failed", end.Result != moneymovement.CallSucceeded,
		"code", end.Code, "took", end.Took)
}

func (store) Load(context.Context) (dapi.Session, error) { return dapi.Session{}, nil }
func (store) Save(context.Context, dapi.Session) error   { return nil }

func (c card) Address() string { return c.address }

func (card) SignMessage(context.Context, []byte) (string, error) { return "0x", nil }

// Clients makes one of each surface, with every option.
func Clients(baseURL string, key signing.Signer, logger *slog.Logger) (
	*dapi.Integrator, *dapi.SelfServe, *appapi.Client, *refapi.Client, *public.Client, error,
) {
	options := []moneymovement.Option{
		moneymovement.WithHTTPClient(&http.Client{Timeout: time.Minute}), moneymovement.WithLogger(logger),
		moneymovement.WithObserver(observer{logger}), moneymovement.WithPlainHTTP(),
		moneymovement.WithPolling(time.Second, time.Minute), moneymovement.WithRateLimiter(limiter{}),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: 1, WaitMin: time.Second, WaitMax: time.Minute}),
		moneymovement.WithTimeout(time.Minute), moneymovement.WithUserAgent("outsider/1"),
		moneymovement.WithoutPacing(),
	}
	developer := dapi.Developer{Email: "ops@example.com", Key: key, Store: store{}}
	integrator, err1 := dapi.NewIntegrator(baseURL, developer, options...)
	own, err2 := dapi.NewSelfServe(baseURL, developer, options...)
	app, err3 := appapi.New(baseURL, appapi.NewAPIKey("key").InKeyHeader(), options...)
	reference, err4 := refapi.New(baseURL, refapi.Credential{
		AccessToken: refapi.NewAccessToken("token"), APIKey: refapi.NewAPIKey("key"),
	}, options...)
	everybody, err5 := public.New(baseURL, options...)
	return integrator, own, app, reference, everybody, errors.Join(err1, err2, err3, err4, err5)
}

// Pay makes a payment with all terms, and handles each way in which it can end.
func Pay(ctx context.Context, account *dapi.Account, quote dapi.Quote) string {
	var response moneymovement.Response
	one := decimal.NewFromInt(1)
	payment, err := account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: "ct_1", Amount: one, Currency: dapi.USDC},
		moneymovement.DeriveKey("invoice", "42", "1"),
		dapi.PayTerms{
			Bounds: dapi.Bounds{MaxFee: &one, MinDestinationAmount: &one, DestinationCurrency: "EUR",
				NoWorseThan: &quote, QuoteTolerance: decimal.Zero},
			History:       dapi.History{FirstUsed: time.Now()},
			Journal:       func(context.Context, dapi.History) error { return nil },
			BeforeSigning: func(context.Context, *dapi.Payout) error { return nil },
		},
		moneymovement.CaptureResponse(&response))
	switch payment.State {
	case moneymovement.PaymentPaid:
		return string(payment.Payout.ID)
	case moneymovement.PaymentEnded:
		return "with a new key"
	case moneymovement.PaymentNotPaid, moneymovement.PaymentInDoubt:
		return "again at " + payment.RetryAt.String()
	case moneymovement.PaymentNeedsDecision:
		return "ask a person about " + payment.Refusal.Error()
	}
	var failure errors.Failure
	if errors.As(err, &failure) && failure.Retryable() && failure.MovedByCall() == errors.NotMoved {
		return "again"
	}
	if reused, is := errors.AsType[*errors.IdempotencyKeyReused](err); is {
		return reused.PayoutID
	}
	info, _ := errors.CallInfoOf(err)
	return info.RequestID
}

// Book books with the options of a write, which a fake can read.
func Book(ctx context.Context, account *dapi.Account) (moneymovement.Key, error) {
	var response moneymovement.Response
	options := []moneymovement.WriteOption{
		moneymovement.IdempotencyKey("k"), moneymovement.Timeout(time.Second),
		moneymovement.CaptureResponse(&response), moneymovement.CaptureResponseWithSecrets(&response),
	}
	_, err := account.Payouts.Book(ctx, dapi.PayoutCreate{}, options...)
	return moneymovement.CallSettingsOf(options...).Key, err
}
