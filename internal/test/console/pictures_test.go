package console_test

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

var write = flag.Bool("write", false, "write the pictures of the page to docs/pictures")

// largest is how many bytes a picture of the documentation may have.
const largest = 150_000

// pictures are the pictures of the documentation: a section of the page, at a size, in a color scheme.
var pictures = []struct {
	file, section, scheme string
	width, height         int64
}{
	{"console-requests-light.png", "requests", "light", 1280, 800},
	{"console-requests-dark.png", "requests", "dark", 1280, 800},
	{"console-payouts-light.png", "payouts", "light", 1280, 860},
	{"console-payouts-dark.png", "payouts", "dark", 1280, 860},
	{"console-faults-light.png", "faults", "light", 1280, 860},
	{"console-faults-dark.png", "faults", "dark", 1280, 860},
	{"console-ledger-light.png", "ledger", "light", 1280, 800},
	{"console-ledger-dark.png", "ledger", "dark", 1280, 800},
	{"console-phone-light.png", "phone", "light", 390, 780},
	{"console-phone-dark.png", "phone", "dark", 390, 780},
}

// With -write it writes the pictures of the documentation. Without, it checks that they are there.
func TestThePictures(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "docs", "pictures")
	if !*write {
		for _, picture := range pictures {
			file, err := os.Open(filepath.Join(folder, picture.file))
			require.NoError(t, err, "make console-pictures writes it")
			read, err := png.DecodeConfig(file)
			require.NoError(t, err)
			require.NoError(t, file.Close())
			assert.EqualValues(t, picture.width, read.Width, picture.file)
			assert.EqualValues(t, picture.height, read.Height, picture.file)
		}
		return
	}
	p := scene(t)
	for _, picture := range pictures {
		p.size(picture.width, picture.height)
		p.prefer(picture.scheme, "reduce")
		p.show(picture.section)
		taken, err := chromedp.Run(p.tab, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		small := smaller(t, taken)
		assert.Less(t, len(small), largest, picture.file)
		require.NoError(t, os.WriteFile(filepath.Join(folder, picture.file), small, 0o644))
	}
}

// scene is a host on which a payment lost a response, was repeated, and is in processing.
func scene(t *testing.T) *page {
	t.Helper()
	refused := make(chan struct{}, 1)
	step := func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(10 * time.Minute) }
	p := openPage(t, "faults", withWaits(), sandbox.WithSettings(step),
		sandbox.WithRequestObserver(func(r sandbox.Request) {
			if r.Slug == "funding_in_progress" {
				select {
				case refused <- struct{}{}:
				default:
				}
			}
		}))
	payer := newCustomer(p, "acme@example.com")
	payer.pay("9.99", "invoice-41")
	p.press("Arm the fault")
	p.told("flt_1 waits for ConfirmPayout.")
	p.press("Close the message")
	go func() { // the repeated confirm waits until the payout is funded
		<-refused
		p.host.Advance(10 * time.Minute)
	}()
	payer.pay("12.50", "invoice-42")
	_, err := payer.Payouts.Get(t.Context(), "po_unknown")
	require.Error(t, err)
	return p
}

// show opens what a picture shows.
func (p *page) show(section string) {
	p.Helper()
	if section == "phone" {
		section = "payouts"
	}
	p.open(section)
	if section == "requests" && !eval[bool](p, `Boolean(document.querySelector(".detail"))`) {
		p.clickOn(refusedRow)
		p.see("Send it again")
	}
	eval[bool](p, `(document.activeElement.blur(), scrollTo(0, 0), true)`)
	p.do(chromedp.MouseEvent("mouseMoved", 1, 1))
	eval[bool](p, `document.fonts.ready.then(() => new Promise((done) =>
		requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
}

// smaller writes a picture with the 256 colors that it uses most, up to small differences.
func smaller(t *testing.T, taken []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(taken))
	require.NoError(t, err)
	paletted := image.NewPaletted(full.Bounds(), palette(full))
	nearest := map[color.RGBA]uint8{}
	for y := full.Bounds().Min.Y; y < full.Bounds().Max.Y; y++ {
		for x := full.Bounds().Min.X; x < full.Bounds().Max.X; x++ {
			pixel := color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)
			index, known := nearest[pixel]
			if !known {
				index = uint8(paletted.Palette.Index(pixel))
				nearest[pixel] = index
			}
			paletted.SetColorIndex(x, y, index)
		}
	}
	var small bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, paletted))
	return small.Bytes()
}

// palette chooses the most frequent color of each of the 256 most frequent groups of similar colors.
func palette(picture image.Image) color.Palette {
	type group struct {
		pixels int
		exact  map[color.RGBA]int
	}
	groups := map[color.RGBA]*group{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			pixel := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
			similar := color.RGBA{pixel.R &^ 7, pixel.G &^ 7, pixel.B &^ 7, 255}
			if groups[similar] == nil {
				groups[similar] = &group{exact: map[color.RGBA]int{}}
			}
			groups[similar].pixels++
			groups[similar].exact[pixel]++
		}
	}
	ordered := slices.SortedFunc(maps.Values(groups), func(a, b *group) int { return cmp.Compare(b.pixels, a.pixels) })
	var chosen color.Palette
	for _, similar := range ordered[:min(256, len(ordered))] {
		most, count := color.RGBA{}, 0
		for exact, pixels := range similar.exact {
			if pixels > count {
				most, count = exact, pixels
			}
		}
		chosen = append(chosen, most)
	}
	return chosen
}
