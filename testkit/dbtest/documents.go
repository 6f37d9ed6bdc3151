package dbtest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/naming"
	"github.com/palaver-chat/palaver/testkit/must"
)

func chunkID(docID string, ordinal int) string { return docID + "." + strconv.Itoa(ordinal) }

// upload creates a document that is still processing.
func (b *fixture) upload(owner, title string, raw []byte) chat.Document {
	b.t.Helper()
	d := chat.Document{
		ID: uuid.NewString(), Owner: owner, Title: title, Status: chat.DocProcessing, Format: "pdf",
		SourceType: chat.SourceDrive, ExternalID: uuid.NewString(), SourceURL: "https://drive.google.com/file/d/1/view", SourceVersion: "a", Bytes: int64(len(raw)), CreatedAt: b.now(),
	}
	b.NoError(b.store.CreateDocument(b.ctx, d, raw))
	return d
}

// imported returns a document from Google Drive that is not stored yet.
func (b *fixture) imported(externalID, version string) chat.Document {
	return chat.Document{
		ID: uuid.NewString(), Owner: b.owner, Title: "Rules", Status: chat.DocProcessing, Format: "txt",
		SourceType: chat.SourceDrive, ExternalID: externalID, SourceVersion: version, CreatedAt: b.now(),
	}
}

