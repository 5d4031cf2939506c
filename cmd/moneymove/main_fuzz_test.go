package main

import (
	"errors"
	"flag"
	"io"
	"reflect"
	"strings"
	"testing"
)

// FuzzCommandLine: arguments, one a line, are flags that say the same when they are written out, a call for help, or a
// *usageError.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{
		"", "-h", "--help", "-addr\n127.0.0.1:0\n-json", "-addr=:0\n-control=false", "-json=maybe", "-email",
		"-email=\n-key-file=a b", "-host=\n-instant", "-host=http://a", "now", "--", "--\n-json",
		"-rate-limits=0\n-rate-limits=T", "-", "-=", "---json", "-addr=a\x00\xff",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		flags, err := parseSandbox(strings.Split(line, "\n"), io.Discard)
		if err != nil {
			if _, usage := errors.AsType[*usageError](err); !usage && !errors.Is(err, flag.ErrHelp) ||
				err.Error() == "" {
				t.Fatalf("%q is refused by %v", line, err)
			}
			return
		}
		again := []string{"-addr=" + flags.addr, "-email=" + flags.email, "-key-file", flags.keyFile}
		for name, set := range map[string]bool{"json": flags.json, "control": flags.control,
			"instant": flags.instant, "rate-limits": flags.rateLimits} {
			again = append(again, map[bool]string{true: "-" + name, false: "-" + name + "=false"}[set])
		}
		for _, host := range flags.hosts {
			again = append(again, "-host", host)
		}
		if same, err := parseSandbox(again, io.Discard); err != nil || !reflect.DeepEqual(same, flags) {
			t.Fatalf("%q is %+v, and %q is %+v: %v", line, flags, again, same, err)
		}
	})
}
