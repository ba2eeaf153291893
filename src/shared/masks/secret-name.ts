const SECRET_NAME =
  /pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth|bearer|cookie|session|signature|assertion|(?:^|[_-])key$/i;

/** True for names of variables, options and parameters that usually hold secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
