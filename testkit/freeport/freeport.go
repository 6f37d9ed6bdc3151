// Package freeport finds ports for the servers of tests and benchmarks.
package freeport

import (
	"errors"
	"fmt"
	"net"
)

// Get returns a TCP port of 127.0.0.1 on which a program can listen. For about a minute
// the system does not choose this port for others: Get closes a connection on it, which
// leaves the port in the state TIME_WAIT.
func Get() (_ int, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { err = errors.Join(err, client.Close()) }() // after the server's side, which so gets the state TIME_WAIT
	server, err := listener.Accept()
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().(*net.TCPAddr).Port, server.Close()
}
