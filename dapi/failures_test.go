package dapi_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/signing"
)

const signerFails = "the signer fails"

// allFaults are those of any surface, and those of this one.
func allFaults() map[string]testkit.Fault {
	all := map[string]testkit.Fault{
		"canceled before, for a cause": {Context: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(testkit.ErrCustom)
			return ctx, func() {}
		}},
		"out of time": {
			Context: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second)
			},
			Service: func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
		},
		"neither of both": {Service: func(*http.Request) (*http.Response, error) { return nil, nil }},
		//nolint:nilnil // what is tested
		"nothing at all": {Service: testkit.Page(http.StatusNoContent, "", "")},
		"null":           {Service: testkit.Page(http.StatusOK, "application/json", "null")},
		signerFails:      {},
	}
	maps.Copy(all, testkit.CommonFaults())
	return all
}

// silent are the writes of which the description does not say what they return: any success is one.
var silent = map[string]bool{
	"SaveKYB": true, "CompleteKYB": true, "UpdateContact": true, "OpenRail": true,
	"CreateDeposit": true, "CompletePayin": true, "MovePayout": true,
}

// failingSigner is a key that is held elsewhere, out of reach.
type failingSigner struct {
	signing.Signer
	err error
}

func (s failingSigner) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Signer.Sign(ctx, message)
}

// No error leaves the SDK that does not answer for its call: with a session and without, whatever happens to it.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	for fault, m := range allFaults() {
		for _, store := range []dapi.TokenStore{loggedIn(baseURL, key).Store, nil} {
			key := failingSigner{Signer: key}
			if fault == signerFails {
				if store != nil {
					continue // nothing to sign
				}
				key.err = testkit.ErrCustom
			}
			if m.Service == nil { // a service that only knows challenges
				m.Service = testkit.Page(http.StatusCreated, "application/json",
					`{"challengeId":"ch_1","payload":"YQ=="}`)
			}
			for operation, x := range exchanges {
				t.Run(fault+"/"+operation, func(t *testing.T) {
					m.CheckCall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
						platform, err := dapi.NewIntegrator(baseURL,
							dapi.Developer{Email: "ops@example.com", Key: key, Store: store},
							moneymovement.WithHTTPClient(next))
						require.NoError(t, err)
						if _, err = x.by(ctx, platform); err == nil {
							assert.True(t, x.answer == "" || silent[operation], "an answer that nobody gave")
						} else {
							time.Sleep(3 * time.Minute) // until a login that nobody waits for has ended
						}
						return err
					})
				})
			}
		}
	}
}

func TestFlowErrorsAnswerTheSameQuestions(t *testing.T) {
	pending := func(resource string) error {
		return &moneymovement.StillPending{Progress: moneymovement.Progress{Resource: resource}}
	}
	for name, tc := range map[string]struct {
		err       error
		retryable bool
		moved     errors.Movement
	}{
		"a payout that goes on":  {pending("payout"), true, errors.MaybeMoved},
		"a deal that goes on":    {pending("escrow"), true, errors.MaybeMoved},
		"a payin that goes on":   {pending("payin"), true, errors.MaybeMoved},
		"a review that goes on":  {pending("verification"), true, errors.NotMoved},
		"a client not yet ready": {pending("client"), true, errors.NotMoved},
		"a payin that ended":     {&dapi.PayinNotCompleted{}, false, errors.NotMoved},
		"a channel that is down": {&dapi.ChannelUnavailable{}, true, errors.NotMoved},
		"a rail nobody has":      {&dapi.RailNotListed{}, false, errors.NotMoved},
		"a deal that lapsed":     {&dapi.EscrowNotOpened{}, false, errors.NotMoved},
		"a payout that failed":   {&dapi.PayoutNotCompleted{}, false, errors.NotMoved},
		"other terms":            {&dapi.TermsDiffer{}, false, errors.NotMoved},
		"another price":          {&dapi.PriceRefused{}, false, errors.NotMoved},
		"a hook that declines":   {&dapi.PaymentDeclined{}, true, errors.NotMoved},
		"a key too old":          {&dapi.KeyTooOld{}, false, errors.NotMoved},
		"a rail not yet active":  {pending("rail"), true, errors.NotMoved},
		"an approval refused":    {&signing.ApprovalRefused{}, false, errors.NotMoved},
		"a challenge refused":    {&signing.ChallengeRefused{}, false, errors.NotMoved},
		"a key that cannot sign": {&signing.NotSigned{}, true, errors.NotMoved},
		"a key that signs wrong": {&signing.RemoteSignatureRefused{}, false, errors.NotMoved},
	} {
		t.Run(name, func(t *testing.T) {
			failure, ok := errors.AsType[errors.Failure](tc.err)
			require.True(t, ok)
			assert.Equal(t, tc.retryable, failure.Retryable())
			assert.Equal(t, tc.moved, failure.MovedByCall())
			assert.NotEmpty(t, failure.Error(), "also if its fields are empty")
			_, headed := errors.CallInfoOf(failure)
			assert.Equal(t, !strings.HasSuffix(name, "goes on") && !strings.HasPrefix(name, "a key that ") &&
				!strings.Contains(name, " not yet "), headed, "what a payment ends in names its call")
		})
	}
}

