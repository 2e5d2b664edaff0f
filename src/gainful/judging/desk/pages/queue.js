// The documents that come next. They are fetched before they are needed, so that nobody waits for one.

const AHEAD = 16;
const FEWEST = 12; // a lost connection leaves at least so many

export class Queue {
  constructor(server, outbox, changed) {
    this.server = server;
    this.outbox = outbox;
    this.changed = changed; // called with a problem, or nothing
    this.tasks = [];
    this.asking = null;
    this.again = false;
    this.empty = false; // whether the server had nothing more
    this.problem = null; // why it gave none when it was asked last
    this.acted = new Map(); // item -> when an act about it was last confirmed
  }

  get first() {
    return this.tasks[0] ?? null;
  }

  confirmed(item) {
    this.acted.set(item, performance.now());
  }

  take(item) {
    this.tasks = this.tasks.filter((task) => task.item !== item);
    this.fill();
  }

  putFirst(task) {
    this.tasks = [task, ...this.tasks.filter((each) => each.item !== task.item)];
  }

  fill(force = false) {
    if (this.asking) {
      this.again ||= force; // what is asked for now may be missing in an answer that is on its way
      return this.asking;
    }
    if (!force && (this.tasks.length >= FEWEST || (this.empty && this.tasks.length))) return null;
    this.again = false;
    this.asking = this.ask().then((problem) => {
      this.asking = null;
      this.changed(problem);
      if (this.again) this.fill(true);
    });
    return this.asking;
  }

  async ask() {
    const begun = performance.now();
    try {
      const told = await this.server.next(AHEAD + this.outbox.waiting.length);
      const here = new Set(this.tasks.map((task) => task.item));
      const more = told.tasks.filter(
        (task) => !here.has(task.item) && !this.outbox.has(task.item) && !(this.acted.get(task.item) > begun),
      );
      this.problem = null;
      this.empty = more.length === 0;
      this.tasks.push(...more);
      return null;
    } catch (problem) {
      this.problem = problem;
      return problem;
    }
  }
}
