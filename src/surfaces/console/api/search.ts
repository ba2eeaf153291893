import type { Method } from "../../../model/catalog.ts";
import { type Caller, mayCall } from "../../../model/caller.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { MethodSummary } from "../messages.ts";
import { readNumber } from "../read-body.ts";
import type { AddConsoleApi } from "../services.ts";

const MAX_RESULTS = 100;

/** Adds the search as a model sees it, the list of all methods, and the description of one. */
export const addSearchApi: AddConsoleApi = (api, { runtime }) => {
  api.get("/search", (c) => {
    const limit = readNumber(c, "limit", { fallback: 10, max: MAX_RESULTS });
    return c.json(runtime.search(c.req.query("q") ?? "", { caller: c.get("caller"), limit }));
  });
  api.get("/methods", (c) => {
    const caller = c.get("caller");
    return c.json({ methods: runtime.catalogFor(caller).methods.map((method) => summarizeMethod(method, caller)) });
  });
  api.get("/methods/:path", (c) => c.json(runtime.describe(c.req.param("path"), { caller: c.get("caller") })));
};

/** UTF-16 units of a description in lists. */
const MAX_SUMMARY_UNITS = 200;

function summarizeMethod({ path, description, metadata }: Method, caller: Caller): MethodSummary {
  const summary = truncateText(description.split("\n", 1)[0] ?? "", MAX_SUMMARY_UNITS);
  const { readOnly, destructive } = metadata;
  return { path, summary, readOnly, destructive, callable: mayCall(caller, path) };
}
