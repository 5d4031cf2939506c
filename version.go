package moneymovement

// Version is the version of this SDK. It is sent in the User-Agent header.
const Version = "0.1.0"
