package dbtest

import (
	"math"
	"strings"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/testkit/must"
)

// search finds chunk ids by words in all documents that the owner may see, and
// checks that the ranking is ordered.
func (b *fixture) search(words ...string) []string {
	b.t.Helper()
	return b.searchIn(nil, words...)
}

func (b *fixture) searchIn(docs []string, words ...string) []string {
	b.t.Helper()
	hits := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words(words...), docs, 100))(b.t)
	for i, h := range hits {
		b.Positive(h.Score)
		if i > 0 {
			b.LessOrEqual(h.Score, hits[i-1].Score)
		}
	}
	return found(hits)
}

var searchTests = []test{
	{"words are found by their stem, in any case and without accents", func(b *fixture) {
		d := b.document(b.owner, "x", "The bank REGULATES liquidity.", "Études of cafés", "unrelated filler")
		for word, want := range map[string][]string{
			"regulated": {chunkID(d.ID, 0)}, "regulating": {chunkID(d.ID, 0)}, "Liquidity": {chunkID(d.ID, 0)},
			"etude": {chunkID(d.ID, 1)}, "CAFÉ": {chunkID(d.ID, 1)}, "absent": {},
		} {
			b.Equal(want, b.search(word), word)
		}
	}},
	{"words are found by the rules of their document's language, also in names", func(b *fixture) {
		for title, c := range map[string]struct {
			lang, text string
			words      []string
		}{
			"Mietvertrag":       {"de", "Die Kündigungsfristen für die Wohnung in der Hauptstraße betragen drei Monate.", []string{"Kündigungsfrist", "Kuendigungsfrist", "kundigungsfristen", "HAUPTSTRASSE", "Mietverträge"}},
			"Contrat":           {"fr", "Le locataire paie l’assurance et les indemnités dans le mois.", []string{"assurance", "l'indemnité", "locataires", "contrats"}},
			"Umowa najmu":       {"pl", "Umowa jest zawarta na czas określony, a czynsz płatny jest w Łodzi.", []string{"umowy", "Lodzi", "czynszu"}},
			"Договор аренды":    {"ru", "Арендная плата и договор: все это было в договоре для нас.", []string{"договора", "плату", "аренда"}},
			"Kira sözleşmesi":   {"tr", "Kira ve aidat için ödeme Kadıköy'de her ay bir kez daha yapılır.", []string{"kadikoy", "KADIKÖY", "kiralar"}},
			"عقد الإيجار":       {"ar", "الإجازات التي في هذا العقد هي من حق الموظف.", []string{"الاجازة", "إجازات", "العقد"}},
			"임대차 계약서":           {"ko", "월 임대료는 700유로이며 연차휴가는 15일이다.", []string{"임대료", "휴가", "연차휴가", "계약서"}},
			"差旅管理办法":            {"zh", "员工出差住宿标准为每晚不超过六百元。超出部分由员工自行承担。", []string{"住宿标准", "住宿", "超出", "差旅"}},
			"旅費規程":              {"ja", "一泊の宿泊費は一万円までとする。経理部のﾃﾞｰﾀ管理室に届け出ること。", []string{"宿泊費", "経理部", "データ", "規程"}},
			"สัญญาเช่า":         {"th", "ค่าเช่ารายเดือนคือ ๖๐๐ บาท", []string{"ค่าเช่า", "รายเดือน", "600", "สัญญา"}},
			"Price list XR-200": {"en", "The pump costs 1,190.00 euros by § 5 of the terms; call 0170 1234567.", []string{"1190", "1.190,00", "XR200", "§ 5", "01701234567", "pumps"}},
		} {
			d := b.document(b.owner, title, c.text)
			got := must.Have(b.store.Document(b.ctx, b.owner, d.ID))(b.t)
			b.Equal(c.lang, got.Language, title)
			for _, word := range c.words {
				hits := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words(word), nil, 9))(b.t)
				b.NotEmpty(hits, "%s: %s", title, word)
				b.Equal(d.ID, hits[0].DocID, "%s: %s", title, word)
				b.Equal(c.text, hits[0].Text)
				b.Equal(c.lang, hits[0].Language)
			}
			counts, _, err := b.store.WordCounts(b.ctx, b.owner, c.words[:1])
			b.NoError(err)
			b.Equal(map[string]int{c.words[0]: 1}, counts)
		}
		b.Empty(must.Have(b.store.DocumentsToIndex(b.ctx, "", 1))(b.t))
	}},
	{"the parts of a compound are counted, and a compound counts as each of its parts", func(b *fixture) {
		d := b.document(b.owner, "Mietvertrag", "Die Frist zur Kündigung der Wohnung beträgt drei Monate.", "Die Mietvertragskündigung ist nicht ohne Grund möglich.", "Der Hof und die Treppe")
		var parts []string
		for _, split := range language.Splits("kündigungsfrist") {
			parts = append(parts, split.First, split.Last)
		}
		counts, _, err := b.store.WordCounts(b.ctx, b.owner, parts)
		b.NoError(err)
		b.Equal([]int{1, 1, 0}, []int{counts["kündigung"], counts["frist"], counts["kündigungsf"]})
		var words []db.Word
		for w, compounds := range language.Compounds("Wie ist die Kündigung bei dem Mietvertrag geregelt?") {
			word := db.Word{Text: w}
			for _, compound := range compounds {
				word.Alike = append(word.Alike, db.Alike{Text: compound, Weight: 1})
			}
			words = append(words, word)
		}
		hits := must.Have(b.store.SearchText(b.ctx, b.owner, words, nil, 9))(b.t)
		b.Equal([]string{chunkID(d.ID, 1), chunkID(d.ID, 0)}, found(hits))
	}},
	{"any of the words is enough and more of them rank higher", func(b *fixture) {
		d := b.document(b.owner, "x", "apple pie recipe", "apple pear plum", "pear tart recipe", "nothing here", "nor here", "or there")
		b.Equal(chunkID(d.ID, 1), b.search("apple", "pear", "plum")[0])
		b.ElementsMatch([]string{chunkID(d.ID, 0), chunkID(d.ID, 1), chunkID(d.ID, 2)}, b.search("apple", "pear"))
	}},
	{"vectors of a ready document can be replaced, and documents without vectors of a model are listed", func(b *fixture) {
		d, other := b.document(b.owner, "x", "one", "two"), b.document(b.owner, "y", "three")
		listed := func(model string) (ids []string) {
			for after := ""; ; {
				docs := must.Have(b.store.DocumentsToEmbed(b.ctx, model, after, 1))(b.t)
				if len(docs) == 0 {
					return ids
				}
				after = docs[0].ID
				if docs[0].Owner == b.owner {
					ids = append(ids, after)
				}
			}
		}
		b.ElementsMatch([]string{d.ID, other.ID}, listed("small"))
		b.NoError(b.store.PutVectors(b.ctx, b.owner, d.ID, "small", [][]float32{{1, 0}, {0, 1}}))
		b.Equal([]string{other.ID}, listed("small"))
		b.NoError(b.store.StoreVersion(b.ctx, b.owner, other.ID, "", db.OwnNames{}, "four", []chat.Chunk{{End: 4, Text: "four"}}, "small", [][]float32{{1, 0}}))
		b.Empty(listed("small"), "the model is stored with the vectors")
		b.NoError(b.store.StoreText(b.ctx, b.owner, other.ID, "three", []chat.Chunk{{End: 5, Text: "three"}}, nil))
		b.Equal([]string{other.ID}, listed("small"), "the new text has no vectors")
		b.Len(listed("large"), 2)
		done, total, err := b.store.EmbeddingProgress(b.ctx, b.owner, "small")
		b.NoError(err)
		b.Equal(1, total-done)
		hits := must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{0, 1}, []string{d.ID}, 1))(b.t)
		b.Equal([]string{chunkID(d.ID, 1)}, found(hits))
		b.NoError(b.store.PutVectors(b.ctx, b.owner, d.ID, "large", [][]float32{{0, 1, 0}, {1, 0, 0}}))
		hits = must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{0, 1, 0}, []string{d.ID}, 1))(b.t)
		b.Equal([]string{chunkID(d.ID, 0)}, found(hits))
		for _, refused := range []error{
			b.store.PutVectors(b.ctx, b.owner, d.ID, "large", [][]float32{{1}}), // it has two chunks
			b.store.PutVectors(b.ctx, "stranger", d.ID, "large", [][]float32{{1}, {1}}),
			b.store.PutVectors(b.ctx, b.owner, uuid.NewString(), "large", nil),
		} {
			b.ErrorIs(refused, db.ErrNotFound)
		}
	}},
	{"a similar word counts less than the word itself, and never in addition to it", func(b *fixture) {
		d := b.document(b.owner, "x", "the vehicle is red", "the car is red", "the vehicle and the car", "nothing here", "nor here", "or there")
		hits, err := b.store.SearchText(b.ctx, b.owner, []db.Word{
			{Text: "cars", Alike: []db.Alike{{Text: "vehicle", Weight: 0.5}, {Text: "vehicles", Weight: 0.5}}},
			{Text: "missing", Alike: []db.Alike{{Text: "absent", Weight: 1}, {Text: " ", Weight: 1}}},
		}, nil, 100)
		b.NoError(err)
		b.Equal([]string{chunkID(d.ID, 1), chunkID(d.ID, 2), chunkID(d.ID, 0)}, found(hits))
		plain := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("car"), nil, 100))(b.t)
		b.InDelta(plain[0].Score, hits[0].Score, 1e-6)
		b.InDelta(plain[1].Score, hits[1].Score, 1e-6)
		b.InDelta(plain[0].Score/2, hits[2].Score, 1e-6)
	}},
	{"a heading counts, but less than the text", func(b *fixture) {
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "x", CreatedAt: b.now()}
		b.NoError(b.store.CreateDocument(b.ctx, d, nil))
		text, chunks := cut(d.ID, "words about other things", "words about liquidity now", "one more", "two more", "three more")
		chunks[0].Heading, chunks[1].Heading = "liquidity", "other"
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, nil))
		b.Equal([]string{chunkID(d.ID, 1), chunkID(d.ID, 0)}, b.search("liquidity"))
	}},
	{"equal scores come in the order of the text", func(b *fixture) {
		d := b.document(b.owner, "x", "same apple", "same apple", "same apple", "other pear")
		b.Equal([]string{chunkID(d.ID, 0), chunkID(d.ID, 1), chunkID(d.ID, 2)}, b.search("apple"))
	}},
	{"a hit has its chunk, title and offsets", func(b *fixture) {
		d := b.document(b.owner, "Title", "Größe", "apple pie")
		hits := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("apple"), nil, 5))(b.t)
		b.Len(hits, 1)
		b.Equal("Title", hits[0].Title)
		b.Equal(chat.Chunk{ID: chunkID(d.ID, 1), DocID: d.ID, Ordinal: 1, Text: "apple pie", Start: 6, End: 15}, hits[0].Chunk)
	}},
	{"a search may be limited to documents, also to none", func(b *fixture) {
		one, two := b.document(b.owner, "1", "apple"), b.document(b.owner, "2", "apple")
		b.ElementsMatch([]string{chunkID(one.ID, 0), chunkID(two.ID, 0)}, b.search("apple"))
		b.Equal([]string{chunkID(two.ID, 0)}, b.searchIn([]string{two.ID}, "apple"))
		b.Equal([]string{chunkID(two.ID, 0)}, b.searchIn([]string{"x", uuid.NewString(), two.ID, two.ID}, "apple"))
		b.Empty(b.searchIn([]string{}, "apple"))
	}},
	{"at most k hits are returned", func(b *fixture) {
		b.document(b.owner, "x", "apple one", "apple two", "apple three")
		for k, want := range map[int]int{-1: 0, 0: 0, 1: 1, 2: 2, 9: 3} {
			hits := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("apple"), nil, k))(b.t)
			b.Len(hits, want)
		}
	}},
	{"operators and quotes are searched for as words", func(b *fixture) {
		d := b.document(b.owner, "x", `The "near" miss AND the col:umn`, "filler", "filler")
		for _, words := range [][]string{
			nil, {""}, {" "}, {`"`}, {`""`}, {`'`}, {"*"}, {"("}, {")"}, {"-"}, {"^"}, {":"}, {"🌍"}, {"\x00"}, {"absent\x00"}, {"%"}, {`\`},
			{"\xff\xfe"}, {"absent\" OR \"near"[:6]}, {strings.Repeat("x", 10000)},
		} {
			b.Empty(b.search(words...), "%q", words)
		}
		for _, words := range [][]string{
			{"near"}, {`"near"`}, {"near", `"`}, {"AND", "*", "near"}, {"col:umn"}, {"near*"}, {"(near"}, {"absent", "miss)"}, {"NOT", "near"},
		} {
			b.Equal([]string{chunkID(d.ID, 0)}, b.search(words...), "%q", words)
		}
		many := make([]string, 5000)
		for i := range many {
			many[i] = "near"
		}
		b.Equal([]string{chunkID(d.ID, 0)}, b.search(many...))
	}},
	{"only ready documents are searched", func(b *fixture) {
		d := b.document(b.owner, "x", "apple")
		processing := b.upload(b.owner, "y", []byte("apple"))
		failed := b.upload(b.owner, "z", []byte("apple"))
		b.NoError(b.store.FailDocument(b.ctx, b.owner, failed.ID, "no"))
		b.Equal([]string{chunkID(d.ID, 0)}, b.searchIn([]string{d.ID, processing.ID, failed.ID}, "apple"))
	}},
	{"documents of others change neither scores nor order", func(b *fixture) {
		b.document(b.owner, "1", "the merger with Ravenhill is signed", "the merger is long, and the merger is slow, of many words", "a lunch")
		b.document(chat.PublicOwner, "2", "a public merger", "a lunch for all")
		before := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("merger", "Ravenhill", "lunch"), nil, 100))(b.t)
		b.Len(before, 5)
		stranger := uuid.NewString()
		for range 3 { // what they store would make these words common, and passages longer
			b.document(stranger, "3", "Ravenhill Ravenhill merger", "lunch", strings.Repeat("lunch and dinner ", 200), "Ravenhill")
		}
		theirs := b.upload(stranger, "4", nil)
		text, chunks := cut(theirs.ID, "merger", "merger", "merger")
		b.NoError(b.store.StoreText(b.ctx, stranger, theirs.ID, text, chunks, nil))
		same := func() {
			after := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("merger", "Ravenhill", "lunch"), nil, 100))(b.t)
			b.Equal(before, after)
		}
		same()
		b.NoError(b.store.DeleteDocument(b.ctx, stranger, theirs.ID))
		same()
	}},
	{"both stores rank by the same statistics", func(b *fixture) {
		b.document(b.owner, "1", "alpha beta gamma", "alpha alpha delta epsilon zeta", "eta theta")
		hits := must.Have(b.store.SearchText(b.ctx, b.owner, db.Words("alpha", "delta"), nil, 10))(b.t)
		b.Equal([]string{"alpha alpha delta epsilon zeta", "alpha beta gamma"}, ids(hits, func(h chat.Hit) string { return h.Text }))
		alpha, delta := math.Log(1+1.5/2.5), math.Log(1+2.5/1.5) // in two and in one of three chunks, of ten words
		within := func(frequency, words float64) float64 {
			return frequency * 2.2 / (frequency + 1.2*(0.25+0.75*words/(10.0/3)))
		}
		b.InDelta(alpha*within(2, 5)+delta*within(1, 5), hits[0].Score, 1e-8)
		b.InDelta(alpha*within(1, 3), hits[1].Score, 1e-8)
	}},
	{"words are counted by stem in the chunks that the owner may see", func(b *fixture) {
		b.document(b.owner, "1", "banks and banking bank", "a bank", "nothing")
		b.document(chat.PublicOwner, "2", "the public bank")
		b.document(uuid.NewString(), "3", "their bank", "their pear")
		counts, total, err := b.store.WordCounts(b.ctx, b.owner, []string{"bank", "Banks", "pear", `"`, "public"})
		b.NoError(err)
		b.Equal(4, total)
		b.Equal(map[string]int{"bank": 3, "Banks": 3, "pear": 0, `"`: 0, "public": 1}, counts)
		counts, total, err = b.store.WordCounts(b.ctx, b.owner, nil)
		b.NoError(err)
		b.Equal(4, total)
		b.Empty(counts)
	}},
	{"vectors rank by the cosine, exactly", func(b *fixture) {
		d := b.upload(b.owner, "x", nil)
		text, chunks := cut(d.ID, "east", "north", "north-east, far", "west", "nowhere", "not a number")
		nan := float32(math.NaN())
		vectors := [][]float32{{1, 0}, {0, 0.5}, {30, 30}, {-1, 0}, {0, 0}, {nan, 1}}
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, vectors))
		hits := must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{5, 0}, nil, 10))(b.t)
		b.Equal([]string{chunkID(d.ID, 0), chunkID(d.ID, 2), chunkID(d.ID, 1), chunkID(d.ID, 3)}, found(hits))
		for i, want := range []float64{1, math.Sqrt2 / 2, 0, -1} {
			b.InDelta(want, hits[i].Score, 1e-6)
		}
		b.Equal("east", hits[0].Text)
		hits = must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{1, 1}, nil, 2))(b.t)
		b.Equal(chunkID(d.ID, 2), hits[0].ID)
		b.Len(hits, 2)
		for _, odd := range [][]float32{nil, {0, 0}, {1}, {1, 2, 3}, {nan, 1}} { // no direction, or another length
			hits := must.Have(b.store.SearchVector(b.ctx, b.owner, odd, nil, 10))(b.t)
			b.Empty(hits)
		}
	}},
	{"a vector search may be limited to documents, and does not find those of other owners", func(b *fixture) {
		embedded := func(owner string) string {
			d := b.upload(owner, "x", nil)
			text, chunks := cut(d.ID, "text")
			b.NoError(b.store.StoreText(b.ctx, owner, d.ID, text, chunks, [][]float32{{1, 2}}))
			return d.ID
		}
		one, two, public := embedded(b.owner), embedded(b.owner), embedded(chat.PublicOwner)
		theirs := embedded(uuid.NewString())
		search := func(docs []string) []string {
			hits := must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{1, 2}, docs, 10))(b.t)
			return ids(hits, func(h chat.Hit) string { return h.DocID })
		}
		b.ElementsMatch([]string{one, two, public}, search(nil))
		b.Equal([]string{two}, search([]string{two, theirs}))
		b.Empty(search([]string{}))
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, one))
		b.ElementsMatch([]string{two, public}, search(nil))
	}},
}
