// --- Requests: each as it arrives, and one of them in full.

const shownRequests = 400; // more rows than that slow a page down, and nobody reads them

const requests = { entries: [], waiting: [], paused: false, kind: recall("kind", "all"), selected: null, detail: null, last: 0 };

const requestKinds = { all: "All requests", refused: "Refused", faults: "With a fault", replayed: "Replayed", writes: "Writes" };

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

// loadRequests asks the host for requests of a kind or with a text. Without either, the page has them once it is
// connected.
async function loadRequests() {
  const { kind } = requests;
  remember("kind", kind);
  if (kind === "all" && !findText("requests")) return host.id && {};
  return { items: await readItems(found("requests", "/requests", { last: shownRequests, ...(kind !== "all" && { kind }) })) };
}

function pauseRequests() {
  requests.paused = !requests.paused;
  if (!requests.paused) {
    requests.entries = [...requests.entries, ...requests.waiting].slice(-shownRequests);
    requests.waiting = [];
  }
  showAgain();
}

function requestsView({ items = requests.entries }) {
  const last = requests.paused ? requests.entries.at(-1)?.id ?? 0 : Infinity;
  const all = items.filter(({ id }) => id <= last);
  return [heading("requests", "Requests", "Each request as the host saw it, the newest first. Choose one to see all of it."),
    h("div", { class: requests.selected ? "split open" : "split", "data-key": "split" },
      h("div", { class: "list", "data-key": "list" }, requestFilter(all), requestTable(withoutSeeds(all).reverse())),
      requests.selected && requestDetail())];
}

function requestFilter(all) {
  return h("div", { class: "bar", "data-key": "filter" }, findField("requests"),
    field("request-kind", "Show", choice(requests.kind, Object.entries(requestKinds), (kind) => {
      requests.kind = kind;
      refreshShown();
    })),
    h("button", { type: "button", id: "pause", "aria-pressed": String(requests.paused), onclick: pauseRequests },
      requests.paused ? `Paused (${requests.waiting.length} waiting)` : "Pause"),
    seedButton("requests", all));
}

function requestTable(chosen) {
  if (!chosen.length) return none(noRequestYet(), findText("requests") || requests.kind !== "all");
  return table("Requests, newest first", [{ name: "Time", class: "wide" }, "Result", "Request",
    { name: "Account", class: "wide" }, { name: "Key", class: "wide" }], chosen.map((entry, i) => requestRow(entry, i, chosen)), { id: "request-table" });
}

function noRequestYet() {
  return [h("p", {}, "No request yet. This one needs no credential:"), code(shellLine("curl", `${host.origin}/utils/rates/EUR`), "the first request")];
}

function requestRow(entry, i, chosen) {
  const isOpen = ({ id }) => id === requests.selected?.id;
  const open = isOpen(entry);
  const stop = open || i === 0 && !chosen.some(isOpen);
  return h("tr", { "data-key": `request ${entry.id}`, "data-id": entry.id, class: open ? "chosen" : null },
    h("td", { class: "wide time" }, moment(entry.time)),
    h("td", { class: "result-cell" }, h("span", { class: "badges" }, statusBadge(entry.status), requestNotes(entry)), entry.slug && h("code", { class: "slug" }, entry.slug)),
    h("th", { scope: "row" },
      rowButton({ stop, "aria-expanded": String(open), onclick: () => selectRequest(entry) },
        h("span", { class: "method" }, entry.method), " ", breakable(entry.path)),
      h("span", { class: "narrow aside" }, [entry.account && accountName(entry.account), entry.idempotencyKey].filter(Boolean).map((text) => `${text} · `), moment(entry.time))),
    h("td", { class: "wide" }, entry.account && accountName(entry.account)),
    h("td", { class: "wide" }, entry.idempotencyKey && h("code", {}, entry.idempotencyKey)));
}

// breakable lets a long path break after each slash.
function breakable(path) {
  return path.split(/(?<=\/)/).flatMap((part) => [part, h("wbr")]);
}

function requestNotes(entry) {
  return [entry.replayed && badge("replayed", "note"), entry.fault && badge(`fault ${entry.fault}`, "fault"),
    entry.attempt > 1 && entry.idempotencyKey && entry.method !== "GET" && badge(`attempt ${entry.attempt}`, "note"),
    entry.repeated && badge("arrived twice", "note"), seedBadge(entry)];
}

async function selectRequest(entry) {
  Object.assign(requests, { selected: entry, detail: null });
  remember("request", `${host.id} ${entry.id}`);
  showAgain();
  document.querySelector(`[data-id="${entry.id}"]`)?.scrollIntoView({ block: "nearest" }); // the list is narrower now
  const detail = await read(`/requests/${entry.id}`).catch((refused) => ({ ...entry, missing: refused.message }));
  if (requests.selected !== entry) return; // another one was chosen meanwhile
  requests.detail = detail;
  showAgain();
  focusOn(byId("request-title"));
}

function closeRequest() {
  const { id } = requests.selected;
  requests.selected = requests.detail = null;
  remember("request", "");
  showAgain();
  document.querySelector(`[data-id="${id}"] button`)?.focus();
}

function requestDetail() {
  const entry = requests.detail || requests.selected;
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
