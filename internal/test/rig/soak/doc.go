// Package soak tests package payments with real processes, stores and sockets: processes and servers are killed, and
// the network and the host fail. Afterwards the payments are compared with the host's books and requests.
//
// The tests are short, and long in `make soak`. A test that fails writes the requests of the payments and the output of
// the processes to a folder, and names it.
package soak
