// --- State diagrams: states and their moves, drawn from a list of {from, to, by}.

const box = { width: 148, height: 38, rank: 44, side: 10, margin: 12, lane: 13 };

// diagram draws the states downwards. id tells the diagrams of the page apart, now is the present state, and moves are the
// states that are allowed next.
function diagram(id, name, states, now, moves = []) {
  const ranks = rankStates(states);
  const drawn = place(ranks, mainPath(states, ranks));
  const routes = states.filter(({ from, to }) => from !== to && drawn.at.has(from) && drawn.at.has(to))
    .map((edge) => route(edge, drawn.at, ranks));
  const spare = (side) => Math.max(0, ...routes.map((edge) => edge[side] || 0));
  const [before, width] = [spare("before"), drawn.width + spare("before") + spare("after")];
  return h("svg", { class: "diagram", role: "img", viewBox: `${-before} 0 ${width} ${drawn.height}`, width, height: drawn.height,
    "aria-label": describe(name, states, now, moves), "data-key": "diagram", "data-now": now || "" },
    h("defs", {}, arrowHead(`${id}-arrow`, "head"), arrowHead(`${id}-arrow-next`, "head next")),
    routes.map((edge) => drawEdge(id, edge, now, moves)),
    [...drawn.at].map(([state, at]) => drawState(state, at, now, moves)));
}

function describe(name, states, now, moves) {
  const all = [...rankStates(states).keys()].map(words).join(", ");
  const present = now ? ` Now: ${words(now)}.` : "";
  const next = moves.length ? ` Allowed now: ${moves.map(words).join(", ")}.` : "";
  return `${name}: states ${all}.${present}${next}`;
}

// rankStates gives each state its distance from the first: the longest way there that visits no state twice.
function rankStates(states) {
  const names = [...new Set(states.flatMap(({ from, to }) => [from, to]))].filter(Boolean);
  const starts = states.filter(({ from }) => !from).map(({ to }) => to);
  const ranks = new Map();
  const visit = (state, rank, way) => {
    if (way.has(state) || (ranks.get(state) ?? -1) >= rank) return;
    ranks.set(state, rank);
    const further = new Set(way).add(state);
    states.filter(({ from }) => from === state).forEach(({ to }) => visit(to, rank + 1, further));
  };
  (starts.length ? starts : names.slice(0, 1)).forEach((state) => visit(state, 0, new Set()));
  return ranks;
}

// mainPath is the longest way through the states. It becomes the left column.
function mainPath(states, ranks) {
  let [state, rank] = [...ranks].reduce((deepest, each) => (each[1] > deepest[1] ? each : deepest), [null, -1]);
  const path = new Set();
  for (; state; rank -= 1) {
    path.add(state);
    state = states.find(({ from, to }) => to === state && ranks.get(from) === rank - 1)?.from;
  }
  return path;
}

// place puts each rank in a row, with the state of the main path first.
function place(ranks, path) {
  const rows = [];
  for (const [state, rank] of ranks) (rows[rank] ??= [])[path.has(state) ? "unshift" : "push"](state);
  const most = Math.max(1, ...rows.map((row) => row.length));
  const at = new Map();
  rows.forEach((row, rank) => row.forEach((state, column) => at.set(state, { column,
    left: box.margin + column * (box.width + box.side), right: box.margin + column * (box.width + box.side) + box.width,
    top: box.margin + rank * (box.height + box.rank), bottom: box.margin + rank * (box.height + box.rank) + box.height })));
  return { at, width: 2 * box.margin + most * box.width + (most - 1) * box.side,
    height: 2 * box.margin + rows.length * box.height + (rows.length - 1) * box.rank };
}

// route leads an edge to the next rank straight, between states of one column around those between them, and to a
// state of another column around one corner.
function route({ from, to, by }, at, ranks) {
  const [a, b, ahead] = [at.get(from), at.get(to), ranks.get(to) - ranks.get(from)];
  if (ahead === 1) return { from, to, by, path: straight(a, b) };
  if (a.column !== b.column) return { from, to, by, path: corner(a, b) };
  const reach = box.lane * (1 + Math.abs(ahead));
  return { from, to, by, [a.column ? "after" : "before"]: reach * 0.75, path: around(a, b, reach, ahead > 0) };
}

function straight(a, b) {
  const [x1, x2, y] = [(a.left + a.right) / 2, (b.left + b.right) / 2, (a.bottom + b.top) / 2];
  return `M${x1} ${a.bottom} C${x1} ${y} ${x2} ${y} ${x2} ${b.top - 7}`;
}

function around(a, b, reach, ahead) {
  const out = (x) => (a.column ? x.right : x.left);
  const away = a.column ? 1 : -1;
  const [y1, y2] = [a.top + box.height * (ahead ? 0.7 : 0.3), b.top + box.height * (ahead ? 0.35 : 0.65)];
  return `M${out(a)} ${y1} C${out(a) + away * reach} ${y1} ${out(b) + away * reach} ${y2} ${out(b) + away * 7} ${y2}`;
}

// corner turns between the rows, and arrives from above. On the way back to the left it arrives at the side.
function corner(a, b) {
  if (a.column < b.column && b.top > a.top) {
    const [x1, x2] = [a.right - 16, (b.left + b.right) / 2 + 16];
    return `M${x1} ${a.bottom} C${x1} ${a.bottom + box.rank} ${x2} ${a.bottom} ${x2} ${b.top - 7}`;
  }
  const [x, y] = [(a.left + a.right) / 2 + 24, (b.top + b.bottom) / 2];
  const [start, end] = [b.top > a.top ? a.bottom : a.top, a.column > b.column ? b.right + 7 : b.left - 7];
  return `M${x} ${start} C${x} ${y} ${x} ${y} ${end} ${y}`;
}

function arrowHead(id, look) {
  return h("marker", { id, viewBox: "0 0 8 8", refX: 1, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 10, markerHeight: 10, orient: "auto-start-reverse" },
    h("path", { d: "M0 0 L8 4 L0 8 z", class: look }));
}

function drawEdge(id, { from, to, by, path }, now, moves) {
  const next = from === now && moves.includes(to);
  return h("path", { class: next ? "edge next" : "edge", d: path, "marker-end": `url(#${id}-${next ? "arrow-next" : "arrow"})` },
    h("title", {}, `${words(from)} → ${words(to)}: ${by}`));
}

function drawState(state, { left: x, top: y }, now, moves) {
  const look = state === now ? "state now" : moves.includes(state) ? "state next" : "state";
  return h("g", { class: look },
    h("rect", { x, y, width: box.width, height: box.height, rx: 8 }),
    h("text", { x: x + box.width / 2, y: y + box.height / 2 }, words(state)));
}

// transitions says in words what the diagram shows.
function transitions(states) {
  return h("details", { class: "transitions", "data-key": "transitions" }, h("summary", {}, "What causes each move"),
    table("Moves between states", ["From", "To", "Caused by"], states.map(({ from, to, by }) =>
      h("tr", {}, h("th", { scope: "row" }, from ? words(from) : "Start"), h("td", {}, words(to)), h("td", {}, by)))));
}
