import type { Method } from "../../model/catalog.ts";
import { createSourceText, printableName, createViolation } from "../../shared/source-text.ts";
import type { Violation } from "../../model/outcome.ts";
import type { ProgramSource, ToolCall } from "../../model/program.ts";
import type { Host } from "../context.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";

/** Longer arguments are shown as `{ … }`. */
const MAX_SHOWN_ARGUMENTS = 400;

/** Refuses tool calls in JSON, with the equivalent code as the fix. */
export function refuseToolCalls(
  { source, calls }: Extract<ProgramSource, { readonly kind: "toolCalls" }>,
  host: Host,
): Violation {
  const [call] = calls;
  const written = calls.map((each) => formatAsCode(each, host));
  const code =
    written.length === 1
      ? `return ${written[0] ?? ""}`
      : `return await Promise.all([${written.map((each) => each.replace(/^await /, "")).join(", ")}])`;
  const start = source.search(/\S/);
  return createViolation(createSourceText(source), {
    code: "SYNTAX",
    values: `a tool call in JSON, ${printableName(call?.name ?? "")}, where code was expected`,
    start,
    end: source.trimEnd().length,
    fix: `Write ${code}`,
  });
}

function formatAsCode({ name, arguments: args }: ToolCall, { catalog }: Host): string {
  const path = name.replace(/^devices?\./, "").replace("__", ".");
  const method = catalog.method(path) ?? findOnlyMethod(path, catalog.methods);
  const json = JSON.stringify(args);
  return `await ${formatMethodAccess(method?.path ?? printableName(path))}(${json.length > MAX_SHOWN_ARGUMENTS ? "{ … }" : json})`;
}

function findOnlyMethod(name: string, methods: readonly Method[]): Method | undefined {
  const found = methods.filter((method) => method.name === name || method.wireName === name);
  return found.length === 1 ? found[0] : undefined;
}
