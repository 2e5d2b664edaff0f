// Acts that the server has not confirmed yet. Each is kept in the browser under a name of its own, so that
// a reload, a lost connection or a second window loses none; its key makes it count once, however often it is sent.

import { remembered } from "./elements.js";

const BATCH = 40;
const LONGEST = 4000; // milliseconds between two tries

export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is missing where there is no https
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Outbox {
  // `heard` has confirmed(act, answer), refused(act, why), state(name, waiting, message).
  constructor(name, server, heard) {
    this.prefix = `desk:${name}:act:`;
    this.server = server;
    this.heard = heard;
    this.acts = new Map(); // place in the order -> act
    this.kept = true;
    this.sending = false;
    this.tries = 0;
    this.said = ""; // by the server, where it answered that it takes nothing
    this.timer = null;
    this.count = 0;
    this.read();
    addEventListener("online", () => this.send());
    addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.send());
    addEventListener("storage", (event) => event.key?.startsWith(this.prefix) && this.read());
    addEventListener("beforeunload", (event) => {
      if (this.acts.size && !this.kept) event.preventDefault(); // only here could they be lost
    });
  }

  read() {
    try {
      for (const place of Object.keys(localStorage)) {
        if (place.startsWith(this.prefix) && !this.acts.has(place)) {
          const act = remembered(place, null);
          if (act) this.acts.set(place, act);
        }
      }
    } catch {
      this.kept = false;
    }
  }

  get waiting() {
    return [...this.acts.keys()].sort().map((place) => this.acts.get(place));
  }

  has(item) {
    return this.waiting.some((act) => act.item === item);
  }

  put(act) {
    const order = `${String(Date.now()).padStart(15, "0")}-${String(this.count++).padStart(6, "0")}`;
    const place = `${this.prefix}${order}-${act.key}`;
    this.acts.set(place, act);
    try {
      localStorage.setItem(place, JSON.stringify(act));
    } catch {
      this.kept = false;
    }
    this.tell();
    this.send();
  }

  drop(place) {
    this.acts.delete(place);
    try {
      localStorage.removeItem(place);
    } catch {
      // it was never kept
    }
  }

  tell() {
    const waiting = this.acts.size;
    const name = !waiting ? "saved" : this.tries ? "waiting" : "sending";
    this.heard.state(name, waiting, this.said);
  }

  async send() {
    if (this.sending || !this.acts.size) return;
    clearTimeout(this.timer);
    this.sending = true;
    const places = [...this.acts.keys()].sort().slice(0, BATCH);
    const sent = new Map(places.map((place) => [this.acts.get(place).key, place]));
    let again = 0;
    try {
      const told = await this.server.act(places.map((place) => this.acts.get(place)));
      this.tries = 0;
      this.said = "";
      for (const answer of [...told.confirmed, ...told.refused]) {
        const place = sent.get(answer.key);
        const act = this.acts.get(place);
        if (!act) continue;
        this.drop(place);
        if ("why" in answer) this.heard.refused(act, answer.why);
        else this.heard.confirmed(act, answer);
      }
      this.tell();
    } catch (problem) {
      this.tries += 1;
      again = problem.wait ? problem.wait * 1000 : Math.min(LONGEST, 250 * 2 ** this.tries);
      this.said = problem.status ? problem.message : "";
      this.tell();
    }
    this.sending = false;
    if (this.acts.size) this.timer = setTimeout(() => this.send(), again);
  }
}
