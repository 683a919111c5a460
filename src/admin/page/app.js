"use strict";
// The page of one worker: calls on the left, the chosen one as it forms, the worker's figures, and a playground. Text is only ever set as text, never
// as markup: what is said in a call may be anything.

// The cookie is over after some hours: the page then asks for the token again.
const signedIn = (answer) => {
  if (answer.status === 401) location.reload();
  return answer;
};
const $ = (id) => document.getElementById(id);
const SECONDS = 120;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Who speaks: the channel, the speaker, or both.
function who(segment) {
  return [segment.channel, segment.speaker].filter(Boolean).join(" · ") || "speaker";
}

// One segment's words, entities marked, what was removed where it was said, and at the end how much is hidden. Where a segment has several speakers, each one's words have the name before them.
function written(segment, frozen) {
  const out = document.createDocumentFragment();
  let speaker = segment.speaker;
  const removed = [...segment.removed];
  const sayRemoved = (before) => {
    while (removed.length && removed[0].src[0] < before) {
      out.append(element("span", "removed", removed.shift().spoken + " "));
    }
  };
  let at = 0;
  while (at < segment.words.length) {
    const entity = segment.entities.find((e) => e.words[0] === at && e.words[1] > at);
    const end = entity ? entity.words[1] : at + 1;
    const words = segment.words.slice(at, end);
    sayRemoved(words[0].src[0]);
    if (words[0].speaker && words[0].speaker !== speaker) {
      speaker = words[0].speaker;
      out.append(element("b", "speaker", speaker));
    }
    const text = words.map((w) => w.text).join(" ");
    const settled = frozen !== undefined && end <= frozen;
    const span = element("span", [entity ? "entity" : "", settled ? "frozen" : ""].join(" ").trim(), text);
    if (entity) {
      span.title = `said: ${entity.spoken}`;
      span.tabIndex = 0;
      span.setAttribute("role", "note");
      span.setAttribute("aria-label", `${text}, ${entity.class}, said: ${entity.spoken}`);
    }
    out.append(span, " ");
    at = end;
  }
  sayRemoved(Infinity);
  const hidden = Object.entries(segment.redacted ?? {}).map(([name, number]) => `${number} ${name}`);
  if (hidden.length) out.append(element("small", "hidden", `hidden: ${hidden.join(", ")}`), " ");
  return out;
}

let source;
let chosen;
let stopped = false; // the worker said that it stops

function follow(session) {
  if (session !== chosen) clearCall();
  chosen = session;
  $("session-name").textContent = session;
  for (const button of $("sessions").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.session === session));
  }
  if (source) source.close();
  source = new EventSource(`/page/events?${new URLSearchParams({ session })}`);
  // A connection begins with all that the worker remembers. Until its first segment, what stood on the page stays.
  let first = true;
  source.addEventListener("segment", (e) => {
    if (first) clearCall();
    first = false;
    show(JSON.parse(e.data).segment);
  });
  source.addEventListener("figures", (e) => figures(JSON.parse(e.data)));
  source.addEventListener("stopped", () => {
    stopped = true;
    source.close();
    $("state").textContent = "the worker has stopped";
  });
  source.onopen = () => {
    stopped = false;
    first = true;
    $("state").textContent = "live";
  };
  source.onerror = () => {
    if (!stopped) $("state").textContent = "connection lost; trying again";
  };
}

function tailOf(channel) {
  return [...$("tails").children].find((p) => p.dataset.channel === channel);
}

// What of the chosen call is on the page, in the order of speech: { start, who, node }. The end of a channel has no speaker.
let spoken = [];
// Start of the last segment of each channel, for segments without times.
let lastStart = new Map();

function clock(seconds) {
  const part = (n) => String(Math.floor(n)).padStart(2, "0");
  const [h, m] = [Math.floor(seconds / 3600), (seconds % 3600) / 60];
  return h ? `${h}:${part(m)}:${part(seconds % 60)}` : `${Math.floor(m)}:${part(seconds % 60)}`;
}

// Puts something into the call where it was said, and joins what one speaker says without a break to one turn. Where something was said before what
// is there already, only what follows its place is made anew.
function place(start, speaker, node) {
  let at = spoken.length;
  while (at > 0 && spoken[at - 1].start > start) at--;
  spoken.splice(at, 0, { start, who: speaker, node });
  const before = spoken[at - 1]?.node;
  const turn = before?.closest("p");
  while (turn ? turn.nextSibling : $("transcript").firstChild) (turn ? turn.nextSibling : $("transcript").firstChild).remove();
  while (before && before !== turn && before.nextSibling) before.nextSibling.remove();
  for (let i = at; i < spoken.length; i++) append(spoken[i], spoken[i - 1]);
}

// Adds what comes last: to the turn of the speaker before, or as a turn of its own.
function append(one, previous) {
  if (one.who === undefined) {
    $("transcript").append(one.node);
  } else if (previous?.who === one.who) {
    $("transcript").lastElementChild.append(" ", one.node);
  } else {
    const turn = element("p", "turn");
    if (one.start >= 0) turn.append(element("time", "", clock(one.start)));
    turn.append(element("b", "", one.who), one.node);
    $("transcript").append(turn);
  }
}

