// --- The page: its sections, what the host says about changes, and the tabs.

// sections are the page. A section reads with load, and shows what it read with view. It reads again after the changes
// that it names, and every so many milliseconds while it is shown.
const sections = [
  { id: "requests", title: "Requests", on: ["request", "reset"], load: loadRequests, view: requestsView },
  { id: "balances", title: "Balances", on: ["ledger", "clock", "reset", "request"], load: loadBalances, view: balancesView },
  { id: "ledger", title: "Ledger", on: ["ledger", "clock", "reset", "request"], load: loadLedger, view: ledgerView },
  movingSection("payouts"), movingSection("payins"), movingSection("verification"), movingSection("escrows"),
  { id: "faults", title: "Faults", on: ["faults", "reset", "request"], load: loadFaults, view: faultsView },
  { id: "windows", title: "Rate windows", on: ["settings", "clock", "reset", "request"], every: 2000, load: loadWindows, view: windowsView },
  { id: "clock", title: "Clock", on: ["clock", "reset"], load: loadClock, view: clockView },
  { id: "settings", title: "Settings", on: ["settings", "reset"], load: loadSettings, view: settingsView },
  { id: "credentials", title: "Credentials", on: [], load: async () => host.id && credentials, view: credentialsView, leave: hideCredentials },
];
let shown = null;

// --- Tabs

function makeTabs() {
  byId("tabs").append(...sections.map((section) => h("button", { type: "button", role: "tab", id: `tab-${section.id}`, "aria-controls": `panel-${section.id}`,
    "aria-selected": "false", tabindex: "-1", onclick: () => openSection(section.id), onkeydown: moveAmongTabs }, section.title)));
  byId("main").append(...sections.map(({ id }) => h("div", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, hidden: true })));
}

function moveAmongTabs(event) {
  const at = sections.indexOf(shown), last = sections.length - 1;
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  openSection(sections[(to + sections.length) % sections.length].id);
  byId(`tab-${shown.id}`).focus();
}

// isSection tells an address of a section from one of the skip link.
function isSection(id) { return sections.some((section) => section.id === id); }

