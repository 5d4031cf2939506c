package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The chart's measures, in pixels.
const (
	chartWidth = 900
	labelWidth = 320
	barHeight  = 11
	rowGap     = 9
	groupGap   = 30
	headHeight = 74
	rightSpace = 56
)

// The scale ends here. A longer bar is cut, and its number says how long it is.
const greatestRatio = 3.0

// style has a light and a dark look. Colours of bars can be told apart by everybody, and stand out from both grounds.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",Helvetica,Arial,sans-serif;fill:#1f2328}
.ground{fill:#ffffff;stroke:#d0d7de}.title{font-size:17px;font-weight:600}.group{font-weight:600}
.small{font-size:11px;fill:#59636e}.value{font-size:10.5px}.grid{stroke:#d8dee4}.one{stroke:#1f2328;stroke-width:1.5}
.r0{fill:#0969da}.r1{fill:#d4831f}.r2{fill:#6e7781}.span{stroke:#1f2328;stroke-opacity:.55}
@media (prefers-color-scheme: dark){text{fill:#e6edf3}.ground{fill:#0d1117;stroke:#3d444d}.small{fill:#9198a1}
.grid{stroke:#30363d}.one{stroke:#e6edf3}.r0{fill:#4493f8}.r1{fill:#e0a458}.r2{fill:#9198a1}.span{stroke:#e6edf3}}
</style>
`

// SVG returns the chart of the ratios of wall time: a bar for each release, with the interval, and a line at 1. It has
// the rows in memory and over TCP with one caller, and those of the peers.
func (r Results) SVG() string {
	c := chart{results: r, y: headHeight}
	group := ""
	for _, id := range r.ids() {
		row := r.first(id)
		if row.Callers > 1 || strings.HasPrefix(id, "tls") {
			continue
		}
		if row.Group != group {
			group = row.Group
			c.group(group)
		}
		c.row(id, row.Title)
	}
	return c.finish()
}

// chart is a chart that grows downwards.
type chart struct {
	results Results
	marks   strings.Builder
	y       int
}

// x returns where a ratio is.
func (c *chart) x(ratio float64) float64 {
	return labelWidth + min(ratio, greatestRatio)/greatestRatio*(chartWidth-labelWidth-rightSpace)
}

func (c *chart) text(x float64, y int, class, anchor, text string) {
	fmt.Fprintf(&c.marks, `<text class="%s" x="%.1f" y="%d" text-anchor="%s">%s</text>`+"\n", class, x, y, anchor,
		html.EscapeString(text))
}

func (c *chart) group(title string) {
	c.y += groupGap
	c.text(16, c.y-8, "group", "start", title)
}

// row draws a bar for each release.
func (c *chart) row(id, title string) {
	height := barHeight * len(c.results.Releases)
	c.text(labelWidth-10, c.y+height/2+5, "", "end", title)
	for i, release := range c.results.Releases {
		row, measured := release.row(id)
		if !measured {
			continue
		}
		top, middle := c.y+i*barHeight, float64(c.y+i*barHeight)+barHeight/2.0
		fmt.Fprintf(&c.marks,
			`<rect class="r%d" x="%d" y="%d" width="%.1f" height="%d"><title>%s: %s</title></rect>`+"\n",
			i, labelWidth, top, c.x(row.Wall.Median)-labelWidth, barHeight-1, html.EscapeString(release.Go),
			interval(row.Wall))
		fmt.Fprintf(&c.marks, `<line class="span" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`+"\n", c.x(row.Wall.Low),
			c.x(row.Wall.High), middle, middle)
		c.text(c.x(max(row.Wall.Median, row.Wall.High))+5, top+barHeight-2, "value", "start",
			fmt.Sprintf("%.2f", row.Wall.Median))
	}
	c.y += height + rowGap
}

// finish draws what lies around the bars.
func (c *chart) finish() string {
	var picture strings.Builder
	height := c.y + 24
	fmt.Fprintf(&picture,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+
			"\n<title>Time of a call as a ratio to a client written by hand</title>\n", chartWidth, height, chartWidth,
		height)
	picture.WriteString(style)
	fmt.Fprintf(&picture, `<rect class="ground" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n", chartWidth-1,
		height-1)
	bars := c.marks.String()
	c.marks.Reset()
	c.text(16, 28, "title", "start", "Time of a call: library / client written by hand. Shorter is faster.")
	c.text(16, 48, "small", "start", c.results.provenance())
	for i, release := range c.results.Releases {
		x := float64(labelWidth + i*110)
		fmt.Fprintf(&c.marks, `<rect class="r%d" x="%.1f" y="58" width="12" height="12"/>`+"\n", i, x)
		c.text(x+18, 69, "small", "start", release.Go)
	}
	for ratio := 0.0; ratio <= greatestRatio; ratio += 0.5 {
		class := "grid"
		if math.Abs(ratio-1) < 0.01 {
			class = "one"
		}
		fmt.Fprintf(&c.marks, `<line class="%s" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n", class, c.x(ratio),
			c.x(ratio),
			headHeight+8, c.y)
		c.text(c.x(ratio), c.y+15, "small", "middle", fmt.Sprintf("%.1f", ratio))
	}
	return picture.String() + c.marks.String() + bars + "</svg>\n"
}
