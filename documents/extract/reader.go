package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

// A process that is started with readerVar reads one file from standard input, writes its
// title and its text to standard output, with a pageBreak before the text or before each of
// its pages, and exits.
const (
	readerVar       = "PALAVER_READER"        // the name of the file's type, or readNothing
	readerMemoryVar = "PALAVER_READER_MEMORY" // bytes
	readerCacheVar  = "PALAVER_READER_CACHE"
	readNothing     = "nothing" // only compile the PDF reader
	pageBreak       = "\f"
)

// maxPages64k limits the memory that a PDF can make pdfium allocate: 256 MB, in
// WebAssembly's pages of 64 kB. While that memory grows, there is a copy of it.
const maxPages64k = 4096

// Exit codes of the reader.
const (
	exitFailed    = 20
	exitEncrypted = 21
	exitDamaged   = 22
	exitScanned   = 23
	exitTooLong   = 24
	exitTooLarge  = 25
)

// init lets every program that can read documents, including test binaries, run as its own
// reader. It runs before main and does nothing if readerVar is not set.
func init() {
	mode := os.Getenv(readerVar)
	if mode == "" {
		return
	}
	// If the parent dies, nothing else ends this process.
	time.AfterFunc(readTime+5*time.Second, func() { os.Exit(exitTooLong) })
	code, err := readerMain(mode)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func readerMain(mode string) (int, error) {
	memory, err := strconv.ParseInt(os.Getenv(readerMemoryVar), 10, 64)
	if err != nil {
		return exitFailed, err
	}
	limitMemory(memory)
	all := All()
	if i := slices.IndexFunc(all, func(t Type) bool { return t.Name == mode && t.archive != nil }); i >= 0 {
		return officeMain(all[i].archive)
	}
	return pdfMain(mode)
}

func pdfMain(mode string) (int, error) {
	inst, err := newPDFium(cacheIn(os.Getenv(readerCacheVar)))
	if err != nil || mode == readNothing {
		if err != nil {
			return exitFailed, err
		}
		return 0, nil
	}
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return exitFailed, err
	}
	doc, err := inst.OpenDocument(&requests.OpenDocument{File: &raw})
	switch {
	case errors.Is(err, pdfium_errors.ErrPassword), errors.Is(err, pdfium_errors.ErrSecurity):
		return exitEncrypted, nil
	case err != nil:
		return exitDamaged, nil
	}
	count, err := inst.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil || count.PageCount == 0 {
		return exitDamaged, nil
	}
	if _, err := io.WriteString(os.Stdout, metaTitle(inst, doc.Document)); err != nil {
		return exitFailed, err
	}
	letters, broken := 0, 0
	for i := range count.PageCount {
		text, err := pageText(inst, doc.Document, i)
		if err != nil { // the other pages are still worth reading
			broken++
			text = ""
		}
		letters += countLetters(text)
		if _, err := io.WriteString(os.Stdout, pageBreak+withoutBreaks(text)); err != nil {
			return exitFailed, err
		}
	}
	switch {
	case broken == count.PageCount:
		return exitDamaged, nil
	case letters < 8*(count.PageCount-1)+1: // page numbers and stamps are no text
		return exitScanned, nil
	}
	return 0, nil
}

// metaTitle returns the title in a PDF's metadata, or "".
func metaTitle(inst pdfium.Pdfium, doc references.FPDF_DOCUMENT) string {
	got, err := inst.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: doc, Tag: "Title"})
	if err != nil {
		return ""
	}
	return withoutBreaks(got.Value)
}

func withoutBreaks(s string) string { return strings.ReplaceAll(s, pageBreak, "\n") }

// cacheIn returns the cache of compiled code in a folder; nil if there is none.
func cacheIn(dir string) wazero.CompilationCache {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

// newPDFium starts pdfium. If the cache cannot be used, for example on a full disk, it
// starts without the cache, which takes longer.
func newPDFium(cache wazero.CompilationCache) (pdfium.Pdfium, error) {
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages64k)
	if cache != nil {
		if inst, err := startPDFium(config.WithCompilationCache(cache)); err == nil {
			return inst, nil
		}
	}
	return startPDFium(config)
}

// startPDFium starts pdfium without any access to files.
func startPDFium(config wazero.RuntimeConfig) (pdfium.Pdfium, error) {
	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: config,
		FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("start pdfium: %w", err)
	}
	inst, err := pool.GetInstanceWithContext(context.Background())
	if err != nil {
		return nil, fmt.Errorf("start pdfium: %w", err)
	}
	return inst, nil
}

func pageText(inst pdfium.Pdfium, doc references.FPDF_DOCUMENT, index int) (string, error) {
	page, err := inst.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return "", err
	}
	defer inst.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page})
	text, err := inst.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return "", err
	}
	defer inst.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	chars, err := inst.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil || chars.Count <= 0 {
		return "", err
	}
	got, err := inst.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: chars.Count})
	if err != nil {
		return "", err
	}
	return got.Text, nil
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
