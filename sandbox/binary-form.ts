/** The form in which the engine writes values for itself (`JS_WriteObject`), as far as JSON has a word for it. */
export const TAG = {
  null: 1,
  undefined: 2,
  false: 3,
  true: 4,
  int: 5,
  float: 6,
  string: 7,
  object: 8,
  array: 9,
  date: 17,
} as const;

export const VERSION = 5;
