package language

import (
	"slices"
	"testing"
)

func TestIrregularFormsAreFoundByEachOther(t *testing.T) {
	for w, want := range map[string]string{"kept": "keep", "keeps": "kept", "written": "write", "write": "wrote", "children": "child", "sending": "sent"} {
		if !slices.Contains(OtherForms(w), want) {
			t.Errorf("%q has %v, want %q among them", w, OtherForms(w), want)
		}
	}
	for _, w := range []string{"walk", "left", "keeper", "", "keep's"} {
		if got := OtherForms(w); len(got) > 0 {
			t.Errorf("%q has %v", w, got)
		}
	}
	for w, forms := range irregular() {
		if slices.Contains(forms, w) || len(forms) != len(Distinct(forms)) {
			t.Errorf("%q has %v", w, forms)
		}
	}
}
