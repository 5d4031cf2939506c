package dapi

// The settlement assets: a client's balance is held in them, on Base.
//
// Source: Resources, Platform resources.
const (
	USDC = AssetUSDC
	EURC = AssetEURC
)
