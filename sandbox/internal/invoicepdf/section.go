package invoicepdf

// label is the width of a label, in millimetres.
const label = 45.0

func (p page) heading(title string) {
	p.SetFont(family, bold, large)
	p.MultiCell(leaf, large*0.5, p.print.text(title), "", "L", false)
	p.Ln(gap / 2)
}

// caption writes the heading of a section, and starts a new page if only the heading fits.
func (p page) caption(title string) {
	p.Ln(gap)
	p.keep(3 * step)
	p.SetFont(family, bold, normal)
	p.CellFormat(leaf, step+1, title, "B", 1, "L", false, 0, "")
	p.Ln(1)
}

// rows prints labels with their values beside them. A long value takes several lines.
func (p page) rows(rows []Row) {
	for _, row := range rows {
		if row.Value == "" {
			continue
		}
		p.SetFont(family, regular, normal)
		p.keep(step)
		p.CellFormat(label, step, p.print.text(row.Label), "", 0, "L", false, 0, "")
		p.MultiCell(leaf-label, step, p.print.text(row.Value), "", "L", false)
	}
}

// parties prints the two parties.
func (p page) parties(from, to Party) {
	p.party("From", from)
	p.party("To", to)
}

func (p page) party(title string, party Party) {
	if party.Name == "" && len(party.Lines) == 0 {
		return
	}
	p.caption(title)
	p.SetFont(family, regular, normal)
	for _, line := range append([]string{party.Name}, party.Lines...) {
		if line != "" {
			p.MultiCell(leaf, step, p.print.text(line), "", "L", false)
		}
	}
}

// totals prints amounts at the right edge, the last in bold.
func (p page) totals(rows []Row) {
	for i, row := range rows {
		weight := regular
		if i == len(rows)-1 {
			weight = bold
		}
		p.keep(step)
		p.SetFont(family, weight, normal)
		p.CellFormat(leaf-label, step, p.print.text(row.Label), "", 0, "R", false, 0, "")
		p.CellFormat(label, step, p.print.text(row.Value), "", 1, "R", false, 0, "")
	}
}

func (p page) note(text string) {
	if text == "" {
		return
	}
	p.caption("Note")
	p.SetFont(family, regular, normal)
	p.MultiCell(leaf, step, p.print.text(text), "", "L", false)
}

func (p page) payment(rows []Row) {
	if len(rows) == 0 {
		return
	}
	p.caption("Payment details")
	p.rows(rows)
}
