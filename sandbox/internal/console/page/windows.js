// --- Rate windows as they fill.

function loadWindows() { return read(found("windows", "/windows")); }

function windowsView({ items = [], on }) {
  const call = settingCall("rateLimits", !on);
  return [heading("windows", "Rate windows", "How many requests each credential, address or account has made, and when its window closes."),
    h("div", { class: "card", "data-key": "on" },
      h("div", { class: "switch" }, h("input", { type: "checkbox", role: "switch", id: "windows-on", checked: on, onchange: () => perform(call, on ? "The windows are off." : "The windows are on.") }),
        h("label", { for: "windows-on" }, "Count requests, and refuse those over a limit")),
      foldedCurl(call, "rate windows on or off")),
    h("div", { class: "bar", "data-key": "find" }, findField("windows")),
    items.length ? table("Open windows", ["Window", { name: "For", class: "wide" }, "Requests", "Closes"], items.map(windowRow))
      : none(h("p", {}, on ? "No window is open. It opens with the next request." : "The host counts no requests."), findText("windows"))];
}

function windowRow({ window: name, key, count: used, limit, closesAt }) {
  return h("tr", { "data-key": `window ${name} ${key}` }, h("th", { scope: "row" }, words(name), h("code", { class: "narrow aside" }, key)),
    h("td", { class: "wide" }, h("code", {}, key)), h("td", {}, bar(used, limit), `${used} of ${limit}`), h("td", {}, closesIn(closesAt)));
}

// bar draws how full something is. The text beside it says the same. Where it is no good to be full, almost full looks so.
function bar(used, limit, warns = true) {
  const full = Math.min(1, limit ? used / limit : 0);
  return h("svg", { class: warns && full >= 0.9 ? "fill almost" : "fill", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("rect", { class: "all", width: 100, height: 8, rx: 2 }), h("rect", { class: "used", width: 100 * full, height: 8, rx: 2 }));
}

function closesIn(closesAt) {
  const seconds = Math.max(0, Math.round((Date.parse(closesAt) - Date.parse(host.now || closesAt)) / 1000));
  return seconds < 120 ? `in ${seconds} s` : `in ${Math.round(seconds / 60)} min`;
}
