// --- Requests: each as it arrives, and one of them in full.

const shownRequests = 400; // more rows than that slow a page down, and nobody reads them

const requests = { entries: [], waiting: [], paused: false, text: "", kind: "all", selected: null, detail: null, last: 0 };

const requestKinds = {
  all: ["All requests", () => true],
  refused: ["Refused", (entry) => entry.status >= 400],
  faults: ["With a fault", (entry) => Boolean(entry.fault)],
  replayed: ["Replayed", (entry) => Boolean(entry.replayed)],
  writes: ["Writes", (entry) => entry.method !== "GET"],
};

// takeRequest adds a request. It returns false for one that is there: a stream that resumes may send some again.
function takeRequest(entry) {
  if (entry.id <= requests.last) return false;
  requests.last = entry.id;
  const into = requests.paused ? requests.waiting : requests.entries;
  into.push(entry);
  if (into.length > shownRequests) into.shift();
  return true;
}

function forgetRequests() { Object.assign(requests, { entries: [], waiting: [], selected: null, detail: null, last: 0 }); }

function pauseRequests() {
  requests.paused = !requests.paused;
  if (!requests.paused) {
    requests.entries = [...requests.entries, ...requests.waiting].slice(-shownRequests);
    requests.waiting = [];
  }
  showAgain();
}

function chosenRequests() {
  const [, fits] = requestKinds[requests.kind];
  const text = requests.text.toLowerCase();
  return requests.entries.filter(fits).filter((entry) => !text || searched(entry).includes(text)).reverse();
}

function searched(entry) {
  return [entry.method, entry.path, entry.status, entry.slug, entry.account, entry.idempotencyKey, entry.fault, entry.operation]
    .join(" ").toLowerCase();
}

function requestsView() {
  const chosen = chosenRequests();
  return [heading("requests", "Requests", "Each request as the host saw it, the newest first. Choose one to see all of it."),
    h("div", { class: requests.selected ? "split open" : "split", "data-key": "split" },
      h("div", { class: "list", "data-key": "list" }, requestFilter(), requestTable(chosen)),
      requests.selected && requestDetail())];
}

function requestFilter() {
  const change = (key) => (value) => {
    requests[key] = value;
    showAgain();
  };
  return h("div", { class: "bar", "data-key": "filter" },
    field("request-text", "Find", textInput(requests.text, change("text"), { type: "search" })),
    field("request-kind", "Show", choice(requests.kind, Object.entries(requestKinds).map(([kind, [text]]) => [kind, text]), change("kind"))),
    h("button", { type: "button", id: "pause", "aria-pressed": String(requests.paused), onclick: pauseRequests },
      requests.paused ? `Paused (${requests.waiting.length} waiting)` : "Pause"));
}

function requestTable(chosen) {
  if (!requests.entries.length) return noRequestYet();
  if (!chosen.length) return empty(h("p", {}, "No request fits."));
  return table("Requests, newest first", ["Time", "Request", "Result",
    { name: "Account", class: "wide" }, { name: "Key", class: "wide" }], chosen.map(requestRow), { id: "request-table" });
}

function noRequestYet() {
  return empty(h("p", {}, "No request yet. This one needs no credential:"),
    code(shellLine("curl", `${host.origin}/utils/rates/EUR`), "the first request"));
}

function requestRow(entry) {
  const chosen = entry.id === requests.selected;
  return h("tr", { "data-key": `request ${entry.id}`, "data-id": entry.id, class: chosen ? "chosen" : null },
    h("td", { class: "time" }, moment(entry.time)),
    h("th", { scope: "row" },
      h("button", { type: "button", class: "plain", "aria-expanded": String(chosen), onclick: () => selectRequest(entry.id) },
        h("span", { class: "method" }, entry.method), " ", breakable(entry.path)),
      h("span", { class: "narrow aside" }, [entry.account && accountName(entry.account), entry.idempotencyKey].filter(Boolean).join(" · "))),
    h("td", {}, h("span", { class: "badges" }, statusBadge(entry.status), requestNotes(entry)), entry.slug && h("code", { class: "slug" }, entry.slug)),
    h("td", { class: "wide" }, entry.account && accountName(entry.account)),
    h("td", { class: "wide" }, entry.idempotencyKey && h("code", {}, entry.idempotencyKey)));
}

