import { lexer, type Token, type Tokens } from "marked";
import { type ComponentChildren, h } from "preact";
import { useMemo } from "preact/hooks";

import { Code, Text } from "./text.tsx";

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
  if (tokens === undefined) return <Text in="div" class="markdown plain" value={text} />;
  return (
    <div class="markdown">
      <Parts tokens={tokens} depth={0} />
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

type MarkedToken =
  | Tokens.Blockquote
  | Tokens.Br
  | Tokens.Code
  | Tokens.Codespan
  | Tokens.Del
  | Tokens.Em
  | Tokens.Escape
  | Tokens.Heading
  | Tokens.Hr
  | Tokens.HTML
  | Tokens.Image
  | Tokens.Link
  | Tokens.List
  | Tokens.Paragraph
  | Tokens.Space
  | Tokens.Strong
  | Tokens.Table
  | Tokens.Text;

interface PartsProps {
  readonly tokens: readonly Token[] | undefined;
  readonly depth: number;
}

function Parts({ tokens = [], depth }: PartsProps) {
  return (
    <>
      {tokens.map((token, at) => (
        <Part key={at} token={token as MarkedToken} depth={depth + 1} />
      ))}
    </>
  );
}

/** The elements of the tokens that only have an element around their parts. */
const ELEMENTS = { paragraph: "p", blockquote: "blockquote", strong: "strong", em: "em", del: "del" } as const;

function Part({ token, depth }: { readonly token: MarkedToken; readonly depth: number }): ComponentChildren {
  if (depth > MAX_DEPTH) return <Text value={token.raw} />;
  switch (token.type) {
    case "paragraph":
    case "blockquote":
    case "strong":
    case "em":
    case "del":
      return h(ELEMENTS[token.type], null, <Parts tokens={token.tokens} depth={depth} />);
    case "heading":
      return (
        <h3 class="markdown-heading">
          <Parts tokens={token.tokens} depth={depth} />
        </h3>
      );
    case "text":
      return token.tokens === undefined ? <Text value={token.text} /> : <Parts tokens={token.tokens} depth={depth} />;
    case "code":
      return <Code value={token.text} limit={20_000} />;
    case "codespan":
      return <Text in="code" value={token.text} />;
    case "list":
      return <MarkdownList list={token} depth={depth} />;
    case "table":
      return <MarkdownTable table={token} depth={depth} />;
    case "link":
      return <WebLink href={token.href} raw={token.raw} text={token.text} />;
    case "image":
      return <WebLink href={token.href} raw={token.raw} text={`image: ${token.text}`} />;
    case "hr":
      return <hr />;
    case "br":
      return <br />;
    case "space":
      return null;
    case "escape":
      return <Text value={token.text} />;
    case "html":
      return <Text value={token.raw} />;
  }
}

interface MarkdownListProps {
  readonly list: Tokens.List;
  readonly depth: number;
}

function MarkdownList({ list: { ordered, start, items }, depth }: MarkdownListProps) {
  const children = items.map((item, at) => (
    <li key={at}>
      {item.task && (item.checked === true ? "☑ " : "☐ ")}
      <Parts tokens={item.tokens} depth={depth} />
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>;
}

function MarkdownTable({ table: { header, rows }, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  const renderRow = (cells: readonly Tokens.TableCell[], Cell: "td" | "th") => (
    <tr>
      {cells.map(({ tokens }, at) => (
        <Cell key={at} scope={Cell === "th" ? "col" : undefined}>
          <Parts tokens={tokens} depth={depth} />
        </Cell>
      ))}
    </tr>
  );
  return (
    <div class="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>{renderRow(header, "th")}</thead>
        <tbody>{rows.map((cells) => renderRow(cells, "td"))}</tbody>
      </table>
    </div>
  );
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
