package dapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// The name of a credential stays, since stored sessions carry it.
func TestCredentialNames(t *testing.T) {
	developer := dapi.Developer{Email: "ops@example.com", Key: publicHalf("public")}
	assert.Equal(t, "927d8345168ac89e9639dc6fcbe0f6da", developer.Credential("https://host.example"))
	assert.Equal(t, developer.Credential("https://host.example"), developer.Credential("https://host.example/"))
	for _, other := range []string{
		developer.Credential("https://other.example"),
		dapi.Developer{Email: "dev@example.com", Key: developer.Key}.Credential("https://host.example"),
		dapi.Developer{Email: developer.Email, Key: publicHalf("other")}.Credential("https://host.example"),
	} {
		assert.NotEqual(t, developer.Credential("https://host.example"), other)
	}
	assert.Empty(t, dapi.Developer{Email: "ops@example.com"}.Credential("https://host.example"))
}

// publicHalf is a key that signs nothing.
type publicHalf string

func (k publicHalf) PublicKey() []byte { return []byte(k) }
func (publicHalf) Sign(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("no private half")
}

var secretive = dapi.Session{
	AccessToken:      moneymovement.NewSecret("access-token-of-everything"),
	RefreshToken:     moneymovement.NewSecret("refresh-token-of-everything"),
	ExpiresAt:        time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	RefreshExpiresAt: time.Date(2030, 3, 3, 3, 4, 5, 0, time.UTC),
}

// exported is a session with its tokens, to be compared.
func exported(t *testing.T, session dapi.Session) string {
	t.Helper()
	data, err := session.Export()
	require.NoError(t, err)
	return string(data)
}

func TestSessionPrintsNoToken(t *testing.T) {
	const redacted = "dapi.Session(redacted, access until 2030-01-02T03:04:05Z)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
		for _, value := range []any{secretive, &secretive, []dapi.Session{secretive},
			struct{ S dapi.Session }{secretive}, struct{ S *dapi.Session }{&secretive}} {
			assert.NotContains(t, fmt.Sprintf(verb, value), "of-everything", verb)
		}
	}
	assert.Equal(t, redacted, fmt.Sprintf("%+v", secretive))
	assert.Equal(t, redacted, secretive.String())
	assert.Equal(t, "dapi.Session(none)", dapi.Session{}.String())

	text, err := json.Marshal(secretive)
	require.NoError(t, err)
	assert.JSONEq(t, `{"AccessToken":"[redacted]","RefreshToken":"[redacted]","ExpiresAt":"2030-01-02T03:04:05Z",
		"RefreshExpiresAt":"2030-03-03T03:04:05Z","Credential":""}`, string(text))

	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var log bytes.Buffer
		slog.New(handler(&log)).Info("got", "session", secretive, "pointer", &secretive)
		assert.NotContains(t, log.String(), "of-everything", name)
		assert.Contains(t, log.String(), "redacted", name)
	}
}

func TestSessionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).
				Draw(t, "nanoseconds")).UTC()
		})
		given := dapi.Session{
			AccessToken:  moneymovement.NewSecret(rapid.String().Draw(t, "access")),
			RefreshToken: moneymovement.NewSecret(rapid.String().Draw(t, "refresh")),
			ExpiresAt:    moment.Draw(t, "expires"), RefreshExpiresAt: moment.Draw(t, "refreshExpires"),
		}
		data, err := given.Export()
		require.NoError(t, err)
		got, err := dapi.ImportSession(data)
		require.NoError(t, err)
		require.True(t, given.AccessToken.Equal(got.AccessToken))
		require.True(t, given.RefreshToken.Equal(got.RefreshToken))
		require.Equal(t, given.ExpiresAt, got.ExpiresAt)
		require.Equal(t, given.RefreshExpiresAt, got.RefreshExpiresAt)
	})
}

func TestStoredSessionThatIsGarbage(t *testing.T) {
	whole, err := secretive.Export()
	require.NoError(t, err)
	for name, data := range map[string]string{
		"nothing": "", "text": "access-token-of-everything", "half": string(whole[:len(whole)/2]),
		"two":    string(whole) + string(whole),
		"a list": "[]", "wrong kind": `{"accessToken":{"access-token-of-everything":1}}`,
		"wrong time": `{"accessToken":"access-token-of-everything","expiresAt":"soon"}`,
	} {
		t.Run(name, func(t *testing.T) {
			session, err := dapi.ImportSession([]byte(data))
			var unreadable *errors.InvalidInput
			require.ErrorAs(t, err, &unreadable)
			assert.Equal(t, "ImportSession", unreadable.Operation)
			assert.Equal(t, "session", unreadable.Fields[0].Field)
			assert.Equal(t, "unreadable", unreadable.Fields[0].Code)
			assert.NotContains(t, err.Error(), "of-everything")
			assert.Zero(t, session)
		})
	}
}

