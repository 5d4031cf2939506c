package app

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/appapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/commonapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
)

// verificationProvider is who verifies on this host.
const verificationProvider = "sandbox"

// verification is how far the account's owner has come.
type verification struct {
	link                  string
	linkedAt, completedAt time.Time // when the link was made, and when the profile had what it reads
	decision              commonapi.KYCStatus
}

// CreateKYCLink makes a link, or fetches the one there is. Source: App API, Account and profile.
func (a *App) CreateKYCLink(ctx context.Context, _ appapi.CreateKYCLinkRequestObject) (appapi.CreateKYCLinkResponseObject, error) {
	t := a.enter(ctx)
	defer a.leave()
	v := &t.profile.verification
	if v.link == "" {
		v.link, v.linkedAt = "https://verify.example.com/kyc/"+strings.ToLower(rand.Text()), t.now
	}
	return appapi.CreateKYCLink200JSONResponse{URL: v.link, Status: t.kycStatus()}, nil
}

// GetKYCStatus answers how far verification has come. Source: App API, Account and profile.
func (a *App) GetKYCStatus(ctx context.Context, request appapi.GetKYCStatusRequestObject) (appapi.GetKYCStatusResponseObject, error) {
	t := a.enter(ctx)
	defer a.leave()
	if asked := request.Params.Provider; asked != "" && asked != verificationProvider {
		return appapi.GetKYCStatus200JSONResponse{Status: commonapi.KYCStatusNotStarted, Provider: asked}, nil
	}
	return appapi.GetKYCStatus200JSONResponse{Status: t.kycStatus(), Provider: verificationProvider}, nil
}

// kycStatus is where verification stands. Once decided it stays so. Source: States, Card and verification.
func (t *turn) kycStatus() commonapi.KYCStatus {
	v := &t.profile.verification
	reviewFrom := v.linkedAt
	if v.completedAt.After(reviewFrom) {
		reviewFrom = v.completedAt
	}
	switch {
	case v.decision != "":
	case v.link == "":
		return commonapi.KYCStatusNotStarted
	case !t.profile.complete():
		return commonapi.KYCStatusRequested
	case t.now.Before(reviewFrom.Add(time.Duration(t.settings.KYBDecisionAfter))):
		return commonapi.KYCStatusUnderReview
	case t.settings.KYBDecision == platform.KYBDecisionReject:
		v.decision = commonapi.KYCStatusRejected
	default:
		v.decision = commonapi.KYCStatusApproved
	}
	return v.decision
}
