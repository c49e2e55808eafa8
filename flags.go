package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// A byteSize is a flag value like 256MiB, 1GiB or 0.
type byteSize int64

// String implements flag.Value.
func (s *byteSize) String() string {
	n := int64(*s)
	for _, unit := range []string{"", "KiB", "MiB"} {
		if n == 0 || n%1024 != 0 {
			return strconv.FormatInt(n, 10) + unit
		}
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + "GiB"
}

// Set implements flag.Value.
func (s *byteSize) Set(v string) error {
	digits, shift := v, 0
	for unit, by := range map[string]int{"K": 10, "M": 20, "G": 30, "T": 40} {
		for _, suffix := range []string{unit + "iB", unit} {
			if d, ok := strings.CutSuffix(v, suffix); ok {
				digits, shift = d, by
			}
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > math.MaxInt64>>shift {
		return errors.New("must be a size such as 500MiB or 2GiB")
	}
	*s = byteSize(n << shift)
	return nil
}
