package extract

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium"
	"github.com/tetratelabs/wazero/api"
)

// native calls pdfium's functions by their C names. The library's own wrappers allocate for
// every call, which is too slow for calls that are made for every character.
type native struct {
	ctx       context.Context
	module    api.Module
	functions map[string]api.Function
	stack     [10]uint64
	scratch   uint32 // an address in pdfium's memory, for results of up to scratchBytes
	twice     int    // characters of the last page that are drawn twice
}

const scratchBytes = 4096

var errPDFium = errors.New("pdfium failed")

func newNative(inst pdfium.Pdfium) (*native, error) {
	v := reflect.Indirect(reflect.ValueOf(inst.GetImplementation()))
	if v.Kind() != reflect.Struct || !v.FieldByName("Module").IsValid() {
		return nil, fmt.Errorf("%w: its module is not reachable", errPDFium)
	}
	module, ok := v.FieldByName("Module").Interface().(api.Module)
	if !ok {
		return nil, fmt.Errorf("%w: its module is not reachable", errPDFium)
	}
	n := &native{ctx: context.Background(), module: module, functions: map[string]api.Function{}}
	var err error
	n.scratch, err = n.alloc(scratchBytes)
	return n, err
}

// call returns the result of a function; 0 if it has none. Numbers that are not integers
// are encoded as in api.EncodeF32. After an error, pdfium may not be able to go on.
func (n *native) call(name string, args ...uint64) (uint64, error) {
	f := n.functions[name]
	if f == nil {
		if f = n.module.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("%w: it has no function %s", errPDFium, name)
		}
		n.functions[name] = f
	}
	copy(n.stack[:], args)
	if err := f.CallWithStack(n.ctx, n.stack[:]); err != nil {
		return 0, err
	}
	if len(f.Definition().ResultTypes()) == 0 {
		return 0, nil
	}
	return n.stack[0], nil
}

// number returns the result of a function that returns an int; 0 after an error.
func (n *native) number(name string, args ...uint64) int {
	got, err := n.call(name, args...)
	if err != nil {
		return 0
	}
	return int(int32(uint32(got)))
}

// float returns the result of a function that returns a float; 0 after an error.
func (n *native) float(name string, args ...uint64) float32 {
	got, err := n.call(name, args...)
	if err != nil {
		return 0
	}
	return api.DecodeF32(got)
}

func (n *native) alloc(bytes int) (uint32, error) {
	at, err := n.call("malloc", uint64(bytes))
	if err == nil && at == 0 {
		err = fmt.Errorf("%w: no memory", errPDFium)
	}
	return uint32(at), err
}

func (n *native) free(at uint32) { _, _ = n.call("free", uint64(at)) }

// f32 returns a float of scratch.
func (n *native) f32(index uint32) float32 {
	v, _ := n.module.Memory().ReadFloat32Le(n.scratch + 4*index)
	return v
}

func (n *native) f64(index uint32) float64 {
	v, _ := n.module.Memory().ReadFloat64Le(n.scratch + 8*index)
	return v
}

// maxWide is how many bytes of a string in pdfium are read.
const maxWide = 1 << 20

// wide returns a UTF-16 string of a function whose last two parameters are a buffer and its
// length in bytes, and which returns how many bytes it needs.
func (n *native) wide(name string, args ...uint64) string {
	size := n.number(name, append(args, 0, 0)...)
	if size <= 2 {
		return ""
	}
	size = min(size, maxWide)
	at, err := n.alloc(size)
	if err != nil {
		return ""
	}
	defer n.free(at)
	got := min(n.number(name, append(args, uint64(at), uint64(size))...), size)
	raw, ok := n.module.Memory().Read(at, uint32(max(got, 0)))
	if !ok {
		return ""
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		u := uint16(raw[i]) | uint16(raw[i+1])<<8
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// key calls f with the address of a C string.
func (n *native) key(s string, f func(at uint64) string) string {
	at, err := n.alloc(len(s) + 1)
	if err != nil {
		return ""
	}
	defer n.free(at)
	n.module.Memory().WriteString(at, s+"\x00")
	return f(uint64(at))
}

// open opens a PDF, and returns pdfium's error code if it cannot be opened.
func (n *native) open(raw []byte) (doc uint64, code int, err error) {
	at, err := n.alloc(max(len(raw), 1))
	if err != nil {
		return 0, 0, err
	}
	if !n.module.Memory().Write(at, raw) {
		return 0, 0, errPDFium
	}
	doc, err = n.call("FPDF_LoadMemDocument", uint64(at), uint64(len(raw)), 0)
	if err == nil && doc == 0 {
		code = n.number("FPDF_GetLastError")
	}
	return doc, code, err
}
