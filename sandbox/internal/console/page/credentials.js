// --- Credentials: hidden until somebody asks for them, and again when the section closes.

const credentials = { shown: null };

const credentialRows = [
  ["MONEYMOVEMENT_EMAIL", "Email", "email", "names the account when a program logs in"],
  [null, "Key id", "keyId", "the id of the developer key"],
  [null, "Developer key", "developerKey", "PEM, PKCS #8: signs logins and payments of the platform API"],
  ["MONEYMOVEMENT_API_KEY", "App key", "apiKey", "for the app API"],
  ["MONEYMOVEMENT_ACCESS_TOKEN", "Access token", "accessToken", "for the reference endpoints"],
  [null, "Wallet key", "walletKey", "PEM: reveals the details of a card"],
];

function credentialsView() {
  const call = { path: "/credentials" };
  return [heading("credentials", "Credentials", "What the first account of this host logs in with. They are worth nothing elsewhere."),
    h("p", { "data-key": "ask" }, h("button", { type: "button", class: "main", "aria-expanded": String(Boolean(credentials.shown)), onclick: toggleCredentials },
      credentials.shown ? "Hide the credentials" : "Show the credentials")),
    h("div", { "data-key": "curl" }, curl(call, "reading the credentials")),
    credentials.shown && [exportsCard(credentials.shown), credentialRows.map((row) => credentialCard(row, credentials.shown))]];
}

async function toggleCredentials() {
  if (credentials.shown) return hideCredentials();
  try {
    credentials.shown = await read("/credentials");
    say("The credentials are shown.");
  } catch (refused) {
    tell("refused", refused.message, { path: "/credentials" }, refused);
  }
  showAgain();
}

function hideCredentials() {
  credentials.shown = null;
  showAgain();
}

function exportsCard(shown) {
  const lines = [["MONEYMOVEMENT_BASE_URL", host.origin], ...credentialRows.filter(([name]) => name).map(([name, , member]) => [name, shown[member]])];
  return h("section", { class: "card", "data-key": "exports" }, h("h3", {}, "For a shell"),
    code(lines.map(([name, value]) => `export ${name}=${wordOf(value || "")}`).join("\n"), "the exports"));
}

function credentialCard([, label, member, use], shown) {
  return h("section", { class: "card", "data-key": `credential ${member}` }, h("h3", {}, label), h("p", { class: "hint" }, use), code(shown[member] || "", label));
}
