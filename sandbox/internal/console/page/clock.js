// --- The clock: jumps on the host's time, which only moves forward.

const jumps = [
  ["1m", "+1 minute"], ["61s", "+61 s", "past the approval of an escrow action"], ["121s", "+121 s", "past a payout's approval and price"],
  ["1h", "+1 hour", "past an access token"], ["24h", "+1 day"], ["168h", "+7 days", "past an explicit idempotency key"],
];
const clock = { advance: "90m" };

async function loadClock() {
  const { now } = await read("/clock");
  takeTime(now);
  return { now };
}

// takeTime notes the host's time, and how far it is from the machine's.
function takeTime(now) {
  host.now = now;
  host.ahead = Date.parse(now) - Date.now();
  showTime();
}

function showTime() {
  if (host.ahead === undefined) return;
  const now = new Date(Date.now() + host.ahead).toISOString();
  host.now = now;
  const shown = byId("now");
  shown.dateTime = now;
  shown.textContent = `${dayText(now)} ${clockText(now)} UTC`;
}

function clockView() {
  const call = { method: "POST", path: "/clock", body: { advance: clock.advance } };
  return [heading("clock", "Clock", "A jump ends everything that is due by then: prices, approvals, sessions, waiting payouts. Time never moves back."),
    h("ul", { class: "actions jumps", "data-key": "jumps" }, jumps.map(jumpRow)),
    h("section", { class: "card", "data-key": "custom" }, h("h3", {}, "Any other jump"),
      form("clock form", () => perform(call, nowAt), h("div", { class: "bar" },
        field("clock-advance", "Move forward by", textInput(clock.advance, (value) => {
          clock.advance = value;
          showAgain();
        }, { required: true }), "Such as 90m, 36h or 1h30m."),
        h("button", { type: "submit", class: "main" }, "Move"))),
      curl(call, "the jump"))];
}

function jumpRow([advance, label, past]) {
  const call = { method: "POST", path: "/clock", body: { advance } };
  return h("li", { class: "action", "data-key": advance },
    h("button", { type: "button", "data-advance": advance, onclick: () => perform(call, nowAt) }, label), past && h("span", { class: "hint" }, past),
    foldedCurl(call, label));
}

function nowAt({ now }) {
  takeTime(now);
  return `The host's clock is ${dayText(now)} ${clockText(now)} UTC.`;
}
