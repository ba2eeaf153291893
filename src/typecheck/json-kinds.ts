import ts from "typescript";

/** The kind of a value after a JSON round trip. */
export type JsonKind = "string" | "number" | "boolean" | "array" | "object";

/** `undefined` where the kind depends on more than the type: a date, a promise, an instance of a class, anything. */
export function getKind(type: ts.Type, checker: ts.TypeChecker): JsonKind | undefined {
  if ((type.flags & ts.TypeFlags.StringLike) !== 0) return "string";
  if ((type.flags & ts.TypeFlags.NumberLike) !== 0) return "number";
  if ((type.flags & ts.TypeFlags.BooleanLike) !== 0) return "boolean";
  if (isList(type, checker)) return "array";
  return isPlainObject(type, checker) ? "object" : undefined;
}

export function isList(type: ts.Type, checker: ts.TypeChecker): boolean {
  return checker.isArrayType(type) || checker.isTupleType(type);
}

/** True for data with members by name, which says nothing else of itself, in one form. */
export function isPlainObject(type: ts.Type, checker: ts.TypeChecker): boolean {
  if (type.isIntersection()) return type.types.every((part) => isPlainObject(part, checker));
  if ((type.flags & ts.TypeFlags.Object) === 0 || isList(type, checker)) return false;
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return false;
  const { objectFlags } = type as ts.ObjectType;
  const isData = (objectFlags & (ts.ObjectFlags.Anonymous | ts.ObjectFlags.Mapped)) !== 0;
  return isData && checker.getPropertyOfType(type, "toJSON") === undefined;
}

/** Returns the item type of an array; `undefined` for a tuple, whose items have different types. */
export function getItemType(type: ts.Type, checker: ts.TypeChecker): ts.Type | undefined {
  return checker.isArrayType(type) ? checker.getTypeArguments(type as ts.TypeReference)[0] : undefined;
}

/** The type of a member of an object, which may be one that takes any name. */
export function memberType(object: ts.Type, name: string, checker: ts.TypeChecker): ts.Type | undefined {
  const member = checker.getPropertyOfType(object, name);
  return member ? checker.getTypeOfSymbol(member) : checker.getIndexTypeOfType(object, ts.IndexKind.String);
}

/** Returns the parts of a type other than `Promise`: a result has its members with and without `await`. */
export function getParts(type: ts.Type): readonly ts.Type[] {
  return type.isIntersection() ? type.types.filter((part) => part.symbol?.name !== "Promise") : [type];
}

/** The type of a result that is there with and without `await`. */
export function withoutPromise(type: ts.Type): ts.Type {
  const [part, ...others] = getParts(type);
  return part === undefined || others.length > 0 ? type : part;
}

/** The kinds that a value may be of. */
export function getKinds(type: ts.Type, checker: ts.TypeChecker): ReadonlySet<JsonKind | undefined> {
  const forms = type.isUnion() ? type.types : [type];
  return new Set(forms.map((form) => getKind(withoutPromise(form), checker)));
}

export function getLiteral(type: ts.Type, checker: ts.TypeChecker): string | number | boolean | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
  return (type.flags & ts.TypeFlags.BooleanLiteral) !== 0 ? checker.typeToString(type) === "true" : undefined;
}
