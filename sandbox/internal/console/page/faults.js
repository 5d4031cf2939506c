// --- Faults: armed for an operation that the host serves, with the options that their kind has.

// faultKinds says what each kind does, and which options it takes.
const faultKinds = {
  drop_before: ["The connection closes before the operation runs. Nothing happens."],
  drop_after_commit: ["The operation runs, and the response is lost. The caller cannot know."],
  respond: ["The host sends this response in place of its own.", "status", "code", "message", "details", "headers", "body", "afterCommit"],
  garbage: ["The host sends an HTML page, as a proxy does.", "status", "afterCommit"],
  truncate: ["The operation runs, and the body of the response is cut short.", "keep"],
  delay: ["The host waits, in real time.", "delay", "afterCommit"],
  expire_token: ["The access token of the request expires."],
  duplicate: ["The request arrives a second time. The caller gets the first response.", "after"],
  repeat: ["The request arrives a second time. The caller gets the second response."],
  foreign: ["The caller gets an earlier response, of another request.", "otherAccount", "afterCommit"],
};

// faultOptions says how each option is filled in: its label, its kind of input, a hint, and a first value.
const faultOptions = {
  status: ["Status", "number", "From 200 to 599.", "503"],
  code: ["Slug", "text", "The code of the error body.", "database_unavailable"],
  message: ["Message", "text", "One sentence. Empty: the host's own."],
  details: ["Details", "json", 'A JSON object, such as {"requestId":"req_1"}.'],
  headers: ["Headers", "json", 'A JSON object, such as {"Retry-After":"1"}.'],
  body: ["Body", "text", "Sent as it is, in place of the error body."],
  afterCommit: ["Run the operation first", "switch"],
  keep: ["Bytes to send", "number", "0 sends half of the body."],
  delay: ["Wait for", "text", "A duration, such as 2s.", "2s"],
  after: ["Arrive again after", "text", "On the host's clock, such as 1h. Empty: at once."],
  otherAccount: ["Of another account", "switch"],
};
const surfaceNames = { dapi: "Platform API", appapi: "App API", refapi: "Reference endpoints", public: "Public utilities" };

const faultForm = { surface: "dapi", operation: "", kind: "drop_after_commit", times: "1", options: {} };

async function loadFaults() {
  const [faults, operations] = await Promise.all([read(found("faults", "/faults")), host.operations || readItems("/operations")]);
  host.operations = operations;
  return faults;
}

function faultsView({ items = [], pendingDuplicates }) {
  return [heading("faults", "Faults", "Arm a fault, send the request, and watch what your program does."),
    armForm(), h("div", { class: "bar", "data-key": "find" }, findField("faults")),
    items.length ? faultTable(items) : none(h("p", {}, "No fault was armed."), findText("faults")),
    pendingDuplicates > 0 && h("p", { class: "note" }, `${count(pendingDuplicates, "duplicate")} will still arrive.`),
    items.some(isWaiting) && h("ul", { class: "actions", "data-key": "all" },
      actionRow("disarm all", "Disarm all", { method: "DELETE", path: "/faults" }, "No fault is armed."))];
}

function surfaceOf(operation) { return operation.surface; }

function operationsOfSurface() { return (host.operations || []).filter((operation) => surfaceOf(operation) === faultForm.surface); }

function chosenOperation() {
  const all = operationsOfSurface();
  const favourite = all.find(({ path, method }) => method === "POST" && path.endsWith("/payouts/{payoutId}/confirm"));
  return all.find(({ operation }) => operation === faultForm.operation) || favourite || all[0];
}

