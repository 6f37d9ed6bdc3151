package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Rules I8, I9.
func TestThreadName(t *testing.T) {
	for name, ok := range map[string]bool{
		"7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11": true, "my-thread_1.a:b": true, strings.Repeat("x", 128): true,
		"": false, "a b": false, "a/b": false, "ä": false, "a\n": false, strings.Repeat("x", 129): false,
	} {
		var p Problems
		if got := p.ThreadName("thread_id", name); (got == name && p.Err() == nil) != ok || !ok && p[0].Field != "thread_id" {
			t.Errorf("%q: %q %v", name, got, p)
		}
	}
}

func TestAttachmentID(t *testing.T) {
	for ref, want := range map[string]string{
		"chatbot://a1": "a1", "/api/attachments/a1": "a1", "https://chat.example/api/attachments/a1": "a1",
		"chatbot://": "", "chatbot://a/b": "", "/api/attachments/": "", "/api/attachments/../me": "", "a1": "",
		"data:image/png;base64,AAAA": "", "https://example.com/a.png": "", "": "",
	} {
		id, ok := AttachmentID(ref)
		assert.False(t, ok != (want != "") || ok && id != want, "%q: %q %v", ref, id, ok)
	}
}

func TestAttachments(t *testing.T) {
	var p Problems
	if got := p.Attachments("attachments", []string{"b", "a", "b"}); !slices.Equal(got, []string{"b", "a"}) || p.Err() != nil {
		t.Errorf("%v %v", got, p)
	}
	for _, bad := range [][]string{{""}, {"a/b"}, {"a", "ä"}, {"1", "2", "3", "4", "5", "6", "7", "8", "9"}} {
		var p Problems
		if got := p.Attachments("attachments", bad); got != nil || len(p) != 1 || p[0].Field != "attachments" {
			t.Errorf("%v: %v %v", bad, got, p)
		}
	}
}
