// --- The controls: how the page calls the host, and the curl that does the same.

const controls = "/_host";

// host is what the page knows about the host itself. latest is the request that was the latest when the page connected.
const host = { id: null, latest: 0, now: null, origin: location.origin, slugs: new Map(), accounts: new Map() };

// remember keeps what a person chose over a reload of the page, until its tab is closed.
function remember(name, value) { sessionStorage.setItem(name, value); }

function recall(name, otherwise) { return sessionStorage.getItem(name) ?? otherwise; }

// Refused is a call that the host refused, or that did not reach it.
class Refused extends Error {
  constructor(message, status = 0, code = "", details = undefined) {
    super(message);
    Object.assign(this, { status, code, details });
  }
}

// send makes a call of the controls: {method, path, body}. It returns the JSON of the response.
async function send({ method = "GET", path, body }) {
  let response;
  try {
    response = await fetch(controls + path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused("The host cannot be reached. What you filled in stays here until it is back.");
  }
  const text = await response.text();
  const json = text ? parsed(text) : null;
  if (!response.ok) throw refusalOf(response.status, json);
  return json;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusalOf(status, json) {
  const error = json?.error || {};
  return new Refused(refusalText(error) || `The host responded with ${status}.`, status, error.code, error.details);
}

function refusalText(error) {
  const fields = (error.details?.fields || []).map((field) => `${field.field}: ${field.message}`);
  return [error.message, ...fields].filter(Boolean).join(" ");
}

function read(path) { return send({ path }); }

// readItems reads a list.
async function readItems(path) { return (await read(path)).items || []; }

// curlOf writes a call of the controls for a shell.
function curlOf({ method = "GET", path, body }) {
  const address = host.origin + controls + path;
  const verb = method === "GET" || (method === "POST" && body !== undefined) ? [] : ["-X", method];
  const sent = body === undefined ? [] : ["-d", JSON.stringify(body)];
  return shellLine("curl", ...globbing(address), ...verb, address, ...sent);
}

// headersOf gives a masked credential back its name: the variable that has it.
const variableOf = { authorization: "MONEYMOVEMENT_ACCESS_TOKEN", "x-api-key": "MONEYMOVEMENT_API_KEY" };
const ownHeaders = new Set(["host", "content-length", "user-agent", "accept-encoding", "connection"]);

// repeatOf writes the curl that sends a recorded request again, whose path is decoded. One that does not begin with a
// slash could name another host.
function repeatOf(entry) {
  if (!entry.path.startsWith("/")) return "";
  const address = host.origin + encodeURI(entry.path.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
  const lines = [shellLine("curl", "-i", ...globbing(address), "-X", entry.method, address)];
  for (const [name, value] of headersOf(entry.request)) {
    if (!ownHeaders.has(name.toLowerCase())) lines.push(shellLine("-H", headerOf(entry, name, value)));
  }
  if (entry.request?.body) lines.push(shellLine("--data-raw", entry.request.body));
  return lines.join(" \\\n  ");
}

function headerOf(entry, name, value) {
  const lower = name.toLowerCase();
  if (lower === "authorization") return new Variable(`${lower}: Bearer ${bearerOf(entry)}`);
  return Object.hasOwn(variableOf, lower) ? new Variable(`${lower}: $${variableOf[lower]}`) : `${name}: ${value}`;
}

// bearerOf writes what a shell puts in place of a bearer. The command moneymove knows the session of the platform API.
function bearerOf(entry) {
  if (entry.path.startsWith("/dapi/")) return "$(moneymove token)";
  return `$${entry.path.startsWith("/api/") ? variableOf.authorization : variableOf["x-api-key"]}`;
}

// headersOf lists the headers of a message as pairs. A header may have several values.
function headersOf(message) {
  return Object.entries(message?.headers || {}).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
}

// perform makes a call that changes the host, and says how it went. It returns the response, or null.
async function perform(call, done) {
  try {
    const response = await send(call);
    tell("done", typeof done === "function" ? done(response) : done, call);
    return response ?? {};
  } catch (refused) {
    tell(refused.status ? "refused" : "unsent", refused.message, call, refused);
    return null;
  } finally {
    refreshShown();
  }
}