// A client that no constructor made, and a call without a context, are refused by each method before it does anything.
func TestCallsThatCannotBeMade(t *testing.T) {
	const makers = "dapi.NewIntegrator or dapi.NewSelfServe"
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, sent := counted(t)
	own, err := dapi.NewSelfServe(baseURL, dapi.Developer{Email: "ops@example.com", Key: key})
	require.NoError(t, err)
	nobody, zero := (*dapi.Integrator)(nil), new(dapi.Integrator)

	calls := testkit.Surface{
		Constructors: makers,
		Clients:      []any{integrator, integrator.Self(), integrator.For("cl_x"), own},
		ZeroClients: []any{zero, nobody.Self(), nobody.For("cl_x"), zero.Self(), zero.For("cl_x"), new(dapi.Account),
			new(dapi.SelfServe)},
	}.Test(t)
	assert.Greater(t, calls, 400, "the walk found next to nothing")
	assert.Zero(t, sent.Load())
	assert.Equal(t, 108, own.Payouts.MaxInFlight())
	assert.Zero(t, new(dapi.Payouts).MaxInFlight())
	assert.Zero(t, (*dapi.Payouts)(nil).MaxInFlight())

	testkit.CheckNoClient(t, nobody.UseKey(key), makers)
	require.ErrorContains(t, nobody.UseKey(key), "UseKey: ")
	testkit.CheckNoClient(t, zero.UseKey(key), makers)
	testkit.CheckNoClient(t, zero.Self().UseKey(key), makers)
	testkit.CheckNoClient(t, (*dapi.Account)(nil).UseKey(key), makers)
	testkit.CheckNoClient(t, new(dapi.Account).UseKey(key), makers)
	testkit.CheckNoClient(t, (*dapi.SelfServe)(nil).UseKey(key), makers)
	testkit.CheckNoClient(t, new(dapi.SelfServe).UseKey(key), makers)
}

func TestAWaitForManyThatCannotBeMade(t *testing.T) {
	for most := range 2 {
		var refused []dapi.PayoutID
		for waited := range new(dapi.Payouts).WaitAll(t.Context(), []dapi.PayoutID{"po_1", "po_2"}) {
			testkit.CheckNoClient(t, waited.Err, "dapi.NewIntegrator or dapi.NewSelfServe")
			if refused = append(refused, waited.ID); most == 0 {
				break
			}
		}
		assert.Equal(t, []dapi.PayoutID{"po_1", "po_2"}[:most+1], refused)
	}
}

func TestATokenStoreWantsAContext(t *testing.T) {
	var without context.Context
	store := dapi.NewFileTokenStore(t.TempDir() + "/session")
	_, err := store.Load(without)
	testkit.CheckNoContext(t, err)
	require.ErrorContains(t, err, "NewFileTokenStore: ")
	testkit.CheckNoContext(t, store.Save(without, dapi.Session{}))
}
