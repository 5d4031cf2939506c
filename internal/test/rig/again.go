package rig

import (
	"fmt"
	"os"
	"testing"
)

// childVariable names the program that a run of a test binary is.
const childVariable = "MONEYMOVEMENT_RIG_CHILD"

// Programs are functions of a test package that a test runs in a process of their own.
type Programs map[string]func() error

// Main runs the program that the environment names, or the tests. Call it from TestMain:
//
//	var programs = rig.Programs{"pay": pay}
//
//	func TestMain(m *testing.M) { programs.Main(m) }
func (p Programs) Main(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		m.Run()
		return
	}
	program, found := p[name]
	if !found {
		fmt.Fprintf(os.Stderr, "rig: no program %q in this test binary\n", name)
		os.Exit(2) //nolint:forbidigo // it is a program here
	}
	if err := program(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // it is a program here
	}
}

// Again is this test binary as one of its Programs. The environment has the variables given and nothing else.
func Again(t testing.TB, program string, environment ...string) Command {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	return Command{Path: binary, Env: append([]string{childVariable + "=" + program}, environment...)}
}
