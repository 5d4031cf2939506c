package rules_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/signing"
	ethwallet "github.com/moneymovement/moneymovement-go/signing/wallet"
)

// surfaces are the clients of each surface, as their constructors make them, and what the constructors are called.
func surfaces(t *testing.T) map[string][]any {
	t.Helper()
	const host = "https://service.invalid"
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewWhitelabel(host, dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(t, err)
	app, err := appapi.New(host, appapi.NewAPIKey("key"))
	require.NoError(t, err)
	reference, err := refapi.New(host, refapi.NewAccessToken("token"))
	require.NoError(t, err)
	utilities, err := public.New(host)
	require.NoError(t, err)
	return map[string][]any{
		"dapi.NewWhitelabel or dapi.NewSelfServe": {integrator, integrator.Self(), integrator.For("cl_x")},
		"appapi.New": {app}, "refapi.New": {reference}, "public.New": {utilities},
	}
}

// servicesOf are the services of a client, and nil pointers where a zero client has none.
func servicesOf(client any) (services []reflect.Value) {
	v := reflect.ValueOf(client).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			services = append(services, v.Field(i))
		}
	}
	return services
}

type cardWallet struct{ asked bool }

func (*cardWallet) Address() string { return "0x1" }

func (w *cardWallet) SignMessage(context.Context, []byte) (string, error) {
	w.asked = true
	return "0x", nil
}

// call calls a method with sensible arguments, and returns the error that it ends in.
func call(method reflect.Value, ctx context.Context, card *cardWallet) error { //nolint:revive // the method is the subject
	arguments := make([]reflect.Value, 0, method.Type().NumIn())
	for i := range method.Type().NumIn() {
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			break
		}
		arguments = append(arguments, argument(method.Type().In(i), ctx, card))
	}
	results := method.Call(arguments)
	last := results[len(results)-1]
	if last.Kind() == reflect.Func { // a list that is walked
		return errorOf(firstOf(last))
	}
	return errorOf(last)
}

func argument(of reflect.Type, ctx context.Context, card *cardWallet) reflect.Value { //nolint:revive // as above
	v := reflect.New(of).Elem()
	switch {
	case of == reflect.TypeFor[context.Context]():
		if ctx != nil {
			v.Set(reflect.ValueOf(ctx))
		}
	case of == reflect.TypeFor[model.CardSigner]():
		v.Set(reflect.ValueOf(card))
	case of == reflect.TypeFor[appapi.Destination]():
		v.Set(reflect.ValueOf(appapi.ToQuote{QuoteID: "quote"}))
	case of.Kind() == reflect.String:
		v.SetString("x")
	case of.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(of, 1, 1))
	}
	return v
}

// firstOf is the last value of the first step of a list: an error, or a struct that holds one.
func firstOf(list reflect.Value) (first reflect.Value) {
	yield := reflect.MakeFunc(list.Type().In(0), func(values []reflect.Value) []reflect.Value {
		first = values[len(values)-1]
		return []reflect.Value{reflect.ValueOf(false)}
	})
	list.Call([]reflect.Value{yield})
	return first
}

func errorOf(v reflect.Value) error {
	if !v.IsValid() {
		return nil
	}
	if v.Kind() == reflect.Struct {
		v = v.FieldByName("Err")
	}
	err, _ := v.Interface().(error)
	return err
}

func requireRefused(t *testing.T, err error, field, message string) {
	t.Helper()
	var invalid *errors.InvalidInput
	require.ErrorAs(t, err, &invalid)
	at := slices.IndexFunc(invalid.Fields, func(f errors.Field) bool { return f.Field == field })
	require.GreaterOrEqual(t, at, 0, err)
	assert.Equal(t, message, invalid.Fields[at].Message)
	assert.NotEmpty(t, invalid.Operation)
}

const noContext = "is nil: pass context.Background() if there is no other"

