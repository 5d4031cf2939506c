package serve

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// FuzzCommandLine: arguments, one a line, are flags that say the same when they are written out, a call for help, or a
// wrong command line that is explained.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{
		"", "-h", "--help", "-addr\n127.0.0.1:0\n-o\njson", "-addr=:0\n-control=false", "-control=maybe", "-email",
		"-email=\n-key-file=a b", "-host=\n-instant", "-host=http://a", "now", "--", "--\n-control",
		"-rate-limits=0\n-rate-limits=T", "-", "-=", "---control", "-addr=a\x00\xff", "-vq", "-v\n-q=false",
		"-key-file\n-addr", "-data\nfolder\n-seed\n-api-key=0123456789abcdef", "-api-key=k\n-api-key-file\n-",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		o, code, says := parsed(t, strings.Split(line, "\n"))
		if o == nil {
			if code == app.ExitUsage && says == "" || code != app.ExitUsage && code != app.ExitFine {
				t.Fatalf("%q ends with %d and %q", line, code, says)
			}
			return
		}
		again := []string{"-addr=" + o.addr, "-key-file", o.keyFile, "-data", o.data, "-api-key=" + o.apiKey,
			"-api-key-file", o.apiKeyFile}
		flags := map[string]bool{"control": o.control, "instant": o.instant, "seed": o.seed, "verbose": o.verbose,
			"quiet": o.quiet}
		if o.rateLimits != nil {
			flags["rate-limits"] = *o.rateLimits
		}
		for name, set := range flags {
			again = append(again, map[bool]string{true: "-" + name, false: "-" + name + "=false"}[set])
		}
		if o.email != "" {
			again = append(again, "-email="+o.email)
		}
		for _, host := range o.hosts {
			again = append(again, "-host", host)
		}
		if same, _, says := parsed(t, again); !reflect.DeepEqual(same, o) {
			t.Fatalf("%q is %+v, and %q is %+v: %s", line, o, again, same, says)
		}
	})
}

// parsed returns the flags that a command line gives, or nil, and what the command ends with and says.
func parsed(t *testing.T, args []string) (given *options, code int, says string) {
	var out, err bytes.Buffer
	a := &app.App{In: strings.NewReader(""), Out: &out, Err: &err, Getenv: func(string) string { return "" }}
	root := &cobra.Command{Use: "moneymove"}
	root.AddCommand(newCommand(func(_ context.Context, o options) error {
		given = &o
		return nil
	}))
	code = a.Run(t.Context(), root, append([]string{"sandbox"}, args...))
	return given, code, err.String()
}
