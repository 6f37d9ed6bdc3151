package documents

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	rules "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm/offline"
)

// leases are a lease of two sentences in 14 languages, with questions and what their answers
// say.
var leases = []struct {
	title, text string
	questions   map[string]string
}{
	{"Mietvertrag", "Die monatliche Miete beträgt 600 Euro. Die Kündigungsfrist beträgt drei Monate.", map[string]string{
		"Wie hoch ist die Miete?": "600", "Wie lang ist die Kündigungsfrist?": "drei", "Wie viel beträgt die monatliche Miete?": "600",
		"Welche Kündigungsfristen gelten?": "drei", "Wie hoch sind die Mieten?": "600", "Wie lange ist die Kuendigungsfrist?": "drei"}},
	{"Contrat de bail", "Le loyer mensuel est de 600 euros. Le préavis est de trois mois.", map[string]string{
		"Quel est le loyer mensuel ?": "600", "Quelle est la durée du préavis ?": "trois", "Combien coûte le loyer ?": "600"}},
	{"Contrato de alquiler", "El alquiler mensual es de 600 euros. El plazo de preaviso es de tres meses.", map[string]string{
		"¿Cuánto es el alquiler?": "600", "¿Cuál es el plazo de preaviso?": "tres", "¿Cuánto cuestan los alquileres?": "600"}},
	{"Contratto di locazione", "Il canone mensile è di 600 euro. Il termine di preavviso è di tre mesi.", map[string]string{
		"Quanto è il canone mensile?": "600", "Qual è il termine di preavviso?": "tre", "A quanto ammonta il canone?": "600"}},
	{"Contrato de arrendamento", "A renda mensal é de 600 euros. O prazo de aviso prévio é de três meses.", map[string]string{
		"Quanto é a renda?": "600", "Qual é o prazo de aviso prévio?": "três", "Qual é o valor da renda mensal?": "600"}},
	{"Huurovereenkomst", "De maandelijkse huur bedraagt 600 euro. De opzegtermijn bedraagt drie maanden.", map[string]string{
		"Hoeveel is de huur?": "600", "Hoe lang is de opzegtermijn?": "drie", "Hoe hoog is de maandelijkse huur?": "600"}},
	{"Umowa najmu", "Czynsz miesięczny wynosi 600 euro. Okres wypowiedzenia wynosi trzy miesiące.", map[string]string{
		"Ile wynosi czynsz?": "600", "Jaki jest okres wypowiedzenia?": "trzy", "Jaka jest wysokość czynszu?": "600"}},
	{"Договор аренды", "Месячная арендная плата составляет 600 евро. Срок уведомления составляет три месяца.", map[string]string{
		"Какая арендная плата?": "600", "Какой срок уведомления?": "три", "Каков размер арендной платы?": "600", "Сколько составляет аренда в месяц?": "600"}},
	{"عقد الإيجار", "الإيجار الشهري 600 يورو. مدة الإشعار ثلاثة أشهر.", map[string]string{
		"كم الإيجار الشهري؟": "600", "ما هي مدة الإشعار؟": "ثلاثة", "كم هو الايجار؟": "600"}},
	{"임대차 계약서", "월 임대료는 600유로이다. 해지 통지 기간은 3개월이다.", map[string]string{
		"임대료는 얼마입니까?": "600", "해지 통지 기간은 얼마나 됩니까?": "3개월", "월 임대료가 얼마예요?": "600"}},
	{"賃貸借契約書", "毎月の家賃は600ユーロです。解約予告期間は3か月です。", map[string]string{
		"家賃はいくらですか？": "600", "解約予告期間はどのくらいですか？": "3か月", "毎月の家賃を教えてください。": "600"}},
	{"Kira sözleşmesi", "Aylık kira 600 avrodur. İhbar süresi üç aydır.", map[string]string{
		"Kira ne kadar?": "600", "İhbar süresi ne kadar?": "üç", "Aylık kira bedeli nedir?": "600"}},
	{"Hyresavtal", "Månadshyran är 600 euro. Uppsägningstiden är tre månader.", map[string]string{
		"Hur hög är månadshyran?": "600", "Hur lång är uppsägningstiden?": "tre"}},
	{"Μισθωτήριο", "Το μηνιαίο ενοίκιο είναι 600 ευρώ. Η προθεσμία καταγγελίας είναι τρεις μήνες.", map[string]string{
		"Πόσο είναι το ενοίκιο;": "600", "Ποια είναι η προθεσμία καταγγελίας;": "τρεις"}},
	{"租赁合同", "每月租金为600欧元。解约通知期为三个月。", map[string]string{
		"租金是多少？": "600", "解约通知期是多长？": "三个月", "每月的租金多少钱？": "600"}},
	{"สัญญาเช่า", "ค่าเช่ารายเดือนคือ 600 ยูโร\n\nระยะเวลาแจ้งล่วงหน้าคือสามเดือน", map[string]string{
		"ค่าเช่าเท่าไร": "600", "ระยะเวลาแจ้งล่วงหน้านานเท่าไร": "สามเดือน"}},
}

