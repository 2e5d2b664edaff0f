// What the package shares with the repository.
import { copyFileSync } from "node:fs";

const here = (path) => new URL(path, import.meta.url);
copyFileSync(here("../../docs/playground/ndcg.js"), here("ndcg.js"));
copyFileSync(here("../../LICENSE"), here("LICENSE"));
