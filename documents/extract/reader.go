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

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

// A process that is started with readerVar reads one file from standard input, writes its
// title and its text to standard output, with a pageBreak before the text or before each of
// its pages, and exits. Before the text of a page that is a picture or lost stands its mark.
const (
	readerVar       = "PALAVER_READER"        // the name of the file's type
	readerMemoryVar = "PALAVER_READER_MEMORY" // bytes
	readerCacheVar  = "PALAVER_READER_CACHE"
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
	exitTooLong   = 24
	exitTooLarge  = 25
	exitAdobeForm = 26
)

// init lets every program that can read documents, including test binaries, run as its own
// reader. It runs before main and does nothing if readerVar is not set.
func init() {
	mode := os.Getenv(readerVar)
	if mode == "" || strings.HasPrefix(mode, elsewhere) {
		return
	}
	// If the parent dies, nothing else ends this process.
	time.AfterFunc(max(readTime, scanTime)+5*time.Second, func() { os.Exit(exitTooLong) })
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
	if mode == readScan || mode == readDraw {
		return scanMain()
	}
	all := All()
	if i := slices.IndexFunc(all, func(t Type) bool { return t.Name == mode && t.archive != nil }); i >= 0 {
		return officeMain(all[i].archive)
	}
	return pdfMain()
}

func pdfMain() (int, error) {
	inst, err := newPDFium(cacheIn(os.Getenv(readerCacheVar)))
	if err != nil {
		return exitFailed, err
	}
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return exitFailed, err
	}
	return readPages(inst, raw)
}

// pdfium's error codes.
const (
	pdfiumPassword = 4
	pdfiumSecurity = 5
)

// pdfiumXFA is pdfium's kind of a form whose only page says that it must be shown by Adobe's
// programs, which draw the real pages by a description.
const pdfiumXFA = 2

func readPages(inst pdfium.Pdfium, raw []byte) (int, error) {
	n, err := newNative(inst)
	if err != nil {
		return exitFailed, err
	}
	doc, code, err := n.open(raw)
	switch {
	case code == pdfiumPassword, code == pdfiumSecurity:
		return exitEncrypted, nil
	case err != nil, doc == 0:
		return exitDamaged, nil
	}
	count := n.number("FPDF_GetPageCount", doc)
	if count <= 0 {
		return exitDamaged, nil
	}
	described := ""
	if count == 1 && n.number("FPDF_GetFormType", doc) == pdfiumXFA {
		if described = n.formText(doc); countLetters(described) <= stampLetters {
			return exitAdobeForm, nil
		}
		described += "\n"
	}
	title := n.key("Title", func(at uint64) string { return n.wide("FPDF_GetMetaText", doc, at) })
	if _, err := io.WriteString(os.Stdout, withoutBreaks(title)); err != nil {
		return exitFailed, err
	}
	form := n.formEnvironment(doc)
	broken := 0
	for i := range count {
		text, err := n.page(doc, form, i)
		if err != nil { // the other pages are still worth reading
			broken++
			text = ""
		}
		text = described + text
		if _, err := io.WriteString(os.Stdout, pageBreak+withoutBreaks(text)); err != nil {
			return exitFailed, err
		}
	}
	if broken == count {
		return exitDamaged, nil
	}
	return 0, nil
}

// page returns the text of a page.
func (n *native) page(doc, form uint64, index int) (string, error) {
	page, err := n.call("FPDF_LoadPage", doc, uint64(index))
	if err != nil || page == 0 {
		return "", errors.Join(errPDFium, err)
	}
	defer n.call("FPDF_ClosePage", page)
	glyphs, err := n.glyphs(page)
	if err != nil {
		return "", err
	}
	notes, labelled := n.notes(page, form)
	if labelled {
		notes = append(notes, n.labels(doc, page, form, index, glyphs)...)
	}
	text := pageText(withNotes(pageLines(readColumns(glyphs)), notes))
	return n.missing(page, countLetters(text), n.innerLetters(page, glyphs)) + strings.TrimLeft(text, pictureMark+lostMark), nil
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
