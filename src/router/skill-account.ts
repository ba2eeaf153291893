import { createError, type SkillgateError } from "../errors.ts";
import type { Account, Credential, OpenAccount } from "../model/account.ts";
import { DEFAULT_LIMITS } from "../model/limits.ts";
import type { AccountRequest, AccountResponse, SkillAccount } from "../model/skill.ts";
import { createAccountResponse } from "../shared/http/account-response.ts";
import { addHeaders, addQuery, createCredentialMask, listBodyFields } from "../shared/http/add-credential.ts";
import { findEncryptionFlaw } from "../shared/http/find-encryption-flaw.ts";
import { ACCEPT_ENCODING, type Answer, exchange } from "../shared/http/exchange.ts";
import { getHeader, selectHeaders } from "../shared/http/headers.ts";
import { readBody } from "../shared/http/read-body.ts";
import { parseJson, isRecord } from "../model/json.ts";
import type { KnownSecrets } from "../shared/secrets.ts";

interface SkillAccountOptions {
  readonly account: Account;
  readonly skill: string;
  readonly open: () => Promise<OpenAccount>;
  readonly signal: AbortSignal;
}

/** The longest time until the headers of an answer, and between two parts of its body. */
const HEADERS_MS = 30_000;
const STALL_MS = 30_000;

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Methods of HTTP that only read: a request is repeated, and follows redirects. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Creates what a skill uses an account by: the credential is added here, and its answers do not have it. */
export function createSkillAccount(options: SkillAccountOptions): SkillAccount {
  const { account, skill, open } = options;
  return Object.freeze({
    fetch: (url: string | URL, request: AccountRequest = {}) => send(url, request, options),
    async credential() {
      if (account.isRevealed(skill)) return (await open()).credential;
      const says = `${skill} may not read the credential of the account ${account.name}; the owner allows it: accounts: { ${account.name}: { reveal: [${skill}] } }`;
      throw refuse(says);
    },
  });
}

/** Creates the error for an account that a skill does not declare. */
export function createUndeclaredError(skill: string, name: string): SkillgateError {
  return refuse(`${skill} uses the account ${name} and does not declare it; its author writes accounts: ["${name}"]`);
}

/** A request without its credential. */
interface PlainRequest {
  readonly server: URL;
  readonly target: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

async function send(
  address: string | URL,
  request: AccountRequest,
  options: SkillAccountOptions,
): Promise<AccountResponse> {
  const plain = readRequest(address, request, options.account);
  let opened = await options.open();
  let answer = await follow(plain, opened.credential, options);
  if (answer.status === 401 && READS.has(plain.method)) {
    const challenge = getHeader(answer.headers, "www-authenticate");
    const renewed = await opened
      .renew({ status: 401, ...(challenge !== undefined && { challenge }) })
      .catch((error) => {
        answer.body.destroy();
        throw error;
      });
    if (renewed !== undefined) {
      answer.body.destroy();
      opened = renewed;
      answer = await follow(plain, opened.credential, options);
    }
  }
  return readResponse(answer, opened.credential);
}

function readRequest(
  address: string | URL,
  { method = "GET", headers = {}, body }: AccountRequest,
  account: Account,
): PlainRequest {
  const text = String(address);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  // An address with another scheme, such as `blob:`, can have the origin of a server, and lead to another one.
  const url = /^https?:$/.test(parsed?.protocol ?? "") ? parsed : undefined;
  if (
    url === undefined ||
    !account.servers.some((server) => URL.canParse(server) && new URL(server).origin === url.origin)
  )
    throw refuse(
      `${url?.origin ?? JSON.stringify(text.slice(0, 100))} does not get the credential of the account ${account.name}; the owner adds it: accounts: { ${account.name}: { servers: [${url?.origin ?? "https://…"}] } }`,
    );
  const flaw = findEncryptionFlaw(url, account);
  if (flaw !== undefined) throw refuse(flaw);
  const own = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const collision = account.places.find((location) => location.in === "header" && own.has(location.name.toLowerCase()));
  if (collision !== undefined)
    throw refuse(`the header ${collision.name} is that of the account ${account.name}; leave it out of the request`);
  const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array);
  if (isJson && !own.has("content-type")) own.set("content-type", "application/json");
  return {
    server: url,
    target: `${url.pathname}${url.search}`,
    method: method.toUpperCase(),
    headers: Object.fromEntries(own),
    body: body === undefined ? undefined : toBytes(body),
  };
}

function toBytes(body: NonNullable<AccountRequest["body"]>): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** Sends a request, and follows the redirects of one that reads, on the same server. */
async function follow(
  { server, method, headers, body, ...plain }: PlainRequest,
  credential: Credential,
  { account, signal }: SkillAccountOptions,
): Promise<Answer> {
  const own = { ...headers, "accept-encoding": ACCEPT_ENCODING, host: server.host };
  const whole = addBodyFields(body, credential, account.name);
  const reach = account.isPrivate ? "private" : "public";
  let { target } = plain;
  for (let count = 0; ; count++) {
    const request = {
      method,
      target: addQuery(target, credential),
      headers: addHeaders(own, credential),
      ...(whole && { body: whole }),
    };
    const answer = await exchange(request, { server, reach, agent: false, headersMs: HEADERS_MS, signal });
    const location = getHeader(answer.headers, "location");
    const from = new URL(target, server).href;
    const next = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined;
    const isFollowed = REDIRECTS.has(answer.status) && READS.has(method) && next?.origin === server.origin;
    if (!isFollowed || count === MAX_REDIRECTS) return answer;
    answer.body.destroy();
    target = `${next.pathname}${next.search}`;
  }
}

function addBodyFields(body: Uint8Array | undefined, credential: Credential, account: string): Uint8Array | undefined {
  const fields = listBodyFields(credential);
  if (fields.size === 0) return body;
  const value = body === undefined ? {} : parseJson(Buffer.from(body).toString());
  if (!isRecord(value))
    throw refuse(`the account ${account} puts its credential into the body, which must be a JSON object`);
  return Buffer.from(JSON.stringify({ ...value, ...Object.fromEntries(fields) }));
}

async function readResponse(answer: Answer, credential: Credential): Promise<AccountResponse> {
  const secrets = createCredentialMask(credential);
  const { status } = answer;
  const bytes = await readBody(answer.body, { maxBytes: DEFAULT_LIMITS.answerBytes, stallMs: STALL_MS });
  return createAccountResponse({
    status,
    headers: secrets.maskValue(selectHeaders(answer.headers)),
    body: maskBytes(bytes, secrets),
  });
}

/** The bytes of a text stay bytes. */
function maskBytes(bytes: Buffer, secrets: KnownSecrets): Uint8Array {
  const text = bytes.toString("latin1");
  const masked = secrets.mask(text);
  return new Uint8Array(masked === text ? bytes : Buffer.from(masked, "latin1"));
}

function refuse(says: string): SkillgateError {
  return createError("CALL_FAILED", says);
}
