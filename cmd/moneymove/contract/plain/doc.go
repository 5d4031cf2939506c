// Package plain sends requests past the SDK, and keeps the responses as they came. The SDK would refuse to send a
// request that is wrong on purpose, and to return a response that is not what it expects.
package plain
