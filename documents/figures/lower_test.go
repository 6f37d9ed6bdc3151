package figures

import (
	"strings"
	"testing"
)

// In lower case the Kelvin sign has one byte instead of three.
func TestTextThatHasFewerBytesInLowerCaseIsChecked(t *testing.T) {
	long := strings.Repeat("\u212a", 200)
	for _, answer := range []string{
		long + "; it rose by 5 % and fell by 7 %.",
		"5 % " + long + " and it rose by 7 %, " + long + " from 5 to 7.",
		"It is 5 \u212a and 7" + long + " 3 % less.",
	} {
		Check(answer, []string{answer, "It rose by 5 %."}, nil)
	}
}
