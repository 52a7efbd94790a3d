// The page at /: a small client of /rest and /api/v1.
"use strict";

const byId = (id) => document.getElementById(id);
const PAGE_SIZE = 50;
const POLL = 2000;
// A stream that breaks is asked for again this often before the page gives up.
const TRIES = 4;

let visitor = null;
let playing = null;
let offset = 0;

function element(name, properties = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function restUrl(endpoint, params = {}) {
  const salt = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const query = new URLSearchParams({
    u: visitor.user, t: md5(visitor.password + salt), s: salt, v: "1.16.1", c: "segue-page", f: "json", ...params,
  });
  return `/rest/${endpoint}?${query}`;
}

async function rest(endpoint, params) {
  const answer = await fetch(restUrl(endpoint, params));
  const envelope = (await answer.json())["subsonic-response"];
  if (envelope.status !== "ok") {
    throw new Error(envelope.error.message);
  }
  return envelope;
}

async function api(path) {
  const pair = String.fromCharCode(...new TextEncoder().encode(`${visitor.user}:${visitor.password}`));
  const answer = await fetch(`/api/v1/${path}`, { headers: { Authorization: `Basic ${btoa(pair)}` } });
  if (!answer.ok) {
    throw new Error(`The hub answered with status ${answer.status}.`);
  }
  return answer.json();
}

byId("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("problem").textContent = "";
  visitor = { user: byId("user").value, password: byId("password").value };
  try {
    await rest("ping");
    byId("login").hidden = true;
    byId("room").hidden = false;
    byId("who").textContent = `logged in as ${visitor.user}`;
    byId("who").hidden = false;
    byId("password").value = "";
    watch();
    await showAlbums();
  } catch (error) {
    byId("problem").textContent = error.message;
  }
});

async function showAlbums() {
  const list = await rest("getAlbumList2", { type: "alphabeticalByArtist", size: PAGE_SIZE, offset });
  const albums = list.albumList2.album ?? [];
  offset += albums.length;
  byId("albums").append(...albums.map(albumItem));
  byId("more").hidden = albums.length < PAGE_SIZE;
}
byId("more").addEventListener("click", showAlbums);

function albumItem(album) {
  const cover = element("img", { alt: "", loading: "lazy", src: restUrl("getCoverArt", { id: album.coverArt ?? album.id, size: 96 }) });
  const title = element("span", { textContent: `${album.name} · ${album.artist ?? ""}` });
  const tracks = element("ol");
  const details = element("details", {}, [element("summary", {}, [cover, title]), tracks]);
  details.addEventListener("toggle", async () => {
    if (details.open && tracks.childElementCount === 0) {
      const found = await rest("getAlbum", { id: album.id });
      tracks.append(...(found.album.song ?? []).map(trackItem));
    }
  });
  return element("li", {}, [details]);
}

function trackItem(song) {
  const play = element("button", { type: "button", textContent: "Play" });
  play.setAttribute("aria-label", `Play ${song.title}`);
  play.addEventListener("click", () => start(song));
  const minutes = `${Math.floor((song.duration ?? 0) / 60)}:${String((song.duration ?? 0) % 60).padStart(2, "0")}`;
  return element("li", {}, [play, element("span", { textContent: song.title }), element("span", { textContent: minutes })]);
}

function start(song) {
  playing = { song, tries: 0, since: 0 };
  open(0);
  byId("playing").textContent = `${song.title} · ${song.artist ?? ""}`;
}

function open(seconds) {
  const audio = byId("audio");
  playing.since = seconds;
  audio.src = restUrl("stream", { id: playing.song.id });
  if (seconds > 0) {
    audio.addEventListener("loadedmetadata", () => { audio.currentTime = seconds; }, { once: true });
  }
  // A browser that wants a click first is not in trouble.
  audio.play().catch(() => {});
}

// The source died under the stream. Asked again, the hub plays from another one.
byId("audio").addEventListener("error", () => {
  const audio = byId("audio");
  if (playing === null) {
    return;
  }
  if (playing.tries === TRIES) {
    byId("playing").textContent = `${playing.song.title} cannot be played now.`;
    return;
  }
  const reached = audio.currentTime;
  playing.tries += 1;
  byId("playing").textContent = `${playing.song.title}: the source died; going on from another one`;
  setTimeout(() => open(reached), 250 * playing.tries);
});
byId("audio").addEventListener("playing", () => {
  if (playing !== null) {
    byId("playing").textContent = `${playing.song.title} · ${playing.song.artist ?? ""}`;
  }
});
byId("audio").addEventListener("timeupdate", () => {
  // What has played on for a while has recovered.
  if (playing !== null && byId("audio").currentTime > playing.since + 5) {
    playing.tries = 0;
  }
});

async function watch() {
  try {
    const [sources, activity] = await Promise.all([api("sources"), api("activity?limit=12")]);
    byId("sources").replaceChildren(...sources.sources.map(sourceRow));
    byId("activity").replaceChildren(...activity.operations.map(operationRow));
  } catch (error) {
    byId("sources").replaceChildren(row([error.message]));
  }
  setTimeout(watch, POLL);
}

function row(cells) {
  return element("tr", {}, cells.map((cell) => (cell instanceof Node ? cell : element("td", { textContent: cell ?? "" }))));
}

function sourceRow(source) {
  const words = { ok: "plays", suspect: "left alone for a while", half_open: "being tried again" };
  const state = element("td", {
    textContent: words[source.state] ?? source.state,
    className: source.state === "ok" ? "good" : "bad",
  });
  return row([source.id, state, String(source.tracks), source.last_error]);
}

function operationRow(operation) {
  const passedOver = operation.attempts
    .filter((attempt) => attempt.source_id !== operation.source_id)
    .map((attempt) => `${attempt.source_id} (${attempt.outcome})`);
  const ended = element("td", {
    textContent: operation.error ?? operation.status,
    className: operation.error ? "bad" : "",
  });
  const when = new Date(operation.started_at).toLocaleTimeString();
  return row([when, operation.track_title, operation.source_id ?? "none", passedOver.join(", "), ended]);
}
