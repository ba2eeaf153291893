import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import * as skillgate from "../../src/index.ts";

const TYPES = [
  "AccountRequest",
  "AccountResponse",
  "Approval",
  "ApprovalAnswer",
  "ApprovalRequest",
  "ApprovalScope",
  "ApprovalWait",
  "Approvals",
  "Approve",
  "AuditEntry",
  "CallContext",
  "CallRecord",
  "CallResult",
  "CallSite",
  "Caller",
  "Catalog",
  "Client",
  "ClientRequest",
  "CreatedKey",
  "Database",
  "ErrorCode",
  "GivenAnswer",
  "GuestError",
  "KeyRow",
  "Keys",
  "Limits",
  "ListedApproval",
  "McpServerOptions",
  "Method",
  "MethodDefinition",
  "MethodMetadata",
  "Outcome",
  "Plan",
  "Position",
  "ProvidedSkill",
  "RunOptions",
  "Runtime",
  "RuntimeEvents",
  "RuntimeOptions",
  "RuntimeTool",
  "RuntimeToolOptions",
  "RuntimeToolResult",
  "ServerUse",
  "Skill",
  "SkillAccount",
  "Statistics",
  "Timeouts",
  "Usage",
  "Violation",
  "WantedKey",
];

test("exports exactly these values", () => {
  expect(Object.keys(skillgate).toSorted()).toEqual([
    "SkillgateError",
    "anthropicTool",
    "catalogExport",
    "categoriesOf",
    "createKeys",
    "createRuntime",
    "defineSkill",
    "methodExport",
    "methodsByCapability",
    "methodsByCategory",
    "methodsByTag",
    "ollamaTool",
    "openaiTool",
    "openapiExport",
  ]);
});

test("exports exactly these types", () => {
  const types = namesExportedBy("src/index.ts").filter((name) => !(name in skillgate));
  expect(types).toEqual(TYPES);
});

/** Sorted. The index only exports what other files have declared, each by its name. */
function namesExportedBy(file: string): readonly string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  return statements.flatMap(namesIn).toSorted();
}

function namesIn(statement: ts.Statement): readonly string[] {
  if (ts.isImportDeclaration(statement) && statement.importClause === undefined) return [];
  const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
  if (!clause || !ts.isNamedExports(clause))
    throw new Error("src/index.ts holds more than `export { … } from` and imports without names");
  return clause.elements.map(({ name }) => name.text);
}
