// Card issues a card and shows its number to the holder of its wallet: go run ./examples/card
//
// With an app key, the program issues the card, gives it a name and sets its limits. The reference endpoints reveal the
// number and the security code only to the wallet that the card spends from: it must sign a message.
package main

import (
	"context"
	"io"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.OpenWith(program.CommandLine{Name: "card",
		Needs: []program.Need{program.APIKey, program.AccessToken, program.CardWallet}}, args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	app, err := appapi.New(p.BaseURL, p.APIKey)
	if err != nil {
		return err
	}
	reference, err := refapi.New(p.BaseURL, refapi.Credential{AccessToken: p.AccessToken})
	if err != nil {
		return err
	}
	card, err := issue(ctx, p, app)
	if err != nil {
		return err
	}
	if card, err = waitActive(ctx, p, reference, card.ID); err != nil {
		return err
	}
	return reveal(ctx, p, reference, card)
}

// issue issues a card with a name and a limit.
func issue(ctx context.Context, p *program.Program, app *appapi.Client) (*model.Card, error) {
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: "virtual"})
	if err != nil {
		return nil, err
	}
	p.Step("issued card %s, %s, which spends from wallet %s", card.ID, card.Status, card.WalletAddress)
	if card, err = app.Cards.SetLabel(ctx, card.ID, "Travel"); err != nil {
		return nil, err
	}
	daily := model.NewNumber(decimal.RequireFromString("250.50"))
	if card, err = app.Cards.SetLimit(ctx, card.ID, appapi.CardLimitUpdate{DailyLimit: model.Set(daily)}); err != nil {
		return nil, err
	}
	p.Step("named it %s; it can spend %s %s a day, and has spent %s today", card.Label,
		card.Limit.DailyLimit.StringFixed(2),
		card.Limit.Currency, card.Limit.DailyUsage)
	return card, nil
}

// waitActive lists the cards until the new card can be used.
func waitActive(ctx context.Context, p *program.Program, reference *refapi.Client, id string) (*model.Card, error) {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for {
		list, err := reference.Cards.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, card := range list.Cards {
			if card.ID == id && card.Status != model.CardStatusPending {
				p.Step("card %s is %s and ends in %s", card.ID, card.Status, card.CardData.LastFour)
				return &card, nil
			}
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// reveal shows the card's details to its wallet. Another wallet is refused.
func reveal(ctx context.Context, p *program.Program, reference *refapi.Client, card *model.Card) error {
	stranger, err := wallet.Generate()
	if err != nil {
		return err
	}
	_, err = reference.Cards.Details(ctx, card.ID, stranger)
	var refused *errors.Refusal
	if !errors.As(err, &refused) {
		return errors.Join(errors.New("another wallet was not refused"), err)
	}
	p.Step("another wallet, %s, signs and is refused: %s", stranger.Address(), refused.Code)

	details, err := reference.Cards.Details(ctx, card.ID, p.CardWallet)
	if err != nil {
		return err
	}
	p.Step("wallet %s signs and gets the card's details:", p.CardWallet.Address())
	p.Detail("number         %s", details.CardNumber.Reveal())
	p.Detail("security code  %s", details.CVV.Reveal())
	p.Detail("expires        %s", details.ExpiryDate.Reveal())
	p.Step("in a log, the same value is: %v", details)
	return nil
}
