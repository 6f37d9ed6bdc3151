package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindName(t *testing.T) {
	for _, c := range []struct {
		text, name string
		start, end int
	}{
		{"see the leave policy.", "Leave Policy", 8, 20},
		{"policyholders and policy", "policy", 18, 24},
		{"policyholders", "policy", -1, -1},
		{"GRÖßE", "größe", 0, 7},
		{"anything", "", -1, -1},
	} {
		if start, end := FindName(c.text, c.name, 0); start != c.start || end != c.end {
			t.Errorf("%q in %q: %d to %d, want %d to %d", c.name, c.text, start, end, c.start, c.end)
		}
	}
}

func TestReplaceNames(t *testing.T) {
	got := ReplaceNames("Compare @Leave Policy 2024 with the leave policy", []string{"Leave Policy", "Leave Policy 2024"}, "#")
	if got != "Compare # with the #" {
		t.Errorf("got %q", got)
	}
}

func TestLikenessIgnoresExtensionCaseAndHyphens(t *testing.T) {
	if got := Likeness(`"leave-policy"`, "Leave Policy.PDF"); got != 1 {
		t.Errorf("got %v, want 1", got)
	}
	for _, extension := range []string{".msg", ".odp", ".xlsm", ".png", ".TIFF"} {
		if got := Likeness("plan"+extension, "Plan"); got != 1 {
			t.Errorf("%s: got %v, want 1", extension, got)
		}
	}
	if got := Likeness("leave", "Leave Policy"); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
}

func TestIsQuoted(t *testing.T) {
	if !IsQuoted("“a”", len("“"), len("“a")) || IsQuoted("a", 0, 1) {
		t.Error("only the first stands between quotation marks")
	}
}

func FuzzFindName(f *testing.F) {
	f.Add("What does the Leave Policy say?", "Leave Policy")
	f.Add("Ünïcode ﬁle.PDF \"x\"", "ﬁle.pdf")
	f.Add("İstanbul K", "i̇stanbul k")
	f.Fuzz(func(t *testing.T, text, name string) {
		if i, j := FindName(text, name, 0); i >= 0 && j > len(text) {
			t.Errorf("%d to %d of %d", i, j, len(text))
		}
		Likeness(text, name)
		Scan(text)
		Figures(text)
	})
}

func TestNamesAreFoundInScriptsWithoutSpacesAndBeforeParticles(t *testing.T) {
	for text, name := range map[string]string{
		"请总结差旅管理办法的要点": "差旅管理办法", "旅費規程を要約してください": "旅費規程", "임대차 계약서를 요약해 줘": "임대차 계약서", "สรุปสัญญาเช่าให้หน่อย": "สัญญาเช่า",
	} {
		i, j := FindName(text, name, 0)
		require.GreaterOrEqual(t, i, 0, text)
		require.Equal(t, name, text[i:j])
	}
	i, _ := FindName("임대차 계약서류를 요약해 줘", "임대차 계약서", 0)
	require.Less(t, i, 0)
	require.InDelta(t, 1, Likeness("ＩＳＯ　９００１", "iso 9001"), 0.01)
}
