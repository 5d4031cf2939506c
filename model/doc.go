// Package model has the resources that more than one surface returns or takes, such as [Invoice], [Contract], [Card] and [PaymentMethod],
// and what their fields are made of: [Number], [Date], [OpenObject], and [Nullable] for the members of an update.
package model
