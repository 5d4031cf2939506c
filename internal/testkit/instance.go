package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// engine is what differs between the kinds of server.
type engine interface {
	name() string
	users() []string                                                // who may run it, if the test runs as root
	find() error                                                    // looks for its programs
	prepare(as *Account, folder string) error                       // makes the folder of data and settings
	command(ctx context.Context, folder string, port int) *exec.Cmd // runs it in the foreground
	ready(ctx context.Context, folder string, port, id int) error   // nil if it takes connections
	forget(folder string) error                                     // removes what a killed server leaves behind
	quit() os.Signal                                                // ends it in its orderly way
	url(port int) string
}

const (
	startWithin = 90 * time.Second // recovery after a kill, on a machine that is busy with other tests
	stopWithin  = 60 * time.Second
	portTries   = 20
)

// errDown says that a server ended before it took connections.
var errDown = errors.New("it ended before it was ready")

// instance is a server process with its folder and port.
type instance struct {
	engine engine
	as     *Account
	folder string
	lock   *os.File // says that the folder is in use; nil where nothing reads it
	port   int

	mu      sync.Mutex
	process *Process // nil while it is down
	killed  bool     // it is down, and was killed
}

// run starts a server of its own.
func run(of engine) (*instance, error) {
	if err := of.find(); err != nil {
		return nil, err
	}
	as, err := UnprivilegedAccount(of.users())
	if err != nil {
		return nil, err
	}
	prefix := "moneymovement-" + strings.ToLower(of.name()) + "-"
	removeAbandoned(prefix + "*")
	folder, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	i := &instance{engine: of, as: as, folder: folder, lock: lock}
	if err := i.begin(); err != nil {
		err = fmt.Errorf("%s: %w\n%s", of.name(), err, i.log())
		return nil, errors.Join(err, i.remove())
	}
	return i, nil
}

// begin fills the folder, and starts the server on a free port. Another process can take a port after it was found
// free. The server then ends, and gets another port.
func (i *instance) begin() error {
	if err := i.as.Own(i.folder); err != nil {
		return err
	}
	if err := i.engine.prepare(i.as, i.folder); err != nil {
		return err
	}
	for try := 1; ; try++ {
		port, err := FreePort()
		if err != nil {
			return err
		}
		i.port = port
		err = i.start()
		if err == nil || !i.logHas("address already in use") || try == portTries {
			return err
		}
	}
}

// start starts the process, and waits until it takes connections.
func (i *instance) start() error {
	log, err := os.Create(i.logFile())
	if err != nil {
		return err
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	command := i.engine.command(context.WithoutCancel(ctx), i.folder, i.port)
	command.Dir, command.Stdout, command.Stderr = i.folder, log, log
	started, err := StartProcess(command, i.as, i.engine.quit())
	if err != nil {
		return err
	}
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for {
		unready := i.engine.ready(ctx, i.folder, i.port, started.ID())
		if unready == nil {
			i.process, i.killed = started, false
			return nil
		}
		select {
		case <-pause.C:
		case <-started.Ended():
			return errDown
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("not ready after %s: %w", startWithin, unready), started.Kill())
		}
	}
}

// restart starts a server that is down. Its port is free, unless another process took it meanwhile.
func (i *instance) restart() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.process != nil {
		return errors.New("it is running: kill or stop it first")
	}
	if err := i.startAgain(); err != nil {
		return fmt.Errorf("%w\n%s", err, i.log())
	}
	return nil
}

// startAgain starts a server in the folder of one that is down. The memory of a killed PostgreSQL can be in use for a
// moment after its processes have ended, by whoever reads them in /proc. The server then ends, and is started again.
func (i *instance) startAgain() error {
	if err := i.engine.forget(i.folder); err != nil {
		return err
	}
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for began := time.Now(); ; <-pause.C {
		err := i.start()
		if err == nil || !i.logHas("is still in use") || time.Since(began) > startWithin {
			return err
		}
	}
}

// takeProcess takes the process away from the instance. It returns nil if the server is down already.
func (i *instance) takeProcess() (*Process, error) {
	was := i.process
	i.process = nil
	if was == nil {
		return nil, nil
	}
	select {
	case <-was.Ended():
		return nil, fmt.Errorf("it had ended by itself: %w\n%s", was.Err(), i.log())
	default:
		return was, nil
	}
}

func (i *instance) kill() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	was, err := i.takeProcess()
	if was == nil {
		return err
	}
	i.killed = true
	return was.Kill()
}

func (i *instance) stop() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	was, err := i.takeProcess()
	if was == nil {
		return err
	}
	return was.End(i.engine.quit(), stopWithin)
}

// discard ends the server and removes its folder. A server that was killed starts again first: only that frees the
// shared memory which a killed PostgreSQL leaves in the system. If the test damaged the folder, it cannot start.
func (i *instance) discard() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	was, err := i.takeProcess()
	if i.killed && i.startAgain() == nil {
		was, i.process = i.process, nil
	}
	if was != nil {
		err = was.End(i.engine.quit(), stopWithin)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", i.engine.name(), err)
	}
	return errors.Join(err, i.remove())
}

// remove removes the folder, and then gives up its lock.
func (i *instance) remove() error {
	err := os.RemoveAll(i.folder)
	if i.lock != nil {
		err = errors.Join(err, i.lock.Close())
	}
	return err
}

func (i *instance) logFile() string { return filepath.Join(i.folder, "log") }

// log returns the last lines that the server wrote since it started.
func (i *instance) log() string {
	text, err := os.ReadFile(i.logFile())
	if err != nil {
		return err.Error()
	}
	return tail(string(text), 20)
}

// logHas reports whether the server's log names this as the reason why it did not start.
func (i *instance) logHas(reason string) bool {
	return strings.Contains(strings.ToLower(i.log()), reason)
}
