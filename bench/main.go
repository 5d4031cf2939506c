// Command bench measures what the SDK costs beside a client written by hand on net/http and encoding/json, and beside
// the SDKs of other services.
//
//	go run .           compare with results.json, and fail if a row is worse
//	go run . -write    measure on each release of Go, and write RESULTS.md, results.svg, results.json and the README
//
// README.md says what is measured, and how.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	write    bool
	measure  string
	releases []string
	rows     *regexp.Regexp
	parts    map[string]bool
	plan     measure.Plan
	quick    bool
	cold     bool
	profile  string
	out      string
	readme   string
	passed   []string // the flags that each release gets as well
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	switch {
	case o.measure != "":
		return measureTo(ctx, o, out)
	case o.write:
		return write(ctx, o, out)
	}
	return compare(ctx, o, out)
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.write, "write", false, "measure on each release, and write the results")
	flags.StringVar(&o.measure, "measure", "",
		"measure on this release, and write the figures to this `file`; - prints them only")
	releases := flags.String("releases", "", "the releases of Go for -write, such as \"go1.26.8 go1.27.4\"")
	rows := flags.String("rows", "", "a `regexp` that chooses rows by their ids, such as ^memory/")
	parts := flags.String("parts", "rows,footprint,host,load", "what -write and -measure measure")
	flags.IntVar(&o.plan.Turns, "turns", 10, "how many turns each side has")
	flags.DurationVar(&o.plan.Block, "block", 150*time.Millisecond, "how long a turn of one side takes")
	flags.BoolVar(&o.quick, "quick", false, "measure next to nothing, to see that everything runs")
	flags.BoolVar(&o.cold, "cold", true, "measure builds without a cache, too")
	flags.StringVar(&o.profile, "profile", "", "with -measure: write a CPU profile to this `file`")
	flags.StringVar(&o.out, "out", ".", "the `folder` of the results")
	flags.StringVar(&o.readme, "readme", "../README.md", "the `page` that -write refreshes between its two marks")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	o.releases = strings.Fields(*releases)
	o.parts = map[string]bool{}
	for part := range strings.SplitSeq(*parts, ",") {
		o.parts[part] = true
	}
	if o.quick {
		o.plan = measure.Plan{Turns: 2, Block: time.Millisecond, Most: 8}
		o.cold = false
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "write" && f.Name != "releases" {
			o.passed = append(o.passed, "-"+f.Name+"="+f.Value.String())
		}
	})
	if o.write && len(o.releases) == 0 {
		o.releases = []string{runtime.Version()}
	}
	o.rows, err = regexp.Compile(*rows)
	return o, err
}
