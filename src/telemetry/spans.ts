import type { Attributes, Context, Link, Span, SpanKind } from "@opentelemetry/api";

import { VERSION } from "../shared/version.ts";
import { findApi } from "./api.ts";
import { ATTRIBUTES } from "./conventions.ts";
import { getErrorType } from "./error-type.ts";

export type { Attributes };

/** The place in a trace at which spans begin. */
export type TraceContext = Context;

/** A span that is not over yet. */
export interface OpenSpan {
  /** The context in which the children of the span begin. */
  readonly context: TraceContext;
  set(attributes: Attributes): void;
  addEvent(name: string, attributes: Attributes): void;
  /** Marks the span as failed. Messages are not sent: they may contain arguments. */
  fail(errorType: string): void;
  end(): void;
  /** Runs work as a part of the span, also what it awaits. */
  run<Value>(work: () => Value): Value;
}

export interface SpanOptions {
  readonly kind?: keyof typeof SpanKind;
  /** Is called only if the span is recorded. */
  readonly getAttributes?: () => Attributes;
  /** The context in which the span begins; by default the active one. */
  readonly parent?: TraceContext | undefined;
  /** A context that has to do with the span and is not its parent. */
  readonly link?: TraceContext | undefined;
}

/** Starts a span; `undefined` if the process has no SDK of OpenTelemetry. */
export function startSpan(name: string, options: SpanOptions = {}): OpenSpan | undefined {
  const api = findApi();
  if (api === undefined) return undefined;
  const { parent = api.context.active(), kind = "INTERNAL", getAttributes, link } = options;
  const linked = link && api.trace.getSpanContext(link);
  const links: Link[] | undefined = linked && [{ context: linked }];
  const tracer = api.trace.getTracer("skillgate", VERSION);
  const span = tracer.startSpan(name, { kind: api.SpanKind[kind], ...(links && { links }) }, parent);
  if (!api.isSpanContextValid(span.spanContext())) return undefined;
  if (getAttributes !== undefined && span.isRecording()) span.setAttributes(getAttributes());
  return wrapSpan(span, api.trace.setSpan(parent, span), api);
}

function wrapSpan(span: Span, context: TraceContext, api: NonNullable<ReturnType<typeof findApi>>): OpenSpan {
  return {
    context,
    set: (attributes) => void span.setAttributes(attributes),
    addEvent: (name, attributes) => void span.addEvent(name, attributes),
    fail(errorType) {
      span.setAttribute(ATTRIBUTES.errorType, errorType);
      span.setStatus({ code: api.SpanStatusCode.ERROR });
    },
    end: () => span.end(),
    run: (work) => api.context.with(context, work),
  };
}

/**
 * Does work within a span of its own, which is not the active one: work that starts further spans names it as their parent. An
 * error that the work rejects with fails the span.
 */
export function withSpan<Value>(name: string, work: (span: OpenSpan | undefined) => Promise<Value>): Promise<Value> {
  const span = startSpan(name);
  return span === undefined ? work(undefined) : endAfter(span, work);
}

async function endAfter<Value>(span: OpenSpan, work: (span: OpenSpan) => Promise<Value>): Promise<Value> {
  try {
    return await work(span);
  } catch (thrown) {
    span.fail(getErrorType(thrown));
    throw thrown;
  } finally {
    span.end();
  }
}

/** The ids of the active span, as logs name them. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** Returns the ids of the active span, hexadecimal; `undefined` without a span. */
export function getTraceIds(): TraceIds | undefined {
  const context = findApi()?.trace.getActiveSpan()?.spanContext();
  return context && { trace_id: context.traceId, span_id: context.spanId };
}
