// --- Elements: how the page makes and updates them. Text always becomes a text node, never HTML.

const svgNames = new Set(["svg", "g", "path", "rect", "text", "title", "desc", "defs", "marker"]);
const handlers = ["onclick", "onchange", "oninput", "onsubmit", "onkeydown", "onfocus", "ontoggle"];

// h makes an element. Handlers and form values are properties, everything else is an attribute. An attribute that is
// false, null or undefined is left out. Children are elements, texts, or lists of them.
function h(name, attributes = {}, ...children) {
  const svg = svgNames.has(name) && !(name === "title" && attributes.html);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  const { value, checked, ...rest } = attributes;
  for (const [key, given] of Object.entries(rest)) {
    if (handlers.includes(key)) node[key] = given;
    else if (given !== false && given !== null && given !== undefined) node.setAttribute(key, given === true ? "" : given);
  }
  node.append(...children.flat(Infinity).filter(isShown).map(asNode));
  if (value !== undefined) node.value = value;
  if (checked !== undefined) node.checked = checked;
  return node;
}

function isShown(child) { return child !== null && child !== undefined && child !== false; }

function asNode(child) { return child instanceof Node ? child : document.createTextNode(String(child)); }

function byId(id) { return document.getElementById(id); }

function keyOf(node) { return node.dataset?.key; }

// update makes the children of a parent equal to the given nodes, and changes as little as possible: an element that
// stays keeps its focus, its open details and the text that is typed into it. Elements with a data-key are found again
// wherever they are, others by their place.
function update(parent, ...children) {
  const nodes = children.flat(Infinity).filter(isShown).map(asNode);
  const present = new Map([...parent.childNodes].filter(keyOf).map((child) => [keyOf(child), child]));
  const wanted = new Set(nodes.map(keyOf));
  let at = parent.firstChild;
  for (const node of nodes) {
    while (at && keyOf(at) && !wanted.has(keyOf(at))) at = removed(at);
    const old = keyOf(node) ? present.get(keyOf(node)) : at && !keyOf(at) && at.nodeName === node.nodeName ? at : null;
    if (!old || old.nodeName !== node.nodeName) {
      parent.insertBefore(node, at);
      continue;
    }
    if (old === at) at = at.nextSibling;
    else parent.insertBefore(old, at);
    become(old, node);
  }
  while (at) at = removed(at);
}

// removed removes a node and returns the one after it.
function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// become changes a node into another of the same name.
function become(old, node) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!node.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of node.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of handlers) old[name] = node[name];
  update(old, [...node.childNodes]);
  takeValue(old, node);
}

// takeValue copies the value of a form control, unless a person is in it.
function takeValue(old, node) {
  if (!("value" in node) || node.nodeName === "BUTTON" || node.nodeName === "LI") return;
  if ("checked" in node) old.checked = node.checked;
  if (old !== document.activeElement && old.value !== node.value) old.value = node.value;
}
