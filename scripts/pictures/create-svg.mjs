// Draws the text of a terminal, with its colours, as SVG without scripts.

import { COLUMNS } from "./record-terminal.mjs";

const CHARACTER_WIDTH = 8.43;
const ROW_HEIGHT = 20;
const MARGIN = 20;

/** Classes by the number of a colour code; each ends at the codes below. */
const STYLES = new Map([
  [1, "bold"],
  [2, "dim"],
  [31, "red"],
  [32, "green"],
  [33, "yellow"],
  [36, "cyan"],
]);
const ENDS = new Map([
  [22, ["bold", "dim"]],
  [39, ["red", "green", "yellow", "cyan"]],
]);

const CSS = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d6dde6;white-space:pre}
.bold{font-weight:bold}.dim{fill:#97a3b2}.red{fill:#ff8f84}.green{fill:#6fd08c}.yellow{fill:#e6c05c}.cyan{fill:#6cc6e8}`;

/** Creates the picture of a command and of what it shows. */
export function createSvg(command, shown) {
  const rows = [
    [
      { text: "$ ", style: "dim" },
      { text: command, style: "bold" },
    ],
    [],
    ...toRows(shown.trimEnd()),
  ];
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH) + 2 * MARGIN;
  const height = rows.length * ROW_HEIGHT + 2 * MARGIN;
  const lines = rows.map((row, index) => {
    const y = MARGIN + 14 + index * ROW_HEIGHT;
    return row.length === 0 ? "" : `<text x="${MARGIN}" y="${y}">${row.map(toSpan).join("")}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(`Terminal: ${command}`)}</title>`,
    `<style>${CSS}</style>`,
    `<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>`,
    ...lines.filter((line) => line !== ""),
    "</svg>",
    "",
  ].join("\n");
}

/** Splits text into rows of the terminal, each a list of texts with their classes. */
function toRows(shown) {
  const rows = [[]];
  let styles = [];
  let column = 0;
  const endRow = () => {
    rows.push([]);
    column = 0;
  };
  // oxlint-disable-next-line no-control-regex -- the escapes of a terminal
  for (const [part, codes] of shown.matchAll(/\u001B\[([\d;]*)m|\u001B\[[?\d;]*[A-Za-z]|\n|[^\u001B\n]/gu)) {
    if (codes !== undefined) styles = applyCodes(styles, codes);
    else if (part === "\n") endRow();
    else if (part.length <= 2 && !part.startsWith("\u001B")) {
      if (column === COLUMNS) endRow();
      column += 1;
      const row = rows.at(-1);
      const style = styles.join(" ");
      if (row.at(-1)?.style === style) row.at(-1).text += part;
      else row.push({ text: part, style });
    }
  }
  return rows;
}

function applyCodes(styles, codes) {
  return codes.split(";").reduce((current, code) => {
    const number = Number(code);
    if (number === 0) return [];
    const ended = ENDS.get(number) ?? [];
    const left = current.filter((style) => !ended.includes(style));
    return STYLES.has(number) ? [...left, STYLES.get(number)] : left;
  }, styles);
}

function toSpan({ text, style }) {
  const escaped = escapeXml(text);
  return style === "" ? escaped : `<tspan class="${style}">${escaped}</tspan>`;
}

function escapeXml(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
