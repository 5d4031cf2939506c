// --- Money: what each account holds, and the movements of the double-entry ledger.

const shownMovements = 200;
const credit = { account: "self", amount: "50", currency: "USDC" };

// loadAccounts reads accounts, and keeps them by their ids and by their names in the ledger.
async function loadAccounts(path = "/accounts") {
  const list = await read(path);
  for (const account of list.items) host.accounts.set(account.id, account).set(account.ledger, account);
  return list;
}

async function loadBalances() {
  const [list, ledger] = await Promise.all([loadAccounts(found("balances", "/accounts")), read("/ledger?last=1")]);
  return { ...list, ledger };
}

function balancesView({ items: accounts, total, ledger }) {
  const currencies = currenciesOf(accounts, ledger);
  return [heading("balances", "Balances", "What the integrator (self), its clients and the host's own accounts hold."),
    h("div", { class: "bar", "data-key": "find" }, findField("balances")),
    accounts.length ? table("Accounts", ["Account", { name: "Status", class: "wide" }, ...currencies.map(amountColumn)], accounts.map((account) =>
      balanceRow(account.id, accountText(account.id), account.status, account.balances, currencies))) : none("", true),
    newest(accounts.length, total), creditForm(),
    table("The host's own books", ["Book", { name: "What it is", class: "wide" }, ...currencies.map(amountColumn)],
      ownBooks(ledger).map(([id, what, balances]) => balanceRow(id, h("code", {}, id), what, balances, currencies)))];
}

const bookNames = {
  faucet: "pays every emulated credit", clearing: "payouts that are funded and not settled", fees: "fees of payouts",
  outside: "banks, other chains, everyone else",
};

function ownBooks(ledger) {
  return Object.entries(ledger.balances || {}).filter(([id, balances]) => bookNames[id] || id.startsWith("esc_") && Object.values(balances).some(Number))
    .map(([id, balances]) => [id, bookNames[id] || "an escrow", balances]);
}

function currenciesOf(accounts, ledger) {
  const all = [...accounts.map(({ balances }) => balances), ledger.sums];
  return [...new Set(["USDC", ...all.flatMap((balances) => Object.keys(balances || {}))])];
}

function amountColumn(currency) { return { name: currency, class: "amount" }; }

function balanceRow(id, name, status, balances, currencies) {
  return h("tr", { "data-key": `balance ${id}` }, h("th", { scope: "row" }, name, h("span", { class: "narrow aside" }, words(status))), h("td", { class: "wide" }, words(status)),
    currencies.map((currency) => h("td", { class: "amount" }, balances?.[currency] ?? "0")));
}

function creditForm() {
  const call = { method: "POST", path: "/credits", body: { ...credit } };
  const change = (key) => (value) => {
    credit[key] = value;
    showAgain();
  };
  return h("section", { class: "card", "data-key": "credit" }, h("h3", {}, "Credit an account"),
    form("credit form", () => perform(call, credited),
      h("div", { class: "bar" },
        accountField("credit-account", credit.account, change("account")),
        field("credit-amount", "Amount", textInput(credit.amount, change("amount"), { inputmode: "decimal", required: true })),
        field("credit-currency", "Currency", choice(credit.currency, ["USDC", "EURC"], change("currency"))),
        h("button", { type: "submit", class: "main" }, "Credit"))),
    curl(call, "the credit"));
}

function credited({ amount, currency, balance }) { return `${amount} ${currency} from the faucet; the balance is ${balance}.`; }

// --- The ledger

function loadLedger() { return read(found("ledger", "/ledger", { last: shownMovements })); }

function ledgerView({ entries, total, sums: totals }) {
  const movements = movementsOf(entries);
  const off = movements.filter((each) => !isBalanced(each)).length;
  const rows = withoutSeeds(movements.flatMap((each) => each.map((entry, n) => ({ ...entry, n }))));
  const linked = rows.find(({ resourceId }) => resourceId);
  return [heading("ledger", "Ledger", "Money moves only in pairs: what one account gains, another gives. So each movement, and the whole ledger, adds up to zero."),
    sums(totals),
    h("p", { class: "badges", "data-key": "balanced" }, off ? badge(`${count(off, "movement")} not balanced`, "bad") : badge("each movement: sum 0", "good")),
    h("div", { class: "bar", "data-key": "filter" }, findField("ledger"), seedButton("ledger", movements.map(([first]) => first))),
    rows.length ? table("Entries, newest first", [{ name: "Time", class: "wide" }, { name: "Kind", class: "wide" }, "Account", { name: "Amount", class: "amount" }, { name: "For", class: "wide" }], rows.map((row) => entryRow(row, row === linked)), { id: "ledger-table" })
      : none(h("p", {}, "No money has moved yet. Credit an account under Balances."), findText("ledger")),
    newest(movements.length, total)];
}

function isBalanced(entries) {
  return [...new Set(entries.map(({ currency }) => currency))].every((one) =>
    scaled(sumOf(entries.filter(({ currency }) => currency === one).map(({ amount }) => amount)), 40) === 0n);
}

function movementsOf(entries) {
  const byMovement = new Map();
  for (const entry of entries) {
    if (!byMovement.has(entry.movement)) byMovement.set(entry.movement, []);
    byMovement.get(entry.movement).push(entry);
  }
  return [...byMovement.values()].reverse();
}

function sums(totals) {
  return h("ul", { class: "sums", "data-key": "sums", "aria-label": "Sum of all entries" },
    Object.entries(totals).map(([currency, total]) => h("li", {}, `All entries in ${currency}: `, zero(total))));
}

// zero says whether a sum is zero, in words.
function zero(total) {
  return scaled(total, 40) === 0n ? badge("sum 0", "good") : badge(`sum ${total}: not balanced`, "bad");
}

function entryRow(entry, stop) {
  const { account, amount, currency, at, movement, n } = entry;
  const link = () => entry.resourceId && resourceLink(entry.resourceId, stop);
  const kind = () => [words(entry.kind), " ", seedBadge(entry)];
  return h("tr", { "data-key": `${movement} ${n}`, "data-movement": movement }, h("td", { class: "wide time" }, moment(at)),
    h("td", { class: "wide kind" }, kind()),
    h("th", { scope: "row" }, accountText(account), h("span", { class: "narrow aside" }, kind(), " ", moment(at)), h("span", { class: "narrow" }, link())),
    h("td", { class: amount.startsWith("-") ? "amount" : "amount gain" }, `${signed(amount)} ${currency}`), h("td", { class: "wide" }, link()));
}

// resourceLink leads from a movement to its payout, payin or escrow, or to the requests of anything else.
function resourceLink(id, stop) {
  const section = { po_: "payouts", pi_: "payins", esc_: "escrows" }[id.match(/^[a-z]+_/)?.[0]] || "requests";
  return rowButton({ stop, onclick: () => findIn(section, id) }, id);
}
