// Package usage reads what the operating system counts for a process: CPU time and memory.
package usage
