package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// sandboxFlags are the flags of the sandbox command.
type sandboxFlags struct {
	addr       string
	email      string
	keyFile    string
	json       bool
	control    bool
	instant    bool
	rateLimits bool
	hosts      []string
}

const sandboxUsage = `Usage: moneymove sandbox [flags]

Serves a sandbox host of the service until it is interrupted (Ctrl-C). The host
keeps everything in memory, and forgets it when the command ends. Once the host
accepts requests, the command prints its address and where the keys are.

Flags:
`

// parseSandbox reads the flags. With -h it writes the help to stderr and returns flag.ErrHelp.
func parseSandbox(args []string, stderr io.Writer) (sandboxFlags, error) {
	var f sandboxFlags
	set := flag.NewFlagSet("moneymove sandbox", flag.ContinueOnError)
	set.SetOutput(io.Discard) // run prints what is wrong, once
	set.StringVar(&f.addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 takes any free port")
	set.BoolVar(&f.control, "control", false,
		"serve the host's controls (clock, faults, settings, ledger) under /_host;\nneeds a loopback address")
	set.StringVar(&f.email, "email", "ops@example.com", "`email` of the integrator's account")
	set.Func("host", "accept requests for this host `name` as well, such as a container's; repeat it for more names",
		func(name string) error {
			if name == "" || strings.ContainsAny(name, "/ ") {
				return errors.New("not a host name; give a name such as sandbox.internal")
			}
			f.hosts = append(f.hosts, name)
			return nil
		})
	set.BoolVar(&f.instant, "instant", false,
		"make clients, rails, cards, verifications and payouts progress at once, not after 250 to 300 ms")
	set.BoolVar(&f.json, "json", false,
		"print one line of JSON for programs, which includes the app key and the access token")
	set.StringVar(&f.keyFile, "key-file", "",
		"developer key `file` (PKCS #8 PEM): read if it exists, otherwise created with mode 0600\n"+
			"(default: a new file in a temporary folder, removed at the end)")
	set.BoolVar(&f.rateLimits, "rate-limits", true, "count requests against the service's rate windows")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(stderr, sandboxUsage)
			set.SetOutput(stderr)
			set.PrintDefaults()
			return f, err
		}
		return f, &usageError{err.Error()}
	}
	if set.NArg() > 0 {
		return f, &usageError{fmt.Sprintf("sandbox takes no arguments, only flags: remove %q", set.Arg(0))}
	}
	if strings.TrimSpace(f.email) == "" {
		return f, &usageError{"-email is empty; leave it out to use ops@example.com"}
	}
	return f, nil
}

// serveSandbox serves a host until ctx ends. Once the host accepts requests, it prints what a caller needs.
func serveSandbox(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags, err := parseSandbox(args, stderr)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", flags.addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server has closed it, unless it never started
	if flags.control && !isLoopback(listener.Addr()) {
		return &usageError{fmt.Sprintf(
			"-control needs a loopback address, such as -addr 127.0.0.1:8080, and not %s", flags.addr)}
	}
	keys, err := openKeyFile(flags.keyFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keys.close()) }()

	host := sandbox.New(options(flags, keys, stderr)...)
	walletFile, removeWallet, err := saveWallet(host.Credentials().Wallet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeWallet()) }()
	// The host sets deadlines for reading a request and writing its answer.
	server := &http.Server{Handler: host, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := announce(stdout, flags, reachable(listener.Addr()), keys.path, walletFile,
		host.Credentials()); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return shutDown(server)
	}
}

func options(flags sandboxFlags, keys *keyFile, stderr io.Writer) []sandbox.Option {
	options := []sandbox.Option{
		sandbox.WithEmail(flags.email),
		sandbox.WithDeveloperKey(keys.key),
		sandbox.WithHosts(flags.hosts...),
		sandbox.WithLogger(slog.New(slog.NewTextHandler(stderr, nil))),
	}
	if flags.control {
		options = append(options, sandbox.WithControl())
	}
	if flags.instant {
		options = append(options, sandbox.WithInstantProgress())
	}
	if flags.rateLimits {
		options = append(options, sandbox.WithRateLimits())
	}
	return options
}

// shutDown lets requests that are under way finish, for at most three seconds.
func shutDown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return server.Close()
	}
	return nil
}

func isLoopback(address net.Addr) bool {
	parsed, err := netip.ParseAddrPort(address.String())
	return err == nil && parsed.Addr().Unmap().IsLoopback()
}

// reachable returns the address for callers on this machine: 127.0.0.1 if the host listens on every address.
func reachable(address net.Addr) string {
	parsed, err := netip.ParseAddrPort(address.String())
	if err != nil || !parsed.Addr().IsUnspecified() {
		return address.String()
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), parsed.Port()).String()
}
