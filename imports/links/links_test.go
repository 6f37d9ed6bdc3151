package links

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

const id = "1AbC-dEf_GhIjKlMnOpQrStUvWxYz0123456789"

func TestDriveLinksOfEveryFormNameTheirFile(t *testing.T) {
	for _, text := range []string{
		"https://drive.google.com/file/d/" + id + "/view",
		"https://drive.google.com/file/d/" + id + "/view?usp=sharing",
		"https://drive.google.com/file/d/" + id + "/preview#page=3",
		"https://drive.google.com/file/d/" + id,
		"https://drive.google.com/file/d/" + id + "/",
		"https://drive.google.com/file/u/0/d/" + id + "/view",
		"https://drive.google.com/a/example.com/file/d/" + id + "/edit",
		"https://drive.google.com/open?id=" + id,
		"https://drive.google.com/open?usp=drive_copy&id=" + id,
		"https://drive.google.com/u/1/open?id=" + id,
		"https://drive.google.com/uc?id=" + id + "&export=download",
		"https://drive.google.com/u/0/uc?id=" + id,
		"https://drive.usercontent.google.com/download?id=" + id + "&export=download",
		"https://docs.google.com/document/d/" + id + "/edit",
		"https://docs.google.com/document/d/" + id + "/edit?tab=t.0#heading=h.1",
		"https://docs.google.com/document/u/2/d/" + id + "/edit",
		"https://docs.google.com/a/example.com/document/d/" + id + "/pub",
		"https://docs.google.com/spreadsheets/d/" + id + "/edit#gid=0",
		"https://docs.google.com/presentation/d/" + id + "/edit?slide=id.p",
		"https://docs.google.com/uc?id=" + id,
		"http://drive.google.com/file/d/" + id + "/view",
		"HTTPS://Drive.Google.COM/file/d/" + id + "/view",
		"https://drive.google.com:443/file/d/" + id + "/view",
		"drive.google.com/file/d/" + id + "/view",
		"https://www.google.com/url?q=https%3A%2F%2Fdrive.google.com%2Ffile%2Fd%2F" + id + "%2Fview&sa=D",
	} {
		t.Run(text, func(t *testing.T) {
			link, err := Parse(text)
			require.NoError(t, err)
			require.Equal(t, Link{Source: chat.SourceDrive, ExternalID: id, URL: "https://drive.google.com/file/d/" + id + "/view"}, link)
		})
	}
}

func TestResourceKeyIsKept(t *testing.T) {
	link, err := Parse("https://drive.google.com/file/d/" + id + "/view?usp=sharing&resourcekey=0-aB_c")
	require.NoError(t, err)
	require.Equal(t, "0-aB_c", link.ResourceKey)
	require.Equal(t, "https://drive.google.com/file/d/"+id+"/view?resourcekey=0-aB_c", link.URL)
	link, err = Parse("https://drive.google.com/open?id=" + id + "&resourcekey=a%0d%0aX-Header:b")
	require.NoError(t, err)
	require.Empty(t, link.ResourceKey, "a key goes into a header")
}

func TestMalformedDriveLinksAreRecognised(t *testing.T) {
	for _, text := range []string{
		"https://drive.google.com/",
		"https://drive.google.com",
		"https://drive.google.com/file/d/",
		"https://drive.google.com/file/d//view",
		"https://drive.google.com/file/d/short/view",
		"https://drive.google.com/file/d/" + strings.Repeat("a", 129) + "/view",
		"https://drive.google.com/file/d/" + id + "%2e%2e/view",
		"https://drive.google.com/file/" + id + "/view",
		"https://drive.google.com/open",
		"https://drive.google.com/open?id=",
		"https://drive.google.com/open?id=../../etc/passwd",
		"https://drive.google.com/drive/folders/" + id,
		"https://drive.google.com/drive/my-drive",
		"https://docs.google.com/document/u/0/",
		"https://docs.google.com/document/d/edit",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Parse(text)
			require.ErrorIs(t, err, ErrMalformedDrive)
		})
	}
}

func TestOtherLinksAreNotOfDrive(t *testing.T) {
	for _, text := range []string{
		"https://example.com/file/d/" + id + "/view",
		"https://drive.google.com.example.com/file/d/" + id + "/view",
		"https://notdrive.google.com/file/d/" + id + "/view",
		"https://example.com/?u=https://drive.google.com/file/d/" + id + "/view",
		"https://docs.google.com/forms/d/" + id + "/viewform",
		"https://docs.google.com/document/d/e/2PACX-1vQ/pub",
	} {
		t.Run(text, func(t *testing.T) {
			link, err := Parse(text)
			require.NoError(t, err)
			require.Equal(t, Link{Source: chat.SourceLink, ExternalID: text, URL: text}, link)
		})
	}
}

