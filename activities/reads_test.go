package activities

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

func TestStepsOfATurnShareWhatTheyReadExceptInASpace(t *testing.T) {
	for _, test := range []struct {
		space string
		want  bool
	}{{"", true}, {"a space", false}} {
		var r turnReads
		ref := TurnRef{Owner: "ann", TurnID: "turn", Space: test.space}
		r.begin(ref, db.TurnContext{Profile: chat.Profile{Industry: "tea"}})
		r.of(ref, func(known *reads) { known.docs["doc"] = chat.Document{ID: "doc"} })

		r.of(ref, func(known *reads) {
			_, all := inOrder(known.docs, []string{"doc"})
			require.Equal(t, test.want, all, "a document, space %q", test.space)
			require.Equal(t, test.want, known.begun, "the profile, space %q", test.space)
		})
		other := ref
		other.Owner = "ben"
		r.of(other, func(known *reads) { require.Empty(t, known.docs, "another owner") })
		r.forget(ref.TurnID)
	}
}
