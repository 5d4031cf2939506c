package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/bench/internal/measure"
)

// around is an estimate with an interval of a tenth to either side.
func around(median float64) measure.Estimate {
	return measure.Estimate{Median: median, Low: median * 0.9, High: median * 1.1}
}

func row(id, title string, callers int, wall float64) Row {
	group := map[string]string{"memory": "In memory", "tcp": "Loopback TCP"}[strings.Split(id, "/")[0]]
	return Row{ID: id, Group: group, Title: title, Callers: callers, Opened: [2]int64{1, 2}, Result: measure.Result{
		Calls: 1000, First: measure.Cost{Wall: 6900, CPU: 7100, Allocs: 34, Bytes: 2896},
		Other: measure.Cost{Wall: 10700, CPU: 11000, Allocs: 61, Bytes: 5392}, Wall: around(wall),
		CPU: around(wall + 0.1),
	}}
}

func sample() Results {
	release := func(version string, faster float64) Release {
		return Release{
			Go: version,
			Rows: []Row{
				row("memory/get", "GET of one payout", 1, 0.5*faster),
				row("memory/get-greek", `GET, Greek names and \/`, 1, 0.6*faster),
				row("memory/get/8", "GET of one payout, 8 callers", 8, 0.5),
				row("tcp/get", "GET <one> payout", 1, 4.25*faster),
			},
			Footprint: []Program{
				{Name: "raw", Binary: 6_000_000, Packages: 150, Modules: 0, Build: 20, First: around(4),
					Memory: 12_000_000},
				{Name: "sdk", Binary: 7_500_000, Packages: 190, Modules: 9, First: around(5), Memory: 14_000_000},
			},
			Libraries: []Library{{"github.com/example/decimal", 41_200}},
			Host:      []Figure{{"mixed requests, in process", 15_000.4, "requests/s"}},
			Load:      []Figure{{"live heap", 3.25, "MB"}},
		}
	}
	return Results{
		Machine: Machine{CPU: "Some CPU", Cores: 2, OS: "linux/amd64"}, Commit: "abc", Date: "2031-05-04", Turns: 10,
		Releases: []Release{release("go1.26.8", 1), release("go1.27.4", 1.2)},
	}
}

func TestResultsAreReadAsTheyWereWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, sample().Write(path))
	got, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, sample(), got)

	of, known := got.Of("go1.27.9")
	assert.True(t, known, "another patch of the release")
	assert.Equal(t, "go1.27.4", of.Go)
	_, known = got.Of("go1.25.1")
	assert.False(t, known)
	_, known = got.Of("devel")
	assert.False(t, known)
}

func TestOnlyARowThatIsClearlyHigherIsWorse(t *testing.T) {
	before := Release{Rows: []Row{row("memory/get", "", 1, 0.5), row("memory/page", "", 1, 0.5),
		row("tcp/get", "", 1, 0.5), row("tcp/old", "", 1, 0.5), row("tls1/old", "", 1, 0.5)}}
	chosen := func(id string) bool { return !strings.HasPrefix(id, "tls1/") }
	now := Release{Rows: []Row{
		row("memory/get", "", 1, 0.55), row("memory/page", "", 1, 0.2), row("tcp/get", "", 1, 0.7),
		row("tcp/new", "", 1, 9),
	}}
	var printed strings.Builder
	assert.Equal(t, []string{"tcp/get"}, Compare(&printed, now, before, chosen))
	assert.Regexp(t, `(?m)^memory/get .* of 61 *$`, printed.String())
	assert.Regexp(t, `(?m)^memory/page .* better *$`, printed.String())
	assert.Regexp(t, `(?m)^tcp/get .* WORSE *$`, printed.String())
	assert.Regexp(t, `(?m)^tcp/new .* new *$`, printed.String())
	assert.Regexp(t, `(?m)^tcp/old .* gone *$`, printed.String())
	assert.NotContains(t, printed.String(), "tls1/", "nobody asked for it")

	now.Rows = now.Rows[:1]
	now.Rows[0].CPU = around(2)
	assert.Equal(t, []string{"memory/get"}, Compare(io.Discard, now, before, chosen), "CPU time counts too")
}

func TestMarkdown(t *testing.T) {
	page := sample().Markdown()
	for _, line := range []string{
		"Some CPU, 2 cores, linux/amd64; go1.26.8 and go1.27.4; commit abc, 2031-05-04; 10 turns.",
		"| In memory | wall, 1.26 | CPU, 1.26 | wall, 1.27 | CPU, 1.27 | goal | µs | allocations, by hand | " +
			"bytes, by hand | connections, by hand |",
		"| GET of one payout | 0.50 (0.45-0.55) | 0.60 (0.54-0.66) | 0.60 (0.54-0.66) | 0.70 (0.63-0.77) | " +
			"0.40, 0.60 | 6.9 | 34, 61 | 2896, 5392 | 1, 2 |",
		`| GET, Greek names and \\/ |`,
		"| sdk | 7.50 MB | +25 % | 190 | 9 |  | 5.00 ms (4.50 to 5.50) | +1.00 ms | 14.0 MB |",
		"| github.com/example/decimal | 41.2 |",
		"| mixed requests, in process | 15000 requests/s | 15000 requests/s |",
		"| live heap | 3.25 MB | 3.25 MB |",
	} {
		assert.Contains(t, page, line)
	}
	columns := 0
	for line := range strings.Lines(page) { // each line of a table has as many cells as its head
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		if columns == 0 {
			columns = strings.Count(line, "|")
		}
		assert.Equal(t, columns, strings.Count(line, "|"), line)
	}
}

func TestReadme(t *testing.T) {
	page := "before\n" + readmeBegin + "old\n" + readmeEnd + "after\n"
	once, err := sample().InReadme(page)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(once, "before\n"))
	assert.True(t, strings.HasSuffix(once, "after\n"))
	assert.NotContains(t, once, "old")
	assert.Contains(t, once, "| GET of one payout, in memory | 0.50 | 0.60 | 0.60 | 0.70 |\n")
	again, err := sample().InReadme(once)
	require.NoError(t, err)
	assert.Equal(t, once, again)

	_, err = sample().InReadme("no marks")
	assert.Error(t, err)
}

func TestSVG(t *testing.T) {
	chart := sample().SVG()
	if path := os.Getenv("BENCH_SVG"); path != "" { // to look at it
		require.NoError(t, os.WriteFile(path, []byte(chart), 0o600))
	}
	var texts []string
	bars := map[string]int{}
	for tokens := xml.NewDecoder(strings.NewReader(chart)); ; {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.CharData:
			texts = append(texts, string(token))
		case xml.StartElement:
			bars[fmt.Sprint(token.Name.Local, " ", class(token))]++
		}
	}
	assert.Contains(t, texts, "GET <one> payout")
	assert.Contains(t, texts, "4.25", "a bar that is cut says how long it is")
	assert.NotContains(t, texts, "GET of one payout, 8 callers")
	assert.Equal(t, 4, bars["rect r0"], "three bars and the legend")
	assert.Equal(t, 4, bars["rect r1"])
	assert.Equal(t, 1, bars["line one"])
	assert.Equal(t, 6, bars["line span"])
}

func class(element xml.StartElement) string {
	for _, attribute := range element.Attr {
		if attribute.Name.Local == "class" {
			return attribute.Value
		}
	}
	return ""
}
