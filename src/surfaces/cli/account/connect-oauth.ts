import { getMessage } from "../../../errors.ts";
import type { Runtime } from "../../../runtime.ts";
import type { BrowserLogin, NewConnection } from "../../../accounts/index.ts";
import type { AccountForm, AccountLoginTarget } from "../../../runtime/api/view.ts";
import { getCallbackPath, listenForCallback } from "../../../shared/http/callback.ts";
import { toVisibleLine } from "../../../shared/visible-text.ts";
import { askLine, isAtTerminal } from "../terminal/ask.ts";
import { unlessInterrupted } from "../terminal/interruption.ts";
import { openPage } from "../terminal/open-page.ts";
import { escaped } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";

/** A person has this long to agree at the provider. */
const LOGIN_MS = 600_000;

interface LoginInput {
  readonly runtime: Pick<Runtime, "accounts">;
  readonly form: AccountForm;
  readonly target: AccountLoginTarget;
  /** False: only print the address. */
  readonly isBrowserOpened: boolean;
  readonly signal: AbortSignal;
}

/** Connects an account by a login at its provider. Nothing is stored before its end. */
export async function connectOAuth(input: LoginInput): Promise<NewConnection> {
  return input.form.grant === "device" ? connectByCode(input) : connectInBrowser(input);
}

/** Asks the person to type a code on any device, and waits. */
async function connectByCode({ runtime, target, signal }: LoginInput): Promise<NewConnection> {
  const login = await unlessInterrupted(runtime.accounts.logInByCode(target), signal);
  const minutes = Math.max(1, Math.round((login.expires - Date.now()) / 60_000));
  process.stderr.write(
    `Open ${escaped(login.url.href)} on any device, and enter the code ${escaped(login.userCode)} within ${minutes} minutes\n`,
  );
  if (login.completeUrl !== undefined) process.stderr.write(`Or open ${escaped(login.completeUrl.href)}\n`);
  return login.finish(signal);
}

/** Opens the page of the provider, and waits until the browser returns to this process. */
async function connectInBrowser(input: LoginInput): Promise<NewConnection> {
  const { runtime, form, target, isBrowserOpened, signal } = input;
  const { callbackPort = 0, name } = form;
  // Each account has a path of its own, so that the answer of one provider never ends the login at another one.
  const options = { isPortExact: callbackPort !== 0, path: getCallbackPath(name) };
  const callback = await listenForCallback(callbackPort, options).catch((error: unknown) => {
    throw new UsageError(
      `Cannot listen on port ${callbackPort}, to which the browser returns: ${getMessage(error)}. End the program that uses it, or change callbackPort`,
    );
  });
  const ended = new AbortController();
  try {
    const login = await unlessInterrupted(runtime.accounts.logIn(target, callback.redirectUrl), signal);
    const arrived = waitForBrowser(login, name, callback);
    const title = `Log in at ${login.url.host} to connect ${name}:`;
    if (isBrowserOpened) openPage(login.url.href, title);
    else process.stderr.write(`${title}\n${escaped(login.url.href)}\n`);
    const pasted = isBrowserOpened ? [] : [readAddress(login, AbortSignal.any([signal, ended.signal]))];
    const late = waitUntilLate(name, ended.signal);
    return await unlessInterrupted(Promise.race([arrived, late, ...pasted]), signal);
  } finally {
    ended.abort();
    callback.close();
  }
}

/** Connects the account when the browser returns. Its page says what came of it. */
function waitForBrowser(
  login: BrowserLogin,
  name: string,
  callback: Awaited<ReturnType<typeof listenForCallback>>,
): Promise<NewConnection> {
  return new Promise((resolve, reject) => {
    let settle = (): void => {};
    const answer = async (url: URL): Promise<string> => {
      try {
        const connection = await login.finish(url);
        settle = () => resolve(connection);
        return `${describeConnection(connection)}. You can close this page and go back to the terminal.`;
      } catch (error) {
        settle = () => reject(error);
        return toVisibleLine(`Cannot connect ${name}: ${getMessage(error)}. Go back to the terminal.`);
      }
    };
    void callback.arrived(login.url.searchParams.get("state") ?? "", answer).then(() => settle());
  });
}

/** `Connected github as ada@example.com` */
export function describeConnection({ name, label }: NewConnection): string {
  return label === null ? `Connected ${name}` : `Connected ${name} as ${label}`;
}

/** Reads the address to which the browser of another machine was sent, which cannot reach this one. */
async function readAddress(login: BrowserLogin, signal: AbortSignal): Promise<NewConnection> {
  const never = new Promise<never>(() => {});
  if (!isAtTerminal()) return never;
  const question = "If the browser is on another machine, paste the address of the page that it cannot open: ";
  const address = (await askLine(question, signal)).trim();
  if (signal.aborted || address === "") return never;
  if (!URL.canParse(address)) throw new UsageError("The pasted text is not an address; begin again");
  return login.finish(new URL(address));
}

function waitUntilLate(name: string, ended: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const minutes = LOGIN_MS / 60_000;
    const late = (): void => reject(new UsageError(`${name} was not connected within ${minutes} minutes; begin again`));
    const timer = setTimeout(late, LOGIN_MS);
    ended.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}
