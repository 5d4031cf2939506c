// --- What moves from state to state: payouts, payins, verifications and escrows.

const moving = {
  payouts: { title: "Payouts", one: "payout", path: "/payouts", none: "No payout yet.",
    intro: "Where each payout is. A move by hand stops the moves that the clock would make." },
  payins: { title: "Payins", one: "payin", path: "/payins", none: "No payin yet.", intro: "Money that arrives from a bank or another chain." },
  verification: { title: "Verification", one: "verification", path: "/verifications", none: "No client yet.",
    intro: "The identity check of each client, and how its review ends." },
  escrows: { title: "Escrow", one: "escrow", path: "/escrows", none: "No escrow yet.", intro: "Money held in escrow, and which window each is in." },
};
for (const kind of Object.values(moving)) kind.selected = null;

function movingSection(id) {
  const kind = moving[id];
  return { id, title: kind.title, on: ["ledger", "clock", "settings", "reset", "request"], every: 2000,
    load: () => read(found(id, kind.path)), view: (list) => movingView(id, kind, list) };
}

function movingView(id, kind, { items = [], states = [], total = 0 }) {
  const item = items.find((one) => one.id === kind.selected) || items[0];
  return [heading(id, kind.title, kind.intro),
    h("div", { class: "columns", "data-key": "columns" },
      h("div", { class: "list", "data-key": "list" }, kind === moving.payouts && sendPayout(), h("div", { class: "bar", "data-key": "find" }, findField(id)),
        items.length ? movingTable(kind, items, item) : none(h("p", {}, kind.none), findText(id)), newest(items.length, total)),
      h("section", { class: "card present", "data-key": "present", "aria-labelledby": `${id}-present` },
        h("h3", { id: `${id}-present`, tabindex: "-1" }, item ? item.id : "States"),
        item && h("p", { class: "badges", "data-key": "present badge" }, "Now: ", badge(words(item.status), "now")),
        item && kind === moving.payouts && payoutFacts(item),
        h("div", { class: "scroll", "data-key": "drawing" },
          diagram(id, `A ${kind.one}`, states, item?.status, item?.moves || [])),
        item && movesOf(kind, item), transitions(states)))];
}

const testPayout = { account: "", amount: "12.50" };

// sendPayout is a form that pays as a program does.
function sendPayout() {
  const account = testPayout.account || [...host.accounts.values()].find(({ id }) => id !== "self")?.id || "self";
  const call = { method: "POST", path: "/payouts", body: { account, amount: testPayout.amount } };
  const change = (key) => (value) => {
    testPayout[key] = value;
    showAgain();
  };
  return h("details", { class: "card", "data-key": "send" }, h("summary", {}, "Send a test payout"),
    form("payout form", async () => {
      const sent = await perform(call, ({ id }) => `${id} is paid to a bank account. Requests shows how.`);
      if (!sent) return;
      moving.payouts.selected = sent.id;
      remember("find payouts", "");
      refreshShown();
    }, h("div", { class: "bar" },
      accountField("payout-account", account, change("account")),
      field("payout-amount", "Amount in USDC", textInput(testPayout.amount, change("amount"), { inputmode: "decimal", required: true })),
      h("button", { type: "submit", class: "main" }, "Send the payout"))),
    curl(call, "the payout"));
}

// payoutFacts are what an operator looks for, with the ways to the requests and the entries of the payout.
function payoutFacts(item) {
  const facts = [["Account", accountText(item.account)], ["Contact", [item.contact, " ", h("code", { class: "aside" }, item.contactId)]],
    ["Amount", `${item.amount} ${item.currency}`], ["Arrives", `${item.arrives} ${item.arrivesIn}`],
    ["Key", h("code", {}, item.idempotencyKey)], ["Reference", item.reference], ["Booked", moment(item.createdAt)]];
  return [h("dl", { class: "facts", "data-key": "facts" },
    facts.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  h("p", { class: "bar", "data-key": "links" },
    h("button", { type: "button", class: "small", onclick: () => findIn("requests", item.id) }, "Requests of this payout"),
    h("button", { type: "button", class: "small", onclick: () => findIn("ledger", item.id) }, "Entries of this payout"))];
}

function movingTable(kind, items, chosen) {
  return table(kind.title, [words(kind.one), "Status"], items.map((item) => movingRow(kind, item, item === chosen)));
}

function movingRow(kind, item, chosen) {
  const facts = [accountName(item.account), item.contact, item.amount && `${item.amount} ${item.currency}`,
    item.arrives && `arrives ${item.arrives} ${item.arrivesIn}`, item.payee, item.idempotencyKey, item.reference].filter((fact) => fact && fact !== item.id);
  return h("tr", { "data-key": item.id, class: chosen ? "chosen" : null },
    h("th", { scope: "row" }, rowButton({ stop: chosen, "aria-pressed": String(chosen), onclick: () => selectMoving(kind, item.id) }, item.id),
      h("p", { class: "aside" }, facts.map((fact) => `${fact} · `), moment(item.createdAt))),
    h("td", {}, badge(words(item.status), chosen ? "now" : "")));
}

// selectMoving opens a row. On a narrow screen its panel is below the list, so that the focus moves there.
function selectMoving(kind, id) {
  kind.selected = id;
  showAgain();
  focusOn(byId(`${shown.id}-present`));
}

function movesOf(kind, item) {
  if (kind === moving.escrows) return escrowMoves(item);
  const moves = item.moves || [];
  return h("section", { "data-key": "moves" }, h("h4", {}, "Allowed now"),
    moves.length ? h("ul", { class: "actions" }, moves.map((to) => moveRow(kind, item, to)))
      : h("p", { class: "hint" }, "No move is allowed from this state."));
}

// escrowMoves says what the account can sign, which no button can do for it, and moves the clock to the next window.
function escrowMoves({ id, actions, windowEndsAt }) {
  if (!actions.length) return h("section", { "data-key": "moves" }, h("h4", {}, "Allowed now"), h("p", { class: "hint" }, "No action is allowed any more."));
  const seconds = Math.max(1, Math.ceil((Date.parse(windowEndsAt) - Date.parse(host.now || windowEndsAt)) / 1000));
  return h("section", { "data-key": "moves" }, h("h4", {}, "Allowed now"),
    h("p", { "data-key": "actions" }, "The account can confirm: ", actions.map((action) => badge(words(action), "note")), ". It needs its key for that: a program signs, or ",
      h("code", {}, "moneymove sign"), "."),
    h("ul", { class: "actions" }, actionRow(`${id} window`, `Move the clock past ${words(actions.at(-1)).toLowerCase()}`,
      { method: "POST", path: "/clock", body: { advance: `${seconds}s` } }, nowAt)),
    h("p", { class: "hint" }, "The window closes at ", moment(windowEndsAt), "."));
}

function moveRow(kind, item, to) {
  const call = { method: "POST", path: `${kind.path}/${encodeURIComponent(item.id)}`, body: { status: to } };
  return actionRow(`${item.id} ${to}`, `Move to ${words(to).toLowerCase()}`, call, `${item.id} is ${words(to).toLowerCase()}.`);
}
