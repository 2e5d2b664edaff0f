// The desk's server, as the page speaks to it.

export class Refused extends Error {
  constructor(status, message, wait) {
    super(message);
    this.status = status;
    this.wait = wait;
  }
}

const PATIENCE = 20000; // milliseconds
const LONG = 120000; // of a request that may bring a file, or put all documents into another order

async function call(path, body, patience = PATIENCE) {
  const asked = { headers: { "X-Desk": "1" }, credentials: "same-origin", signal: AbortSignal.timeout(patience) };
  if (body !== undefined) {
    asked.method = "POST";
    asked.headers["Content-Type"] = "application/json";
    asked.body = JSON.stringify(body);
  }
  const answer = await fetch(path, asked);
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Refused(answer.status, told.error ?? "The desk sent an unexpected response.", Number(answer.headers.get("Retry-After")) || null);
  }
  return told;
}

export const server = {
  get: (path) => call(path, undefined, LONG), // of the lead's page, where some are measured
  post: (path, body) => call(path, body ?? {}, LONG),
  me: () => call("/api/me"),
  next: (count) => call("/api/next", { count }),
  act: (acts) => call("/api/act", { acts }),
};
