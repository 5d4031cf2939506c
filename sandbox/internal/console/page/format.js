// --- Formats: amounts, times, JSON and names as people read them.

// sumOf adds decimal texts exactly.
function sumOf(amounts) {
  const places = Math.max(0, ...amounts.map((amount) => (amount.split(".")[1] || "").length));
  const total = amounts.reduce((sum, amount) => sum + scaled(amount, places), 0n);
  return unscaled(total, places);
}

function scaled(amount, places) {
  const [whole, fraction = ""] = amount.replace(/^[-+]/, "").split(".");
  const number = BigInt((whole || "0") + fraction.padEnd(places, "0"));
  return amount.startsWith("-") ? -number : number;
}

function unscaled(number, places) {
  const digits = String(number < 0n ? -number : number).padStart(places + 1, "0");
  const fraction = places ? digits.slice(-places).replace(/0+$/, "") : "";
  const whole = places ? digits.slice(0, -places) : digits;
  return (number < 0n ? "-" : "") + whole + (fraction ? "." + fraction : "");
}

// signed writes an amount of the ledger with its sign: what the account gains or gives.
function signed(amount) { return amount.startsWith("-") ? "−" + amount.slice(1) : "+" + amount; }

// clockText writes the time of day of the host's clock, in UTC.
function clockText(time) { return time.slice(11, 19); }

function dayText(time) { return time.slice(0, 10); }

// moment shows a time, with its day if it is not today at the host.
function moment(time) {
  const day = dayText(time) === dayText(host.now || time) ? null : [dayText(time), " "];
  return h("time", { datetime: time, title: time }, day, clockText(time));
}

// prettyBody writes JSON with indents, and any other text as it is.
function prettyBody(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const initialisms = new Set(["kyb", "kyc", "id", "url"]);

// words makes "Payout step after" of payoutStepAfter or payout_step_after.
function words(name) {
  const spaced = name.replace(/_/g, " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  const lower = spaced.split(" ").map((word) => (initialisms.has(word.toLowerCase()) || /^[A-Z]+$/.test(word) ? word.toUpperCase() : word.toLowerCase())).join(" ");
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

function count(number, one, many = one + "s") { return `${number} ${number === 1 ? one : many}`; }

// Variable is a word that a shell makes of a variable or of the output of a command. Nothing in it is from a request.
class Variable {
  constructor(text) { this.text = text; }
}

// wordOf writes a text as one word of a shell, as the package shell of the SDK does. What does not print becomes a
// number in it, because a terminal would obey it. No word has a NUL.
function wordOf(text) {
  if (text instanceof Variable) return `"${text.text}"`;
  const word = text.toWellFormed().replaceAll("\0", "");
  if (/^(?!=)[\w@%+=:,./-]+$/.test(word)) return word;
  if (!/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u.test(word)) return "'" + word.replaceAll("'", `'\\''`) + "'";
  return "$'" + word.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd'\\]/gu, numbersOf) + "'";
}

function numbersOf(letter) {
  return [...new TextEncoder().encode(letter)].map((byte) => "\\" + byte.toString(8).padStart(3, "0")).join("");
}

// shellLine writes a command that a person may paste. Every line of the page for a shell is made by it.
function shellLine(...words) { return words.map(wordOf).join(" "); }

// globbing keeps curl from expanding an address with brackets.
function globbing(address) { return /[[\]{}]/.test(address) ? ["-g"] : []; }

// sentence writes a text of an error as a sentence.
function sentence(text) { return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : "."); }
