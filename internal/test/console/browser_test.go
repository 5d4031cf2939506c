package console_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// programs are the names that Chromium and its relatives have on the systems that people test on.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"}

var errNoBrowser = errors.New("chromium is missing, which shows the host's page: install Debian's package chromium")

// browser is one Chromium for all tests of the package. Each test has a profile of its own in it.
var browser struct {
	tab context.Context // its first
	err error
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse() // for -short
	program, err := find(programs)
	if err != nil || testing.Short() {
		browser.err = err
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "console")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer discard(folder)
	ctx, stop := start(program, folder)
	defer stop()
	browser.tab, browser.err = ctx, chromedp.Do(ctx) //nolint:fatcontext // it is set once
	return m.Run()
}

func find(names []string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// start prepares a browser that reaches nothing but this machine, with an empty profile. It starts with its first use.
func start(program, folder string) (context.Context, context.CancelFunc) {
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program), chromedp.UserDataDir(folder), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.WSURLReadTimeout(time.Minute),
	}
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update",
		"disable-sync", "disable-default-apps", "disable-extensions", "disable-dev-shm-usage", "mute-audio",
		"hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	options = append(options, chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-US"))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	return ctx, func() {
		stop()
		stopAllocator()
	}
}

// discard removes the profile. The browser's processes may still write to it for a moment.
func discard(folder string) {
	for range 100 {
		if err := os.RemoveAll(folder); err == nil || errors.Is(err, fs.ErrNotExist) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// needBrowser skips a test that has no browser, or fails it if the browser is required.
func needBrowser(t *testing.T) {
	t.Helper()
	testkit.Long(t, "starts a browser")
	if errors.Is(browser.err, errNoBrowser) {
		testkit.Missing(t, "browser", browser.err.Error())
	}
	require.NoError(t, browser.err)
}

func TestMissingBrowserIsReported(t *testing.T) {
	_, err := find([]string{"no-such-browser"})
	require.ErrorIs(t, err, errNoBrowser)
	require.ErrorContains(t, err, "Debian's package chromium")
}
