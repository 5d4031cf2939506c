package platform

import (
	"regexp"
	"strconv"
)

var (
	ibanForm    = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)
	bicForm     = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$`)
	abaForm     = regexp.MustCompile(`^[0-9]{9}$`)
	addressForm = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
)

// validIBAN checks the form and the ISO 7064 mod 97-10 checksum. On the wire, an IBAN has no separators.
func validIBAN(iban string) bool {
	if !ibanForm.MatchString(iban) {
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