func TestAddressesThatCannotBeImported(t *testing.T) {
	for _, text := range []string{
		"", "hello", "http://example.com/a", "ftp://example.com/a", "file:///etc/passwd", "javascript:alert(1)",
		"https://", "https://.#", "https://a../", "https://ann:secret@example.com/", "https://drive.google.com@example.com/file/d/" + id, "https:drive.google.com",
		"https://example.com/" + strings.Repeat("a", MaxLength), "https://exa mple.com/", "https://www.google.com/url?q=ftp://example.com",
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrNotALink, text)
	}
}

func TestAddressIsTheSameHoweverItIsWritten(t *testing.T) {
	for _, text := range []string{"https://Example.com", "https://example.com/", "https://example.com:443/#top", " https://example.com/# ", "https://example.com./"} {
		link, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, "https://example.com/", link.ExternalID, text)
	}
}

func TestLinksOfAMessageAreFoundWhateverTheTextAroundThem(t *testing.T) {
	drive := "https://drive.google.com/file/d/" + id + "/view"
	for message, want := range map[string]string{
		"Read " + drive + ".":                            drive,
		"Read " + drive + ", please":                     drive,
		"Did you read " + drive + "?":                    drive,
		"(see " + drive + ")":                            drive,
		"[the file](" + drive + ")":                      drive,
		"<" + drive + ">":                                drive,
		"\"" + drive + "\"":                              drive,
		"“" + drive + "”":                                drive,
		"**" + drive + "**":                              drive,
		drive + "…":                                      drive,
		"{" + drive + "}!":                               drive,
		"see:" + drive:                                   drive,
		"at drive.google.com/open?id=" + id + "; thanks": drive,
		"x\n" + drive + "\ny":                            drive,
		"https://example.com/a_(b).pdf":                  "https://example.com/a_(b).pdf",
	} {
		t.Run(message, func(t *testing.T) {
			found := Find(message)
			require.Len(t, found, 1)
			require.NoError(t, found[0].Err)
			require.Equal(t, want, found[0].Link.URL)
		})
	}
}

func TestAllLinksOfAMessageAreFoundInOrderAndOnce(t *testing.T) {
	other := strings.ToLower(id)
	found := Find("First https://docs.google.com/document/d/" + id + "/edit, then https://example.com/a.pdf and\n" +
		"https://drive.google.com/file/d/" + other + "/view; again https://drive.google.com/open?id=" + id +
		" and https://drive.google.com/file/d/ and http://plain.example/ and https://drive.google.com/file/d/")
	require.Len(t, found, 4)
	require.Equal(t, id, found[0].Link.ExternalID)
	require.Equal(t, chat.SourceLink, found[1].Link.Source)
	require.Equal(t, other, found[2].Link.ExternalID)
	require.ErrorIs(t, found[3].Err, ErrMalformedDrive)
	require.Empty(t, Find("No link: example.com, mail@example.com, and drive.google.com itself."))
}

func FuzzFind(f *testing.F) {
	f.Add("see (https://drive.google.com/file/d/" + id + "/view).")
	f.Add("https://www.google.com/url?q=https://drive.google.com/open%3Fid=" + id)
	f.Add("https://[::1]:80/%zz?\x00")
	f.Fuzz(func(t *testing.T, message string) {
		for _, found := range Find(message) {
			if !strings.Contains(message, found.Text) {
				t.Fatalf("%q is not in %q", found.Text, message)
			}
			if found.Err != nil {
				if !errors.Is(found.Err, ErrMalformedDrive) {
					t.Fatal(found.Err)
				}
				continue
			}
			l := found.Link
			again, err := Parse(l.URL)
			if err != nil || again != l {
				t.Fatalf("%+v is parsed again as %+v, %v", l, again, err)
			}
			u, err := url.Parse(l.URL)
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
				t.Fatalf("%q is no plain https address", l.URL)
			}
			if l.Source == chat.SourceDrive && (u.Host != "drive.google.com" || !fileID.MatchString(l.ExternalID)) {
				t.Fatalf("%+v", l)
			}
		}
	})
}
