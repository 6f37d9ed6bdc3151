package naming

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// Rule D3.
func TestTitleOfAFile(t *testing.T) {
	for name, want := range map[string]string{
		"BOEING_2022_10K.pdf":                   "BOEING 2022 10K",
		"3M_2018_10K.pdf":                       "3M 2018 10K",
		"Okafor employment contract 2025.docx":  "Okafor employment contract 2025",
		"Rental%20agreement%20Elm%20Street.pdf": "Rental agreement Elm Street",
		"Budget (1).xlsx":                       "Budget",
		"Budget (2) (1).xlsx":                   "Budget",
		"Copy of Plan.docx":                     "Plan",
		"Kopie von Plan - Kopie.docx":           "Plan",
		"Plan v1.2":                             "Plan v1.2",
		"C:\\docs\\Lease.v3.pdf":                "Lease.v3",
		"annual-report-2024.pdf":                "annual report 2024",
		"CV_Amara_Lund.pdf":                     "CV Amara Lund",
		"2024-03-12-board-minutes.md":           "2024-03-12 board minutes",
		"100% cotton.txt":                       "100% cotton",
		"U\u0308bernahme.md":                    "Übernahme",
		"差旅管理办法.pdf":                            "差旅管理办法",
		"Отчёт 2024.docx":                       "Отчёт 2024",
		"NDA.pdf":                               "NDA",
		"KPMG 2024.pdf":                         "KPMG 2024",
		"Protokoll 3.docx":                      "Protokoll 3",
	} {
		got, says := FromFile(name)
		require.Equal(t, want, got, name)
		require.True(t, says, name)
	}
}

func TestNamesThatSayNothing(t *testing.T) {
	for _, name := range []string{
		"scan_0007.pdf", "IMG_2033.jpg", "download (3).pdf", "Document1.docx", "Dokument 12.docx", "untitled.md", "Unbenannt.txt",
		"d41d8cd98f00b204e9800998ecf8427e.pdf", "3f2504e0-4f89-11d3-9a0c-0305e82c3301.pdf", "20240312.pdf", "2024-03-12 10.22.pdf", "1234.pdf",
		"DSC_0042.pdf", "P1010042.pdf", "WhatsApp Image 2024-03-12 at 10.22.11.pdf", "Sans titre.docx", "Новый документ.docx", "文档1.docx",
		"New document.docx", "MVI_1234.txt", ".pdf", "Bild (2).pdf", "documento_3.pdf",
	} {
		title, says := FromFile(name)
		require.False(t, says, "%s: %s", name, title)
		require.NotEmpty(t, title, name)
	}
}

// Rule D12.
func TestLabelsTellDocumentsApart(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 9, 0, 0, 0, time.UTC) }
	for name, tc := range map[string]struct {
		docs []chat.Document
		want []string
	}{
		"different titles": {
			[]chat.Document{{Title: "Leave policy", Name: "x.pdf"}, {Title: "Travel policy"}},
			[]string{"Leave policy", "Travel policy"}},
		"file names": {
			[]chat.Document{{Title: "Contract", Name: "Okafor.docx"}, {Title: "CONTRACT", Name: "Lindqvist.docx"}},
			[]string{"Contract (Okafor.docx)", "CONTRACT (Lindqvist.docx)"}},
		"own names": {
			[]chat.Document{
				{Title: "Travel policy", Name: "Travel policy.pdf", OtherNames: []string{"Larkfield Bank", "Version 3"}},
				{Title: "Travel policy", Name: "Travel policy.pdf", OtherNames: []string{"Larkfield Bank", "Version 4"}}},
			[]string{"Travel policy (Version 3)", "Travel policy (Version 4)"}},
		"extensions": {
			[]chat.Document{{Title: "Plan", Name: "Plan.docx"}, {Title: "Plan", Name: "Plan.pdf"}},
			[]string{"Plan (Plan.docx)", "Plan (Plan.pdf)"}},
		"days": {
			[]chat.Document{{Title: "Plan", Name: "Plan.pdf", CreatedAt: day(1)}, {Title: "Plan", Name: "Plan.pdf", CreatedAt: day(2)}},
			[]string{"Plan (2026-11-01)", "Plan (2026-11-02)"}},
		"nothing else": {
			[]chat.Document{{Title: "Plan", CreatedAt: day(1)}, {Title: "Plan", CreatedAt: day(1)}},
			[]string{"Plan", "Plan (2)"}},
		"a kind": {
			[]chat.Document{{Title: "Invoice", Name: "Invoice.pdf", OtherNames: []string{"INVOICE", "Harrow Ltd"}, CreatedAt: day(1)}},
			[]string{"Invoice (Harrow Ltd)"}},
		"a kind and a year": {
			[]chat.Document{{Title: "Budget 2026", Name: "b.pdf"}},
			[]string{"Budget 2026"}},
		"a title that is a label": {
			[]chat.Document{{Title: "A (b.pdf)"}, {Title: "A", Name: "b.pdf"}, {Title: "A", Name: "c.pdf"}},
			[]string{"A (b.pdf)", "A (b.pdf) (2)", "A (c.pdf)"}},
	} {
		t.Run(name, func(t *testing.T) {
			Label(tc.docs)
			var got []string
			for _, d := range tc.docs {
				got = append(got, d.Label)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

// Rule D4.
func TestOtherNames(t *testing.T) {
	require.Equal(t, []string{"The Boeing Company", "FORM 10-K"}, Others("BOEING 2022", "Boeing 2022", "The  Boeing Company", "the boeing company", "", "FORM 10-K"))
}
