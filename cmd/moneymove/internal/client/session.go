package client

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Session is what a command knows about the session of its platform API.
type Session struct {
	dapi.Session
	// File keeps the session.
	File string
	// Renewed says that this command logged in or refreshed the session.
	Renewed bool
}

// sessionKeeper is the SDK's session file. It also remembers the session, for commands that send their own requests,
// and it makes the folder.
type sessionKeeper struct {
	app          *app.App
	path         string
	ownsFolder   bool // the folder is ours to make
	ignoreStored bool // log in, even if a session is stored

	mu         sync.Mutex
	session    Session
	writeError error // of the file
}

// keeper returns the session file of a credential.
func (t *Target) keeper(credential string) (*sessionKeeper, error) {
	if t.sessions != nil {
		return t.sessions, nil
	}
	t.sessions = &sessionKeeper{app: t.app, path: t.sessionFile}
	if t.sessionFile == "" {
		folder, err := os.UserConfigDir()
		if err != nil {
			t.sessions = nil
			return nil, app.Usagef("name a file for the session with -session: %w", err)
		}
		t.sessions.path, t.sessions.ownsFolder = filepath.Join(folder, "moneymove", credential+".session"), true
	}
	t.sessions.session.File = t.sessions.path
	return t.sessions, nil
}

// Load implements dapi.TokenStore.
func (k *sessionKeeper) Load(ctx context.Context) (dapi.Session, error) {
	k.mu.Lock()
	forget := k.ignoreStored
	k.mu.Unlock()
	if forget {
		return dapi.Session{}, nil
	}
	session, err := dapi.NewFileTokenStore(k.path).Load(ctx)
	k.noteSession(session, false, err)
	return session, err
}

// Save implements dapi.TokenStore.
func (k *sessionKeeper) Save(ctx context.Context, session dapi.Session) error {
	err := k.write(ctx, session)
	k.noteSession(session, true, err)
	return err
}

func (k *sessionKeeper) write(ctx context.Context, session dapi.Session) error {
	if k.ownsFolder {
		if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
			return err
		}
	}
	return dapi.NewFileTokenStore(k.path).Save(ctx, session)
}

// exists reports whether there is a file of a session, or something else in its place.
func (k *sessionKeeper) exists() bool {
	_, err := os.Lstat(k.path)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkWritable saves again what the file has. It fails if the file cannot keep a session.
func (k *sessionKeeper) checkWritable(ctx context.Context) error {
	session, _ := dapi.NewFileTokenStore(k.path).Load(ctx) // Save fails for the same reason, or the file can be written
	return k.write(ctx, session)
}

// noteSession remembers a session, and says once that the file cannot keep it: the command works without.
func (k *sessionKeeper) noteSession(session dapi.Session, renewed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil || renewed {
		k.session.Session = session
	}
	if renewed {
		k.session.Renewed, k.ignoreStored = true, false
	}
	if err != nil && k.writeError == nil {
		k.writeError = err
		k.app.Say("moneymove: warning: the session is not kept: %v", err)
	}
}

func (k *sessionKeeper) current() (Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session, k.writeError
}

// LogIn logs in with the developer key, whatever session the file has, and keeps the new session. If the file cannot
// keep it, it fails before the login.
func (t *Target) LogIn(ctx context.Context) (Session, error) {
	if _, err := t.Developer(); err != nil {
		return Session{}, err
	}
	was := t.sessions.exists()
	if err := t.sessions.checkWritable(ctx); err != nil {
		return Session{}, err
	}
	t.sessions.mu.Lock()
	t.sessions.ignoreStored = true
	t.sessions.mu.Unlock()
	session, err := t.checkedSession(ctx)
	if err != nil {
		if !was {
			err = errors.Join(err, os.Remove(t.sessions.path))
		}
		return Session{}, err
	}
	_, failed := t.sessions.current()
	return session, failed
}

// Session returns a session that the host accepts. It sends a read, because only the host knows whether a token is
// still valid, and it logs in or refreshes if needed.
func (t *Target) Session(ctx context.Context) (Session, error) {
	if _, err := t.Developer(); err != nil {
		return Session{}, err
	}
	return t.checkedSession(ctx)
}

// checkedSession reads the list of chains, which costs least. The SDK does what the session needs. A key that may not
// read has a session all the same.
func (t *Target) checkedSession(ctx context.Context) (Session, error) {
	account, err := t.ownAccount()
	if err != nil {
		return Session{}, err
	}
	_, err = account.Chains.List(ctx, dapi.ListChainsParams{Limit: 1})
	session, _ := t.sessions.current()
	if err != nil && !(session.Renewed && missingScope(err)) {
		return Session{}, err
	}
	return session, nil
}

// ownAccount returns the services of the account of the key itself, whoever the command acts for.
func (t *Target) ownAccount() (*dapi.Account, error) {
	if t.selfServe {
		return t.selfServeAccount(nil)
	}
	integrator, err := t.Integrator()
	if err != nil {
		return nil, err
	}
	return integrator.Self(), nil
}

func missingScope(err error) bool {
	forbidden, ok := errors.AsType[*errors.Forbidden](err)
	return ok && forbidden.RequiredScope != ""
}

// KeptSession returns the session in the file, which the host may not accept any more, or the zero session.
func (t *Target) KeptSession(ctx context.Context) (Session, error) {
	developer, err := t.Developer()
	if err != nil {
		return Session{}, err
	}
	if _, err := t.sessions.Load(ctx); err != nil {
		return Session{File: t.sessions.path}, nil //nolint:nilerr // a warning is printed, and the command logs in
	}
	session, _ := t.sessions.current()
	if session.Credential != developer.Credential(t.base()) {
		session.Session = dapi.Session{}
	}
	return session, nil
}

// Forget removes the session, and its file if nothing but the session needs it. It reports whether there was one. It
// fails for a file of something else.
func (t *Target) Forget(ctx context.Context) (file string, was bool, err error) {
	if _, err := t.Developer(); err != nil {
		return "", false, err
	}
	if file = t.sessions.path; !t.sessions.exists() {
		return file, false, nil
	}
	for range 2 { // a file holds the session before the last one, too
		if err := t.sessions.write(ctx, dapi.Session{}); err != nil {
			return file, false, err
		}
	}
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() { // a link stays for the next login
		_ = os.Remove(file) // a file that is mounted by itself stays, and holds no session
	}
	return file, true, nil
}
