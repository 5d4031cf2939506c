// --- Settings: a switch for each that is on or off, an input for each other. The host says which there are.

const settings = { typed: {}, changedOnly: false };
const settingValues = { signingPolicy: ["allow", "refuse"], kybDecision: ["approve", "reject"] };

async function loadSettings() {
  const [values, start, meanings] = await Promise.all([read("/settings"), read("/settings/start"), read("/settings/meanings")]);
  Object.assign(settings, { start, meanings });
  return values;
}

function settingsView(values) {
  const names = Object.keys(values).filter((name) => fitsSetting(name, values));
  return [heading("settings", "Settings", "What the operator of the service or one of its partners decides about. A change counts from the next request on."),
    h("div", { class: "bar", "data-key": "bar" },
      findField("settings"),
      field("settings-changed", "Changed only", h("input", { type: "checkbox", role: "switch", checked: settings.changedOnly, onchange: (event) => {
        settings.changedOnly = event.target.checked;
        showAgain();
      } }))),
    h("p", { class: "hint", "data-key": "changed", role: "status" }, changedText(values)),
    names.length ? h("ul", { class: "settings", "data-key": "settings" }, names.map((name) => settingRow(name, values[name]))) : none("", true)];
}

function fitsSetting(name, values) {
  const fits = [name, words(name), settings.meanings?.[name]].join(" ").toLowerCase().includes(findText("settings").toLowerCase());
  return fits && (!settings.changedOnly || isChanged(name, values[name]));
}

function changedText(values) {
  const changed = Object.keys(values).filter((name) => isChanged(name, values[name])).length;
  return changed ? `${count(changed, "setting")} changed since the start.` : "All settings are as at the start.";
}

function isChanged(name, value) { return JSON.stringify(value ?? null) !== JSON.stringify(settings.start?.[name] ?? null); }

function settingRow(name, value) {
  const changed = isChanged(name, value);
  return h("li", { class: changed ? "setting changed" : "setting", "data-key": `setting ${name}`, "data-setting": name },
    typeof value === "boolean" ? settingSwitch(name, value) : settingInput(name, value),
    h("p", { class: "hint", id: `setting-${name}-meaning` }, settings.meanings?.[name]),
    changed && h("p", { class: "badges" }, badge("changed", "note"), h("span", { class: "hint" }, `at the start: ${settingText(settings.start[name]) || "nothing"}`),
      h("button", { type: "button", class: "small", "aria-label": `Set ${words(name)} back`, onclick: () => changeSetting(name, settings.start[name] ?? emptyLike(value)) }, "Set back")));
}

function emptyLike(value) { return Array.isArray(value) ? [] : value; }

function settingSwitch(name, value) {
  const id = `setting-${name}`;
  return [h("div", { class: "switch" }, h("input", { type: "checkbox", role: "switch", id, "aria-describedby": `${id}-meaning`, checked: value, onchange: (event) => changeSetting(name, event.target.checked) }),
    h("label", { for: id }, settingLabel(name))),
  foldedCurl(settingCall(name, !value), `setting ${words(name)}`)];
}

function settingLabel(name) { return [words(name), " ", h("code", { class: "aside" }, name)]; }

function settingInput(name, value) {
  const id = `setting-${name}`;
  const text = settings.typed[name] ?? settingText(value);
  const typed = (changed) => {
    settings.typed[name] = changed;
    showAgain();
  };
  const attributes = { class: "value", inputmode: /^-?[\d.]+$/.test(settingText(value)) ? "decimal" : null };
  const control = settingValues[name] ? choice(text, settingValues[name], typed) : textInput(text, typed, attributes);
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-meaning`);
  return form(`form ${name}`, () => changeSetting(name, settingValue(value, text)),
    h("label", { for: id }, settingLabel(name)), h("div", { class: "line" }, control,
      h("button", { type: "submit", class: "small", "aria-label": `Apply ${words(name)}`, disabled: text === settingText(value) }, "Apply")),
    foldedCurl(settingCall(name, settingValue(value, text)), `setting ${words(name)}`));
}

// settingText writes a value as people type it: a list with commas.
function settingText(value) { return Array.isArray(value) ? value.join(", ") : String(value ?? ""); }

// settingValue reads what was typed, as the same type that the host sent.
function settingValue(value, text) {
  if (typeof value === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (Array.isArray(value) || value === null) return text.split(/[\s,]+/).filter(Boolean);
  return text.trim();
}

function settingCall(name, value) { return { method: "PUT", path: "/settings", body: { [name]: value } }; }

async function changeSetting(name, value) {
  const changed = await perform(settingCall(name, value), (now) => `${words(name)} is now ${settingText(now[name]) || "empty"}.`);
  if (changed) delete settings.typed[name];
  showAgain();
}