function clearCall() {
  spoken = [];
  lastStart = new Map();
  $("transcript").replaceChildren();
  $("tails").replaceChildren();
}

// Says whose turn it is, until somebody speaks again.
function showTurn(channel, turn) {
  const open = turn.open?.length ? `, open: ${turn.open.join(", ")}` : "";
  const text = turn.next === "other" ? `${channel} has finished` : `${channel} has stopped`;
  tailOf(channel)?.remove();
  const tail = element("p", "tail");
  tail.dataset.channel = channel;
  tail.append(element("b", "", channel), element("span", "ended", `${text} (${Math.round(turn.probability * 100)} %${open})`));
  $("tails").append(tail);
}

function show(segment) {
  const channel = segment.channel || "speaker";
  if (segment.kind === "turn") {
    showTurn(channel, segment.turn);
    return;
  }
  if (segment.kind === "partial") {
    let tail = tailOf(channel);
    if (!segment.words.length) {
      tail?.remove();
      return;
    }
    if (!tail) {
      tail = element("p", "tail");
      tail.dataset.channel = channel;
      $("tails").append(tail);
    }
    tail.replaceChildren(element("b", "", who(segment)), written(segment, segment.frozen));
    return;
  }
  tailOf(channel)?.remove();
  // Without times a segment stands after the last one of its channel, or at the end.
  const last = spoken.at(-1)?.start ?? -1;
  if (segment.kind === "end") {
    place(last, undefined, element("p", "ended", `${channel}: end, ${segment.counts?.words ?? 0} words`));
    return;
  }
  const start = segment.words.find((w) => typeof w.s === "number")?.s ?? lastStart.get(channel) ?? last;
  lastStart.set(channel, start);
  const sentence = element("span", "sentence");
  sentence.append(written(segment));
  place(start, who(segment), sentence);
}

const history = { rate: [], delay: [] };
let before;

function plot(id, values) {
  const top = Math.max(1e-9, ...values);
  const points = values.map((v, i) => `${SECONDS - values.length + i},${39 - (38 * v) / top}`).join(" ");
  $(id).querySelector("polyline").setAttribute("points", points);
  $(id).setAttribute("aria-label", `${id === "rate-plot" ? "words a second" : "seconds until a word is final"}, now ${values.at(-1).toFixed(1)}, highest ${top.toFixed(1)}`);
}

function figures(now) {
  if (before) {
    const words = now.words - before.words;
    const delay = words > 0 ? (now.delay_ms - before.delay_ms) / words / 1000 : history.delay.at(-1) ?? 0;
    for (const [name, value] of [["rate", words], ["delay", delay]]) {
      history[name].push(value);
      if (history[name].length > SECONDS) history[name].shift();
      plot(`${name}-plot`, history[name]);
    }
    $("rate").textContent = String(words);
    $("delay").textContent = words > 0 ? `${delay.toFixed(1)} s` : "–";
  }
  $("lag").textContent = String(now.lag);
  before = now;
}

async function calls() {
  try {
    const answer = signedIn(await fetch("/page/sessions"));
    if (!answer.ok) throw new Error(await answer.text()); // it stops, or starts
    const all = await answer.json();
    $("no-sessions").hidden = all.length > 0;
    const focused = document.activeElement?.dataset?.session;
    $("sessions").replaceChildren(...all.map(({ session, open }) => {
      const item = element("li");
      const button = element("button", "", session);
      button.type = "button";
      button.dataset.session = session;
      button.setAttribute("aria-pressed", String(session === chosen));
      button.append(" ", element("small", "", open ? "open" : "ended"));
      button.onclick = () => follow(session);
      item.append(button);
      return item;
    }));
    if (focused) $("sessions").querySelector(`[data-session="${CSS.escape(focused)}"]`)?.focus();
    if (stopped) follow(chosen); // a worker answers again
    if (!chosen && all.length) follow(all[0].session);
  } catch {
    if (!stopped) $("state").textContent = "the worker does not answer; trying again";
  }
}

$("show-removed").onchange = (e) => $("transcript").classList.toggle("with-removed", e.target.checked);

$("form").onsubmit = async (e) => {
  e.preventDefault();
  $("trouble").textContent = "";
  const body = JSON.stringify({ text: $("words").value, profile: $("profile").value });
  const answer = signedIn(await fetch("/page/format", { method: "POST", headers: { "content-type": "application/json" }, body }));
  if (!answer.ok) {
    $("trouble").textContent = await answer.text();
    return;
  }
  const { segments, tags } = await answer.json();
  $("formatted").replaceChildren(...segments.filter((s) => s.kind === "final").map((s) => written(s)));
  $("tags").hidden = false;
  $("tags").tBodies[0].replaceChildren(...tags.map((t) => {
    const row = element("tr");
    row.append(...[t.w, t.mark, t.case, t.span, t.disfluency].map((cell) => element("td", "", cell)));
    return row;
  }));
};

async function profiles() {
  const answer = signedIn(await fetch("/page/profiles"));
  if (!answer.ok) return setTimeout(profiles, 1000);
  $("profile").replaceChildren(...(await answer.json()).map((name) => element("option", "", name)));
}

profiles();
calls();
setInterval(calls, 2000);
