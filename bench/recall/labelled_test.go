package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const manual = `Front matter

1. Scope
********

Größe of it.


1.1. Limits
===========

None.

1. A list
2. of two

2. Files
********

Where they are.

1. Appendix
***********

Not looked at.
`

const list = `10. Upgrading checklist
***********************

10.2. Version 4.6.2
===================

Released December, 2022.

1.1 & 2
   The limits of files
   have changed.

   A second paragraph.

7.7, 2
   One label is no section here.

virtual
   Not of the manual.

10.60. Version 2.4.1
====================

2
   Too old.
`

func TestChangesKeepTheLabelsThatAreSections(t *testing.T) {
	l, err := parse(manual, list)
	require.NoError(t, err)
	require.Equal(t, []change{
		{"The limits of files have changed. A second paragraph.", []string{"1.1", "2"}},
		{"One label is no section here.", []string{"2"}},
	}, l.items)
	require.Equal(t, 3, l.labels())
	require.NotContains(t, l.text, "Appendix")
	text := []rune(l.text)
	require.Len(t, l.sections, 3)
	for i, begins := range []string{"1. Scope", "1.1. Limits", "2. Files"} {
		s := l.sections[i]
		require.Equal(t, begins, string(text[s.start:s.start+len(begins)]))
	}
	inLimits := l.sections[1].start + 3
	for section, want := range map[string]bool{"1": true, "1.1": true, "2": false, "1.1.1": false} {
		require.Equal(t, want, l.touches(inLimits, inLimits+1, section), section)
	}
}

func TestOtherDocumentsAreRejected(t *testing.T) {
	_, err := parse("something", "else")
	require.Error(t, err)
}

func FuzzParse(f *testing.F) {
	f.Add(manual, list)
	f.Fuzz(func(t *testing.T, manual, list string) {
		l, err := parse(manual, list)
		if err == nil {
			require.NotZero(t, l.labels())
		}
	})
}
