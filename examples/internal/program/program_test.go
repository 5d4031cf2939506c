package program

import (
	"bytes"
	"errors"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
)

// open reads a command line as Main does. It returns the exit code and what is printed to stderr.
func open(line CommandLine, args ...string) (code int, said string) {
	var out, stderr bytes.Buffer
	p, err := OpenWith(line, args, &out)
	if err == nil {
		p.Close()
	}
	return report(&stderr, line.Name, err), stderr.String()
}

func TestCommandLines(t *testing.T) {
	for _, variable := range []string{"MONEYMOVEMENT_BASE_URL", "MONEYMOVEMENT_EMAIL", "MONEYMOVEMENT_KEY_FILE",
		"MONEYMOVEMENT_API_KEY"} {
		t.Setenv(variable, "")
	}
	developer := CommandLine{Name: "try", Needs: []Need{DeveloperKey}, Flags: []func(*flag.FlagSet){
		func(flags *flag.FlagSet) { flags.Int("workers", 1, "how many") },
	}}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nothing": {nil, 0, ""},
		"no such flag": {[]string{"-nope"}, 2,
			"try: flag provided but not defined: -nope; -h lists the flags\n"},
		"a flag of other programs": {[]string{"-api-key", "k"}, 2,
			"try: flag provided but not defined: -api-key; -h lists the flags\n"},
		"a flag that is not a number": {[]string{"-workers", "x"}, 2,
			"try: invalid value \"x\" for flag -workers: parse error; -h lists the flags\n"},
		"an argument": {[]string{"2026-11"}, 2,
			"try: unexpected argument \"2026-11\"; -h lists the flags\n"},
		"a credential without a host": {[]string{"-email", "ops@example.com"}, 2,
			"try: -email needs -base-url as well; -h lists the flags\n"},
		"a host without a credential": {[]string{"-base-url", "http://127.0.0.1:1"}, 2,
			"try: -base-url needs -email and -key as well; -h lists the flags\n"},
		"a key file that is not there": {[]string{"-base-url", "http://127.0.0.1:1", "-email", "e", "-key", "/nowhere"},
			1, "try: signing: load developer key: open /nowhere: no such file or directory\n"},
	} {
		t.Run(name, func(t *testing.T) {
			code, said := open(developer, c.args...)
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.says, said)
		})
	}
}

func TestHelpNamesWhatTheProgramTakesAndShowsNoSecret(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_API_KEY", "ak_secret")
	code, said := open(CommandLine{Name: "try", Needs: []Need{APIKey}}, "-h")
	assert.Zero(t, code)
	assert.Contains(t, said, "-base-url")
	assert.Contains(t, said, "$MONEYMOVEMENT_API_KEY")
	assert.NotContains(t, said, "-key-file")
	assert.NotContains(t, said, "-email")
	assert.NotContains(t, said, "secret")
}

func TestErrorIsPrintedOnce(t *testing.T) {
	var stderr bytes.Buffer
	assert.Equal(t, 1, report(&stderr, "try", errors.New("it broke")))
	assert.Equal(t, "try: it broke\n", stderr.String())
}
