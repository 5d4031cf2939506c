package moneymovement

// Version is this SDK's version, as sent in the User-Agent header.
const Version = "0.1.0"
