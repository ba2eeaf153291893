import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";

import { Dialog } from "./dialog.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Text } from "./text.tsx";

/** An entry of the palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  readonly run: () => void;
}

interface CommandPaletteProps {
  readonly commands: readonly Command[];
  /** Finds further entries, such as methods, for what was typed. */
  readonly find?: (text: string) => Promise<readonly Command[]>;
  readonly onClose: () => void;
}

const MAX_ENTRIES = 50;

/** A list of all pages and actions, filtered by what is typed: Ctrl-K opens it. */
export function CommandPalette({ commands, find, onClose }: CommandPaletteProps) {
  const text = useSignal("");
  const active = useSignal(0);
  const more = useSignal<readonly Command[]>([]);
  const id = useId();
  const words = text.value.toLowerCase().split(/\s+/);
  const entries = [
    ...commands.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word))),
    ...more.value,
  ].slice(0, MAX_ENTRIES);
  const current = Math.min(active.value, entries.length - 1);

  useEffect(() => {
    let isOver = false;
    more.value = [];
    if (text.value.trim() !== "") void find?.(text.value).then((found) => isOver || (more.value = found));
    return () => void (isOver = true);
  }, [text.value]);

  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") active.value = (current + 1) % Math.max(1, entries.length);
    else if (event.key === "ArrowUp") active.value = (current - 1 + entries.length) % Math.max(1, entries.length);
    else if (event.key === "Enter") run(entries[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Commands" form="palette" onClose={onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Find a page, an action or a method"
        placeholder="Find a page, an action or a method"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={entries.length > 0 ? `${id}-${current}` : undefined}
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <Entries id={id} entries={entries} active={active} current={current} onRun={run} />
      {entries.length === 0 && <p class="empty">Nothing found. Try fewer letters.</p>}
    </Dialog>
  );
}

interface EntriesProps {
  readonly id: string;
  readonly entries: readonly Command[];
  readonly active: Signal<number>;
  /** The index of the entry that Enter runs. */
  readonly current: number;
  readonly onRun: (command: Command) => void;
}

function Entries({ id, entries, active, current, onRun }: EntriesProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[current]?.scrollIntoView({ block: "nearest" }), [current]);
  return (
    <ul class="palette-list" id={id} role="listbox" aria-label="Commands" ref={list}>
      {entries.map((command, index) => (
        <li
          key={command.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === current}
          onMouseMove={() => (active.value = index)}
          onClick={() => onRun(command)}
        >
          <Icon name={command.icon} />
          <Text value={command.title} limit={200} />
        </li>
      ))}
    </ul>
  );
}
