type WithoutGaps<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** Returns a record without the fields that are `undefined`. */
export function withoutGaps<const Fields extends object>(fields: Fields): WithoutGaps<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutGaps<Fields>;
}
