package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/survey"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

const checkHelp = `Compares what a host responds with the descriptions in openapi/. It logs in, renews the session once, and calls every
operation that reads, with the ids that it finds in the responses. It also sends reads that a host must refuse. It
writes nothing: no other POST, and no PUT, PATCH or DELETE.

The report lists the operations that were called, the slugs that were seen, and what the responses show about each
assumption: confirmed, contradicted or open. For a contradiction it gives the line in openapi/ and the edit. The report
has names of fields and slugs, and no other values of the host.

A surface without a credential is left out. Some ids are in no list. Give them with -id, for example
-id contactId=ct_1 -id payoutId=po_1. With -as, the reads are repeated on behalf of that client.

The host must first show that it is a sandbox: GET /dapi/v1/sandbox/treasury must succeed. To read a production host,
give -production. That needs the consent of whoever runs the host and owns the account.

The exit code is 7 if the host contradicts an assumption or a stated fact, and 0 if not.`

type checkFlags struct {
	target     *client.Target
	ids        []string
	production bool
	pause      time.Duration
	folder     string
	verbose    bool
}

func checkCommand(a *app.App) *cobra.Command {
	f := checkFlags{target: client.New(a)}
	command := &cobra.Command{
		Use:   "check",
		Short: "Compare what a host responds with the descriptions in openapi/, by reads alone",
		Long:  checkHelp,
		Example: `  eval "$(moneymove sandbox env)" && moneymove check
  moneymove check -url https://sandbox.example -email ops@example.com -key-file developer.pem -report out`,
		Args: cobra.NoArgs,
	}
	set := command.Flags()
	f.target.HostFlags(set)
	f.target.KeyFlags(set)
	f.target.EmailFlag(set)
	f.target.ClientFlag(set)
	f.target.AppFlags(set)
	f.target.ReferenceFlags(set)
	set.StringArrayVar(&f.ids, "id", nil, "an id that no list shows, as `name=value`; repeat it for more")
	set.BoolVar(&f.production, "production", false, "read a host that has not shown that it is a sandbox")
	set.DurationVar(&f.pause, "pause", 250*time.Millisecond, "`time` between two requests (on this machine: none)")
	set.StringVar(&f.folder, "report", "", "write summary.txt and report.json into this `folder`")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "print a line for each read")
	command.RunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("pause") && f.target.Loopback() {
			f.pause = 0
		}
		return f.run(c.Context(), a)
	}
	return command
}

func (f *checkFlags) run(ctx context.Context, a *app.App) error {
	asJSON, err := a.JSON()
	if err != nil {
		return err
	}
	reads, err := f.host()
	if err != nil {
		return err
	}
	options := survey.Options{AnyHost: f.production, Pause: f.pause}
	if options.IDs, err = f.knownIDs(); err != nil {
		return err
	}
	if f.verbose {
		options.Noted = func(c report.Case) {
			a.Say("%s", strings.TrimSpace(fmt.Sprintf("%-7s %s %s  %s", c.Outcome, c.Flow, c.Name, c.Reason)))
		}
	}
	judged, err := survey.Check(ctx, reads, transport.NewBare(), options)
	if err != nil {
		return checkFailure(ctx, err)
	}
	if f.folder != "" {
		if err := judged.WriteFiles(f.folder); err != nil {
			return err
		}
	}
	if asJSON {
		err = judged.WriteJSON(a.Out)
	} else {
		err = judged.WriteText(a.Out)
	}
	if err != nil {
		return err
	}
	return checkVerdict(judged)
}

// host returns the host with the credentials of the command line.
func (f *checkFlags) host() (h survey.Host, err error) {
	if h.BaseURL, err = f.target.BaseURL(); err != nil {
		return h, err
	}
	if f.target.HasKey() {
		developer, err := f.target.Developer()
		if err != nil {
			return h, err
		}
		h.Email, h.Key = developer.Email, developer.Key
	} else if !f.production {
		return h, app.Usagef("%w: give -key-file and -email, or -production to read it all the same",
			survey.ErrShowsNothing)
	}
	if f.target.HasAPIKey() {
		if h.APIKey, err = f.target.APIKey(); err != nil {
			return h, err
		}
	}
	if f.target.HasAccessToken() {
		h.AccessToken, err = f.target.AccessToken()
	}
	return h, err
}

// knownIDs returns the ids of the command line.
func (f *checkFlags) knownIDs() (map[string][]string, error) {
	ids := map[string][]string{}
	actor, err := f.target.Client()
	if err != nil {
		return nil, err
	}
	if actor != "" {
		ids[survey.ClientID] = []string{string(actor)}
	}
	for _, id := range f.ids {
		name, value, is := strings.Cut(id, "=")
		if !is || name == "" || value == "" {
			return nil, app.Usagef("-id is %q; give a name and a value, such as payoutId=po_1", id)
		}
		ids[name] = append(ids[name], value)
	}
	return ids, nil
}

// checkFailure gives the error of a check that has no report its exit code.
func checkFailure(ctx context.Context, err error) error {
	refused := (*target.Refused)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, target.ErrNotSandbox):
		return &app.Failure{Code: app.ExitDecision, Err: fmt.Errorf("%w. Only the login was sent. "+
			"If you may read this host, give -production: the check then reads all of it, and writes nothing", err)}
	case errors.As(err, &refused):
		return &app.Failure{Code: app.ExitRefused, Err: err}
	case errors.Is(err, target.ErrNoResponse):
		return &app.Failure{Code: app.ExitUnreachable, Err: err}
	}
	return err
}

// checkVerdict is an error if the host differs from the descriptions.
func checkVerdict(judged *report.Report) error {
	contradicted := judged.Count(report.Contradicted)
	deviations := len(judged.Deviations) + len(judged.Violations)
	failed := 0
	for _, c := range judged.Cases {
		if c.Outcome == report.Failed {
			failed++
		}
	}
	if contradicted+deviations+failed == 0 {
		return nil
	}
	return app.Otherwisef("the host differs from openapi/: assumptions contradicted: %d, deviations from what is "+
		"stated: %d, reads not refused as they must be: %d", contradicted, deviations, failed)
}
