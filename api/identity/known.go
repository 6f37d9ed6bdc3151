package identity

import (
	"net/http"
	"net/netip"

	"github.com/gin-gonic/gin"
)

// AddressOf returns the address of a request's client. The caller need not be identified.
func (i *Identifier) AddressOf(r *http.Request) netip.Addr { return i.clientAddress(r) }

// Known returns the caller of a request; known is false if the request was not identified.
func Known(c *gin.Context) (who Caller, known bool) {
	v, _ := c.Get(callerKey)
	who, known = v.(Caller)
	return who, known
}