func TestNoMethodPanicsWithoutAClientOrAContext(t *testing.T) {
	calls := 0
	each := func(t *testing.T, service reflect.Value, kind string, ctx context.Context, field, message string) {
		for i := range service.NumMethod() {
			name := service.Type().Method(i).Name
			t.Run(fmt.Sprintf("%s.%s %s", strings.TrimPrefix(service.Type().String(), "*"), name, kind), func(t *testing.T) {
				card := new(cardWallet)
				var err error
				require.NotPanics(t, func() { err = call(service.Method(i), ctx, card) })
				requireRefused(t, err, field, message)
				assert.False(t, card.asked, "nothing is signed for a call that cannot be made")
			})
			calls++
		}
	}
	for makers, clients := range surfaces(t) {
		notMade := "was not made by " + makers
		for _, client := range clients {
			for _, made := range servicesOf(client) {
				each(t, reflect.Zero(made.Type()), "of nil", t.Context(), "client", notMade)
				each(t, reflect.New(made.Type().Elem()), "of zero", t.Context(), "client", notMade)
				each(t, made, "without context", nil, "context", noContext)
			}
		}
	}
	for name, integrator := range map[string]*dapi.Integrator{"nil": nil, "zero": {}} {
		for _, account := range []*dapi.Account{integrator.For("cl_x"), integrator.Self()} {
			for _, service := range servicesOf(account) {
				each(t, service, "of the account of a "+name+" integrator", t.Context(), "client", "was not made by dapi.NewWhitelabel or dapi.NewSelfServe")
			}
		}
	}
	assert.Greater(t, calls, 400, "the walk found next to nothing")
}

func TestNothingIsSignedWithoutAContext(t *testing.T) {
	var none context.Context
	developerKey, err := signing.Generate()
	require.NoError(t, err)
	walletKey, err := ethwallet.Generate()
	require.NoError(t, err)
	sign := map[string]func() error{
		"a card's details": func() error {
			_, err := model.ProveCard(none, new(cardWallet), "card", time.Unix(1, 0))
			return err
		},
		"a login": func() error {
			_, err := signing.SignChallenge(none, developerKey, signing.Challenge{ID: "ch"}, nil)
			return err
		},
		"an approval": func() error {
			_, err := signing.SignApproval(none, developerKey, signing.Approval{}, signing.Intent{}, time.Unix(1, 0))
			return err
		},
		"with a developer key": func() error { _, err := developerKey.Sign(none, nil); return err },
		"with a wallet key":    func() error { _, err := walletKey.Sign(none, nil); return err },
		"a wallet's message":   func() error { _, err := walletKey.SignMessage(none, nil); return err },
	}
	for name, of := range sign {
		t.Run(name, func(t *testing.T) { requireRefused(t, of(), "context", noContext) })
	}
	t.Run("a zero key", func(t *testing.T) {
		_, err := new(signing.DeveloperKey).Sign(t.Context(), nil)
		require.ErrorIs(t, err, signing.ErrNoKey)
		_, err = new(ethwallet.Key).Sign(t.Context(), nil)
		require.ErrorIs(t, err, signing.ErrNoKey)
	})
}

func TestWhatIsNotMadeByACall(t *testing.T) {
	var none context.Context
	store := dapi.FileTokenStore(t.TempDir() + "/session")
	_, err := store.Load(none)
	requireRefused(t, err, "context", noContext)
	requireRefused(t, store.Save(none, dapi.Session{}), "context", noContext)

	for _, pdf := range []*public.PDF{nil, {}} {
		_, err := pdf.Read(nil)
		requireRefused(t, err, "pdf", "was not made by public.Invoices.PDF")
		requireRefused(t, pdf.Close(), "pdf", "was not made by public.Invoices.PDF")
	}
}

func TestAClientThatWasNotMadeTakesNoKey(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	for makers, refusals := range map[string][]error{
		"dapi.NewWhitelabel or dapi.NewSelfServe": {
			(*dapi.Integrator)(nil).UseKey(key), new(dapi.Integrator).UseKey(key), (*dapi.Account)(nil).UseKey(key), new(dapi.Account).UseKey(key),
			new(dapi.Integrator).Self().UseKey(key),
		},
		"appapi.New": {(*appapi.Client)(nil).UseKey(appapi.NewAPIKey("k")), new(appapi.Client).UseKey(appapi.NewAPIKey("k"))},
		"refapi.New": {
			(*refapi.Client)(nil).UseToken(refapi.NewAccessToken("t")), new(refapi.Client).UseToken(refapi.NewAccessToken("t")),
			new(refapi.Client).UseAPIKey(refapi.NewAPIKey("k")),
		},
	} {
		for _, refused := range refusals {
			requireRefused(t, refused, "client", "was not made by "+makers)
		}
	}
}
