import { truncateText } from "../../../shared/format-text.ts";
import { compileBody } from "./compile-body.ts";
import { compileOutput } from "./compile-output.ts";
import { compileParameters, findParameters } from "./compile-parameters.ts";
import type { DocumentContext, FoundOperation } from "./document-context.ts";
import { MethodArguments } from "./method-arguments.ts";
import { findPages } from "../pages/find-pages.ts";
import type { DescribedOperation } from "../openapi/operation.ts";

const MAX_DESCRIPTION = 2_000;

/** Compiles an operation to a method with one flat object of arguments. */
export function compileOperation(found: FoundOperation, context: DocumentContext): DescribedOperation {
  const { verb, path, operation } = found;
  const args = new MethodArguments();
  const parts = findParameters(found, context);
  const parameters = compileParameters(parts, path, { args, context });
  const body = compileBody(found, parts, { args, context });
  const { schema: output, accepts, source, hasLinkHeader = false } = compileOutput(found, context);
  const input = args.toSchema();
  const names = [
    ...parameters.filter((each) => each.in === "query").map(({ name, argument }) => [name, argument] as const),
    ...(body?.fields ?? []).map(([argument, name]) => [name, argument] as const),
  ];
  const pages =
    source && findPages({ path, arguments: new Map(names), input, output: source, hasLinkHeader }, context.files);
  const texts = [operation["summary"], operation["description"]].filter((text) => typeof text === "string");
  return {
    verb,
    path,
    parameters,
    ...(body !== undefined && { body }),
    accepts,
    description: truncateText([...new Set(texts)].join("\n\n"), MAX_DESCRIPTION),
    input,
    ...(output !== undefined && { output }),
    ...(pages !== undefined && { pages }),
  };
}
