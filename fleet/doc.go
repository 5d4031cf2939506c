// Package fleet shares the rate windows of one credential between any number of processes.
package fleet