// openSection shows a section, and hides the one before.
function openSection(id) {
  const section = sections.find((one) => one.id === id) || sections[0];
  if (shown && shown !== section) shown.leave?.();
  shown = section;
  for (const { id: each } of sections) {
    const here = each === section.id;
    byId(`panel-${each}`).hidden = !here;
    byId(`tab-${each}`).setAttribute("aria-selected", String(here));
    byId(`tab-${each}`).tabIndex = here ? 0 : -1;
  }
  byId(`tab-${section.id}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  showAgain();
  if (location.hash !== `#${section.id}`) history.replaceState(null, "", `#${section.id}`);
  refreshShown();
}

// --- Reading and showing

// refresh reads what a section shows. A read that was overtaken by a later one is not shown.
async function refresh(section) {
  const turn = (section.turn = (section.turn || 0) + 1);
  try {
    const data = await section.load();
    if (turn === section.turn) Object.assign(section, { data, problem: null });
  } catch (refused) {
    if (turn === section.turn) section.problem = refused;
  }
  if (section === shown) showAgain();
}

function refreshShown() { return refresh(shown); }

// showAgain shows the section that is open with what was read last.
function showAgain() {
  const { id, title, data, problem, view } = shown;
  const panel = byId(`panel-${id}`);
  const note = problem && h("p", { class: "note", "data-key": "problem", role: "alert" }, problem.message);
  if (data) update(panel, note, view(data));
  else update(panel, heading(id, title), note || h("p", { class: "hint", "data-key": "connecting" }, "Connecting to the host…"));
  letKeysScroll(panel);
  if (!shown.arriving || !data && !problem) return;
  shown.arriving = false;
  focusOn(byId(`${id}-present`) || byId(`${id}-title`));
}

// --- Changes at the host

let due = null;

// refreshSoon reads again shortly, once for many changes.
function refreshSoon(what) {
  if (shown.on.includes(what)) refreshLater();
}

function refreshLater() {
  due ??= setTimeout(() => {
    due = null;
    refreshShown();
  }, 200);
}

// listen hears of requests and changes. The first connection begins with every request that the host still has, a later
// one with what the page missed.
function listen() {
  const events = new EventSource(`${controls}/events?after=0`);
  events.onerror = () => live("off", "reconnecting");
  events.addEventListener("host", (event) => meet(JSON.parse(event.data), events));
  events.addEventListener("request", (event) => arrived(JSON.parse(event.data)));
  events.addEventListener("change", (event) => changed(JSON.parse(event.data).what));
}

function live(state, text) {
  const shownState = byId("live");
  if (shownState.dataset.state === state) return;
  shownState.dataset.state = state;
  shownState.textContent = text;
  if (state === "off") say("The connection to the host is lost. The page tries again by itself.");
}

// meet takes note of the host. Its id is another one after it was reset or started again.
function meet({ id, latest }, events) {
  if (host.id && host.id !== id) startOver();
  Object.assign(host, { id, latest });
  catchUp(events);
}

// catchUp reads what may have changed while nothing listened. If it fails, it tries again as long as it is connected.
async function catchUp(events) {
  try {
    await Promise.all([loadClock(), learn(), refreshShown()]);
    if (events.readyState !== EventSource.OPEN) return;
    live("on", "live");
    reached();
    openAgain();
  } catch {
    setTimeout(() => events.readyState === EventSource.OPEN && catchUp(events), 1000);
  }
}

// openAgain opens the request that was open before a reload, if it is still that of this host.
let reopened = false;
function openAgain() {
  if (reopened) return;
  reopened = true;
  const [of, id] = recall("request", "").split(" ");
  if (of === host.id && shown.id === "requests") selectRequest({ id: Number(id) });
}

function arrived(entry) {
  if (!takeRequest(entry)) return;
  if (entry.id > host.latest) announce();
  if (entry.account && !host.accounts.has(entry.account)) nameSoon();
  refreshSoon("request");
}

function changed(what) {
  if (what === "clock") loadClock().then(showAgain, () => {}); // the day of a time is shown if it is not today
  refreshSoon(what);
}

// startOver forgets what the page knows of the host before.
function startOver() {
  forgetRequests();
  host.operations = null;
  host.accounts.clear();
  settings.typed = {};
  testPayout.account = "";
  credit.account = "self";
  hideCredentials();
}

// announce tells people who listen to the page about new requests: at most once in a while, and then about the last.
let unsaid = 0, saying = null;
function announce() {
  unsaid += 1;
  saying ??= setTimeout(() => {
    const last = requests.entries.at(-1);
    byId("arrived").textContent = last ? `${count(unsaid, "new request")}. The last: ${last.method} ${last.path}, ${last.slug || last.status || "no response"}.` : "";
    unsaid = 0;
    saying = null;
  }, 1500);
}

// nameSoon reads the names of new accounts, once for many requests.
let naming = null;
function nameSoon() {
  naming ??= setTimeout(() => {
    naming = null;
    loadAccounts().then(showAgain, () => {});
  }, 250);
}

// learn reads what the page needs everywhere: what the slugs mean, and the names of accounts.
async function learn() {
  const [slugs] = await Promise.all([readItems("/slugs"), loadAccounts()]);
  host.slugs = new Map(slugs.map((slug) => [slug.slug, slug]));
  showAgain();
}

// --- Reset

function askReset() {
  const dialog = byId("confirm-reset");
  const call = { method: "POST", path: "/reset" };
  update(dialog, h("h2", { id: "confirm-reset-title" }, "Reset the host?"),
    h("p", {}, "Everything goes back to the start: money, clients, payouts, keys, faults, settings and the clock. Sessions end. This cannot be undone."),
    curl(call, "the reset"),
    h("div", { class: "bar end" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      h("button", { type: "button", class: "danger", onclick: () => {
        dialog.close();
        perform(call, "The host is as at the start.");
      } }, "Reset everything")));
  dialog.showModal();
}

function links() {
  const all = [[`${docs}glossary.md`, "Glossary: the words of the service"], [`${docs}errors.md`, "Errors: what each means, and what to do"],
    [`${docs}production.md`, "Production guide"], ["/_host", "Index of the controls"], ["/_host/openapi.yaml", "The controls as OpenAPI"]];
  update(byId("links"), all.map(([href, text]) => h("li", {}, href.startsWith("/") ? h("a", { href }, text) : outside(href, text))));
}

// start shows the page.
function start() {
  makeTabs();
  links();
  byId("reset").onclick = askReset;
  window.onresize = showAgain;
  window.onhashchange = () => isSection(location.hash.slice(1)) && openSection(location.hash.slice(1));
  setInterval(showTime, 1000);
  for (const every of new Set(sections.map((section) => section.every).filter(Boolean))) {
    setInterval(() => shown.every === every && !document.hidden && refreshShown(), every);
  }
  openSection(location.hash.slice(1));
  listen();
}

start();
