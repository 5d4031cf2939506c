package platform_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/api"
)

func (b *bench) saveKYB(account string, body api.KYBSave) (api.KYB, error) {
	response, err := b.SaveKYB(b.as(account, ""), api.SaveKYBRequestObject{Body: &body})
	if err != nil {
		return api.KYB{}, err
	}
	return read[api.KYB](b, render(b, response.VisitSaveKYBResponse)), nil
}

func (b *bench) completeKYB(account string) (api.KYBSubmission, error) {
	response, err := b.CompleteKYB(b.as(account, ""), api.CompleteKYBRequestObject{})
	if err != nil {
		return api.KYBSubmission{}, err
	}
	return read[api.KYBSubmission](b, render(b, response.VisitCompleteKYBResponse)), nil
}

// verify completes a client's verification and lets it be decided.
func (b *bench) verify(account string) {
	_, err := b.saveKYB(account, api.KYBSave{
		Applicant: map[string]any{"legalName": "Acme Ltd", "country": "DE"}, DocumentIds: []string{"doc_1"},
	})
	require.NoError(b, err)
	_, err = b.completeKYB(account)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().KYBDecisionAfter))
}

func (b *bench) openRail(account string, body api.RailOpen) (api.Rail, error) {
	response, err := b.OpenRail(b.as(account, ""), api.OpenRailRequestObject{Body: &body})
	if err != nil {
		return api.Rail{}, err
	}
	return read[api.Rail](b, render(b, response.VisitOpenRailResponse)), nil
}

// virtualAccount opens a rail, lets it become active, and answers its account.
func (b *bench) virtualAccount(account string, body api.RailOpen) *api.VirtualAccount {
	_, err := b.openRail(account, body)
	require.NoError(b, err)
	b.clock.Advance(time.Duration(b.settings.Load().RailActiveAfter))
	opened, err := b.openRail(account, body)
	require.NoError(b, err)
	return opened.VirtualAccount
}

func (b *bench) payin(account string, body api.PayinCreate) (api.Payin, error) {
	response, err := b.CreatePayin(b.as(account, ""), api.CreatePayinRequestObject{Body: &body})
	if err != nil {
		return api.Payin{}, err
	}
	return read[api.Payin](b, render(b, response.VisitCreatePayinResponse)), nil
}

func (b *bench) instructions(account, id string) (answered, error) {
	response, err := b.CreatePayinInstructions(b.as(account, ""), api.CreatePayinInstructionsRequestObject{PayinID: id})
	if err != nil {
		return answered{}, err
	}
	return render(b, response.VisitCreatePayinInstructionsResponse), nil
}

func (b *bench) completePayin(account, key, id string) (api.Payin, error) {
	response, err := b.CompletePayin(b.as(account, key), api.CompletePayinRequestObject{PayinID: id})
	if err != nil {
		return api.Payin{}, err
	}
	return read[api.Payin](b, render(b, response.VisitCompletePayinResponse)), nil
}

func (b *bench) escrow(account, key string, body api.EscrowCreate) (api.Escrow, error) {
	response, err := b.CreateEscrow(b.as(account, key), api.CreateEscrowRequestObject{Body: &body})
	if err != nil {
		return api.Escrow{}, err
	}
	return read[api.Escrow](b, render(b, response.VisitCreateEscrowResponse)), nil
}

func (b *bench) prepare(account, key, id string, kind api.EscrowActionType) (api.EscrowAction, error) {
	response, err := b.PrepareEscrowAction(b.as(account, key), api.PrepareEscrowActionRequestObject{
		EscrowID: id, Body: &api.EscrowActionCreate{Type: kind},
	})
	if err != nil {
		return api.EscrowAction{}, err
	}
	return read[api.PreparedEscrowAction](b, render(b, response.VisitPrepareEscrowActionResponse)).Action, nil
}

// act signs and confirms a prepared action.
func (b *bench) act(account, id string, action api.EscrowAction) (api.Escrow, error) {
	response, err := b.ConfirmEscrowAction(b.as(account, ""), api.ConfirmEscrowActionRequestObject{
		EscrowID: id, IdempotencyKey: action.IdempotencyKey, Body: &api.ApprovalConfirm{
			ApprovalID: action.Approval.ID, PublicKey: b.public, Signature: b.sign(action.Approval.Payload),
		},
	})
	if err != nil {
		return api.Escrow{}, err
	}
	return read[api.Escrow](b, render(b, response.VisitConfirmEscrowActionResponse)), nil
}

func (b *bench) sync(account, id string) (api.Escrow, error) {
	response, err := b.SyncEscrow(b.as(account, ""), api.SyncEscrowRequestObject{EscrowID: id})
	if err != nil {
		return api.Escrow{}, err
	}
	return read[api.Escrow](b, render(b, response.VisitSyncEscrowResponse)), nil
}
