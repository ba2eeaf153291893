import { createError } from "../../../errors.ts";
import { isPlainObject } from "../../../model/arguments.ts";
import { formatChoices, quote } from "../../../shared/format-text.ts";
import { hasControls } from "./header-text.ts";
import { findFile, writeMultipart, type WrittenBody } from "./multipart.ts";
import type { ApiBody, BodyForm, PartEncoding } from "./operation.ts";
import { refuseArgument, requireMediaType } from "./refuse-argument.ts";
import { isJsonType, nest, percentEncode, toPairs } from "./serialize.ts";
import {
  getMember,
  listMembers,
  membersToJson,
  type MemberValue,
  type NamedValue,
  toJsonText,
  toText,
} from "./write-value.ts";

/** The value of a body: the one of an argument, or the fields that are arguments. */
interface BodyValue extends MemberValue {
  readonly argument: string;
  /** Its members, if it is an object. */
  readonly members: readonly NamedValue[] | undefined;
}

/**
 * Writes the body of an operation in the media type that the arguments choose; `undefined` if no body is sent. `fields` are those that
 * the owner adds, in place of others with their names; a body of which the document says nothing is JSON with these.
 */
export function writeBody(
  body: ApiBody | undefined,
  args: Readonly<Record<string, unknown>>,
  fields: ReadonlyMap<string, string> = new Map(),
): WrittenBody | undefined {
  if (body === undefined) return fields.size === 0 ? undefined : writeAs(JSON_FORM, withFields(NO_VALUE, fields));
  const value = readBody(body, args);
  if (value !== undefined || fields.size > 0)
    return writeAs(
      chooseForm(body, args),
      fields.size === 0 ? (value ?? NO_VALUE) : withFields(value ?? NO_VALUE, fields),
    );
  if (!body.required) return undefined;
  throw refuseArgument(body.argument ?? "body", "is missing: the request has a body; write its value");
}

const JSON_FORM: BodyForm = { mediaType: "application/json" };
const NO_VALUE: BodyValue = { argument: "body", value: {}, written: undefined, members: [] };

function withFields(body: BodyValue, fields: ReadonlyMap<string, string>): BodyValue {
  const { argument, members } = body;
  if (members === undefined)
    throw refuseArgument(argument, "must be an object: the credential of the account is a field of it");
  const added = [...fields].map(([name, value]) => ({ name, value, written: undefined }));
  return { ...body, value: {}, members: [...members.filter(({ name }) => !fields.has(name)), ...added] };
}

function readBody(
  { argument, fields = [], required }: ApiBody,
  args: Readonly<Record<string, unknown>>,
): BodyValue | undefined {
  if (argument !== undefined) {
    const member = getMember(args, argument);
    if (member.value === undefined) return undefined;
    return { ...member, argument, members: isPlainObject(member.value) ? listMembers(member.value) : undefined };
  }
  const members = fields
    .map(([argument, name]) => ({ name, ...getMember(args, argument) }))
    .filter(({ value }) => value !== undefined);
  return members.length > 0 || required ? { argument: "body", value: {}, written: undefined, members } : undefined;
}

function chooseForm({ forms, formArgument }: ApiBody, args: Readonly<Record<string, unknown>>): BodyForm {
  const wish = formArgument === undefined ? undefined : getMember(args, formArgument).value;
  const form = wish === undefined ? forms[0] : forms.find(({ mediaType }) => mediaType === wish);
  if (form === undefined) {
    const choices = formatChoices(forms.map(({ mediaType }) => quote(mediaType)));
    throw refuseArgument(formArgument ?? "contentType", `is not a media type of this body; write ${choices}`);
  }
  if (!hasControls(form.mediaType)) return form;
  const flaw = `the document names the media type ${quote(form.mediaType)}, which has a line break`;
  throw createError("CALL_FAILED", flaw);
}

function writeAs({ mediaType, encoding = {} }: BodyForm, body: BodyValue): WrittenBody {
  const { argument, value, written, members } = body;
  const type = (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (isJsonType(type)) {
    const json = members === undefined ? toJsonText(value, written) : membersToJson(members);
    return { mediaType, bytes: Buffer.from(json) };
  }
  if (type === "application/x-www-form-urlencoded" && typeof value !== "string") {
    if (members === undefined) throw refuseArgument(argument, "is a form: write an object with its fields");
    return { mediaType, bytes: Buffer.from(toFormText(members, encoding)) };
  }
  if (type.startsWith("multipart/")) {
    if (members === undefined) throw refuseArgument(argument, "is a form: write an object with its fields");
    return writeMultipart(type, members, encoding);
  }
  return writePlain(mediaType, body);
}

/** Writes bytes and texts as they are. A range of media types leaves the choice to the value. */
function writePlain(mediaType: string, { argument, value, written, members }: BodyValue): WrittenBody {
  const isRange = mediaType.includes("*");
  const file = findFile(value);
  if (file !== undefined) {
    requireMediaType(argument, file.contentType);
    return { mediaType: isRange ? (file.contentType ?? "application/octet-stream") : mediaType, bytes: file.bytes };
  }
  const isStructure = members !== undefined || Array.isArray(value);
  if (isStructure && !isRange) throw refuseArgument(argument, `is sent as ${mediaType}: write a text or a Uint8Array`);
  if (isStructure)
    return {
      mediaType: "application/json",
      bytes: Buffer.from(members === undefined ? toJsonText(value) : membersToJson(members)),
    };
  return { mediaType: isRange ? "text/plain; charset=utf-8" : mediaType, bytes: Buffer.from(toText(value, written)) };
}

/**
 * Writes the fields of `application/x-www-form-urlencoded`. Without an encoding in the document, a list of plain values repeats its name,
 * and other structures are nested as most servers read them: `items[0][price]`.
 */
function toFormText(members: readonly NamedValue[], encoding: Readonly<Record<string, PartEncoding>>): string {
  return members
    .flatMap((member) => writeField(member, Object.hasOwn(encoding, member.name) ? encoding[member.name] : undefined))
    .join("&");
}

function writeField(member: NamedValue, encoding: PartEncoding = {}): readonly string[] {
  const { name, value, written } = member;
  const { style, explode, allowReserved, contentType } = encoding;
  const isStructure = Array.isArray(value) || isPlainObject(value);
  if (!isStructure && allowReserved !== true) return [writePair(name, toText(value, written))];
  if (style !== undefined || explode !== undefined || allowReserved !== undefined) {
    const mode = { style: style ?? "form", explode: explode ?? (style === undefined || style === "form") };
    return toPairs(name, member, { ...mode, ...(allowReserved !== undefined && { allowReserved }) });
  }
  if (contentType !== undefined && isJsonType(contentType)) return [writePair(name, toText(value))];
  const pairs = [...nest(name, member)];
  const isList = Array.isArray(value) && !value.some((item) => Array.isArray(item) || isPlainObject(item));
  return pairs.map(([path, text]) => writePair(isList ? name : path, text));
}

function writePair(name: string, text: string): string {
  return `${percentEncode(name)}=${percentEncode(text)}`;
}
