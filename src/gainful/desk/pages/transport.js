// The desk's server, as the page speaks to it.

export class Refused extends Error {
  constructor(status, message, wait) {
    super(message);
    this.status = status;
    this.wait = wait;
  }
}

async function call(path, body) {
  const asked = { headers: { "X-Desk": "1" }, credentials: "same-origin", signal: AbortSignal.timeout(20000) };
  if (body !== undefined) {
    asked.method = "POST";
    asked.headers["Content-Type"] = "application/json";
    asked.body = JSON.stringify(body);
  }
  const answer = await fetch(path, asked);
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new Refused(answer.status, told.error ?? "The desk does not answer as it should.", Number(answer.headers.get("Retry-After")) || null);
  }
  return told;
}

export const server = {
  get: (path) => call(path),
  post: (path, body) => call(path, body ?? {}),
  me: () => call("/api/me"),
  next: (count) => call("/api/next", { count }),
  act: (acts) => call("/api/act", { acts }),
};