var documentTests = []test{
	{"an upload is read while it is processed, kept as the original when the document is ready, and deleted with it", func(b *fixture) {
		raw := []byte{0, 1, 2, 0xff, 0}
		d := b.upload(b.owner, "Grüße", raw)
		got, bytes, err := b.store.RawDocument(b.ctx, b.owner, d.ID)
		b.NoError(err)
		b.Equal(d, got)
		b.Equal(raw, bytes)
		b.ErrorIs(must.ErrOf(b.store.DocumentText(b.ctx, b.owner, d.ID)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.Original(b.ctx, b.owner, d.ID)), db.ErrNotFound)

		b.NoError(b.store.DocumentProgress(b.ctx, b.owner, d.ID, 40))
		got = must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(40, got.Progress)
		b.NoError(b.store.SetDocumentPages(b.ctx, b.owner, d.ID, 5, 3))

		text, chunks := cut(d.ID, "one", "two")
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))
		_, _, err = b.store.RawDocument(b.ctx, b.owner, d.ID)
		b.ErrorIs(err, db.ErrNotFound)
		got = must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		d.Status, d.Progress, d.Chunks, d.PageCount, d.UnreadPages, d.Label = chat.DocReady, 100, 2, 5, 3, d.Title
		b.Equal(d, got)
		bytes = must.Have(b.store.Original(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(raw, bytes)
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, d.ID))
		b.ErrorIs(must.ErrOf(b.store.Original(b.ctx, b.owner, d.ID)), db.ErrNotFound)
	}},
	{"pages that OCR has read are kept until the document fails or another version replaces it", func(b *fixture) {
		scans := func(id, version string) map[int]string {
			return must.Have(b.store.Scans(b.ctx, b.owner, id, version))(b.t)
		}
		d := b.upload(b.owner, "Letter", []byte("raw"))
		b.NoError(b.store.PutScan(b.ctx, b.owner, d.ID, d.SourceVersion, 2, "two"))
		b.NoError(b.store.PutScan(b.ctx, b.owner, d.ID, d.SourceVersion, 2, "another reading"))
		b.NoError(b.store.PutScan(b.ctx, b.owner, d.ID, d.SourceVersion, 4, ""))
		b.NoError(b.store.PutScan(b.ctx, "another owner", d.ID, d.SourceVersion, 5, "five"))
		b.NoError(b.store.PutScan(b.ctx, b.owner, uuid.NewString(), d.SourceVersion, 1, "deleted"))
		b.Equal(map[int]string{2: "two", 4: ""}, scans(d.ID, d.SourceVersion))
		b.Empty(must.Have(b.store.Scans(b.ctx, "another owner", d.ID, d.SourceVersion))(b.t))
		text, chunks := cut(d.ID, "one", "two")
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))
		b.NoError(b.store.PutScan(b.ctx, b.owner, d.ID, d.SourceVersion, 1, "too late"))
		b.Equal(map[int]string{2: "two", 4: ""}, scans(d.ID, d.SourceVersion))

		failed := b.upload(b.owner, "Picture", []byte("raw"))
		b.NoError(b.store.PutScan(b.ctx, b.owner, failed.ID, d.SourceVersion, 1, ""))
		b.NoError(b.store.FailDocument(b.ctx, b.owner, failed.ID, "no text"))
		b.Empty(scans(failed.ID, failed.SourceVersion))

		file := b.imported("drive-scan", "v1")
		id := must.Have(b.store.PutImport(b.ctx, file, []byte("raw")))(b.t)
		b.NoError(b.store.PutScan(b.ctx, b.owner, id, "v1", 1, "one"))
		file.SourceVersion = "v2"
		must.Have(b.store.PutImport(b.ctx, file, []byte("raw 2")))(b.t)
		b.NoError(b.store.PutScan(b.ctx, b.owner, id, "v1", 2, "of the version before"))
		b.Empty(scans(id, "v2"))
	}},
	{"a file that is imported twice, even at once, is one document", func(b *fixture) {
		d := b.imported("drive-1", "v1")
		const tries = 4
		ids, errs := make(chan string, tries), make(chan error, tries)
		for range tries {
			again := d
			again.ID = uuid.NewString()
			go func() {
				id, err := b.store.PutImport(b.ctx, again, []byte("raw"))
				ids <- id
				errs <- err
			}()
		}
		first := <-ids
		b.NoError(<-errs)
		for range tries - 1 {
			b.Equal(first, <-ids)
			b.NoError(<-errs)
		}
		page := must.Have(b.store.ListDocuments(b.ctx, b.owner, "", 10))(b.t)
		b.Len(page.Items, 1)
		got := must.Have(b.store.ImportedDocument(b.ctx, b.owner, d.SourceType, d.ExternalID))(b.t)
		d.ID, d.Label = first, d.Title
		b.Equal(d, got)
		_, err := b.store.ImportedDocument(b.ctx, b.owner, chat.SourceLink, d.ExternalID)
		b.ErrorIs(err, db.ErrNotFound, "each source has its own ids")
		b.ErrorIs(must.ErrOf(b.store.ImportedDocument(b.ctx, b.owner, d.SourceType, "")), db.ErrNotFound)
	}},
	{"an import belongs to one owner", func(b *fixture) {
		d := b.imported("drive-1", "v1")
		theirs := d
		theirs.ID, theirs.Owner = uuid.NewString(), uuid.NewString()
		for _, one := range []chat.Document{d, theirs} {
			id := must.Have(b.store.PutImport(b.ctx, one, []byte("raw")))(b.t)
			b.Equal(one.ID, id)
		}
	}},
	{"a new version of an import takes the place of the old one", func(b *fixture) {
		d := b.imported("drive-1", "v1")
		must.Have(b.store.PutImport(b.ctx, d, []byte("old")))(b.t)
		text, chunks := cut(d.ID, "apples")
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))

		same := d
		same.ID, same.Title = uuid.NewString(), "ignored"
		id := must.Have(b.store.PutImport(b.ctx, same, []byte("same")))(b.t)
		b.Equal(d.ID, id)
		got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(chat.DocReady, got.Status, "the same version changes nothing")
		b.Equal(d.Title, got.Title)

		for _, version := range []string{"v2", "v3"} { // version 3 arrives before version 2 is processed
			next := d
			next.ID, next.Title, next.SourceVersion, next.Format = uuid.NewString(), "Title "+version, version, "md"
			id = must.Have(b.store.PutImport(b.ctx, next, []byte(version)))(b.t)
			b.Equal(d.ID, id)
			got, raw, err := b.store.RawDocument(b.ctx, b.owner, d.ID)
			b.NoError(err)
			b.Equal(version, string(raw))
			b.Equal("Title "+version, got.Title)
			b.Equal("md", got.Format)
			b.Equal(chat.DocProcessing, got.Status)
		}
		text, chunks = cut(d.ID, "pears")
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))
		for word, want := range map[string]int{"apples": 0, "pears": 1} {
			hits := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words(word), nil, 10))(b.t)
			b.Len(hits, want, word)
		}
	}},
	{"an import that failed is processed again, also in the same version", func(b *fixture) {
		d := b.imported("drive-1", "v1")
		must.Have(b.store.PutImport(b.ctx, d, []byte("raw")))(b.t)
		b.NoError(b.store.FailDocument(b.ctx, b.owner, d.ID, "damaged"))
		again := d
		again.ID = uuid.NewString()
		id := must.Have(b.store.PutImport(b.ctx, again, []byte("again")))(b.t)
		b.Equal(d.ID, id)
		got, raw, err := b.store.RawDocument(b.ctx, b.owner, d.ID)
		b.NoError(err)
		b.Equal("again", string(raw))
		b.Equal(d, got)
	}},
	{"creating twice keeps the first", func(b *fixture) {
		d := b.upload(b.owner, "first", []byte("first"))
		again := d
		again.Title = "second"
		b.NoError(b.store.CreateDocument(b.ctx, again, []byte("second")))
		got, raw, err := b.store.RawDocument(b.ctx, b.owner, d.ID)
		b.NoError(err)
		b.Equal(d, got)
		b.Equal("first", string(raw))
	}},
	{"a failed document has its reason, and a ready one cannot fail", func(b *fixture) {
		d := b.upload(b.owner, "x", []byte("raw"))
		b.NoError(b.store.FailDocument(b.ctx, b.owner, d.ID, "It is encrypted."))
		got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(chat.DocFailed, got.Status)
		b.Equal("It is encrypted.", got.Error)
		_, _, err := b.store.RawDocument(b.ctx, b.owner, d.ID)
		b.ErrorIs(err, db.ErrNotFound)

		ready := b.document(b.owner, "y", "text")
		b.NoError(b.store.FailDocument(b.ctx, b.owner, ready.ID, "late"))
		b.NoError(b.store.DocumentProgress(b.ctx, b.owner, ready.ID, 10))
		got = must.Have(b.store.Document(b.ctx, b.owner, ready.ID))(b.t)
		b.Equal(ready, got)
	}},
	{"text, chunks and offsets come back verbatim, whatever the script", func(b *fixture) {
		parts := []string{"Größe und Maß. ", "e\u0301tude \r\n\t", "日本語の文書。", "🌍👩‍👩‍👧 emoji", `quotes "' \ %`}
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "x", CreatedAt: b.now()}
		b.NoError(b.store.CreateDocument(b.ctx, d, nil))
		text, chunks := cut(d.ID, parts...)
		chunks[2].Heading = "Überschrift"
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))
		stored := must.Have(b.store.DocumentText(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(text, stored)
		hits := must.Have(b.store.DocumentChunks(b.ctx, b.owner, d.ID, 99))(b.t)
		b.Len(hits, len(parts))
		for i, h := range hits {
			b.Equal(chunks[i], h.Chunk)
			b.Equal("x", h.Title)
			b.Equal(h.Text, string([]rune(stored)[h.Start:h.End]))
			c := must.Have(b.store.Chunk(b.ctx, b.owner, d.ID, chunkID(d.ID, i)))(b.t)
			b.Equal(chunks[i], c)
		}
		hits = must.Have(b.store.DocumentChunks(b.ctx, b.owner, d.ID, 2))(b.t)
		b.Equal([]string{chunkID(d.ID, 0), chunkID(d.ID, 1)}, found(hits))
	}},
	{"a person can hide public documents, which stay there by id", func(b *fixture) {
		d := chat.Document{ID: uuid.NewString(), Owner: chat.PublicOwner, Title: "Sample", Name: "sample.md", Format: "md", CreatedAt: b.now()}
		b.NoError(b.store.CreateDocument(b.ctx, d, []byte("quagga")))
		b.NoError(b.store.StoreText(b.ctx, chat.PublicOwner, d.ID, "quagga", []chat.Chunk{{End: 6, Text: "quagga"}}, nil))
		defer func() { b.NoError(b.store.DeleteDocument(b.ctx, chat.PublicOwner, d.ID)) }()
		has := func(docs []chat.Document) bool {
			return slices.ContainsFunc(docs, func(x chat.Document) bool { return x.ID == d.ID })
		}
		for _, hidden := range []bool{false, true, false} {
			b.NoError(b.store.PutProfile(b.ctx, b.owner, chat.Profile{Industry: "rail", HideSamples: hidden}))
			profile, err := b.store.Profile(b.ctx, b.owner)
			b.NoError(err)
			b.Equal(hidden, profile.HideSamples)
			visible, err := b.store.VisibleDocuments(b.ctx, b.owner)
			b.NoError(err)
			page, err := b.store.ListDocuments(b.ctx, b.owner, "", 200)
			b.NoError(err)
			b.Equal(!hidden, has(visible))
			b.Equal(!hidden, has(page.Items))
			all, err := b.store.SearchText(b.ctx, b.owner, db.Words("quagga"), nil, 3)
			b.NoError(err)
			b.Equal(!hidden, len(all) == 1)
			named, err := b.store.SearchText(b.ctx, b.owner, db.Words("quagga"), []string{d.ID}, 3)
			b.NoError(err)
			b.Len(named, 1, "a tag is searched")
			byID, err := b.store.DocumentsByID(b.ctx, b.owner, []string{d.ID})
			b.NoError(err)
			b.True(has(byID))
		}
	}},
	{"a document of a conversation is found there only, until it is moved", func(b *fixture) {
		there, elsewhere := db.InThread(b.ctx, b.thread), db.InThread(b.ctx, uuid.NewString())
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Attached", Name: "attached.md", Format: "md", CreatedAt: b.now(), ThreadID: b.thread}
		b.NoError(b.store.CreateDocument(b.ctx, d, []byte("okapi")))
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, "okapi", []chat.Chunk{{End: 5, Text: "okapi"}}, [][]float32{{0, 0, 1}}))
		is := func(id string) bool { return id == d.ID }
		// finds reports where a search, a list or a count that is not limited to documents finds it.
		finds := func(ctx context.Context) (found, listed bool) {
			visible := must.Have(b.store.VisibleDocuments(ctx, b.owner))(b.t)
			hits := must.Have(b.store.SearchText(ctx, b.owner, db.Words("okapi"), nil, 3))(b.t)
			near := must.Have(b.store.SearchVector(ctx, b.owner, []float32{0, 0, 1}, nil, 3))(b.t)
			counts, _, err := b.store.WordCounts(ctx, b.owner, []string{"okapi"})
			b.NoError(err)
			found = slices.ContainsFunc(visible, func(x chat.Document) bool { return is(x.ID) })
			b.Equal(found, len(hits) == 1)
			b.Equal(found, slices.ContainsFunc(near, func(h chat.Hit) bool { return is(h.DocID) }))
			b.Equal(found, counts["okapi"] == 1)
			page := must.Have(b.store.ListDocuments(ctx, b.owner, "", 200))(b.t)
			return found, slices.ContainsFunc(page.Items, func(x chat.Document) bool { return is(x.ID) })
		}
		check := func(ctx context.Context, wantFound, wantListed bool) {
			b.t.Helper()
			found, listed := finds(ctx)
			b.Equal([]bool{wantFound, wantListed}, []bool{found, listed})
		}
		check(there, true, true)
		check(elsewhere, false, false)
		check(b.ctx, false, false)
		b.Len(must.Have(b.store.SearchText(elsewhere, b.owner, db.Words("okapi"), []string{d.ID}, 3))(b.t), 1, "a tag is searched")
		b.Equal(b.thread, must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t).ThreadID)

		b.ErrorIs(b.store.MoveDocument(b.ctx, uuid.NewString(), d.ID, ""), db.ErrNotFound)
		b.NoError(b.store.MoveDocument(b.ctx, b.owner, d.ID, ""))
		check(there, true, false) // listed in the library
		check(elsewhere, true, false)
		check(b.ctx, true, true)
	}},
	{"the documents of a conversation are deleted with it, and those of one that never begins after a day", func(b *fixture) {
		kept := b.document(b.owner, "Kept", "apple")
		attach := func(thread string, at time.Time) string {
			d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Attached", Format: "md", CreatedAt: at, ThreadID: thread}
			b.NoError(b.store.CreateDocument(b.ctx, d, []byte("okapi")))
			return d.ID
		}
		deleted := func(id string) bool {
			_, err := b.store.Document(b.ctx, b.owner, id)
			return errors.Is(err, db.ErrNotFound)
		}
		b.exchange("Hello", "Hi", chat.RootCheckpoint)
		old := time.Now().Add(-db.UnusedFor - time.Minute)
		used, unused := attach(b.thread, old), attach(uuid.NewString(), old)
		fresh := attach(uuid.NewString(), time.Now()) // removes what is unused
		b.Equal([]bool{false, true, false}, []bool{deleted(used), deleted(unused), deleted(fresh)})
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.Equal([]bool{true, false, false}, []bool{deleted(used), deleted(fresh), deleted(kept.ID)})
	}},
	{"labels tell documents with one title apart", func(b *fixture) {
		var ids []string
		for _, name := range []string{"Okafor.docx", "Lindqvist.docx"} {
			d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Employment contract", Name: name, Format: "docx", CreatedAt: b.now()}
			b.NoError(b.store.CreateDocument(b.ctx, d, []byte("apple")))
			b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, "apple", []chat.Chunk{{End: 5, Text: "apple"}}, nil))
			ids = append(ids, d.ID)
		}
		want := []string{"Employment contract (Okafor.docx)", "Employment contract (Lindqvist.docx)"}
		docs, err := b.store.DocumentsByID(b.ctx, b.owner, ids)
		b.NoError(err)
		page, err := b.store.ListDocuments(b.ctx, b.owner, "", 100)
		b.NoError(err)
		visible, err := b.store.VisibleDocuments(b.ctx, b.owner)
		b.NoError(err)
		for i, id := range ids {
			one, err := b.store.Document(b.ctx, b.owner, id)
			b.NoError(err)
			b.Equal(want[i], one.Label)
			b.Equal(want[i], docs[i].Label)
			for _, list := range [][]chat.Document{page.Items, visible} {
				at := slices.IndexFunc(list, func(d chat.Document) bool { return d.ID == id })
				b.Equal(want[i], list[at].Label)
			}
			hits, err := b.store.SearchText(b.ctx, b.owner, db.Words("apple"), []string{id}, 1)
			b.NoError(err)
			b.Equal(want[i], hits[0].Title)
		}
	}},
	{"the number of a clause is a word", func(b *fixture) {
		texts := []string{"Clauses 4 and 2 apply.", "4.2 The tenant pays.", "§ 5 Rent is due.", "The rent is 5 euros.", "The room on floor 12.4.3 is large."}
		chunks := make([]chat.Chunk, len(texts))
		for i, t := range texts {
			chunks[i] = chat.Chunk{Text: t, Start: 40 * i, End: 40*i + len([]rune(t)), Ordinal: i}
		}
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Lease", Format: "txt", CreatedAt: b.now()}
		b.NoError(b.store.CreateDocument(b.ctx, d, []byte("x")))
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, strings.Repeat("x", 240), chunks, nil))
		for word, want := range map[string]string{"4.2": texts[1], "§5": texts[2], "12.4.3": texts[4]} {
			hits, err := b.store.SearchText(b.ctx, b.owner, db.Words(word), []string{d.ID}, 10)
			b.NoError(err)
			b.Equal(want, hits[0].Text, word)
		}
	}},
	{"names are found in another Unicode form", func(b *fixture) {
		for name, word := range map[string]string{"U\u0308bernahme Ko\u0308ln": "köln", "휴가 규정": "휴가"} {
			d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: naming.Normal(name), Format: "txt", CreatedAt: b.now()}
			b.NoError(b.store.CreateDocument(b.ctx, d, []byte("x")))
			b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, "x", []chat.Chunk{{End: 1, Text: "x"}}, nil))
			for _, form := range []string{norm.NFC.String(word), norm.NFD.String(word)} {
				hits, err := b.store.SearchText(b.ctx, b.owner, db.Words(form), []string{d.ID}, 10)
				b.NoError(err)
				b.Len(hits, 1, form)
			}
		}
	}},
	{"a title that a person gave is not replaced, and what it replaces is another name", func(b *fixture) {
		text := "apple"
		for _, c := range []struct {
			title, name   string
			named         bool
			own, rename   string
			want          string
			others, found []string
		}{
			{"scan 17", "scan_17.pdf", false, "Leave policy", "", "Leave policy", []string{"Larkfield"}, []string{"leave", "scan", "17", "Larkfield"}},
			{"scan 17", "scan_17.pdf", false, "", "", "scan 17", []string{"Larkfield"}, []string{"scan"}},
			{"Given", "", true, "Leave policy", "", "Given", []string{"Larkfield"}, []string{"given", "larkfield"}},
			{"scan 17", "scan_17.pdf", false, "Leave policy", "Mine", "Mine", []string{"Larkfield", "scan 17"}, []string{"mine", "scan"}},
		} {
			d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: c.title, Named: c.named, Name: c.name, Format: "txt", CreatedAt: b.now()}
			b.NoError(b.store.CreateDocument(b.ctx, d, []byte(text)))
			if c.rename != "" { // while it is processed
				b.NoError(b.store.RenameDocument(b.ctx, b.owner, d.ID, c.rename))
			}
			b.NoError(b.store.StoreVersion(b.ctx, b.owner, d.ID, "", db.OwnNames{Title: c.own, Others: []string{"Larkfield"}}, text, []chat.Chunk{{End: 5, Text: text}}, "", nil))
			got, err := b.store.Document(b.ctx, b.owner, d.ID)
			b.NoError(err)
			b.Equal(c.want, got.Title)
			b.Equal(c.name, got.Name)
			visible, err := b.store.VisibleDocuments(b.ctx, b.owner)
			b.NoError(err)
			i := slices.IndexFunc(visible, func(v chat.Document) bool { return v.ID == d.ID })
			b.Equal(got.Label, visible[i].Label)
			b.Equal(c.others, visible[i].OtherNames)
			b.Equal(c.others, got.OtherNames)
			for _, word := range c.found {
				hits, err := b.store.SearchText(b.ctx, b.owner, db.Words(word), []string{d.ID}, 10)
				b.NoError(err)
				b.Len(hits, 1, word)
			}
		}
	}},
	{"a document is renamed by its owner alone", func(b *fixture) {
		d := b.document(b.owner, "Old", "text")
		b.NoError(b.store.RenameDocument(b.ctx, b.owner, d.ID, "Neu 🌍"))
		got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal("Neu 🌍", got.Title)
		b.ErrorIs(b.store.RenameDocument(b.ctx, uuid.NewString(), d.ID, "x"), db.ErrNotFound)
		public := b.document(chat.PublicOwner, "Everybody's", "text")
		b.ErrorIs(b.store.RenameDocument(b.ctx, b.owner, public.ID, "x"), db.ErrForbidden)
	}},
	{"a passage has its pages, also in what searches find", func(b *fixture) {
		d := b.upload(b.owner, "x", nil)
		text, chunks := cut(d.ID, "apple", "pear", "plum")
		chunks[0].Pages = []chat.PageStart{{Page: 3, Start: 0}}
		chunks[1].Pages = []chat.PageStart{{Page: 3, Start: chunks[1].Start}, {Page: 5, Start: chunks[1].Start + 2}}
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, [][]float32{{1, 0}, {0, 1}, {0.5, 0.5}}))
		hits := must.Have(b.store.DocumentChunks(b.ctx, b.owner, d.ID, 9))(b.t)
		for i, h := range hits {
			b.Equal(chunks[i], h.Chunk)
		}
		hits = must.Have(b.store.ChunksByID(b.ctx, b.owner, []string{chunkID(d.ID, 1)}))(b.t)
		b.Equal(chunks[1].Pages, hits[0].Pages)
		hits = must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("pear"), nil, 9))(b.t)
		b.Equal(chunks[1].Pages, hits[0].Pages)
		hits = must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{0, 1}, []string{d.ID}, 1))(b.t)
		b.Equal(chunks[1].Pages, hits[0].Pages)
	}},
	{"a text stored again replaces the old text and all of its chunks", func(b *fixture) {
		d := b.document(b.owner, "x", "old apple", "old pear", "old plum")
		text, chunks := cut(d.ID, "new cherry")
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))
		got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(1, got.Chunks)
		b.Equal([]string{chunkID(d.ID, 0)}, b.search("old", "cherry"))
		b.Empty(b.search("apple", "pear", "plum"))
		b.ErrorIs(must.ErrOf(b.store.Chunk(b.ctx, b.owner, d.ID, chunkID(d.ID, 1))), db.ErrNotFound)
	}},
	{"a text of 70,000 words is stored completely", func(b *fixture) {
		words := strings.Repeat("regulation of liquidity applies to every bank ", 20)
		parts := make([]string, 500)
		for i := range parts {
			parts[i] = words + " number" + strconv.Itoa(i)
		}
		d := b.document(b.owner, "policy", parts...)
		b.Equal(500, d.Chunks)
		hits := must.Have(b.store.DocumentChunks(b.ctx, b.owner, d.ID, 1000))(b.t)
		b.Len(hits, 500)
		b.Equal([]string{chunkID(d.ID, 499)}, b.search("number499"))
	}},
	{"a document without text is ready and empty", func(b *fixture) {
		d := b.document(b.owner, "empty")
		b.Equal(chat.DocReady, d.Status)
		text := must.Have(b.store.DocumentText(b.ctx, b.owner, d.ID))(b.t)
		b.Empty(text)
		hits := must.Have(b.store.DocumentChunks(b.ctx, b.owner, d.ID, 9))(b.t)
		b.Empty(hits)
	}},
	{"a document has as many vectors as chunks, or none", func(b *fixture) {
		d := b.upload(b.owner, "x", nil)
		text, chunks := cut(d.ID, "one", "two")
		b.Error(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, [][]float32{{1}}))
		got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(chat.DocProcessing, got.Status)
	}},
	{"lists are newest first and pages join without gap or overlap", func(b *fixture) {
		var want []string
		for i := range 7 {
			owner := b.owner
			if i == 3 {
				owner = chat.PublicOwner
			}
			want = append([]string{b.document(owner, strconv.Itoa(i), "text").ID}, want...)
		}
		var got []string
		cursor := ""
		for range want {
			p := must.Have(b.store.ListDocuments(b.ctx, b.owner, cursor, 3))(b.t)
			got = append(got, ids(p.Items, documentID)...)
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		b.Empty(cursor)
		b.Equal(want, got)
		visible := must.Have(b.store.VisibleDocuments(b.ctx, b.owner))(b.t)
		b.Equal(want, ids(visible, documentID))
		b.Equal("6", visible[0].Title)
		b.Equal(chat.DocReady, visible[0].Status)
	}},
	{"documents and chunks by id keep the order of ids without unknown ones", func(b *fixture) {
		one, two := b.document(b.owner, "one", "a", "b"), b.document(b.owner, "two", "c")
		docs := must.Have(b.store.DocumentsByID(b.ctx, b.owner, []string{two.ID, "x", uuid.NewString(), one.ID, two.ID}))(b.t)
		b.Equal([]chat.Document{two, one, two}, docs)
		docs = must.Have(b.store.DocumentsByID(b.ctx, b.owner, nil))(b.t)
		b.Empty(docs)
		want := []string{chunkID(two.ID, 0), chunkID(one.ID, 1), chunkID(one.ID, 0)}
		hits, err := b.store.ChunksByID(b.ctx, b.owner, []string{
			"", ".", "x.0", want[0], one.ID, chunkID(one.ID, 2), one.ID + ".-1", one.ID + ".01", one.ID + ".99999999999999999999", want[1], want[2]})
		b.NoError(err)
		b.Equal(want, found(hits))
		b.Equal("one", hits[1].Title)
		b.ErrorIs(must.ErrOf(b.store.Chunk(b.ctx, b.owner, one.ID, chunkID(two.ID, 0))), db.ErrNotFound)
	}},
	{"a deleted document is not found by any call", func(b *fixture) {
		d, keep := b.document(b.owner, "x", "apple"), b.document(b.owner, "y", "apple")
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, d.ID))
		b.ErrorIs(must.ErrOf(b.store.Document(b.ctx, b.owner, d.ID)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.DocumentText(b.ctx, b.owner, d.ID)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.DocumentChunks(b.ctx, b.owner, d.ID, 9)), db.ErrNotFound)
		b.Equal([]string{chunkID(keep.ID, 0)}, b.search("apple"))
		b.ErrorIs(b.store.DeleteDocument(b.ctx, b.owner, d.ID), db.ErrNotFound)
		text, chunks := cut(d.ID, "late")
		b.ErrorIs(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil), db.ErrNotFound)
		b.ErrorIs(b.store.DocumentProgress(b.ctx, b.owner, d.ID, 10), db.ErrNotFound)
		b.ErrorIs(b.store.FailDocument(b.ctx, b.owner, d.ID, "late"), db.ErrNotFound)
	}},
	{"everybody can read a public document and only PublicOwner can change it", func(b *fixture) {
		d := b.document(chat.PublicOwner, "Public", "apple")
		got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(d, got)
		text := must.Have(b.store.DocumentText(b.ctx, b.owner, d.ID))(b.t)
		b.Equal("apple\n", text)
		b.Equal([]string{chunkID(d.ID, 0)}, b.search("apple"))

		b.ErrorIs(b.store.DeleteDocument(b.ctx, b.owner, d.ID), db.ErrForbidden)
		b.ErrorIs(b.store.StoreText(b.ctx, b.owner, d.ID, "mine", nil, nil), db.ErrForbidden)
		b.ErrorIs(b.store.FailDocument(b.ctx, b.owner, d.ID, "mine"), db.ErrForbidden)
		b.ErrorIs(b.store.DocumentProgress(b.ctx, b.owner, d.ID, 1), db.ErrForbidden)
		b.ErrorIs(b.store.CreateDocument(b.ctx, chat.Document{ID: d.ID, Owner: b.owner}, nil), db.ErrForbidden)
		got = must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(d, got)
		b.NoError(b.store.DeleteDocument(b.ctx, chat.PublicOwner, d.ID))
	}},
}

