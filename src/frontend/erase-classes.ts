import { blankStatement, childOf, childrenOf, isTsNode, type TsNode, type Work } from "./ts-nodes.ts";

export function eraseClass(node: TsNode, work: Work): "whole" | "parts" {
  if (node["declare"] === true) return blankStatement(node, work);
  if (node["abstract"] === true)
    blankWords(/\babstract\b/g, node.start, childOf(node, "body")?.start ?? node.end, work);
  const heritage = Array.isArray(node["implements"]) ? node["implements"].filter(isTsNode) : [];
  const [first, last] = [heritage[0], heritage.at(-1)];
  if (first !== undefined && last !== undefined) {
    work.spans.push({ start: work.text.lastIndexOf("implements", first.start), end: last.end });
  }
  setParameterProperties(node, work);
  return "parts";
}

export function eraseMember(node: TsNode, work: Work): "whole" | "parts" {
  const value = childOf(node, "value");
  const hasNoBody = value?.type === "TSDeclareMethod";
  if (node["abstract"] === true || node["declare"] === true || hasNoBody) return blankStatement(node, work);
  const key = childOf(node, "key");
  if (key === undefined) return "parts";
  const modifiers = blankWords(
    /\b(?:public|private|protected|readonly|override|declare)\b/g,
    node.start,
    key.start,
    work,
  );
  if (modifiers[0] === node.start) work.marks.push({ at: node.start, character: ";" });
  const sign = /^[\s\]]*([?!])/.exec(work.text.slice(key.end, key.end + 100));
  if (sign !== null && (node["optional"] === true || node["definite"] === true)) {
    work.spans.push({ start: key.end + sign[0].length - 1, end: key.end + sign[0].length });
  }
  return "parts";
}

/** `constructor(private x: T)` sets a field; JavaScript has to say so. */
export function eraseParameterProperty(node: TsNode, work: Work): "parts" {
  const name = nameOfProperty(node);
  if (name !== undefined) work.spans.push({ start: node.start, end: name.start });
  return "parts";
}

/** Where they were. */
function blankWords(words: RegExp, start: number, end: number, work: Work): readonly number[] {
  return [...work.text.slice(start, end).matchAll(words)].map(({ 0: word, index }) => {
    work.spans.push({ start: start + index, end: start + index + word.length });
    return start + index;
  });
}

function setParameterProperties(node: TsNode, work: Work): void {
  const body = childOf(node, "body");
  const constructor = body && childrenOf(body).find((member) => member["kind"] === "constructor");
  const value = constructor && childOf(constructor, "value");
  const block = value && childOf(value, "body");
  if (value === undefined || block === undefined) return;
  const names = childrenOf(value).filter(({ type }) => type === "TSParameterProperty");
  if (names.length === 0) return;
  const fields = names.map((property) => String(nameOfProperty(property)?.["name"]));
  const callsSuper = childrenOf(block).find((statement) => work.text.startsWith("super", statement.start));
  const at = callsSuper?.end ?? block.start + 1;
  work.edits.push({
    kind: "wrap",
    start: at,
    end: at,
    before: `;${fields.map((name) => ` this.${name} = ${name};`).join("")}`,
    after: "",
  });
}

/** The name in `private x = 1`; the parser begins the parameter at the modifier. */
function nameOfProperty(property: TsNode): TsNode | undefined {
  const parameter = childOf(property, "parameter");
  return parameter && (childOf(parameter, "left") ?? parameter);
}
