package host

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/signing"
)

const signHelp = `Signs the approval of a booked payment with the developer key, for those who call the service with curl. It reads the
response of POST /dapi/v1/payouts, or only its approval, from standard input or from -d. It shows every field of the
approval before it asks. It prints the body for POST /dapi/v1/payouts/{id}/confirm.

Say what you have asked for: give the body that you have sent with -request, and the client with -as. The response does
not count, because whoever sends it could have changed it. -expect names one more field of the approval, or one that the
body does not have, such as account=self for the account of the key. The fields are operation, resourceId, account,
amount, currency, destination.contactId, destination.address and destination.chainId. If you say who is paid, the
approval must have no other destination.

It does not sign an approval that has expired, that has a field it does not know, or that differs from what you have
asked for or from the response around it.

Nothing is sent. Without a terminal, give -yes. Then account, payee, amount, currency and operation must be known from
-as, -request and -expect. Exit codes: 0 signed; 2 wrong input; 5 not signed.`

const signExamples = `  moneymove call POST /dapi/v1/payouts -key invoice-42 -as cl_123 -d @payout.json > booked.json
  moneymove sign -d @booked.json -request @payout.json -as cl_123 > signed.json
  moneymove call POST /dapi/v1/payouts/po_1/confirm -as cl_123 -d @signed.json`

// signFlags are the flags of sign.
type signFlags struct {
	data    string
	request string
	expect  []string
	at      string
	yes     bool
}

// signedJSON is the body of a confirm.
type signedJSON struct {
	ApprovalID string `json:"approvalId"`
	PublicKey  string `json:"publicKey"`
	Signature  string `json:"signature"`
}

func signCommand(a *app.App) *cobra.Command {
	where := client.New(a)
	var flags signFlags
	command := &cobra.Command{
		Use: "sign", Short: "Show an approval, and sign it with the developer key",
		Long: signHelp, Example: signExamples,
		RunE: func(c *cobra.Command, _ []string) error { return sign(c.Context(), a, where, flags) },
	}
	set := command.Flags()
	where.KeyFlags(set)
	where.HostFlags(set)
	where.ClientFlag(set)
	set.StringVarP(&flags.data, "data", "d", "-",
		"the booking or its `approval`, in JSON; @file reads a file, and - standard input")
	set.StringVar(&flags.request, "request", "",
		"the `body` of the request that the approval belongs to; @file reads a file, and - standard input")
	set.StringArrayVar(&flags.expect, "expect", nil, "`FIELD=VALUE` that the approval must have; repeat it for more")
	set.StringVar(&flags.at, "at", "",
		"the `time` of the host, if its clock was moved: RFC 3339, or host to ask the host of -url")
	set.BoolVar(&flags.yes, "yes", false, "sign without asking")
	return command
}

func sign(ctx context.Context, a *app.App, where *client.Target, flags signFlags) error {
	terms, err := termsOf(a, where, flags)
	if err != nil {
		return err
	}
	text, err := bodyOf(a, flags.data)
	if err != nil {
		return err
	}
	approval, err := readPrepared(text)
	if err != nil {
		return err
	}
	key, err := where.Key()
	if err != nil {
		return err
	}
	now, err := timeOf(ctx, where, flags.at)
	if err != nil {
		return err
	}
	if err := showApproval(a, approval, remaining(approval.ExpiresAt.Sub(now))); err != nil {
		return err
	}
	checked, err := signing.PrepareApproval(ctx, key, approval.Approval, approval.intent(terms), now)
	if err == nil {
		err = contradiction(approval.want, terms)
	}
	if err != nil {
		return notSigned(err)
	}
	if !flags.yes {
		agreed, err := a.ConfirmWithin(ctx, "Sign this approval with the key "+where.KeyFile()+"?")
		if err != nil {
			return err
		}
		if !agreed {
			return &app.Failure{Code: app.ExitDecision, Err: errors.New("not signed: the answer was not yes")}
		}
	}
	signature, err := checked.Sign(ctx)
	if err != nil {
		return err
	}
	body := signedJSON{
		ApprovalID: approval.ID, PublicKey: key.PublicKeyBase64(),
		Signature: base64.StdEncoding.EncodeToString(signature),
	}
	line, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", line)
	return err
}

// termsOf returns what the caller has asked for. Without a person who reads the approval, that must be enough to know
// the payment.
func termsOf(a *app.App, where *client.Target, flags signFlags) (terms []term, err error) {
	actor, err := where.Client()
	if err != nil {
		return nil, err
	}
	expected, err := readExpected(flags.expect)
	if err != nil {
		return nil, err
	}
	var request []term
	if flags.request != "" {
		text, err := bodyOf(a, flags.request)
		if err != nil {
			return nil, err
		}
		if request, err = readRequest(text); err != nil {
			return nil, err
		}
	}
	if terms, err = requestedTerms(actor, request, expected); err != nil {
		return nil, err
	}
	if missing := missingFields(terms); flags.yes && len(missing) > 0 {
		return nil, app.Usagef("with -yes nobody reads the approval, so say what was asked for. Nothing says the %s. "+
			"Give the body that was sent with -request @FILE, the client with -as or %s, and the rest with -expect",
			strings.Join(missing, ", "), client.EnvClient)
	}
	return terms, nil
}

// notSigned adds what to do if only the time is the reason.
func notSigned(err error) error {
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	if ok && refused.Field == "expiresAt" {
		return fmt.Errorf("%w; book it again with the same idempotency key, and if the clock of a sandbox host was "+
			"moved, give -at host", err)
	}
	return err
}

// timeOf returns the time of the host. Without -at it is this machine's.
func timeOf(ctx context.Context, where *client.Target, at string) (time.Time, error) {
	switch at {
	case "":
		return time.Now(), nil
	case "host":
		return hostTime(ctx, where)
	}
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}, app.Usagef("-at is %q: give a time such as 2026-01-31T12:00:00Z, or host", at)
	}
	return now, nil
}

// hostTime asks the host. Any response has its time.
func hostTime(ctx context.Context, where *client.Target) (time.Time, error) {
	asked, err := client.Plan(where, http.MethodGet, "/utils/rates/EUR", false)
	if err != nil {
		return time.Time{}, err
	}
	response, err := asked.Send(ctx)
	if response == nil {
		return time.Time{}, err
	}
	now, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("the host does not say its time: %w", err)
	}
	return now, nil
}

// showApproval prints every field of the approval on standard error: standard output has the result. left says how long
// the approval can be used.
func showApproval(a *app.App, approval prepared, left string) error {
	a.Say("Approval %s, for %d bytes to sign:", approval.ID, len(approval.Payload))
	var rows [][]string
	for _, field := range approval.fields() {
		remark := ""
		switch {
		case field.name == "expiresAt":
			remark = left
		case !slices.Contains(knownFields, field.name):
			remark = "  (UNKNOWN: the signature would cover it)"
		}
		rows = append(rows, []string{"  " + field.name, field.value + remark})
	}
	return a.SayTable(app.Table{Rows: rows})
}

func remaining(left time.Duration) string {
	if left <= 0 {
		return "  (EXPIRED)"
	}
	return "  (in " + left.Round(time.Second).String() + ")"
}
