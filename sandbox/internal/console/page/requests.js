// --- Requests: each as it arrives, and one of them in full.

const shownRequests = 400; // more rows than that slow a page down, and nobody reads them

// found are the requests that the host found for the text and the kind. Without any, it is null, and all are shown.
const requests = { entries: [], waiting: [], found: null, paused: false, text: recall("find", ""), kind: recall("kind", "all"),
  seeded: false, selected: null, detail: null, last: 0 };

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
  if (requests.found) findSoon();
  return true;
}

function forgetRequests() { Object.assign(requests, { entries: [], waiting: [], found: null, selected: null, detail: null, last: 0 }); }

// findRequests asks the host, which has more requests than the page shows.
async function findRequests() {
  const { text, kind } = requests;
  const of = search();
  remember("find", text);
  remember("kind", kind);
  if (of === "all ") return void (requests.found = null);
  const query = new URLSearchParams({ last: shownRequests, find: text.trim(), ...(kind !== "all" && { kind }) });
  const items = await readItems(`/requests?${query}`);
  if (of === search()) requests.found = { of, items };
}

let finding = null;
function findSoon() {
  finding ??= setTimeout(() => {
    finding = null;
    refresh(sections[0]);
  }, 150);
}

// findIn shows the requests with a text, for a link from another section.
function findIn(text) {
  Object.assign(requests, { text, kind: "all", selected: null, detail: null });
  openSection("requests", true);
}

function pauseRequests() {
  requests.paused = !requests.paused;
  if (!requests.paused) {
    requests.entries = [...requests.entries, ...requests.waiting].slice(-shownRequests);
    requests.waiting = [];
  }
  showAgain();
}

// chosenRequests are those that the host found. Until it responds, they are those of the page that fit.
function chosenRequests() {
  const [, fits] = requestKinds[requests.kind];
  const text = requests.text.trim().toLowerCase();
  const all = requests.found?.of === search() ? requests.found.items
    : requests.entries.filter((entry) => fits(entry) && (!text || searched(entry).includes(text)));
  const last = requests.paused ? requests.entries.at(-1)?.id ?? 0 : Infinity;
  return all.filter(({ id, seeded }) => id <= last && (requests.seeded || !seeded)).reverse();
}

function searched(entry) {
  return [entry.method, entry.path, entry.status, entry.slug, entry.account, entry.idempotencyKey, entry.fault, entry.operation]
    .join(" ").toLowerCase();
}

// search is what is looked for.
function search() { return `${requests.kind} ${requests.text.trim()}`; }

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
    findSoon();
  };
  const seeded = requests.entries.filter((entry) => entry.seeded).length;
  return h("div", { class: "bar", "data-key": "filter" },
    field("request-text", "Find", textInput(requests.text, change("text"), { type: "search" })),
    field("request-kind", "Show", choice(requests.kind, Object.entries(requestKinds).map(([kind, [text]]) => [kind, text]), change("kind"))),
    h("button", { type: "button", id: "pause", "aria-pressed": String(requests.paused), onclick: pauseRequests },
      requests.paused ? `Paused (${requests.waiting.length} waiting)` : "Pause"),
    seeded > 0 && h("button", { type: "button", id: "seeded", "aria-pressed": String(requests.seeded), onclick: () => {
      requests.seeded = !requests.seeded;
      showAgain();
    } }, `${requests.seeded ? "Hide" : "Show"} ${seeded} of -seed`));
}

function requestTable(chosen) {
  if (!chosen.length && !requests.text && requests.kind === "all") return noRequestYet();
  if (!chosen.length) return empty(h("p", {}, "No request of the host fits."));
  return table("Requests, newest first", ["Time", "Result", "Request",
    { name: "Account", class: "wide" }, { name: "Key", class: "wide" }], chosen.map((entry, i) => requestRow(entry, i, chosen)), { id: "request-table" });
}

function noRequestYet() {
  return empty(h("p", {}, "No request yet. This one needs no credential:"),
    code(shellLine("curl", `${host.origin}/utils/rates/EUR`), "the first request"));
}

function requestRow(entry, i, chosen) {
  const open = entry.id === requests.selected;
  const stop = open || i === 0 && !chosen.some(({ id }) => id === requests.selected);
  return h("tr", { "data-key": `request ${entry.id}`, "data-id": entry.id, class: open ? "chosen" : null },
    h("td", { class: "time" }, moment(entry.time)),
    h("td", { class: "result-cell" }, h("span", { class: "badges" }, statusBadge(entry.status), requestNotes(entry)), entry.slug && h("code", { class: "slug" }, entry.slug)),
    h("th", { scope: "row" },
      h("button", { type: "button", class: "plain", tabindex: stop ? "0" : "-1", onkeydown: moveAmongRows, "aria-expanded": String(open), onclick: () => selectRequest(entry.id) },
        h("span", { class: "method" }, entry.method), " ", breakable(entry.path)),
      h("span", { class: "narrow aside" }, [entry.account && accountName(entry.account), entry.idempotencyKey].filter(Boolean).join(" · "))),
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
    entry.repeated && badge("arrived twice", "note"), entry.seeded && badge("seed")];
}

async function selectRequest(id) {
  requests.selected = id;
  requests.detail = null;
  remember("request", `${host.id} ${id}`);
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
  remember("request", "");
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
