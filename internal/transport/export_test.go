package transport

import moneymovement "github.com/moneymovement/moneymovement-go"

// Keyed returns the settings of a call with an idempotency key. The call stores its response in each of into.
func Keyed(key string, into ...*moneymovement.Response) Call {
	options := []moneymovement.WriteOption{moneymovement.IdempotencyKey(moneymovement.Key(key))}
	for _, response := range into {
		options = append(options, moneymovement.CaptureResponseWithSecrets(response))
	}
	return Call{CallSettings: moneymovement.CallSettingsOf(options...)}
}

// Kept returns the settings of a call that stores its response.
func Kept(into *moneymovement.Response) Call {
	return Call{CallSettings: moneymovement.CallSettingsOf(moneymovement.CaptureResponseWithSecrets(into))}
}
