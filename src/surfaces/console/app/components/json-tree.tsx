import { useState } from "preact/hooks";

import { Text } from "./text.tsx";

/** Members that are shown before the reader asks for more. */
const PAGE = 100;

interface JsonTreeProps {
  readonly value: unknown;
  /** The key or index of the value in its parent. */
  readonly name?: string;
  /** Levels that are open at first. */
  readonly openLevels?: number;
}

/** A JSON value whose objects and lists open and close. Members of closed ones are not created. */
export function JsonTree({ value, name, openLevels = 1 }: JsonTreeProps) {
  if (typeof value === "object" && value !== null) return <Branch value={value} name={name} openLevels={openLevels} />;
  return (
    <div class="tree">
      <Name name={name} />
      <span class={`tree-${value === null ? "null" : typeof value}`}>
        {typeof value === "string" ? <Text value={JSON.stringify(value)} limit={2_000} /> : String(value)}
      </span>
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <span class="muted">
      <Text value={name} limit={200} />:{" "}
    </span>
  );
}

interface BranchProps {
  readonly value: object;
  readonly name: string | undefined;
  readonly openLevels: number;
}

function Branch({ value, name, openLevels }: BranchProps) {
  const [isOpen, setOpen] = useState(openLevels > 0);
  const [limit, setLimit] = useState(PAGE);
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <details class="tree" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="muted">{count}</span>
      </summary>
      {isOpen && (
        <div class="tree-members">
          {entries.slice(0, limit).map(([key, member]) => (
            <JsonTree key={key} value={member} name={key} openLevels={openLevels - 1} />
          ))}
          {entries.length > limit && (
            <button type="button" class="link" onClick={() => setLimit(limit * 10)}>
              … {entries.length - limit} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}
