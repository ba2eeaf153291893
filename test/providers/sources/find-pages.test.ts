import { expect, test } from "vitest";

import { compileDocument } from "../../../src/providers/sources/compile/compile-document.ts";
import { DocumentFiles } from "../../../src/providers/sources/compile/document-files.ts";
import type { PageStyle } from "../../../src/providers/sources/pages/page-style.ts";

const text = { type: "string" };
const integer = { type: "integer" };
const list = { type: "array", items: { type: "object" } };
const object = (properties: object): object => ({ type: "object", properties });

/** Finds the pages of an operation with these parameters of its query, and this schema of its answer. */
function find(
  parameters: Readonly<Record<string, object>>,
  schema: object,
  headers: object = {},
): PageStyle | undefined {
  let pages: PageStyle | undefined;
  const document = {
    openapi: "3.0.0",
    info: {},
    components: { schemas: { Whole: schema } },
    paths: {
      "/projects/{id}/runs": {
        get: {
          parameters: Object.entries(parameters).map(([name, each]) => ({ name, in: "query", schema: each })),
          responses: {
            200: { headers, content: { "application/json": { schema: { $ref: "#/components/schemas/Whole" } } } },
          },
        },
      },
    },
  };
  compileDocument(new DocumentFiles(new Map([["file:///a.json", document]])), {
    take: (operation) => void (pages = operation.pages),
  });
  return pages;
}

test.each<[string, Record<string, object>, object, object | undefined]>([
  [
    "of Kubernetes",
    { continue: text, limit: integer },
    object({ items: list, metadata: object({ continue: text }) }),
    { items: ["items"], next: { by: "cursor", at: ["metadata", "continue"], argument: "continue" } },
  ],
  [
    "of Stripe",
    { starting_after: text, limit: { ...integer, description: "Limit can range between 1 and 100." } },
    object({ data: list, has_more: { type: "boolean" }, url: text }),
    {
      items: ["data"],
      next: { by: "last item", argument: "starting_after", more: ["has_more"], id: "id" },
      size: { argument: "limit", max: 100 },
    },
  ],
  [
    "of Stripe's search",
    { page: text },
    object({ data: list, has_more: { type: "boolean" }, next_page: { ...text, nullable: true } }),
    { items: ["data"], next: { by: "cursor", at: ["next_page"], argument: "page" } },
  ],
  [
    "of DigitalOcean",
    { page: integer },
    {
      allOf: [
        object({ runs: list, others: list }),
        object({ links: object({ pages: { anyOf: [object({ next: { ...text, format: "uri" } })] } }) }),
      ],
    },
    { items: ["runs"], next: { by: "cursor", at: ["links", "pages", "next"] } },
  ],
  [
    "of Slack",
    { cursor: text },
    object({ members: list, response_metadata: object({ next_cursor: text }) }),
    { items: ["members"], next: { by: "cursor", at: ["response_metadata", "next_cursor"], argument: "cursor" } },
  ],
  [
    "of Asana, whose document does not describe the cursor",
    { offset: text, limit: { ...integer, maximum: 100 } },
    object({ data: list }),
    { items: ["data"], next: { by: "cursor", argument: "offset" }, size: { argument: "limit", max: 100 } },
  ],
  [
    "of HubSpot",
    { after: text },
    object({ results: list, paging: object({ next: object({ after: text, link: text }) }) }),
    { items: ["results"], next: { by: "cursor", at: ["paging", "next", "after"], argument: "after" } },
  ],
  [
    "with a list in an object that wraps it",
    { page: { ...integer, minimum: 0 } },
    object({ runs: object({ rows: list }) }),
    { items: ["runs", "rows"], next: { by: "page", argument: "page", first: 0 } },
  ],
  [
    "with offsets",
    { skip: integer, top: integer },
    list,
    { items: [], next: { by: "offset", argument: "skip", first: 0 } },
  ],
  ["without a way to the next page", { filter: text }, list, undefined],
  ["with a date", { after: { ...text, format: "date" } }, list, undefined],
  ["of a thing", { page: integer }, object({ name: text }), undefined],
  ["of several lists", { page: integer }, object({ red: list, blue: list }), undefined],
])("finds out how pages follow each other: %s [S5]", (_title, parameters, schema, pages) => {
  expect(find(parameters, schema)).toEqual(pages);
});

test("a Link header counts where the body has no cursor [S5]", () => {
  const headers = { Link: { schema: text } };
  const per_page = { ...integer, description: "Results per page (max 100)" };
  const size = { argument: "per_page", max: 100 };
  expect(find({ page: integer, per_page }, list, headers)).toEqual({ items: [], next: { by: "link" }, size });
  expect(find({ per_page }, list, headers)).toBeUndefined();
});
