package app

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// verificationProvider is who verifies on this host.
const verificationProvider = "sandbox"

// verification is how far the account's owner has come.
type verification struct {
	link                  string
	linkedAt, completedAt time.Time // when the link was made, and when the profile had what it reads
	decision              commonwire.KYCStatus
}

// CreateKYCLink makes a link, or fetches the one there is. Source: App API, Account and profile.
func (a *App) CreateKYCLink(ctx context.Context) (serve.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	v := &t.profile.verification
	if v.link == "" {
		v.link, v.linkedAt = "https://verify.example.com/kyc/"+strings.ToLower(rand.Text()), t.now
	}
	return serve.OK(appwire.KYCLink{URL: v.link, Status: t.kycStatus()}), nil
}

// GetKYCStatus answers how far verification has come. Source: App API, Account and profile.
func (a *App) GetKYCStatus(ctx context.Context, params appwire.GetKYCStatusParams) (serve.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	if asked := params.Provider; asked != "" && asked != verificationProvider {
		return serve.OK(appwire.KYCState{Status: commonwire.KYCStatusNotStarted, Provider: asked}), nil
	}
	return serve.OK(appwire.KYCState{Status: t.kycStatus(), Provider: verificationProvider}), nil
}

// kycStatus is where verification stands. Once decided it stays so. Source: States, Card and verification.
func (t *turn) kycStatus() commonwire.KYCStatus {
	v := &t.profile.verification
	reviewFrom := v.linkedAt
	if v.completedAt.After(reviewFrom) {
		reviewFrom = v.completedAt
	}
	switch {
	case v.decision != "":
	case v.link == "":
		return commonwire.KYCStatusNotStarted
	case !t.profile.complete():
		return commonwire.KYCStatusRequested
	case t.now.Before(reviewFrom.Add(time.Duration(t.settings.KYBDecisionAfter))):
		return commonwire.KYCStatusUnderReview
	case t.settings.KYBDecision == deployment.KYBDecisionReject:
		v.decision = commonwire.KYCStatusRejected
	default:
		v.decision = commonwire.KYCStatusApproved
	}
	return v.decision
}
