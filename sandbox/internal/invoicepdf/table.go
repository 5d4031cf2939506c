package invoicepdf

// The widths of the table's columns, in millimetres. The name gets the rest.
const (
	quantityWidth = 24.0
	priceWidth    = 36.0
	totalWidth    = 36.0
	nameWidth     = leaf - quantityWidth - priceWidth - totalWidth
)

// table prints the lines. Each page repeats the head of the table.
func (p page) table(lines []Line) {
	if len(lines) == 0 {
		return
	}
	p.Ln(gap)
	p.keep(3 * step)
	p.tableHead()
	for _, line := range lines {
		p.tableLine(line)
	}
	p.Ln(gap / 2)
}

func (p page) tableHead() {
	p.SetFont(family, bold, normal)
	p.columns("B", "Description", Line{Quantity: "Quantity", Price: "Price", Total: "Total"})
	p.SetFont(family, regular, normal)
}

// tableLine wraps a long name over several rows, with the amounts beside the first.
func (p page) tableLine(line Line) {
	names := p.SplitText(p.print.text(line.Name), nameWidth-2)
	if len(names) == 0 {
		names = []string{""}
	}
	for i, name := range names {
		if p.keep(step) {
			p.tableHead()
		}
		if i > 0 {
			line = Line{}
		}
		p.columns("", name, line)
	}
}

func (p page) columns(border, name string, line Line) {
	p.CellFormat(nameWidth, step, name, border, 0, "L", false, 0, "")
	p.CellFormat(quantityWidth, step, p.print.text(line.Quantity), border, 0, "R", false, 0, "")
	p.CellFormat(priceWidth, step, p.print.text(line.Price), border, 0, "R", false, 0, "")
	p.CellFormat(totalWidth, step, p.print.text(line.Total), border, 1, "R", false, 0, "")
}
