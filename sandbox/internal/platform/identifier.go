package platform

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

var (
	ibanForm    = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)
	bicForm     = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$`)
	abaForm     = regexp.MustCompile(`^[0-9]{9}$`)
	addressForm = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
)

// ibanLengths are the countries of the IBAN registry by the length of their IBANs.
var ibanLengths = map[int]string{
	15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
	21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL",
	24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR",
	27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV", 29: "BR EG PS QA UA",
	30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
}

// validIBAN checks the form, the length for the country and the ISO 7064 mod 97-10 checksum. On the wire, an IBAN has
// no separators.
func validIBAN(iban string) bool {
	if !ibanForm.MatchString(iban) || !strings.Contains(ibanLengths[len(iban)], iban[:2]) {
		return false
	}
	remainder := 0
	for _, r := range iban[4:] + iban[:4] {
		digits := string(r)
		if r >= 'A' {
			digits = strconv.Itoa(int(r-'A') + 10)
		}
		for _, digit := range digits {
			remainder = (remainder*10 + int(digit-'0')) % 97
		}
	}
	return remainder == 1
}

// isCountry reports whether a text is the ISO 3166-1 code of a country, such as DE.
func isCountry(code string) bool {
	region, err := language.ParseRegion(code)
	return err == nil && region.IsCountry() && region.String() == code
}

// validABA checks a US routing number and its 3-7-1 checksum.
func validABA(number string) bool {
	if !abaForm.MatchString(number) {
		return false
	}
	sum := 0
	for i, weight := range []int{3, 7, 1, 3, 7, 1, 3, 7, 1} {
		sum += weight * int(number[i]-'0')
	}
	return sum%10 == 0
}
