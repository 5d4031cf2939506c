package program

import (
	"context"
	"os"
	"os/exec"
)

// againVariable is set in the environment of a process that [Program.Again] starts.
const againVariable = "MONEYMOVEMENT_EXAMPLE_STARTED_AGAIN"

// Again returns a command that runs this program again, in another process and against the same host.
func (p *Program) Again(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, path, args...) //gosec:disable G204 -- it is this very program
	command.Env = append(append(os.Environ(), p.Environment()...), againVariable+"=1")
	command.Stderr = os.Stderr
	return command, nil
}

// StartedAgain reports whether [Program.Again] started this process. The TestMain of a program that starts itself calls
// main then, because the program that runs is the test.
func StartedAgain() bool { return os.Getenv(againVariable) != "" }
