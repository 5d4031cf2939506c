// --- Widgets: what several sections show in the same way.

// copyButton copies a text. what names it for people who do not see what stands beside it.
function copyButton(text, what) {
  return h("button", { type: "button", class: "small", "aria-label": `Copy ${what}`, onclick: () => copy(text, what) }, "Copy");
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}.`);
  } catch {
    say(`The browser did not allow to copy ${what}. Select the text instead.`);
  }
}

// code shows a text as it is, with a button that copies it.
function code(text, what) {
  return h("div", { class: "code" }, h("pre", { "data-scrolls": what }, h("code", {}, text)), copyButton(text, what));
}

// letKeysScroll makes what is larger than its place a stop of the Tab key, so that arrows can scroll it.
function letKeysScroll(parent) {
  for (const part of parent.querySelectorAll("[data-scrolls]")) {
    if (part.scrollWidth <= part.clientWidth + 1 && part.scrollHeight <= part.clientHeight + 1) continue;
    part.tabIndex = 0;
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", part.dataset.scrolls);
  }
}

// curl shows the curl that makes the same call. Folded, it is one line that opens.
function curl(call, what = "the same call") {
  return h("div", { class: "curl" }, code(curlOf(call), `curl for ${what}`));
}

function foldedCurl(call, what) {
  return h("details", { class: "curl" },
    h("summary", { "aria-label": `curl for ${what}` }, "curl"), code(curlOf(call), `curl command: ${what}`));
}

// actionRow is a button that makes a call, with its curl beside it.
function actionRow(key, label, call, done, attributes = {}) {
  return h("li", { class: "action", "data-key": key },
    h("button", { type: "button", ...attributes, onclick: () => perform(call, done) }, label), foldedCurl(call, label));
}

// table makes a table with a caption. A column is a name, or {name, class}.
function table(caption, columns, rows, attributes = {}) {
  return h("div", { class: "scroll", "data-key": "table " + caption, "data-scrolls": caption, ...attributes },
    h("table", {}, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((column) =>
        h("th", { scope: "col", class: column.class }, column.name ?? column)))),
      h("tbody", {}, rows)));
}

// field is a control with its label above, and a hint below.
function field(id, label, control, hint) {
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", id + "-hint");
  return h("div", { class: "field", "data-key": "field " + id },
    h("label", { for: id }, label), control, hint && h("p", { class: "hint", id: id + "-hint" }, hint));
}

// --- Find: every list has it. The host searches, because it has more than the page shows.

function findText(id) { return recall(`find ${id}`, "").trim(); }

function findField(id) {
  return field(`find-${id}`, "Find", textInput(recall(`find ${id}`, ""), (value) => {
    remember(`find ${id}`, value);
    refreshLater();
  }, { type: "search" }));
}

// found is the address of a list of the host, with what is looked for.
function found(id, path, more = {}) {
  const query = new URLSearchParams({ ...(findText(id) && { find: findText(id) }), ...more });
  return query.size ? `${path}?${query}` : path;
}

// findIn opens a list with a text in Find, for a link from another section. The focus moves to what is found.
function findIn(id, text) {
  remember(`find ${id}`, text);
  if (id === "requests") Object.assign(requests, { kind: "all", selected: null, detail: null });
  Object.assign(sections.find((section) => section.id === id), { data: null, arriving: true });
  openSection(id);
}

// none stands in place of a list that has nothing, or nothing that is looked for.
function none(text, sought) { return h("div", { class: "empty" }, sought ? h("p", {}, "Nothing fits.") : text); }

// newest says that a list is cut off.
function newest(shown, total) {
  return total > shown && h("p", { class: "hint", "data-key": "newest" }, `The newest ${shown} of ${total}. Find searches all of them.`);
}

// What -seed of the command did is hidden at first.
const seeds = { shown: false };

function withoutSeeds(rows) { return rows.filter(({ seeded }) => seeds.shown || !seeded); }

function seedButton(id, rows) {
  const made = rows.filter(({ seeded }) => seeded).length;
  return made > 0 && h("button", { type: "button", id: `seeds-${id}`, "aria-pressed": String(seeds.shown), onclick: () => {
    seeds.shown = !seeds.shown;
    showAgain();
  } }, `${seeds.shown ? "Hide" : "Show"} ${made} of -seed`);
}

function seedBadge({ seeded }) { return seeded && badge("seed"); }

// choice is a list to choose from: options are texts, or [value, text].
function choice(value, options, change) {
  return h("select", { value, onchange: (event) => change(event.target.value) },
    options.map((option) => [option].flat()).map(([given, text]) =>
      h("option", { value: given, selected: given === value }, text ?? given)));
}

function textInput(value, change, attributes = {}) {
  return h("input", { type: "text", value, autocomplete: "off", spellcheck: "false", ...attributes,
    oninput: (event) => change(event.target.value) });
}

// form makes its call when it is sent. call may be a function of what is filled in by then.
function form(key, send, ...children) {
  return h("form", { "data-key": key, onsubmit: (event) => {
    event.preventDefault();
    send();
  } }, children);
}

function heading(id, text, intro) {
  return [h("h2", { id: `${id}-title`, tabindex: "-1" }, text), intro && h("p", { class: "intro" }, intro)];
}

// badge shows a word in a frame. The color repeats what the word says.
function badge(text, tone) { return h("span", { class: `badge ${tone || ""}` }, text); }

// statusBadge shows the status of a response. 0 is a connection that was closed without one.
function statusBadge(status) {
  if (!status) return badge("no response", "bad");
  return badge(String(status), status < 300 ? "good" : status < 400 ? "" : status < 500 ? "warn" : "bad");
}

// account shows the name or the email of an account before its id, if the host knows it.
function accountName(id) {
  const known = host.accounts.get(id);
  return known ? known.name || known.email || id : id;
}

// accountField chooses one of the accounts.
function accountField(id, account, change) {
  const all = [...new Map([...host.accounts.values()].map((one) => [one.id, one])).values()];
  return field(id, "Account", choice(account, all.map((one) => [one.id, `${one.name || one.email || ""} (${one.id})`]), change));
}

function accountText(id) {
  const name = accountName(id);
  return name === id ? h("code", {}, id) : [name, " ", h("code", { class: "aside id" }, id)];
}

const docs = "https://github.com/moneymovement/moneymovement-go/blob/main/docs/";

function outside(href, ...text) { return h("a", { href, rel: "noreferrer" }, text); }

// slugAdvice says what a slug means and what to do about it, with a link to the error page.
function slugAdvice(slug, advice, action) {
  const known = host.slugs.get(slug) || {};
  return h("section", { class: "advice", "data-key": "advice", "aria-label": `What to do about ${slug}` },
    h("h4", {}, "What to do about ", h("code", {}, slug)),
    known.meaning && h("p", {}, sentence(known.meaning)),
    h("p", { class: "do" }, sentence(advice || known.do || "The error page says what to do")), action,
    h("p", {}, outside(known.page || `${docs}errors.md#${slug}`, `${slug} on the error page`)));
}

