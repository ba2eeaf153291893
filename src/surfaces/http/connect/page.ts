import { hash } from "node:crypto";
import { html, raw } from "hono/html";

/** A page of the server for a person who connects an account. */
export interface ConnectPage {
  readonly status: 200 | 400 | 401 | 403;
  readonly title: string;
  readonly lines: readonly string[];
  /** A form that is sent to the address of the page. */
  readonly form?: { readonly fields: readonly FormField[]; readonly button: string };
  /** The page of the provider, which follows at once. */
  readonly next?: URL;
}

/** A text that the person enters. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly isSecret: boolean;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 34rem; padding: 2rem 1rem; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input, button { margin: 0.25rem 0 1rem; padding: 0.5rem; border: 1px solid GrayText; border-radius: 4px; }
button { background: Highlight; color: HighlightText; cursor: pointer; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
`;

/** One text, because the policy has its digest. */
const STYLE_ELEMENT = raw(`<style>${STYLE}</style>`);

const STYLE_DIGEST = hash("sha256", STYLE, "base64");

/** No script, and forms go to this server only. With `no-referrer`, browsers would not name the origin of the form. */
export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export async function formatPage({ title, lines, form, next }: ConnectPage): Promise<string> {
  const page = await html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <link rel="icon" href="data:," />
      ${next === undefined ? "" : html`<meta http-equiv="refresh" content="0; url=${next.href}" />`}
      <title>${title} · Skillgate</title>
      ${STYLE_ELEMENT}
      <main>
        <h1>${title}</h1>
        ${lines.map((line) => html`<p>${line}</p>`)} ${form === undefined ? "" : formatForm(form)}
        ${next === undefined ? "" : html`<p><a href="${next.href}">Go on to ${next.host}</a></p>`}
      </main>
    </html> `;
  return page.toString();
}

function formatForm({ fields, button }: NonNullable<ConnectPage["form"]>) {
  const inputs = fields.map(
    ({ name, label, isSecret }) =>
      html`<label for="${name}">${label}</label>
        <input id="${name}" name="${name}" type="${isSecret ? "password" : "text"}" autocomplete="off" required />`,
  );
  return html`<form method="post">${inputs}<button>${button}</button></form>`;
}
