package app

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// verificationProvider is the provider that verifies on this host.
const verificationProvider = "sandbox"

// verification is the progress of the account's owner.
type verification struct {
	Link                  string
	LinkedAt, CompletedAt time.Time // when the link was made, and when the profile was complete
	Decision              commonwire.KYCStatus
}

// CreateKYCLink creates a link, or returns the existing one.
func (a *App) CreateKYCLink(ctx context.Context) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	v := &t.Profile.Verification
	if v.Link == "" {
		v.Link, v.LinkedAt = "https://verify.example.com/kyc/"+strings.ToLower(rand.Text()), t.now
		t.changed()
	}
	return wire.OK(appwire.KYCLink{URL: v.Link, Status: t.kycStatus()}), nil
}

// GetKYCStatus returns the status of the verification.
func (a *App) GetKYCStatus(ctx context.Context, params appwire.GetKYCStatusParams) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	if asked := params.Provider; asked != "" && asked != verificationProvider {
		return wire.OK(appwire.KYCState{Status: commonwire.KYCStatusNotStarted, Provider: asked}), nil
	}
	return wire.OK(appwire.KYCState{Status: t.kycStatus(), Provider: verificationProvider}), nil
}

// kycStatus returns the status of the verification. A decision is final.
func (t *turn) kycStatus() commonwire.KYCStatus {
	v := &t.Profile.Verification
	reviewFrom := v.LinkedAt
	if v.CompletedAt.After(reviewFrom) {
		reviewFrom = v.CompletedAt
	}
	switch {
	case v.Decision != "":
		return v.Decision
	case v.Link == "":
		return commonwire.KYCStatusNotStarted
	case !t.Profile.complete():
		return commonwire.KYCStatusRequested
	case t.now.Before(reviewFrom.Add(time.Duration(t.settings.KYBDecisionAfter))):
		return commonwire.KYCStatusUnderReview
	case t.settings.KYBDecision == deployment.KYBDecisionReject:
		v.Decision = commonwire.KYCStatusRejected
	default:
		v.Decision = commonwire.KYCStatusApproved
	}
	t.changed()
	return v.Decision
}