// say tells something to people who listen to the page, and shows nothing.
function say(text) { byId("said").textContent = text; }

const outcomes = { done: "Done. ", refused: "Refused. ", unsent: "Not sent. " };

// tell shows how an action went, with its curl, until the next one.
function tell(outcome, text, call, refused) {
  const box = byId("result");
  box.hidden = false;
  box.className = `result ${outcome}`;
  update(box,
    h("p", {}, h("strong", {}, outcomes[outcome]), text,
      refused?.code && [" ", outside(`${docs}errors.md#${refused.code}`, refused.code)]),
    call && foldedCurl(call, "the last action"),
    h("button", { type: "button", class: "small close", "aria-label": "Close the message", onclick: closeResult }, "Close"));
  say(outcomes[outcome] + text);
}

// reached hides what was said about a host that could not be reached.
function reached() {
  if (byId("result").classList.contains("unsent")) byId("result").hidden = true;
}

// focusOn moves the focus to a title, and shows as much as possible of what it is the title of.
function focusOn(title) {
  title?.focus({ preventScroll: true });
  title?.closest(".present, .detail, [role=tabpanel]").scrollIntoView({ block: "nearest" });
}

// rowButton is the button of a table's row. Only one of them is a stop of the Tab key. Arrows move among them.
function rowButton(attributes, ...children) {
  const { stop, ...rest } = attributes;
  return h("button", { type: "button", class: "plain", tabindex: stop ? "0" : "-1", onkeydown: moveAmongRows, ...rest }, children);
}

function moveAmongRows(event) {
  const all = [...event.target.closest("tbody").querySelectorAll("button.plain")].filter((button) => button.checkVisibility());
  const at = all.indexOf(event.target);
  const to = all[{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

function closeResult() {
  byId("result").hidden = true;
  byId("main").focus();
}
