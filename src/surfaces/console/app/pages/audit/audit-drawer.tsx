import type { AuditItem } from "../../../../../shared/audit/items.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { useResource } from "../../state/resource.ts";

interface AuditDrawerProps {
  readonly seq: string;
  readonly onClose: () => void;
}

/** All fields of one record. */
export function AuditDrawer({ seq, onClose }: AuditDrawerProps) {
  const { data, error, reload } = useResource<AuditItem>(`/audit/${encodeURIComponent(seq)}`);
  return (
    <Dialog form="drawer" title={`Record ${seq}`} onClose={onClose}>
      {error.value !== undefined ? (
        <ErrorNotice error={error.value} onRetry={reload} />
      ) : data.value === undefined ? (
        <Skeleton lines={8} />
      ) : (
        <dl class="facts">
          {Object.entries(data.value).map(([name, value]) => (
            <Field key={name} name={name} value={value} />
          ))}
        </dl>
      )}
    </Dialog>
  );
}

function Field({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <>
      <dt>
        <Text value={name} limit={100} />
      </dt>
      <dd>
        {name === "time" && typeof value === "string" ? (
          <Time at={Date.parse(value)} />
        ) : (
          <code>
            <Text value={typeof value === "string" ? value : JSON.stringify(value)} limit={2_000} />
          </code>
        )}
      </dd>
    </>
  );
}
