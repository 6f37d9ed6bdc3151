package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errTooLarge = errors.New("the answer is too large")

// limitedBody is a body with a size limit.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// repairedBody is a body whose bytes come from pieces that next reads from another one.
type repairedBody struct {
	io.Closer
	in   *bufio.Reader
	next func(in *bufio.Reader) ([]byte, error)
	out  []byte
	err  error
}

func (b *repairedBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.out, b.err = b.next(b.in)
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// line reads a line with its end. At the end of the input it may return a line and an error.
func line(in *bufio.Reader, most int) ([]byte, error) {
	var all []byte
	for {
		part, err := in.ReadSlice('\n')
		all = append(all, part...)
		if len(all) > most {
			return nil, errTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return all, err
		}
	}
}

// events repairs the messages of an event stream.
func events(body io.ReadCloser) io.ReadCloser {
	return &repairedBody{Closer: body, in: bufio.NewReader(body), next: nextEvent}
}

// nextEvent reads one event, with repaired data.
func nextEvent(in *bufio.Reader) ([]byte, error) {
	var out, data []byte
	hasData := false
	for size := 0; ; {
		read, err := line(in, maxBody-size)
		size += len(read)
		text := bytes.TrimRight(bytes.TrimPrefix(read, bom), "\r\n")
		value, isData := bytes.CutPrefix(text, []byte("data:"))
		switch {
		case isData:
			if hasData {
				data = append(data, '\n')
			}
			hasData = true
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		case len(text) > 0:
			out = append(append(out, text...), '\n')
		}
		if len(text) > 0 && err == nil {
			if text[0] == ':' && !hasData { // a comment keeps the connection alive; pass it on at once
				return out, nil
			}
			continue
		}
		if hasData {
			if fixed := repair(data); fixed != nil {
				data = fixed
			}
			for part := range bytes.SplitSeq(data, []byte("\n")) {
				out = append(append(append(out, "data: "...), part...), '\n')
			}
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		return out, err
	}
}

// lines passes on the JSON-RPC messages of a child process, one in a line. It drops everything else
// that a child writes to its standard output: banners, logs, a byte order mark.
func lines(output io.ReadCloser, dropped func(line []byte)) io.ReadCloser {
	var pending []byte // the beginning of a message that spans lines
	next := func(in *bufio.Reader) ([]byte, error) {
		read, err := line(in, maxLine)
		if errors.Is(err, errTooLarge) {
			return nil, err
		}
		text := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(read), bom))
		if len(text) == 0 {
			return nil, err
		}
		if message := message(text); message != nil {
			pending = nil
			return append(message, '\n'), err
		}
		if pending != nil && len(pending)+len(text) < maxLine {
			pending = append(append(pending, '\n'), text...)
			if bytes.HasSuffix(text, []byte("}")) {
				if message := repair(pending); message != nil {
					pending = nil
					return append(message, '\n'), err
				}
			}
			return nil, err
		}
		if text[0] == '{' {
			pending = bytes.Clone(text)
			return nil, err
		}
		dropped(text)
		return nil, err
	}
	return &repairedBody{Closer: output, in: bufio.NewReader(output), next: next}
}

// message returns the message in a line, which may begin with something else.
func message(text []byte) []byte {
	if m := repair(text); m != nil {
		return m
	}
	if i := bytes.Index(text, []byte(`{"`)); i > 0 {
		return repair(text[i:])
	}
	return nil
}