function armForm() {
  const change = (key) => (value) => {
    faultForm[key] = value;
    showAgain();
  };
  const surfaces = [...new Set((host.operations || []).map(surfaceOf))];
  const operation = chosenOperation();
  const { call, problem } = faultCall(operation);
  return h("section", { class: "card", "data-key": "arm" }, h("h3", {}, "Arm a fault"),
    form("arm form", () => problem ? tell("refused", problem) : perform(call, (armed) => `${armed.id} waits for ${operation.operation}.`),
      h("div", { class: "bar" },
        field("fault-surface", "Surface", choice(faultForm.surface, surfaces.map((surface) => [surface, surfaceNames[surface] || surface]), change("surface"))),
        field("fault-operation", "Operation", choice(operation?.operation, operationsOfSurface().map(({ operation }) => operation), change("operation")),
          operation && `${operation.method} ${operation.path}: ${operation.summary}`)),
      h("div", { class: "bar" },
        field("fault-kind", "Kind", choice(faultForm.kind, Object.keys(faultKinds).map((kind) => [kind, kind]), change("kind")), faultKinds[faultForm.kind][0]),
        field("fault-times", "Times", textInput(faultForm.times, change("times"), { type: "number", min: "1", required: true }))),
      h("div", { class: "bar", "data-key": `options ${faultForm.kind}` }, faultKinds[faultForm.kind].slice(1).map(optionField)),
      h("button", { type: "submit", class: "main" }, "Arm the fault")),
    problem ? h("p", { class: "note", role: "status" }, problem) : curl(call, "arming the fault"));
}

function optionField(name) {
  const [label, type, hint, first] = faultOptions[name];
  const value = faultForm.options[name] ?? first ?? "";
  const change = (given) => {
    faultForm.options[name] = given;
    showAgain();
  };
  const control = type === "switch"
    ? h("input", { type: "checkbox", role: "switch", checked: value === true, onchange: (event) => change(event.target.checked) })
    : textInput(value, change, { type: type === "number" ? "number" : "text" });
  return field(`fault-${name}`, label, control, hint);
}

// faultCall makes the call of what is filled in, or says what is wrong with it.
function faultCall(operation) {
  const fault = { kind: faultForm.kind };
  for (const name of faultKinds[faultForm.kind].slice(1)) {
    const [label, type, , first] = faultOptions[name];
    const value = optionValue(type, faultForm.options[name] ?? first ?? "");
    if (value instanceof Error) return { problem: `${label} is not a JSON object.` };
    if (value !== undefined) fault[name] = value;
  }
  return { call: { method: "POST", path: "/faults", body: { method: operation?.method, path: operation?.path, times: Number(faultForm.times) || 1, fault } } };
}

function optionValue(type, value) {
  if (value === "" || value === false) return undefined;
  if (type === "number") return Number(value);
  if (type !== "json") return value;
  const object = parsed(value);
  return object && typeof object === "object" ? object : new Error("not an object");
}

function isWaiting({ times, consumed, disarmed }) { return !disarmed && consumed < times; }

function faultTable(items) {
  return table("Faults, in the order of arming", ["Fault", { name: "For", class: "wide" }, "Happened", "State"], items.map(faultRow));
}

function faultRow(item) {
  const { id, method, path, times, consumed, fault } = item;
  const target = (attributes) => h("code", attributes, method, " ", breakable(path));
  return h("tr", { "data-key": id, "data-fault": id }, h("th", { scope: "row" }, h("code", { class: "aside" }, id), " ", words(fault.kind), target({ class: "narrow aside" }), faultDetail(fault)),
    h("td", { class: "wide" }, target({})), h("td", {}, bar(consumed, times, false), `${consumed} of ${times}`),
    h("td", {}, isWaiting(item) ? disarm(id) : badge(item.disarmed ? "disarmed" : "consumed", item.disarmed ? "" : "fault")));
}

function faultDetail({ kind, ...options }) {
  const text = Object.entries(options).map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
  return text && h("p", { class: "hint" }, text);
}

function disarm(id) {
  const call = { method: "DELETE", path: `/faults/${encodeURIComponent(id)}` };
  return [badge("armed", "warn"), " ", h("button", { type: "button", class: "small", "aria-label": `Disarm ${id}`, onclick: () => perform(call, `${id} is disarmed.`) }, "Disarm"), foldedCurl(call, `disarming ${id}`)];
}
