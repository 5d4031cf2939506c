package outsider

import (
	"context"
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

// What a program implements by itself.
type (
	limiter struct{}
	metrics struct{ log *slog.Logger }
	store   struct{}
	signer  struct{ signing.Signer }
	card    struct{ address string }
)

var (
	_ moneymovement.RateLimiter = limiter{}
	_ moneymovement.Metrics     = metrics{}
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

func (m metrics) Call(_ context.Context, call moneymovement.CallMetrics) {
	m.log.Info("call", "operation", call.Operation, "failed", call.Result != moneymovement.CallSucceeded,
		"code", call.Code, "took", call.Took)
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
		moneymovement.WithMetrics(metrics{logger}), moneymovement.WithPlainHTTP(),
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

// Pay makes a payment with all terms, and looks at each way in which it can end.
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