// breakable lets a long path break after each slash.
function breakable(path) {
  return path.split(/(?<=\/)/).flatMap((part) => [part, h("wbr")]);
}

function requestNotes(entry) {
  return [entry.replayed && badge("replayed", "note"), entry.fault && badge(`fault ${entry.fault}`, "fault"),
    entry.attempt > 1 && badge(`attempt ${entry.attempt}`, "note"), entry.repeated && badge("arrived twice", "note")];
}

async function selectRequest(id) {
  requests.selected = id;
  requests.detail = null;
  showAgain();
  try {
    requests.detail = await read(`/requests/${id}`);
  } catch (refused) {
    requests.detail = { ...requests.entries.find((entry) => entry.id === id), missing: refused.message };
  }
  showAgain();
  byId("request-title")?.focus();
}

function closeRequest() {
  const id = requests.selected;
  requests.selected = requests.detail = null;
  showAgain();
  document.querySelector(`[data-id="${id}"] button`)?.focus();
}

function requestDetail() {
  const entry = requests.detail || requests.entries.find(({ id }) => id === requests.selected) || {};
  return h("section", { class: "detail", "data-key": "detail", "aria-labelledby": "request-title",
    onkeydown: (event) => event.key === "Escape" && closeRequest() },
    h("div", { class: "bar" },
      h("h3", { id: "request-title", tabindex: "-1" }, h("span", { class: "method" }, entry.method), " ", breakable(entry.path || "")),
      h("button", { type: "button", class: "small", onclick: closeRequest }, "Close")),
    h("p", { class: "badges" }, statusBadge(entry.status), requestNotes(entry)),
    entry.slug && slugAdvice(entry.slug, entry.do, creditOf(entry)),
    requestFacts(entry), requests.detail ? requestMessages(requests.detail) : h("p", { "data-key": "loading" }, "Loading…"));
}

// creditOf is the button for a refusal whose details name a balance that is too low.
function creditOf({ account, response }) {
  const { available, currency = "USDC" } = parsed(response?.body)?.error?.details || {};
  if (available === undefined || !account) return null;
  const call = { method: "POST", path: "/credits", body: { account, amount: "100", currency } };
  return h("ul", { class: "actions" }, actionRow("credit", `Credit ${accountName(account)} with 100 ${currency}`, call, credited));
}

function requestFacts(entry) {
  const facts = [["Operation", entry.operation], ["Time at the host", entry.time], ["Took", entry.durationMs !== undefined && `${entry.durationMs} ms`],
    ["Account", entry.account && accountText(entry.account)], ["Idempotency key", entry.idempotencyKey],
    ["Resource", entry.resourceId], ["Request id", entry.requestId], ["Fault", entry.fault]];
  return h("dl", { class: "facts", "data-key": "facts" },
    facts.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function requestMessages(entry) {
  if (entry.missing) return h("p", { class: "note", "data-key": "missing" }, entry.missing);
  return [message("Request", entry.request), message("Response", entry.response),
    repeatOf(entry) && h("section", { "data-key": "repeat" }, h("h4", {}, "Send it again"),
      h("p", { class: "hint" }, "Credentials are left out. The variables are those that Credentials exports, and moneymove token prints a token of the platform API."),
      code(repeatOf(entry), "curl that sends the request again"))];
}

function message(name, { headers, body, truncated } = {}) {
  const lower = name.toLowerCase();
  return h("section", { "data-key": lower }, h("h4", {}, `${name} body`),
    body ? code(prettyBody(body), `${lower} body`) : h("p", { class: "hint" }, "No body."),
    truncated && h("p", { class: "note" }, "The host recorded only the beginning of this body."),
    headers && h("details", {}, h("summary", {}, `${name} headers`), table(`Headers of the ${lower}`, ["Name", "Value"],
      headersOf({ headers }).map(([header, value]) => h("tr", {}, h("th", { scope: "row" }, header), h("td", {}, value))))));
}