func FuzzStoredSession(f *testing.F) {
	whole, err := secretive.Export()
	require.NoError(f, err)
	f.Add(whole)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"expiresAt":"0000-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		session, err := dapi.ImportSession(data)
		if err != nil {
			require.False(t, len(data) > 40 && strings.Contains(err.Error(), string(data)))
			return
		}
		again, err := session.Export()
		require.NoError(t, err)
		back, err := dapi.ImportSession(again)
		require.NoError(t, err)
		require.Equal(t, session.AccessToken.Reveal(), back.AccessToken.Reveal())
		require.True(t, session.ExpiresAt.Equal(back.ExpiresAt))
	})
}

func TestFileTokenStoreKeepsASession(t *testing.T) {
	store := dapi.NewFileTokenStore(filepath.Join(t.TempDir(), "session"))
	none, err := store.Load(t.Context())
	require.NoError(t, err, "a file that is not there holds no session")
	assert.Equal(t, dapi.Session{}, none)

	require.NoError(t, store.Save(t.Context(), secretive))
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, exported(t, secretive), exported(t, got))
}

func TestFileTokenStoreIsReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, dapi.NewFileTokenStore(path).Save(t.Context(), secretive))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
}

func TestEmptyFileHoldsNoSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	none, err := dapi.NewFileTokenStore(path).Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, dapi.Session{}, none)
}

// A later version finds what this one stored: two places of 320 KiB, each with its mark, 44 bytes that tell whether it
// is whole, and JSON.
func TestFormOfASessionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	store := dapi.NewFileTokenStore(path)
	for range 2 {
		require.NoError(t, store.Save(t.Context(), secretive))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	want, err := secretive.Export()
	require.NoError(t, err)
	for _, at := range []int{0, 320 << 10} {
		require.Greater(t, len(written), at+52)
		assert.Equal(t, "session1", string(written[at:at+8]))
		assert.True(t, bytes.HasPrefix(written[at+52:], want))
	}
}

// requireKept saves a session where something else was, and loads it.
func requireKept(t *testing.T, store dapi.TokenStore) {
	t.Helper()
	require.NoError(t, store.Save(t.Context(), secretive))
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, exported(t, secretive), exported(t, got))
}

func TestFileTokenStoreErrors(t *testing.T) {
	t.Run("no such directory", func(t *testing.T) {
		store := dapi.NewFileTokenStore(filepath.Join(t.TempDir(), "none", "session"))
		require.ErrorIs(t, store.Save(t.Context(), secretive), fs.ErrNotExist)
	})
	t.Run("a directory in its place", func(t *testing.T) {
		directory := t.TempDir()
		store := dapi.NewFileTokenStore(directory)
		_, err := store.Load(t.Context())
		require.Error(t, err)
		require.Error(t, store.Save(t.Context(), secretive))
		left, err := os.ReadDir(filepath.Dir(directory))
		require.NoError(t, err)
		assert.Len(t, left, 1, "nothing is left behind")
	})
}

// What somebody else wrote is neither read nor overwritten, also if it looks like a session's file at its beginning.
func TestAFileOfSomebodyElseIsKept(t *testing.T) {
	whole := sessionFile(t)
	for name, content := range map[string][]byte{
		"a token":                  []byte("access-token-of-everything"),
		"zeros, then text":         append(make([]byte, 16), "access-token-of-everything"...),
		"the beginning of a mark":  []byte("sessions of-everything"),
		"longer than two sessions": append(whole, make([]byte, 1<<20)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			store := dapi.NewFileTokenStore(path)
			_, err := store.Load(t.Context())
			require.ErrorContains(t, err, path+": it holds something else than a session: use another path")
			assert.NotContains(t, err.Error(), "of-everything")
			require.EqualError(t, store.Save(t.Context(), secretive), err.Error())
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(content, kept))
		})
	}
}

