package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Verification is the KYB workflow of a client: save information, inspect what is outstanding, complete. Editing and
// completing are separate calls; completing sends an immutable snapshot for review.
//
// Source: States, Platform objects.
type Verification struct{ low lowLevel }

// Save saves applicant information and documents. It submits nothing, and can be called again with more.
func (s *Verification) Save(
	ctx context.Context, information KYBInformation, options ...moneymovement.CallOption,
) (*KYB, error) {
	return transport.Of(s).low.SaveKYB(ctx, &information, options).
		Or(func(same transport.SameCredential) (*KYB, error) {
			return transport.Of(s).low.GetKYB(ctx, []moneymovement.CallOption{same})
		})
}

// Get answers the status and the requirements that are still outstanding.
func (s *Verification) Get(ctx context.Context, options ...moneymovement.CallOption) (*KYB, error) {
	return transport.Of(s).low.GetKYB(ctx, options)
}

// Complete submits what was saved for review. While requirements are outstanding it is *errors.Conflict;
// [Verification.Get] names them.
func (s *Verification) Complete(ctx context.Context, options ...moneymovement.CallOption) (*KYBSubmission, error) {
	return transport.Of(s).low.CompleteKYB(ctx, options).Or(func(same transport.SameCredential) (*KYBSubmission,
		error) {
		kyb, err := transport.Of(s).low.GetKYB(ctx, []moneymovement.CallOption{same})
		if err != nil {
			return nil, err
		}
		return &KYBSubmission{Status: kyb.Status}, nil
	})
}

// WaitDecided polls until the review ends `approved` or `rejected`. A review by people can take days: give ctx a
// deadline.
func (s *Verification) WaitDecided(ctx context.Context, options ...WaitOption) (*KYB, error) {
	return wait(ctx, options, poll[KYB]{
		low: transport.Of(s).low, resource: "verification", id: transport.Of(s).low.actingFor(),
		read: func(ctx context.Context) (*KYB, error) {
			return transport.Of(s).low.as(transport.ClassPoll).GetKYB(ctx, nil)
		},
		status: func(k *KYB) string { return string(k.Status) },
		done:   func(k *KYB) bool { return k.Status.Final() },
	})
}