// The rent and the notice are found without a model: 40 of 44 questions at least.
func TestLeaseInManyLanguagesIsAnsweredWithoutAModel(t *testing.T) {
	asked, wrong := 0, []string{}
	for _, l := range leases {
		b := setup(t)
		b.Kit.Model = offline.New(rules.Rules())
		b.Search = retrieval.New(b.Store, b.Kit.Model)
		b.Env = b.NewEnv(worker.Options{})
		d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: l.title, Status: chat.DocProcessing, Format: "txt"}
		require.NoError(t, b.Store.CreateDocument(t.Context(), d, []byte(l.text)))
		require.NoError(t, b.Store.StoreText(t.Context(), owner, d.ID, l.text, chunk.ForDocument(d.ID, l.text), nil))
		for question, says := range l.questions {
			asked++
			ref := b.Say(question)
			in := b.understand(ref)
			docs := b.resolve(ref, "")
			found := must[RetrieveResult](b, b.Retrieve, ref, RetrieveRequest{Action: chat.Inquire, DocIDs: docs.IDs})
			b.write(ref, WriteRequest{Action: chat.Inquire, DocIDs: docs.IDs, ChunkIDs: found.ChunkIDs})
			answer := b.Texts(ref)[chat.PieceKey(1)]
			first, _, _ := strings.Cut(answer, "\n")
			if in.Action != chat.Inquire && in.Action != "" || docs.Unresolved || found.Confidence == chat.Low || !strings.Contains(first, says) {
				wrong = append(wrong, question+" "+string(in.Action)+" "+string(found.Confidence)+" "+answer)
			}
		}
	}
	require.LessOrEqual(t, len(wrong), asked/11, "%d of %d:\n%s", len(wrong), asked, strings.Join(wrong, "\n"))
}

func TestDocumentsAreNamedInTheMiddleOfASentenceWithoutSpaces(t *testing.T) {
	for message, title := range map[string]string{
		"请总结差旅管理办法的要点":          "差旅管理办法",
		"旅費規程を要約してください":         "旅費規程",
		"임대차 계약서를 요약해 줘":        "임대차 계약서",
		"สรุปสัญญาเช่าให้หน่อย": "สัญญาเช่า",
		"Summarize 差旅管理办法":      "差旅管理办法",
	} {
		b := setup(t)
		b.Kit.Model = offline.New(rules.Rules())
		b.Env = b.NewEnv(worker.Options{})
		other := b.Doc("Leave Policy", leave)
		d := b.Doc(title, "住宿标准为每晚不超过六百元。")
		docs := b.resolve(b.Say(message), chat.Summarize)
		require.Equal(t, []string{d}, docs.IDs, "%s (not %s)", message, other)
	}
}
