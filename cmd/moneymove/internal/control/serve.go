package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/bolt"
	"github.com/moneymovement/moneymovement-go/signing"
)

// serve serves a host until ctx ends. Once the host accepts requests, it prints what a caller needs.
func serve(ctx context.Context, a *app.App, o options) (err error) {
	asJSON, err := a.JSON()
	if err != nil {
		return err
	}
	if o.apiKeyFile != "" {
		if o.apiKey, err = a.ReadSecret("api-key-file", o.apiKeyFile); err != nil {
			return err
		}
	}
	keyFile, key, err := keyIn(o.keyFile)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program listens at %s: stop it, or choose another port with -addr", o.addr)
	} else if err != nil {
		return fmt.Errorf("cannot listen at -addr %s: %w", o.addr, err)
	}
	defer func() { _ = listener.Close() }() // the server has closed it, unless it never started
	if o.control && !isLoopback(listener.Addr()) {
		return app.Usagef("-control needs a loopback address, such as -addr 127.0.0.1:8080, and not %s", o.addr)
	}
	folder, err := openFolder(o.data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.close()) }()

	log := newRequestLog(a, o)
	defer log.close()
	host, err := newHost(hostOptions(o, key, folder, log))
	if err != nil {
		return err
	}
	if err := folder.save(host.Credentials(), keyFile == ""); err != nil {
		return err
	}
	ready := announcementOf(o, reachable(listener.Addr()), cmp.Or(keyFile, folder.file(developerFile)),
		folder.file(walletFile), host.Credentials())
	ready.rateLimits = host.Settings().RateLimits
	if !folder.temporary {
		ready.DataFolder = folder.path
	}
	if o.seed {
		if ready.Seeded, err = prepare(ctx, host); err != nil {
			return err
		}
	}
	log.begin()
	// The host sets deadlines for reading a request and writing its response.
	served := make(chan error, 2)
	server := &http.Server{Handler: endWith(served, host), ReadHeaderTimeout: headerTime, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(slog.NewTextHandler(a.Err, nil), slog.LevelWarn)}
	// A console that is open listens for events until its request ends.
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	server.BaseContext = func(net.Listener) context.Context { return requests }
	server.RegisterOnShutdown(end)
	go func() { served <- server.Serve(listener) }()
	if err := ready.print(a, asJSON); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-served:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
		if !o.quiet {
			_, _ = fmt.Fprintln(log.lines, "moneymove: stopping") // without waiting for a terminal that is stopped
		}
		return shutDown(server)
	}
}

// endWith serves a host until it cannot keep its state, such as on a full disk. It then panics, so that no
// caller gets a response about lost state.
func endWith(failed chan<- error, host http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			err, ok := cause.(error)
			if _, bug := cause.(runtime.Error); bug || !ok || errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}
			select {
			case failed <- fmt.Errorf("the host ends, because it cannot keep its state: %w. It has kept what it "+
				"responded to before: make room, and start it again", err):
			default: // another request has said so
			}
			panic(http.ErrAbortHandler)
		}()
		host.ServeHTTP(w, r)
	})
}

// headerTime is how long a caller may take to send the head of a request.
const headerTime = 10 * time.Second

// newHost returns a host, or says which option is invalid, or why the state cannot be read.
func newHost(options []sandbox.Option) (host *sandbox.Host, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		failed, ok := cause.(error)
		if _, bug := cause.(runtime.Error); bug || !ok {
			panic(cause)
		}
		if err = failed; strings.Contains(failed.Error(), "WithAPIKey: ") {
			err = app.Usagef("-api-key: the key must have 16 to 128 letters, digits, and - . _ ~ + / or =")
		}
	}()
	return sandbox.New(options...), nil
}

func hostOptions(o options, key *signing.DeveloperKey, folder *folder, log *requestLog) []sandbox.Option {
	options := []sandbox.Option{
		sandbox.WithDeveloperKey(key),
		sandbox.WithHosts(o.hosts...),
		sandbox.WithLogger(slog.New(slog.NewTextHandler(plaintext.NewWriter(log.lines), nil))),
		sandbox.WithRequestObserver(log.observe),
	}
	if folder.store != nil {
		options = append(options, sandbox.WithStore(folder.store))
	}
	if o.email != "" {
		options = append(options, sandbox.WithEmail(o.email))
	}
	if o.apiKey != "" {
		options = append(options, sandbox.WithAPIKey(o.apiKey))
	}
	if o.control {
		options = append(options, sandbox.WithControl())
	}
	if o.instant {
		options = append(options, sandbox.WithInstantProgress())
	}
	if o.rateLimits != nil { // also if it says false: the state of -data may say otherwise
		options = append(options, sandbox.WithSettings(func(s *sandbox.Settings) { s.RateLimits = *o.rateLimits }))
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

// The files of a folder of -data. The state is in the first one, the credentials as well. The host writes the others
// from it, for its callers.
const (
	stateFile       = "host.db"
	developerFile   = "developer.pem"
	walletFile      = "wallet.pem"
	apiKeyFile      = "api-key"
	accessTokenFile = "access-token"
)

// folder is where a host keeps its state and its credentials. Only its owner can read it.
type folder struct {
	path      string
	temporary bool // it is removed at the end, and keeps no state
	store     *bolt.Store
}

// openFolder opens the folder of -data. It makes the folder if it does not exist. If path is empty, it makes a
// temporary folder.
func openFolder(path string) (*folder, error) {
	if path == "" {
		path, err := os.MkdirTemp("", "moneymove-")
		return &folder{path: path, temporary: true}, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, app.Usagef("-data: %w", err)
	}
	info, err := os.Stat(absolute)
	switch {
	case err == nil && !info.IsDir():
		return nil, app.Usagef("-data: %s is a file: name a folder", absolute)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, app.Usagef("-data: %w", err)
	}
	if err := ownFolder("-data", absolute); err != nil {
		return nil, err
	}
	store, err := bolt.Open(filepath.Join(absolute, stateFile)) // which makes the folder
	if _, busy := errors.AsType[*bolt.InUse](err); busy {
		return nil, fmt.Errorf("-data: another process serves a host from %s: stop it, or name another folder",
			absolute)
	}
	return &folder{path: absolute, store: store}, err
}

// save writes the credentials to files, for callers. withKey says that the developer key is in no other file.
func (f *folder) save(own sandbox.Credentials, withKey bool) error {
	purse, err := own.Wallet.PEM()
	if err != nil {
		return err
	}
	files := map[string][]byte{walletFile: purse}
	if withKey {
		if files[developerFile], err = own.Key.PEM(); err != nil {
			return err
		}
	}
	if !f.temporary {
		files[apiKeyFile] = []byte(own.APIKey.Reveal() + "\n")
		files[accessTokenFile] = []byte(own.AccessToken.Reveal() + "\n")
	}
	for name, content := range files {
		if err := app.ReplaceFile(f.file(name), content); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

// close closes the state, or removes the folder if it is temporary.
func (f *folder) close() error {
	if f.temporary {
		return os.RemoveAll(f.path)
	}
	return f.store.Close()
}

// keyIn reads the developer key in the file of -key-file, or creates the file with a new key. Callers then keep their
// key from run to run. If path is empty, key is nil.
func keyIn(path string) (absolute string, key *signing.DeveloperKey, err error) {
	if path == "" {
		return "", nil, nil
	}
	if absolute, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	key, err = signing.LoadDeveloperKey(absolute)
	if !errors.Is(err, fs.ErrNotExist) {
		return absolute, key, err
	}
	if key, err = signing.Generate(); err != nil {
		return "", nil, err
	}
	return absolute, key, key.Save(absolute)
}