// A file of ours that no session is complete in is written again where it is: nothing is removed, so that a link and a
// mount stay.
func TestADamagedSessionFileIsWrittenAgain(t *testing.T) {
	whole := sessionFile(t)
	wrong, long := bytes.Clone(whole), bytes.Clone(whole)
	wrong[60]++
	copy(long[16:], "\xff\xff\xff\xff") // the length
	for name, content := range map[string][]byte{
		"cut off in the mark": whole[:5], "cut off in the header": whole[:30], "cut off": whole[:70],
		"zeros": make([]byte, 100), "another byte": wrong, "a length of 4 GiB": long,
		"zeros before an incomplete one": append(make([]byte, 320<<10), whole[:70]...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			before, err := os.Stat(path)
			require.NoError(t, err)
			store := dapi.NewFileTokenStore(path)
			_, err = store.Load(t.Context())
			require.ErrorContains(t, err, path+": it has no complete session: the next login writes one")
			requireKept(t, store)
			after, err := os.Stat(path)
			require.NoError(t, err)
			assert.True(t, os.SameFile(before, after))
		})
	}
}

// sessionFile returns the content of a file with one session.
func sessionFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session")
	requireKept(t, dapi.NewFileTokenStore(path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func TestFileTokenStoreIsReplacedAsAWhole(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "session")
	short, long := secretive, secretive
	long.AccessToken = moneymovement.NewSecret(strings.Repeat("long", 2_500))
	require.NoError(t, dapi.NewFileTokenStore(path).Save(t.Context(), short))

	var processes sync.WaitGroup
	for i := range 16 {
		processes.Go(func() {
			store := dapi.NewFileTokenStore(path) // each process has its own
			for range 10 {
				session := short
				if i%2 == 0 {
					session = long
				}
				assert.NoError(t, store.Save(t.Context(), session))
				got, err := store.Load(t.Context())
				assert.NoError(t, err)
				assert.True(t, got.AccessToken.Equal(short.AccessToken) || got.AccessToken.Equal(long.AccessToken),
					"one session or the other")
			}
		})
	}
	processes.Wait()
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left behind")
}

// A file that is longer than any session is not read, nor is one whose lengths are not true.
func TestFileTokenStoreReadsAtMostWhatASessionNeeds(t *testing.T) {
	whole := sessionFile(t)
	lying := bytes.Clone(whole)
	copy(lying[16:], "\xff\xff\xff\xff") // the length
	for name, file := range map[string]struct {
		data []byte
		size int64
	}{"1 GiB": {whole, 1 << 30}, "a length of 4 GiB": {lying, int64(len(lying))}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			require.NoError(t, os.WriteFile(path, file.data, 0o600))
			require.NoError(t, os.Truncate(path, file.size))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := dapi.NewFileTokenStore(path).Load(t.Context())
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20))
		})
	}
}

// saveUntilKilled is the variable with the file in which TestSaveUntilKilled saves sessions of many lengths. That test
// prints a dot for each.
const saveUntilKilled = "MONEYMOVEMENT_SAVE_UNTIL_KILLED"

func TestSaveUntilKilled(t *testing.T) {
	path := os.Getenv(saveUntilKilled)
	if path == "" {
		t.Skip("needs " + saveUntilKilled +
			": TestKilledProcessesLeaveASession sets it in the processes that it starts " +
			"and kills, and make check runs that")
	}
	for i := 0; ; i++ {
		if err := dapi.NewFileTokenStore(path).Save(t.Context(), sessionOfLength(i*7919%60_000)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString("."); err != nil {
			return
		}
	}
}

func sessionOfLength(n int) dapi.Session {
	session := secretive
	session.AccessToken = moneymovement.NewSecret(strings.Repeat("a", n) + "of-everything")
	session.RefreshToken, session.Credential = moneymovement.NewSecret(strconv.Itoa(n)), "c"
	return session
}

func TestKilledProcessesLeaveASession(t *testing.T) {
	testkit.Long(t, "kills processes for five seconds")
	if runtime.GOARCH == "wasm" {
		t.Skip("needs processes, which wasm does not have; make check on any other system runs it")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "session")
	store := dapi.NewFileTokenStore(path)
	require.NoError(t, store.Save(t.Context(), sessionOfLength(1)))
	started := time.Now()
	for kills := 0; kills < 10 || kills < 300 && time.Since(started) < 5*time.Second; kills++ {
		process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSaveUntilKilled$")
		process.Env = append(os.Environ(), saveUntilKilled+"="+path)
		told, err := process.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, process.Start())
		_, err = io.ReadFull(told, make([]byte, 1+rand.IntN(20)))
		require.NoError(t, err)
		require.NoError(t, process.Process.Kill())
		require.Error(t, process.Wait())

		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, left, 1, "no file but the session's")
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		length, err := strconv.Atoi(kept.RefreshToken.Reveal())
		require.NoError(t, err)
		require.Equal(t, exported(t, sessionOfLength(length)), exported(t, kept), "one whole session")
	}
}
