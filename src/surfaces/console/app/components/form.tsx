import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { escapeControls } from "../../../../shared/visible-text.ts";
import type { ProblemDetails } from "../../messages.ts";
import { toProblem } from "../api.ts";
import { Button, ErrorNotice } from "./elements.tsx";
import { Text } from "./text.tsx";

/** The texts of the fields of a form, by name. */
export type FormValues = Readonly<Record<string, string>>;

interface FormProps {
  /** The label of its button. */
  readonly submit: string;
  readonly onSubmit: (values: FormValues) => unknown;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Adds a button that does something else with the same values. */
  readonly alternative?: { readonly label: string; readonly onSubmit: (values: FormValues) => unknown };
  /** Adds a button that closes it. */
  readonly onCancel?: () => void;
  /** The button does nothing until a field was changed. */
  readonly needsChange?: boolean;
  /** When this changes, the fields get their first values again. */
  readonly version?: string | number;
}

/** Changes when fields get their first values again. */
const FormVersion = createContext<FormProps["version"]>(undefined);

/** A form. The error of its submission is shown in it, and what was typed stays. */
export function Form(props: FormProps) {
  const {
    submit,
    onSubmit,
    alternative,
    children,
    class: className = "stack",
    onCancel,
    needsChange = false,
    version,
  } = props;
  const [error, setError] = useState<ProblemDetails | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [isChanged, setChanged] = useState(false);
  useEffect(() => setChanged(false), [version]);
  const form = useRef<HTMLFormElement>(null);
  const send = async (use: FormProps["onSubmit"]): Promise<void> => {
    if (form.current === null) return;
    setBusy(true);
    setError(undefined);
    try {
      await use(readValues(form.current));
    } catch (thrown) {
      setError(toProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      ref={form}
      class={className}
      onInput={() => setChanged(true)}
      onSubmit={(event) => {
        event.preventDefault();
        void send(onSubmit);
      }}
    >
      <FormVersion.Provider value={version}>{children}</FormVersion.Provider>
      {error !== undefined && <ErrorNotice error={error} />}
      <div class="row form-actions">
        {onCancel !== undefined && <Button label="Cancel" onClick={onCancel} />}
        {alternative !== undefined && <Button label={alternative.label} onClick={() => send(alternative.onSubmit)} />}
        <Button label={submit} type="submit" tone="primary" disabled={isBusy || (needsChange && !isChanged)} />
      </div>
    </form>
  );
}

function readValues(form: HTMLFormElement): FormValues {
  return Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, typeof value === "string" ? value : ""]),
  );
}

/** The value and the title of an entry of a list. */
export type Choice = readonly [value: string, title: string];

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly type?: "datetime-local" | "number" | "password" | "search" | "text";
  /** The value at first, and when this or the version of the form changes. */
  readonly value?: string | undefined;
  /** Stands below the field. */
  readonly note?: string;
  /** Makes it a field of several lines. */
  readonly rows?: number;
  /** Makes it a list to choose from. */
  readonly choices?: readonly Choice[] | undefined;
  readonly autocomplete?: string;
  readonly autofocus?: boolean;
  /** The id of a `datalist` with words that it offers. */
  readonly list?: string;
  readonly maxLength?: number;
  readonly min?: string;
  readonly placeholder?: string;
  readonly readOnly?: boolean;
  readonly required?: boolean;
  /** The label is for readers who do not see the field. */
  readonly isLabelHidden?: boolean;
  readonly class?: string;
  /** Receives each text as it is typed or chosen. */
  readonly onText?: (text: string) => void;
}

/** A field of a form with its label and its note. */
export function Field({ label, note, isLabelHidden = false, class: className = "", ...control }: FieldProps) {
  return (
    <label class={`field ${className}`}>
      <span class={isLabelHidden ? "visually-hidden" : undefined}>
        <Text value={label} limit={100} />
      </span>
      <Control {...control} />
      {note !== undefined && note !== "" && <Text in="small" value={note} limit={400} />}
    </label>
  );
}

type ControlProps = Omit<FieldProps, "class" | "isLabelHidden" | "label" | "note">;

/** The value is a property and never an attribute, which would have the text of others in the page. */
function Control({
  choices,
  value = choices?.[0]?.[0] ?? "",
  rows,
  type = "text",
  onText,
  ...attributes
}: ControlProps) {
  const ref = useRef<HTMLInputElement & HTMLSelectElement & HTMLTextAreaElement>(null);
  const version = useContext(FormVersion);
  useLayoutEffect(() => {
    if (ref.current !== null) ref.current.value = value;
  }, [value, version]);
  const onInput = (): void => onText?.(ref.current?.value ?? "");
  const { name, readOnly, required, placeholder } = attributes;
  if (rows !== undefined)
    return <textarea ref={ref} {...{ name, rows, required, placeholder, onInput }} spellcheck={false} />;
  // The types of preact have other attributes for each type of field.
  const textType = type as "text";
  if (choices === undefined)
    return <input ref={ref} type={textType} autocomplete="off" spellcheck={false} {...attributes} onInput={onInput} />;
  return (
    <select ref={ref} name={name} disabled={readOnly} onChange={onInput}>
      {choices.map(([each, title]) => (
        <option key={each} value={each}>
          {escapeControls(title)}
        </option>
      ))}
    </select>
  );
}

/** Milliseconds without a key after which a filter counts. */
const PAUSE_MS = 200;

interface FilterFieldProps extends Pick<
  FieldProps,
  "autofocus" | "class" | "isLabelHidden" | "label" | "placeholder" | "value"
> {
  readonly onChange: (text: string) => void;
}

/** A field for words to find, which counts when the reader stops to type. Another value than what was typed replaces the text. */
export function FilterField({ onChange, value, isLabelHidden = true, ...field }: FilterFieldProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const text = useRef({ typed: value, first: value, version: 0 }).current;
  useEffect(() => () => clearTimeout(timer.current), []);
  if (value !== text.typed) Object.assign(text, { typed: value, first: value, version: text.version + 1 });
  const onText = (typed: string): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      if (value !== undefined) text.typed = typed;
      onChange(typed);
    }, PAUSE_MS);
  };
  const rest = { ...field, isLabelHidden, onText };
  return (
    <FormVersion.Provider value={text.version}>
      <Field {...rest} value={text.first} name="filter" type="search" maxLength={200} />
    </FormVersion.Provider>
  );
}
