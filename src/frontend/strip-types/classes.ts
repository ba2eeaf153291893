import { blankStatement, getChild, getChildren, isTsNode, type TsNode, type StripContext } from "./nodes.ts";

export function eraseClass(node: TsNode, context: StripContext): "whole" | "parts" {
  if (node["declare"] === true) return blankStatement(node, context);
  if (node["abstract"] === true)
    blankWords(/\babstract\b/g, node.start, getChild(node, "body")?.start ?? node.end, context);
  const heritage = Array.isArray(node["implements"]) ? node["implements"].filter(isTsNode) : [];
  const [first, last] = [heritage[0], heritage.at(-1)];
  if (first !== undefined && last !== undefined) {
    context.spans.push({ start: context.text.lastIndexOf("implements", first.start), end: last.end });
  }
  setParameterProperties(node, context);
  return "parts";
}

export function eraseMember(node: TsNode, context: StripContext): "whole" | "parts" {
  const value = getChild(node, "value");
  const hasNoBody = value?.type === "TSDeclareMethod";
  if (node["abstract"] === true || node["declare"] === true || hasNoBody) return blankStatement(node, context);
  const key = getChild(node, "key");
  if (key === undefined) return "parts";
  const modifiers = blankWords(
    /\b(?:public|private|protected|readonly|override|declare)\b/g,
    node.start,
    key.start,
    context,
  );
  if (modifiers[0] === node.start) context.replacements.push({ at: node.start, character: ";" });
  const sign = /^[\s\]]*([?!])/.exec(context.text.slice(key.end, key.end + 100));
  if (sign !== null && (node["optional"] === true || node["definite"] === true)) {
    context.spans.push({ start: key.end + sign[0].length - 1, end: key.end + sign[0].length });
  }
  return "parts";
}

/** Removes the modifiers of `constructor(private x: T)`; `setParameterProperties` writes the assignment. */
export function eraseParameterProperty(node: TsNode, context: StripContext): "parts" {
  const name = getParameterName(node);
  if (name !== undefined) context.spans.push({ start: node.start, end: name.start });
  return "parts";
}

/** Blanks the words between two offsets; returns the offset of each. */
function blankWords(words: RegExp, start: number, end: number, context: StripContext): readonly number[] {
  return [...context.text.slice(start, end).matchAll(words)].map(({ 0: word, index }) => {
    context.spans.push({ start: start + index, end: start + index + word.length });
    return start + index;
  });
}

function setParameterProperties(node: TsNode, context: StripContext): void {
  const body = getChild(node, "body");
  const constructors = body === undefined ? [] : getChildren(body).filter((member) => member["kind"] === "constructor");
  const value = constructors.map((member) => getChild(member, "value")).find((func) => func && getChild(func, "body"));
  const block = value && getChild(value, "body"); // an overload has none
  if (value === undefined || block === undefined) return;
  const names = getChildren(value).filter(({ type }) => type === "TSParameterProperty");
  if (names.length === 0) return;
  const fields = names.map((property) => String(getParameterName(property)?.["name"]));
  const callsSuper = getChildren(block).find((statement) => context.text.startsWith("super", statement.start));
  const at = callsSuper?.end ?? block.start + 1;
  context.edits.push({
    kind: "wrap",
    start: at,
    end: at,
    before: `;${fields.map((name) => ` this.${name} = ${name};`).join("")}`,
    after: "",
  });
}

/** The name in `private x = 1`; the node of the parameter begins at the modifier. */
function getParameterName(property: TsNode): TsNode | undefined {
  const parameter = getChild(property, "parameter");
  return parameter && (getChild(parameter, "left") ?? parameter);
}