var setTests = []test{
	{"a set keeps its documents in order", func(b *fixture) {
		one, two, public := b.document(b.owner, "1", "a"), b.document(b.owner, "2", "b"), b.document(chat.PublicOwner, "3", "c")
		set := chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: "Mine", DocIDs: []string{two.ID, public.ID, one.ID}}
		b.NoError(b.store.CreateSet(b.ctx, set))
		get := func() chat.DocumentSet {
			sets := must.Have(b.store.SetsByID(b.ctx, b.owner, []string{set.ID}))(b.t)
			b.Len(sets, 1)
			return sets[0]
		}
		b.Equal(set, get())
		set.Name, set.DocIDs = "Ours", []string{one.ID}
		b.NoError(b.store.UpdateSet(b.ctx, set))
		b.Equal(set, get())
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, one.ID))
		b.Empty(get().DocIDs)
		b.NoError(b.store.DeleteSet(b.ctx, b.owner, set.ID))
		sets := must.Have(b.store.SetsByID(b.ctx, b.owner, []string{set.ID}))(b.t)
		b.Empty(sets)
		b.ErrorIs(b.store.DeleteSet(b.ctx, b.owner, set.ID), db.ErrNotFound)
		b.ErrorIs(b.store.UpdateSet(b.ctx, set), db.ErrNotFound)
	}},
	{"a set with a document that its owner cannot see is refused and unchanged", func(b *fixture) {
		mine, theirs := b.document(b.owner, "1", "a"), b.document(uuid.NewString(), "2", "b")
		set := chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: "Mine", DocIDs: []string{mine.ID}}
		b.NoError(b.store.CreateSet(b.ctx, set))
		for _, bad := range []string{theirs.ID, uuid.NewString()} {
			changed := set
			changed.Name, changed.DocIDs = "changed", []string{mine.ID, bad}
			b.ErrorIs(b.store.UpdateSet(b.ctx, changed), db.ErrNotFound)
			changed.ID = uuid.NewString()
			b.ErrorIs(b.store.CreateSet(b.ctx, changed), db.ErrNotFound)
		}
		p := must.Have(b.store.ListSets(b.ctx, b.owner, "", 10))(b.t)
		b.Equal([]chat.DocumentSet{set}, p.Items)
	}},
	{"lists are newest first, pages join, and ids keep their order", func(b *fixture) {
		var want []string
		for i := range 5 {
			set := chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: strconv.Itoa(i)}
			b.NoError(b.store.CreateSet(b.ctx, set))
			want = append([]string{set.ID}, want...)
		}
		var got []string
		cursor := ""
		for range want {
			p := must.Have(b.store.ListSets(b.ctx, b.owner, cursor, 2))(b.t)
			got = append(got, ids(p.Items, setID)...)
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		b.Empty(cursor)
		b.Equal(want, got)
		sets := must.Have(b.store.SetsByID(b.ctx, b.owner, []string{want[3], uuid.NewString(), want[0]}))(b.t)
		b.Equal([]string{want[3], want[0]}, ids(sets, setID))
	}},
}
