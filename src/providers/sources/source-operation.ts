import { type JsonSchema, toRecord } from "../../model/json.ts";
import { RESPONSE_ARGUMENT, type ResponseForms } from "../../model/skill.ts";
import type { PageSetting } from "../../model/tools/source-pages.ts";
import type { DescribedOperation } from "./openapi/operation.ts";
import type { MemberPath, NextPage, PageStyle } from "./pages/page-style.ts";

/** An operation as its method offers it. */
export interface SourceOperation extends DescribedOperation {
  readonly response: ResponseForms;
}

/** Adds the argument for the whole response to those of the document, and what the owner says of the pages. */
export function toSourceOperation(
  { pages: found, input, ...operation }: DescribedOperation,
  setting: PageSetting | undefined,
): SourceOperation {
  const pages = setting === undefined ? found : setting === false ? undefined : toPageStyle(setting, found);
  const schema = pages === undefined ? WHOLE : WHOLE_OR_PAGE;
  return {
    ...operation,
    input: { ...input, properties: { ...toRecord(input["properties"]), [RESPONSE_ARGUMENT]: schema } },
    ...(pages !== undefined && { pages }),
    response: pages === undefined ? {} : { items: pages.items },
  };
}

export const WHOLE: JsonSchema = { type: "boolean", description: "true gives { status, headers, body }" };

/** A list is the page that `pages` of a program asks for: how many items and pages it still wants. */
export const WHOLE_OR_PAGE: JsonSchema = {
  type: ["boolean", "array"],
  items: { type: "integer", minimum: 1 },
  minItems: 2,
  maxItems: 2,
  description: "true gives { status, headers, body, next }; next has the arguments of the next page, or is null",
};

function toPageStyle(setting: Exclude<PageSetting, false>, found: PageStyle | undefined): PageStyle {
  const { items } = setting;
  return {
    items: items === undefined ? (found?.items ?? []) : toMemberPath(items),
    next: toNextPage(setting),
    ...(found?.size !== undefined && { size: found.size }),
  };
}

function toNextPage({ by, argument = by, at }: Exclude<PageSetting, false>): NextPage {
  switch (by) {
    case "link":
      return { by };
    case "cursor":
      return { by, argument, ...(at !== undefined && { at: toMemberPath(at) }) };
    case "last item":
      return { by, argument, more: toMemberPath(at ?? "has_more"), id: "id" };
    case "page":
      return { by, argument, first: 1 };
    case "offset":
      return { by, argument, first: 0 };
  }
}

function toMemberPath(text: string): MemberPath {
  return text === "" ? [] : text.split(".");
}
