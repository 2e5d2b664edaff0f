// Which key does what. A lead gives the grades their keys; every assessor may change them.

import { element, remember, remembered } from "./elements.js";

const ACTIONS = {
  undo: ["u", "Undo the last action"],
  later: ["l", "Skip for now, and show it again at the end"],
  cannot: ["c", "Can’t judge"],
  note: ["n", "Note and reasons"],
  guideline: ["g", "Show or hide guideline"],
  list: ["v", "Switch between single document and list"],
  down: ["j", "Next document in the list"],
  up: ["k", "Previous document in the list"],
  history: ["h", "Show or hide history"],
  help: ["?", "Show keyboard shortcuts"],
};

const ARROWS = { ArrowDown: "down", ArrowUp: "up" };

export class Keys {
  constructor(name, scale, act) {
    this.name = `desk:${name}:keys`;
    this.setScale(scale);
    document.addEventListener("keydown", (event) => this.hear(event, act));
  }

  setScale(scale) {
    this.first = {};
    this.words = {};
    for (const grade of scale) {
      this.first[`grade:${grade.value}`] = grade.key;
      this.words[`grade:${grade.value}`] = `Grade ${grade.value}${grade.word ? `: ${grade.word}` : ""}`;
    }
    for (const [action, [key, word]] of Object.entries(ACTIONS)) {
      this.first[action] = Object.values(this.first).includes(key) ? "" : key; // a long scale needs letters
      this.words[action] = word;
    }
    const kept = remembered(this.name, {});
    this.on = kept.on !== false;
    const own = Object.fromEntries(Object.entries(kept.keys ?? {}).filter(([action]) => action in this.first));
    this.keys = { ...this.first, ...own };
    // A key of one's own goes on doing what it did, also where the lead gives it to something else by now.
    const mine = new Set(Object.values(own));
    for (const action of Object.keys(this.first).filter((each) => !(each in own) && mine.has(this.first[each]))) {
      const number = action.replace("grade:", "");
      this.keys[action] = number.length === 1 && !Object.values(this.keys).includes(number) ? number : "";
    }
  }

  of(action) {
    return this.on ? (this.keys[action] ?? "") : "";
  }

  hear(event, act) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    if (target.matches?.("input, textarea, select")) return;
    if (!this.on) return;
    // The same key first; with Shift or Caps Lock, the small letter, where nothing else has the capital.
    const having = (key) => Object.keys(this.keys).find((each) => this.keys[each] && this.keys[each] === key);
    const action = having(event.key) ?? having(event.key.toLowerCase()) ?? ARROWS[event.key];
    if (!action) return;
    if (act(action) !== false) event.preventDefault();
  }

  // Only what differs: a key that nobody changed here follows the lead.
  save() {
    const changed = Object.entries(this.keys).filter(([action, key]) => key !== this.first[action]);
    remember(this.name, { on: this.on, keys: Object.fromEntries(changed) });
  }

  reset() {
    this.keys = { ...this.first };
    this.on = true;
    this.save();
  }

  // One field for each key. A key that something else has already is taken from that; Backspace leaves none.
  fields(changed) {
    return Object.keys(this.first).map((action) => {
      const field = element("input", { value: this.keys[action], maxlength: 1, autocomplete: "off", "aria-label": this.words[action] });
      field.addEventListener("keydown", (event) => {
        const none = event.key === "Backspace" || event.key === "Delete";
        if ((event.key.length !== 1 && !none) || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        if (event.key === " ") return;
        const other = Object.keys(this.keys).find((each) => each !== action && this.keys[each] === event.key);
        if (other) this.keys[other] = this.keys[action];
        this.keys[action] = none ? "" : event.key;
        this.save();
        changed(action);
      });
      return element("label", {}, element("span", { dir: "auto" }, this.words[action]), field);
    });
  }
}
