import { getName, nodeAt, nodesAt, type SyntaxNode } from "../type-reader/syntax.ts";
import { type SkillModuleFacts, listDeclaredNames } from "./module-imports.ts";
import { applyEdits, type TextEdit, toSpaces } from "../../../shared/source-text.ts";
import type { ModuleText } from "./module-text.ts";

const MODULE_NAMES = ["require", "module", "exports"];

/**
 * Returns an ES module without imports as CommonJS, which Node loads many times faster and can release; `undefined` for
 * any other module.
 */
export function toCommonJs({ format, text, program }: ModuleText, facts: SkillModuleFacts): string | undefined {
  const { imports, metas, used, declared, hasTopLevelAwait } = facts;
  const usesOthers = imports.length > 0 || metas.length > 0 || hasTopLevelAwait;
  if (format !== "esm" || usesOthers || MODULE_NAMES.some((name) => used.has(name) || declared.has(name))) return;
  const edits: TextEdit[] = [];
  const names: (readonly [exported: string, local: string])[] = [];
  for (const statement of nodesAt(program, "body")) {
    if (statement.type === "ExportDefaultDeclaration") names.push(...replaceDefault(statement, edits));
    if (statement.type !== "ExportNamedDeclaration") continue;
    const declaration = nodeAt(statement, "declaration");
    edits.push({ start: statement.start, end: declaration?.start ?? statement.end, text: "" });
    for (const name of listDeclaredNames(declaration)) names.push([name, name]);
    for (const specifier of nodesAt(statement, "specifiers")) {
      const local = getName(nodeAt(specifier, "local")) ?? "";
      names.push([getName(nodeAt(specifier, "exported")) ?? local, local]);
    }
  }
  const blanked = edits.map((edit) => ({
    ...edit,
    text: edit.text + toSpaces(text.slice(edit.start + edit.text.length, edit.end)),
  }));
  const getters = names.map(
    ([exported, local]) => `${JSON.stringify(exported)}: { enumerable: true, get: () => ${local} }`,
  );
  return `${applyEdits(text, blanked)}\nObject.defineProperties(exports, { ${getters.join(", ")} });`;
}

function replaceDefault(statement: SyntaxNode, edits: TextEdit[]): readonly (readonly [string, string])[] {
  const declaration = nodeAt(statement, "declaration");
  const start = declaration?.start ?? statement.end;
  const name = getName(nodeAt(declaration, "id"));
  const isDeclaration = declaration !== undefined && /^(?:Function|Class)Declaration$/.test(declaration.type);
  edits.push({
    start: statement.start,
    end: start,
    text: isDeclaration && name !== undefined ? "" : "exports.default=",
  });
  return isDeclaration && name !== undefined ? [["default", name]] : [];
}
