import { isRecord } from "../../../model/json.ts";
import { SERVER_INFO_KEY } from "../opening/protocol.ts";
import type { AddressBook, AddressOwner } from "./address-book.ts";
import { getPageMeta } from "./pages.ts";

type AnyFields = Readonly<Record<string, unknown>>;

/** Changes the addresses of one server to those of clients, and back. What has none stays the same object. */
export class Rewriting {
  readonly #book: AddressBook;
  readonly #owner: AddressOwner;

  constructor(book: AddressBook, owner: AddressOwner) {
    this.#book = book;
    this.#owner = owner;
  }

  /** A tool, or the result of a call: the pages of its `_meta`, and the links of its content. */
  result<Result extends object>(result: Result): Result {
    const { _meta: meta, content } = result as AnyFields;
    const page = getPageMeta(meta, (uri) => this.#book.toClient(this.#owner, uri));
    const blocks = Array.isArray(content) ? content.map((block) => this.#block(block)) : undefined;
    return withoutOrigin({
      ...result,
      ...(blocks !== undefined && { content: blocks }),
      ...(page !== undefined && { _meta: { ...(meta as AnyFields), ...page } }),
    });
  }

  /** The value of a method: its links, which may be in a list. */
  value(value: unknown): unknown {
    return this.#content(value);
  }

  /** The result of a prompt. */
  prompt(result: unknown): unknown {
    if (!isRecord(result) || !Array.isArray(result["messages"])) return result;
    const messages = result["messages"].map((message: unknown) =>
      isRecord(message) ? { ...message, content: this.#content(message["content"]) } : message,
    );
    return withoutOrigin({ ...result, messages });
  }

  /** The result of reading a resource: what was asked for has the address by which the client asked. */
  contents(result: unknown, target: { readonly address: string; readonly uri: string }): unknown {
    if (!isRecord(result) || !Array.isArray(result["contents"])) return result;
    const contents = result["contents"].map((part: unknown) => {
      if (!isRecord(part) || typeof part["uri"] !== "string") return part;
      const { uri } = part;
      return { ...part, uri: uri === target.uri ? target.address : this.#book.toClientLink(this.#owner, uri) };
    });
    // An address that no server has named belongs from now on to the one that has answered for it.
    if (target.address === target.uri) this.#book.toClientLink(this.#owner, target.uri);
    return withoutOrigin({ ...result, contents });
  }

  /** A skill with the manifest of its files, which are all in the same range of addresses. */
  skill<Skill extends { readonly uri: string }>(skill: Skill): Skill {
    const folder = getSkillFolder(skill.uri);
    const isPlain = this.#book.toClientRange(this.#owner, folder) === folder;
    const change = (uri: string): string =>
      isPlain ? this.#book.toClient(this.#owner, uri) : this.#book.toOwn(this.#owner, uri);
    const { resources } = skill as AnyFields;
    return {
      ...skill,
      uri: change(skill.uri),
      ...(Array.isArray(resources) && { resources: changeUris(resources, change) }),
    };
  }

  /** The entries of a directory. */
  entries(entries: readonly unknown[]): readonly unknown[] {
    return changeUris(entries, (uri) => this.#book.toClient(this.#owner, uri));
  }

  /** The arguments of a call: addresses that a client got become those of the server again. */
  args<Args>(args: Args): Args {
    return this.#back(args, 0) as Args;
  }

  #content(content: unknown): unknown {
    return Array.isArray(content) ? content.map((block) => this.#block(block)) : this.#block(content);
  }

  #block(block: unknown): unknown {
    if (!isRecord(block)) return block;
    const isLink = block["type"] === "resource_link" || (block["type"] === "resource" && "uri" in block);
    if (isLink) return this.#link(block);
    return block["type"] === "resource" && isRecord(block["resource"])
      ? { ...block, resource: this.#link(block["resource"]) }
      : block;
  }

  #link(fields: AnyFields): AnyFields {
    const { uri } = fields;
    return typeof uri === "string" ? { ...fields, uri: this.#book.toClientLink(this.#owner, uri) } : fields;
  }

  #back(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#book.toServer(this.#owner, value);
    if (depth >= MAX_DEPTH) return value;
    if (Array.isArray(value)) return mapChanged(value, (item) => this.#back(item, depth + 1));
    if (!isRecord(value)) return value;
    const before = Object.values(value);
    const after = mapChanged(before, (item) => this.#back(item, depth + 1));
    if (after === before) return value;
    return Object.fromEntries(Object.keys(value).map((key, at) => [key, after[at]]));
  }
}

/** Removes what a server says about itself, and lets no one else have what one caller has read. */
function withoutOrigin<Result extends object>(result: Result): Result {
  const { _meta: meta, cacheScope } = result as AnyFields;
  const { [SERVER_INFO_KEY]: _server, ...rest } = isRecord(meta) ? meta : {};
  return {
    ...result,
    ...(isRecord(meta) && { _meta: rest }),
    ...(cacheScope !== undefined && { cacheScope: "private" }),
  };
}

/** The depth to which arguments are searched for addresses. */
const MAX_DEPTH = 8;

/** The URI of the folder with the files of a skill: `skill://clock/` of `skill://clock/SKILL.md`. */
function getSkillFolder(uri: string): string {
  return uri.slice(0, uri.lastIndexOf("/") + 1) || uri;
}

function changeUris(items: readonly unknown[], change: (uri: string) => string): readonly unknown[] {
  return items.map((item) =>
    isRecord(item) && typeof item["uri"] === "string" ? { ...item, uri: change(item["uri"]) } : item,
  );
}

/** Returns the same list if no item changes. */
function mapChanged(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const changed = items.map(change);
  return changed.every((item, at) => item === items[at]) ? items : changed;
}
