package limits

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat/messages"
)

// exports limits how often one caller may export their data: an export reads all of it.
var exports = limiter.Rate{Limit: 6, Period: time.Hour}

// AdmitExport counts an export, or refuses it with 429. While the database is unavailable
// nothing is refused: the export fails by itself.
func (l *Limiter) AdmitExport(ctx context.Context, who identity.Caller) error {
	mac := hmac.New(sha256.New, l.Key)
	mac.Write([]byte("palaver limit\nexports\n" + who.ID))
	now, err := limiter.New(l.shared(), exports).Get(ctx, "exports:"+base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	if err != nil {
		l.logUncheckedLimit(err)
		return nil
	}
	if now.Reached {
		show(who.Header, now)
		return problem.TooMany(messages.ManyDownloads, time.Until(time.Unix(now.Reset, 0)))
	}
	return nil
}

// OneExport wraps the handler of an export. It answers 429 while another export of the
// caller runs in this process.
func (l *Limiter) OneExport(h func(*gin.Context) error) func(*gin.Context) error {
	return l.limitConcurrent(&l.exports, concurrency{caller: 1, address: 4}, messages.ManyDownloadsNow, h)
}
