import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import { Text } from "./text.tsx";

/** UTF-16 units above which a text is shown as it was written. */
const MAX_MARKDOWN_UNITS = 64_000;

/** Elements inside of each other; deeper ones are shown as they were written. */
const MAX_DEPTH = 24;

/**
 * Markdown of a model as elements. HTML in it is text, images are links to look at, and links lead only to web pages. Nothing is
 * loaded.
 */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => parse(text), [text]);
  if (tokens === undefined)
    return (
      <div class="markdown plain">
        <Text value={text} />
      </div>
    );
  return (
    <div class="markdown">
      <Blocks tokens={tokens} depth={0} />
    </div>
  );
}

/** Returns `undefined` for a text that is too long or nested too deeply. */
function parse(text: string): readonly Token[] | undefined {
  if (text.length > MAX_MARKDOWN_UNITS) return undefined;
  try {
    return lexer(text);
  } catch {
    return undefined; // nested too deeply
  }
}

interface TokensProps {
  readonly tokens: readonly Token[] | undefined;
  readonly depth: number;
}

function Blocks({ tokens = [], depth }: TokensProps) {
  return (
    <>
      {tokens.map((token, at) => (
        <Block key={at} token={token as MarkedToken} depth={depth + 1} />
      ))}
    </>
  );
}

type MarkedToken =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Table
  | Tokens.Hr
  | Tokens.Space
  | Tokens.HTML;

interface BlockProps {
  readonly token: MarkedToken;
  readonly depth: number;
}

function Block({ token, depth }: BlockProps): ComponentChildren {
  if (depth > MAX_DEPTH) return <Text value={token.raw} />;
  switch (token.type) {
    case "heading":
      return (
        <h3 class="markdown-heading">
          <Inline tokens={token.tokens} depth={depth} />
        </h3>
      );
    case "paragraph":
      return (
        <p>
          <Inline tokens={token.tokens} depth={depth} />
        </p>
      );
    case "text":
      return token.tokens === undefined ? <Text value={token.text} /> : <Inline tokens={token.tokens} depth={depth} />;
    case "code":
      return (
        <pre class="code" tabIndex={0}>
          <Text value={token.text} limit={20_000} />
        </pre>
      );
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens} depth={depth} />
        </blockquote>
      );
    case "list":
      return <MarkdownList list={token} depth={depth} />;
    case "table":
      return <MarkdownTable table={token} depth={depth} />;
    case "hr":
      return <hr />;
    case "space":
      return null;
    case "html":
      return <Text value={token.raw} />;
  }
}

function MarkdownList({
  list: { ordered, start, items },
  depth,
}: {
  readonly list: Tokens.List;
  readonly depth: number;
}) {
  const children = items.map((item, at) => (
    <li key={at}>
      {item.task && (item.checked === true ? "☑ " : "☐ ")}
      <Blocks tokens={item.tokens} depth={depth} />
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>;
}

function MarkdownTable({ table: { header, rows }, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  return (
    <div class="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, at) => (
              <th key={at} scope="col">
                <Inline tokens={tokens} depth={depth} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              {row.map(({ tokens }, at) => (
                <td key={at}>
                  <Inline tokens={tokens} depth={depth} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type InlineToken =
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Link
  | Tokens.Image
  | Tokens.Br
  | Tokens.Escape
  | Tokens.Text
  | Tokens.Tag;

function Inline({ tokens = [], depth }: TokensProps) {
  return (
    <>
      {tokens.map((token, at) => (
        <InlinePart key={at} token={token as InlineToken} depth={depth + 1} />
      ))}
    </>
  );
}

function InlinePart({ token, depth }: { readonly token: InlineToken; readonly depth: number }): ComponentChildren {
  if (depth > MAX_DEPTH) return <Text value={token.raw} />;
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} depth={depth} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} depth={depth} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} depth={depth} />
        </del>
      );
    case "codespan":
      return (
        <code>
          <Text value={token.text} />
        </code>
      );
    case "link":
      return <WebLink href={token.href} raw={token.raw} text={token.text} />;
    case "image":
      return <WebLink href={token.href} raw={token.raw} text={`image: ${token.text}`} />;
    case "br":
      return <br />;
    case "escape":
      return <Text value={token.text} />;
    case "text":
      return token.tokens === undefined ? <Text value={token.text} /> : <Inline tokens={token.tokens} depth={depth} />;
    case "html":
      return <Text value={token.raw} />;
  }
}

interface WebLinkProps {
  readonly href: string;
  /** The Markdown as it was written. */
  readonly raw: string;
  readonly text: string;
}

/** A link whose whole address is visible, so that its text cannot pretend another one. */
function WebLink({ href, raw, text }: WebLinkProps) {
  const isWeb = URL.canParse(href) && /^https?:$/.test(new URL(href).protocol);
  if (!isWeb) return <Text value={raw} />;
  const address = new URL(href).href;
  return (
    <a href={address} target="_blank" rel="noreferrer noopener">
      <Text value={text === href || text === "" ? address : `${text} (${address})`} limit={400} />
    </a>
  );
}
